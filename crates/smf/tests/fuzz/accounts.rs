//! Bytes read and decoded to their end, and the accounts of it: bytes add up, and each record is a row, damage or a count.

use std::collections::{BTreeMap, HashMap};
use std::io::Cursor;

use arrow_array::UInt64Array;
use plexlens_smf::cics::HELD_BYTES;
use plexlens_smf::decode::{Decoder, EXPANDED_BYTES, NoteKind};
use plexlens_smf::stream::{DamageReason, FrameKind, ReadOptions, SmfReader};

/// What one copy gave.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    pub records: u64,
    pub damage: u64,
    /// Rows by table.
    pub rows: BTreeMap<String, usize>,
    /// Why it is no dump.
    pub refused: Option<String>,
    /// Records as read, by where they begin: number of the frame, bytes without the descriptor word.
    pub contents: HashMap<u64, Vec<u8>>,
}

/// Reads and decodes bytes; what is wrong with the answer otherwise.
pub fn read(decoder: &Decoder, bytes: &[u8], batch_bytes: usize) -> Result<Found, String> {
    let options = ReadOptions { batch_bytes, ..ReadOptions::default() };
    let mut found = Found::default();
    let mut reader = match SmfReader::from_reader("copy", Cursor::new(bytes.to_vec()), &options) {
        Ok(reader) => reader,
        // Refusing what no longer looks like a dump is an answer, too.
        Err(error) if error.to_string().len() > 20 => {
            return Ok(Found { refused: Some(error.to_string()), ..found });
        }
        Err(error) => return Err(error.to_string()),
    };
    let (mut last, mut decoded_bytes, mut with_layout, mut without_rows) = (0, 0, 0_u64, 0);
    let (mut told, mut rowed) = (Vec::new(), Vec::new());
    let mut regions = decoder.regions(HELD_BYTES);
    while let Some(batch) = reader.next_batch().map_err(|error| error.to_string())? {
        for frame in &batch.frames {
            let record = batch.record(frame);
            // Parts of a broken record are joined late; all others come in order, each once.
            if matches!(frame.kind, FrameKind::Whole) && !(70..=79).contains(&record[5]) {
                if frame.record_no <= last {
                    return Err(format!("record {} comes after record {last}", frame.record_no));
                }
                last = frame.record_no;
            }
            found.contents.insert(frame.offset, record[4..].to_vec());
        }
        let mut waiting = Some(batch);
        while let Some(mut batch) = waiting.take() {
            let (expanded, rest) = decoder.expand(&mut batch, EXPANDED_BYTES);
            waiting = rest;
            let (connections, mut parts) = regions.resolve(&batch, expanded, None);
            parts.push((batch, connections));
            for (batch, connections) in parts {
                let decoded =
                    decoder.decode_connected(&batch, None, "copy", &connections).map_err(|error| error.to_string())?;
                found.records += decoded.records;
                decoded_bytes += decoded.decoded_bytes + decoded.counted_bytes + decoded.incomplete_bytes;
                told.extend(decoded.damage.iter().map(|damage| damage.record_no));
                let rowless = decoded.notes.iter().filter(|note| note.kind == NoteKind::RecordWithoutRows);
                without_rows += rowless.map(|note| note.count).sum::<u64>();
                for (name, table) in &decoded.tables {
                    *found.rows.entry(name.clone()).or_default() += table.num_rows();
                    if name == "smf_record" {
                        let flags = table.column_by_name("decoded").expect("the inventory's column");
                        let flags: &arrow_array::BooleanArray = flags.as_any().downcast_ref().expect("flags");
                        with_layout += flags.true_count() as u64;
                    } else {
                        let numbers = table.column_by_name("record_no").expect("every table's column");
                        let numbers: &UInt64Array = numbers.as_any().downcast_ref().expect("numbers");
                        rowed.extend(numbers.values().iter().copied());
                    }
                }
            }
        }
    }
    told.extend(regions.lost().iter().map(|damage| damage.record_no));
    told.extend(regions.finish().iter().map(|damage| damage.record_no));
    let summary = reader.summary();
    found.damage = summary.damage.total();
    if let Some(item) = summary.damage.entries().iter().find(|item| item.offset > bytes.len() as u64) {
        return Err(format!("damage at {} of {}", item.offset, bytes.len()));
    }
    if let Some(offset) = found.contents.keys().find(|offset| **offset >= bytes.len() as u64) {
        return Err(format!("a record begins at {offset} of {}", bytes.len()));
    }
    let sum =
        summary.record_bytes + summary.block_bytes + summary.damage.damaged_bytes() + summary.damage.padding_bytes();
    if sum != bytes.len() as u64 || summary.damage.count(DamageReason::UnaccountedBytes) != 0 {
        return Err(format!("{} bytes do not add up: {summary:?}", bytes.len()));
    }
    if decoded_bytes != summary.record_bytes {
        return Err(format!("{decoded_bytes} bytes in records decoded or counted, {summary:?}"));
    }
    if found.rows.get("smf_record").copied().unwrap_or(0) as u64 != found.records {
        return Err(format!("{} records, and {:?} in the inventory", found.records, found.rows));
    }
    // A record with a layout gives a row, is told as damage, or is counted as one without rows.
    rowed.extend(told);
    rowed.sort_unstable();
    rowed.dedup();
    if (rowed.len() as u64 + without_rows) < with_layout {
        return Err(format!(
            "{with_layout} records have a layout; {} gave rows or damage, {without_rows} are counted as without rows",
            rowed.len()
        ));
    }
    Ok(found)
}
