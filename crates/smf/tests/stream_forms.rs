//! Every form of a dump gives the same records.

mod dump;

use dump::{PRD2, Read1, SYS1, blocked, logical, read_all, read_bytes, segments};
use flate2::write::GzEncoder;
use plexlens_smf::stream::{Compression, Form, FrameKind, ReadOptions};
use proptest::prelude::*;
use std::io::{Read, Write};

/// Gives its bytes in pieces of the given sizes, again and again.
struct Dribble {
    bytes: Vec<u8>,
    at: usize,
    sizes: Vec<usize>,
    turn: usize,
}

impl Read for Dribble {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let size = self.sizes[self.turn % self.sizes.len()];
        self.turn += 1;
        let count = size.min(into.len()).min(self.bytes.len() - self.at);
        into[..count].copy_from_slice(&self.bytes[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(bytes).expect("writes");
    out.finish().expect("ends")
}

/// A dump as the test knows it: contents of each record, and its segments.
#[derive(Debug, Clone)]
struct Dump {
    contents: Vec<Vec<u8>>,
    segments: Vec<Vec<Vec<u8>>>,
}

impl Dump {
    fn flat(&self) -> Vec<Vec<u8>> {
        self.segments.concat()
    }

    fn rdw(&self) -> Vec<u8> {
        self.flat().concat()
    }

    /// What must come back, given where each first segment begins in the file.
    fn expected(&self, offset_of: impl Fn(usize) -> u64) -> Vec<Read1> {
        let mut segment_no = 0;
        let mut out = Vec::new();
        for (index, (contents, pieces)) in self.contents.iter().zip(&self.segments).enumerate() {
            let kind = match pieces.len() {
                1 => FrameKind::Whole,
                count => FrameKind::Spanned(u16::try_from(count).expect("few")),
            };
            let record_no = index as u64 + 1;
            out.push(Read1 { record_no, offset: offset_of(segment_no), contents: contents.clone(), kind });
            segment_no += pieces.len();
        }
        out
    }
}

fn dumps() -> impl Strategy<Value = Dump> {
    let one = (
        prop_oneof![Just(2_u8), Just(3), Just(30), 60..=69_u8, 100..=125_u8],
        prop_oneof![Just(SYS1), Just(PRD2)],
        0..8_640_000_u32,
        prop_oneof![8 => 0..400_usize, 1 => 400..40_000_usize],
        prop::collection::vec(1..40_000_usize, 0..5),
        any::<u64>(),
        any::<bool>(),
    )
        .prop_map(|(kind, system, time, length, cuts, seed, span)| {
            // Bodies full of zeros and small numbers look most like descriptor words.
            let body: Vec<u8> = (0..length as u64)
                .map(|at| (seed.rotate_left((at % 64) as u32) & [0, 3, 255, 0x7f][(at % 4) as usize]) as u8)
                .collect();
            let contents = logical(kind, &system, time, &body);
            let cuts: Vec<usize> = if span || contents.len() > 32_000 {
                let mut cuts: Vec<usize> = cuts.iter().map(|cut| 1 + cut % contents.len()).collect();
                cuts.push(20_000);
                cuts
            } else {
                Vec::new()
            };
            (contents.clone(), segments(&contents, &cuts))
        });
    prop::collection::vec(one, 1..30).prop_map(|records| {
        let (contents, segments) = records.into_iter().unzip();
        Dump { contents, segments }
    })
}

fn starts(pieces: &[Vec<u8>]) -> Vec<u64> {
    pieces
        .iter()
        .scan(0, |at, piece| {
            let start = *at;
            *at += piece.len() as u64;
            Some(start)
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn chunk_and_batch_boundaries_change_nothing(
        dump in dumps(),
        sizes in prop::collection::vec(1..5000_usize, 1..6),
        batch_bytes in prop_oneof![1..100_usize, 100..100_000_usize],
    ) {
        let offsets = starts(&dump.flat());
        let expected = dump.expected(|segment| offsets[segment]);
        let options = ReadOptions { batch_bytes, ..ReadOptions::default() };
        let input = Dribble { bytes: dump.rdw(), at: 0, sizes, turn: 0 };
        let (records, summary) = read_all(input, &options);
        prop_assert_eq!(&records, &expected);
        prop_assert!(summary.damage.is_empty(), "{:?}", summary.damage);
        prop_assert_eq!(summary.form, Form::Rdw);
        prop_assert_eq!(summary.segments as usize, dump.flat().len());
        let of_type = |wanted: u8| dump.contents.iter().filter(|record| record[1] == wanted).count() as u64;
        prop_assert_eq!((summary.dump_headers, summary.dump_trailers), (of_type(2), of_type(3)));
    }

    #[test]
    fn blocks_and_compression_change_nothing(
        dump in dumps(),
        limit in 20_100..32_760_usize,
        extended in any::<bool>(),
        batch_bytes in 1..100_000_usize,
        member in 1..50_000_usize,
    ) {
        let flat = dump.flat();
        let file = blocked(&flat, limit, extended);
        // Independently of the writer: walk the blocks to learn where each segment begins.
        let mut offsets = Vec::new();
        let mut at = 0_usize;
        while at < file.len() {
            let word = u32::from_be_bytes(file[at..at + 4].try_into().expect("four bytes"));
            let length = if extended { word & 0x7fff_ffff } else { word >> 16 } as usize;
            let mut inside = at + 4;
            while inside < at + length {
                offsets.push(inside as u64);
                inside += usize::from(u16::from_be_bytes([file[inside], file[inside + 1]]));
            }
            at += length;
        }
        prop_assert_eq!(offsets.len(), flat.len());
        let expected = dump.expected(|segment| offsets[segment]);
        let options = ReadOptions { batch_bytes, ..ReadOptions::default() };
        let gz: Vec<u8> = file.chunks(member).flat_map(gzip).collect();
        let zst: Vec<u8> = file.chunks(member).flat_map(|part| zstd::encode_all(part, 1).expect("packs")).collect();
        for (bytes, compression) in [(file.clone(), Compression::None), (gz, Compression::Gzip), (zst, Compression::Zstd)] {
            let (records, summary) = read_bytes(&bytes, &options);
            prop_assert_eq!(&records, &expected);
            prop_assert!(summary.damage.is_empty(), "{:?}", summary.damage);
            prop_assert_eq!(summary.form, Form::Bdw);
            prop_assert_eq!(summary.compression, compression);
            prop_assert_eq!(summary.bytes, file.len() as u64);
            prop_assert_eq!(summary.file_bytes, bytes.len() as u64);
        }
    }
}

#[test]
fn a_first_record_whose_length_looks_like_gzip_is_a_record() {
    // 8,075 is X'1F8B'; segment codes 0 to 3 and a zero follow, where gzip has its method, 8, and flags.
    for (length, cuts) in [(8_071, vec![]), (8_171, vec![8_071])] {
        let contents = logical(30, &SYS1, 0, &vec![0; length - 14]);
        let mut file = segments(&contents, &cuts).concat();
        file.extend(segments(&logical(30, &SYS1, 100, &[0; 40]), &[]).concat());
        let (records, summary) = read_bytes(&file, &ReadOptions::default());
        assert_eq!(&file[..2], &[0x1f, 0x8b]);
        assert_eq!((summary.compression, summary.form), (Compression::None, Form::Rdw));
        assert_eq!(records.len(), 2);
        assert!(summary.damage.is_empty(), "{:?}", summary.damage);
        assert_eq!(records[0].contents, contents);
    }
}
