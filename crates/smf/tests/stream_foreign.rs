//! Files that are no dumps are refused with their name and what to do.

mod dump;

use dump::{PRD2, SYS1, record};
use plexlens_smf::stream::{Foreign, ReadOptions, SmfReader, StreamError};
use std::io::Cursor;

/// Code page 037 to ISO 8859-1, as published by the Unicode consortium (CP037.TXT), in rows of 32.
const CP037: &str = "
    000102039c09867f978d8e0b0c0d0e0f101112139d8508871819928f1c1d1e1f
    80818283840a171b88898a8b8c050607909116939495960498999a9b14159e1a
    20a0e2e4e0e1e3e5e7f1a22e3c282b7c26e9eaebe8edeeefecdf21242a293bac
    2d2fc2c4c0c1c3c5c7d1a62c255f3e3ff8c9cacbc8cdcecfcc603a2340273d22
    d8616263646566676869abbbf0fdfeb1b06a6b6c6d6e6f707172aabae6b8c6a4
    b57e737475767778797aa1bfd0dddeae5ea3a5b7a9a7b6bcbdbe5b5dafa8b4d7
    7b414243444546474849adf4f6f2f3f57d4a4b4c4d4e4f505152b9fbfcf9faff
    5cf7535455565758595ab2d4d6d2d3d530313233343536373839b3dbdcd9da9f
";

fn cp037() -> Vec<u8> {
    let digits: String = CP037.split_whitespace().collect();
    (0..256).map(|at| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).expect("hexadecimal")).collect()
}

fn refusal(bytes: &[u8]) -> StreamError {
    match SmfReader::from_reader("day1.smf", Cursor::new(bytes.to_vec()), &ReadOptions::default()) {
        Ok(reader) => panic!("opened as {:?}", reader.summary()),
        Err(error) => {
            assert!(error.to_string().starts_with("day1.smf: "), "{error}");
            error
        }
    }
}

fn foreign(bytes: &[u8]) -> Foreign {
    match refusal(bytes) {
        StreamError::Foreign { what, .. } => what,
        other => panic!("{other}"),
    }
}

/// Records as z/OS writes them, with names in EBCDIC and binary counters.
fn dump_records() -> Vec<Vec<u8>> {
    (0..200_u32)
        .map(|number| {
            let mut body = vec![0xd7, 0xc1, 0xe8, 0xd9, 0xd6, 0xd3, 0xd3, 0x40];
            for step in 0..20 {
                body.extend((number * 7919 * (step + 1)).to_be_bytes());
            }
            record(30, &SYS1, 100 * number, &body)
        })
        .collect()
}

#[test]
fn a_text_mode_transfer_is_named() {
    let table = cp037();
    let ascii = |bytes: &[u8]| bytes.iter().map(|&byte| table[usize::from(byte)]).collect::<Vec<u8>>();
    let records = dump_records();
    // FTP in ASCII: descriptor words dropped, each record a line.
    let lines: Vec<u8> = records.iter().flat_map(|record| [ascii(&record[4..]), b"\r\n".to_vec()].concat()).collect();
    assert_eq!(foreign(&lines), Foreign::TextModeTransfer);
    let unix: Vec<u8> = records.iter().flat_map(|record| [ascii(&record[4..]), b"\n".to_vec()].concat()).collect();
    assert_eq!(foreign(&unix), Foreign::TextModeTransfer);
    // Everything translated, descriptor words too.
    let whole = ascii(&records.concat());
    assert_eq!(foreign(&whole), Foreign::TextModeTransfer);
    // Cut in front, so that no header stands where the file begins.
    assert_eq!(foreign(&lines[37..]), Foreign::TextModeTransfer);
    // Converted to UTF-8, as iconv does.
    let utf8: String = whole.iter().map(|&byte| char::from(byte)).collect();
    assert_eq!(foreign(utf8.as_bytes()), Foreign::TextModeTransfer);
    // Binary taken for UTF-8: what is not valid becomes U+FFFD.
    let replaced = String::from_utf8_lossy(&records.concat()).into_owned();
    assert_eq!(foreign(replaced.as_bytes()), Foreign::TextModeTransfer);
    let message = refusal(&lines).to_string();
    assert!(message.contains("text mode") && message.contains("binary"), "{message}");
    assert!(message.contains("SYS1"), "{message}");
}

#[test]
fn other_files_are_named() {
    assert!(matches!(refusal(b""), StreamError::Empty { .. }));
    assert_eq!(foreign(&[0; 10_000]), Foreign::Zeros);
    assert_eq!(foreign(b"PK\x03\x04\x14\0\0\0\x08\0abcdefghijkl"), Foreign::Zip);
    assert_eq!(foreign(b"\xfd7zXZ\0\0\x04\xe6\xd6\xb4\x46\x02"), Foreign::OtherCompression);
    assert_eq!(foreign(b"<?xml version=\"1.0\"?><ddsml/>"), Foreign::Xml);
    assert_eq!(foreign(b"\xef\xbb\xbf\n <ddsml>"), Foreign::Xml);
    let xmit = [0x50, 0xe0, 0xc9, 0xd5, 0xd4, 0xd9, 0xf0, 0xf1, 0x00, 0x42, 0x00, 0x01, 0x00, 0x01, 0x50, 0x10, 0x11];
    assert_eq!(foreign(&xmit), Foreign::Transmit);
    // PACK of a VB data set with records of up to 32,756 bytes.
    let terse = [2, 1, 0x7f, 0xf4, 0, 0x20, 0x7f, 0xf8, 0, 0, 0x7f, 0xf4, 0x1f, 0xe3, 0x81, 0x07, 0x99, 0x20];
    assert_eq!(foreign(&terse), Foreign::Tersed);
    let report = "1                 C P U   A C T I V I T Y\n0            z/OS V2R5     SYSTEM ID SYS1\n".repeat(50);
    assert_eq!(foreign(report.as_bytes()), Foreign::Text);
    let table = cp037();
    let ebcdic: Vec<u8> = report
        .bytes()
        .map(|byte| table.iter().position(|&ascii| ascii == byte).expect("in the code page") as u8)
        .collect();
    assert_eq!(foreign(&ebcdic), Foreign::Text);
}

#[test]
fn noise_is_refused_with_its_first_bytes() {
    let mut state = 1_u64;
    let noise: Vec<u8> = (0..100_000)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        })
        .collect();
    let StreamError::NoRecords { head, searched, .. } = refusal(&noise) else { panic!("noise was recognised") };
    assert_eq!(searched, 100_000);
    assert_eq!(head, noise[..16].iter().map(|byte| format!("{byte:02X}")).collect::<String>());
}

#[test]
fn a_missing_file_is_named() {
    let error = SmfReader::open("no/such/day1.smf", &ReadOptions::default()).expect_err("there is none");
    assert!(matches!(error, StreamError::Io { .. }) && error.to_string().starts_with("no/such/day1.smf: "));
}

#[test]
fn compressed_data_that_cannot_be_expanded_are_an_error() {
    let error = refusal(b"\x1f\x8b\x08\0\0\0\0\0\0\x03\xff\xff\xff\xff\xff");
    assert!(matches!(error, StreamError::Compressed { .. }), "{error}");
    let error = refusal(b"\x28\xb5\x2f\xfd\xff\xff\xff\xff");
    assert!(matches!(error, StreamError::Compressed { .. }), "{error}");
}

#[test]
fn lost_descriptor_words_are_named_where_lengths_cannot_be_told() {
    // Type 30 does not tell its length by the triplets alone.
    let mut file = record(2, &SYS1, 1, b"")[4..].to_vec();
    for number in 0..5 {
        file.extend_from_slice(&record(30, &PRD2, 10 + number, &[7; 60])[4..]);
    }
    let StreamError::DescriptorsLost { record_no, offset, record_type, .. } = refusal(&file) else {
        panic!("not recognised")
    };
    assert_eq!((record_no, offset, record_type), (2, 14, 30));
    let message = refusal(&file).to_string();
    assert!(message.ends_with("with its record descriptor words (FTP: binary, quote site rdw)"), "{message}");
}
