//! CICS monitoring records, byte by byte as DFHSMFDS, DFHMNSMF and DFHMCTDR describe them.

/// Letters and digits in EBCDIC, blank padded.
pub fn ebcdic(text: &str, length: usize) -> Vec<u8> {
    let code = |letter: u8| match letter {
        b'A'..=b'I' => 0xC1 + (letter - b'A'),
        b'J'..=b'R' => 0xD1 + (letter - b'J'),
        b'S'..=b'Z' => 0xE2 + (letter - b'S'),
        b'0'..=b'9' => 0xF0 + (letter - b'0'),
        _ => 0x40,
    };
    let mut bytes: Vec<u8> = text.bytes().map(code).collect();
    bytes.resize(length, 0x40);
    bytes
}

/// Where the product section and the data section begin.
pub const PRODUCT: usize = 44;
pub const DATA: usize = 124;

/// A record 110-1 of system and region, written at 10:00:00.00 on 2026-03-01 (day 060), local time.
pub fn monitoring(system: &str, applid: &str, class: u16, connectors: &[u16], length: u16, data: &[u8]) -> Vec<u8> {
    let mut record = vec![0; DATA];
    record[4] = 0x5E;
    record[5] = 110;
    record[6..10].copy_from_slice(&3_600_000_u32.to_be_bytes());
    record[10..14].copy_from_slice(&[0x01, 0x26, 0x06, 0x0F]);
    record[14..18].copy_from_slice(&ebcdic(system, 4));
    record[18..22].copy_from_slice(&ebcdic("CICS", 4));
    record[23] = 1;
    record[25] = 2;
    put(&mut record, 28, PRODUCT as u32, 80, 1);
    let listed = 2 * connectors.len();
    put(&mut record, 36, DATA as u32, (listed + data.len()) as u16, 1);
    record[PRODUCT + 2..PRODUCT + 10].copy_from_slice(&ebcdic("GENERIC", 8));
    record[PRODUCT + 10..PRODUCT + 18].copy_from_slice(&ebcdic(applid, 8));
    record[PRODUCT + 22..PRODUCT + 24].copy_from_slice(&class.to_be_bytes());
    if !connectors.is_empty() {
        put(&mut record, PRODUCT + 24, DATA as u32, 2, connectors.len() as u16);
    }
    let count = (data.len() as u16).checked_div(length).unwrap_or(0);
    put(&mut record, PRODUCT + 32, (DATA + listed) as u32, length, count);
    connectors.iter().for_each(|connector| record.extend(connector.to_be_bytes()));
    record.extend(data);
    let total = (record.len() as u16).to_be_bytes();
    record[..2].copy_from_slice(&total);
    record
}

/// Writes a triplet.
pub fn put(record: &mut [u8], at: usize, offset: u32, length: u16, count: u16) {
    record[at..at + 4].copy_from_slice(&offset.to_be_bytes());
    record[at + 4..at + 6].copy_from_slice(&length.to_be_bytes());
    record[at + 6..at + 8].copy_from_slice(&count.to_be_bytes());
}

/// A field of a dictionary: owner, type and number, length, short name.
pub type Field = (&'static str, &'static str, u16, &'static str);

/// A dictionary record; the fields have connectors from `first` on.
pub fn dictionary(system: &str, applid: &str, first: u16, fields: &[Field]) -> Vec<u8> {
    let (mut data, mut offset) = (Vec::new(), 0_u16);
    for (connector, (owner, id, length, nickname)) in (first..).zip(fields) {
        data.extend(ebcdic(owner, 8));
        data.extend(ebcdic(id, 4));
        data.extend(length.to_be_bytes());
        data.extend(connector.to_be_bytes());
        data.extend(offset.to_be_bytes());
        data.extend(ebcdic(nickname, 8));
        offset += length;
    }
    monitoring(system, applid, 1, &[], 26, &data)
}

/// A clock of twelve bytes: so many units of 1/4096 microsecond, and how often it was started.
pub fn clock(units: u64, count: u32) -> Vec<u8> {
    let mut bytes = units.to_be_bytes().to_vec();
    bytes.push(0x80);
    bytes.extend(&count.to_be_bytes()[1..]);
    bytes
}

/// The record with its data section compressed.
pub fn compressed(mut record: Vec<u8>) -> Vec<u8> {
    let data = plexlens_smf::forms::csrcesrv::compress(&record[DATA..]);
    record.truncate(DATA);
    let length = (data.len() as u16).to_be_bytes();
    record[PRODUCT + 58..PRODUCT + 60].copy_from_slice(&length);
    record[40..42].copy_from_slice(&length);
    record.extend(data);
    let total = (record.len() as u16).to_be_bytes();
    record[..2].copy_from_slice(&total);
    record
}
