//! What tests of layouts and records share: the repository's layouts, a record map for any section, random numbers.

#![allow(dead_code, reason = "each test program uses its own part")]

pub mod cics;
pub mod made;
pub mod same;
pub mod values;

use std::path::PathBuf;
use std::sync::LazyLock;

use plexlens_smf::layout::{Catalogue, Section};
use plexlens_smf::stream::{Frame, FrameBatch, FrameKind};

/// The repository's layouts.
pub fn layouts_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../layouts")
}

/// The repository's catalogue, read once.
pub fn catalogue() -> &'static Catalogue {
    static CATALOGUE: LazyLock<Catalogue> =
        LazyLock::new(|| Catalogue::from_folders(&[layouts_folder()]).expect("the repository's layouts are sound"));
    &CATALOGUE
}

/// Names and texts of all placed section files, header sections among them.
pub fn section_texts() -> Vec<(String, String)> {
    let mut texts = Vec::new();
    for entry in std::fs::read_dir(layouts_folder()).expect("layouts folder") {
        let path = entry.expect("entry").path();
        if path.extension().is_some_and(|ending| ending == "csv") {
            let name = path.file_stem().and_then(|name| name.to_str()).expect("name").to_owned();
            let text = std::fs::read_to_string(&path).expect("text");
            if Section::parse(&name, &name, &text).expect("sound layout").placed {
                texts.push((name, text));
            }
        }
    }
    texts.sort();
    texts
}

const HEADING: &str = "field,offset,length,format,unit,description,source,confidence\n";

/// A header of type 200 with one triplet at 28.
pub const HEADER: &str = "field,offset,length,format,unit,description,source,confidence\n\
    X200LEN,0,2,u16,,,,high\nX200STY,22,2,u16,,,,high\nX200O,28,4,u32,,,,high\n\
    X200L,32,2,u16,,,,high\nX200N,34,2,u16,,,,high\n";

/// A map of record 200.1 whose only section is found by `rule`.
pub fn map_text(section: &str, rule: &str) -> String {
    format!(
        "# identity: standard\nlayout,triplet,rule,description,source,confidence\n\
         x200_header,,header,,,high\n{section},X200O,{rule},,,high\n"
    )
}

/// A catalogue that reads one section from records 200.1.
pub fn single(name: &str, text: &str, rule: &str) -> Catalogue {
    Catalogue::from_texts(&[("x200_header", HEADER), (name, text)], &[("smf200_1", &map_text(name, rule))])
        .expect("sound")
}

/// A section file from rows `field,offset,length,format,unit`.
pub fn section_text(rows: &[&str]) -> String {
    rows.iter().fold(HEADING.to_owned(), |text, row| text + row + ",made up,test,high\n")
}

/// A record 200.1 of system SYS1, written 2026-03-01 09:15:00.00, with `sections` behind a triplet at 28.
pub fn record(length: u16, count: u16, sections: &[u8]) -> Vec<u8> {
    let mut record = vec![0; 36];
    record[4] = 0x5E;
    record[5] = 200;
    record[6..10].copy_from_slice(&(3_330_000_u32).to_be_bytes());
    record[10..14].copy_from_slice(&[0x01, 0x26, 0x06, 0x0F]);
    record[14..18].copy_from_slice(&[0xE2, 0xE8, 0xE2, 0xF1]);
    record[18..22].fill(0x40);
    record[23] = 1;
    record[31] = 36;
    record[32..34].copy_from_slice(&length.to_be_bytes());
    record[34..36].copy_from_slice(&count.to_be_bytes());
    record.extend_from_slice(sections);
    let total = u16::try_from(record.len()).unwrap_or(u16::MAX).to_be_bytes();
    record[..2].copy_from_slice(&total);
    record
}

/// Records as a batch, numbered from 1, at the offsets they would have in a file.
pub fn batch<R: AsRef<[u8]>>(records: impl IntoIterator<Item = R>) -> FrameBatch {
    let mut batch = FrameBatch::default();
    for (number, record) in (1..).zip(records) {
        let (start, len) = (batch.data.len(), record.as_ref().len());
        batch.data.extend_from_slice(record.as_ref());
        let (offset, file_bytes) = (start as u64, len as u64);
        batch.frames.push(Frame { record_no: number, offset, start, len, file_bytes, kind: FrameKind::Whole });
    }
    batch
}

/// SplitMix64: enough randomness for values, and the same ones for the same seed.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut value = self.0;
        value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        value ^ (value >> 31)
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }

    pub fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.next() as u8).collect()
    }
}
