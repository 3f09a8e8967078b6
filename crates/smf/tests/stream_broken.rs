//! Records that RMF split come back as if it had not.

mod dump;

use dump::{SYS1, read_bytes};
use plexlens_smf::stream::{DamageReason, FrameKind, ReadOptions};
use proptest::prelude::*;

/// Entries of one kind: all of one length.
#[derive(Debug, Clone)]
struct Kind {
    length: usize,
    entries: Vec<Vec<u8>>,
    /// Every part repeats these (as control sections are).
    repeated: bool,
}

/// An RMF record before it is written.
#[derive(Debug, Clone)]
struct Rmf {
    subtype: u16,
    interval: u8,
    kinds: Vec<Kind>,
}

/// How the reassembly area is written, where the documentation leaves it open.
#[derive(Debug, Clone, Copy)]
struct Style {
    /// Position of the first entry of all.
    base: u16,
    /// A block for the product section comes first.
    product_block: bool,
    /// The offset of the blocks counts from the product section, not from the area.
    from_product: bool,
}

const STYLE: Style = Style { base: 1, product_block: false, from_product: false };
const PRODUCT: usize = 104;

impl Rmf {
    /// Writes the record, or the part `(sequence, of)` of it that holds the given range of entries of each kind.
    fn write(&self, part: Option<(u16, u16)>, ranges: &[(usize, usize)], style: Style) -> Vec<u8> {
        let header = 28 + 8 * (self.kinds.len() + 1);
        let mut product = vec![0x5a; PRODUCT];
        product[10] = self.interval; // interval start
        product[68..76].fill(0);
        let mut area = Vec::new();
        if let Some((sequence, of)) = part {
            let blocks = self.kinds.len() + usize::from(style.product_block);
            let area_length = 16 + 4 * blocks;
            let base = if style.from_product { PRODUCT } else { 0 };
            area.extend(of.to_be_bytes());
            area.extend(sequence.to_be_bytes());
            area.extend((base as u32 + 16).to_be_bytes());
            area.extend(4_u16.to_be_bytes());
            area.extend((blocks as u16).to_be_bytes());
            area.extend([0; 4]);
            if style.product_block {
                area.extend([0, 1]);
                area.extend(style.base.to_be_bytes());
            }
            for (kind, &(from, to)) in self.kinds.iter().zip(ranges) {
                area.extend((kind.entries.len() as u16).to_be_bytes());
                let position = if from == to { 0 } else { from as u16 + style.base };
                area.extend(position.to_be_bytes());
            }
            product[68..72].copy_from_slice(&(PRODUCT as u32).to_be_bytes());
            product[72..74].copy_from_slice(&(area_length as u16).to_be_bytes());
            product[74..76].copy_from_slice(&[0, 1]);
        }
        let mut out = vec![0; header];
        out[4..6].copy_from_slice(&[0xde, 74]);
        out[6..10].copy_from_slice(&1000_u32.to_be_bytes());
        out[10..14].copy_from_slice(&[0x01, 0x24, 0x06, 0x1f]);
        out[14..18].copy_from_slice(&SYS1);
        out[18..22].copy_from_slice(&[0xd9, 0xd4, 0xc6, 0x40]);
        out[22..24].copy_from_slice(&self.subtype.to_be_bytes());
        out[24..26].copy_from_slice(&(self.kinds.len() as u16 + 1).to_be_bytes());
        out[28..32].copy_from_slice(&(header as u32).to_be_bytes());
        out[32..36].copy_from_slice(&[0, PRODUCT as u8, 0, 1]);
        out.extend(product);
        out.extend(area);
        for (index, (kind, &(from, to))) in self.kinds.iter().zip(ranges).enumerate() {
            let at = 36 + 8 * index;
            if from < to {
                let offset = out.len() as u32;
                out[at..at + 4].copy_from_slice(&offset.to_be_bytes());
                out[at + 4..at + 6].copy_from_slice(&(kind.length as u16).to_be_bytes());
            }
            out[at + 6..at + 8].copy_from_slice(&((to - from) as u16).to_be_bytes());
            out.extend(kind.entries[from..to].concat());
        }
        let length = u16::try_from(out.len()).expect("parts are short");
        out[..2].copy_from_slice(&length.to_be_bytes());
        out
    }

    fn whole(&self) -> Vec<u8> {
        let all: Vec<_> = self.kinds.iter().map(|kind| (0, kind.entries.len())).collect();
        self.write(None, &all, STYLE)
    }

    /// The parts that arise when each kind is cut at the given fractions (of 100).
    fn parts(&self, cuts: &[usize], style: Style) -> Vec<Vec<u8>> {
        let mut bounds = vec![0];
        bounds.extend(cuts);
        bounds.push(100);
        bounds.sort_unstable();
        let of = bounds.len() as u16 - 1;
        (0..of)
            .map(|part| {
                let ranges: Vec<_> = self
                    .kinds
                    .iter()
                    .map(|kind| {
                        let count = kind.entries.len();
                        if kind.repeated {
                            (0, count)
                        } else {
                            let at = |bound: usize| count * bounds[bound] / 100;
                            (at(usize::from(part)), at(usize::from(part) + 1))
                        }
                    })
                    .collect();
                self.write(Some((part + 1, of)), &ranges, style)
            })
            .collect()
    }
}

/// What a reader of the record sees: each kind's entry length and entries, by the triplets alone.
fn sections(record: &[u8]) -> Vec<(usize, Vec<Vec<u8>>)> {
    let u16_at = |at: usize| usize::from(u16::from_be_bytes([record[at], record[at + 1]]));
    let count = u16_at(24);
    (1..count)
        .map(|index| {
            let at = 28 + 8 * index;
            let offset = u16_at(at) * 65_536 + u16_at(at + 2);
            let (length, number) = (u16_at(at + 4), u16_at(at + 6));
            let entries =
                (0..number).map(|entry| record[offset + entry * length..offset + (entry + 1) * length].to_vec());
            (if number == 0 { 0 } else { length }, entries.collect())
        })
        .collect()
}

fn described(contents: &[u8]) -> Vec<u8> {
    let mut record = vec![0; 4];
    record.extend(contents);
    record
}

fn sample() -> Rmf {
    let kind = |length: usize, count: usize, mark: u8, repeated: bool| Kind {
        length,
        entries: (0..count).map(|number| vec![mark + number as u8; length]).collect(),
        repeated,
    };
    Rmf {
        subtype: 4,
        interval: 9,
        kinds: vec![kind(20, 1, 0x10, true), kind(64, 7, 0x20, false), kind(0, 0, 0, false), kind(8, 30, 0x40, false)],
    }
}

/// Two parts by hand: kind 2 has 7 entries, cut at 50 %: 7*50/100 = 3, so positions 1 to 3 and 4 to 7; kind 4 has 30,
/// so 1 to 15 and 16 to 30. The control section stands in both parts and must come back once.
#[test]
fn two_parts_become_one_record() {
    let rmf = sample();
    let parts = rmf.parts(&[50], STYLE);
    assert_eq!(sections(&parts[0])[1].1.len(), 3);
    assert_eq!(sections(&parts[1])[1].1.len(), 4);
    let (records, summary) = read_bytes(&parts.concat(), &ReadOptions::default());
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].kind, FrameKind::Joined(2));
    assert_eq!((records[0].record_no, records[0].offset), (1, 0));
    let joined = described(&records[0].contents);
    assert_eq!(sections(&joined), sections(&rmf.whole()));
    // Header and product section as in a record that was never split, but for offsets and the reassembly fields.
    assert_eq!(joined[4..28], parts[0][4..28]);
    let product = 28 + 8 * 5;
    assert_eq!(joined[28..36], rmf.whole()[28..36]);
    assert_eq!(joined[product..product + 68], rmf.whole()[product..product + 68]);
    assert_eq!(joined[product + 74..product + 76], [0, 0]);
    assert!(summary.damage.is_empty(), "{:?}", summary.damage);
    assert_eq!((summary.records, summary.joined_records, summary.joined_parts), (2, 1, 2));
}

#[test]
fn what_the_documentation_leaves_open_is_told_from_the_data() {
    let rmf = sample();
    for base in [0, 1] {
        for product_block in [false, true] {
            for from_product in [false, true] {
                let style = Style { base, product_block, from_product };
                let (records, summary) = read_bytes(&rmf.parts(&[30, 60], style).concat(), &ReadOptions::default());
                assert_eq!(records.len(), 1, "{style:?}: {:?}", summary.damage);
                assert_eq!(sections(&described(&records[0].contents)), sections(&rmf.whole()), "{style:?}");
            }
        }
    }
}

#[test]
fn parts_of_other_records_between_do_not_disturb() {
    let (one, mut two) = (sample(), sample());
    two.interval = 10;
    let (first, second) = (one.parts(&[20, 40, 70], STYLE), two.parts(&[50], STYLE));
    let other = dump::record(30, &SYS1, 5, &[1; 40]);
    let file = [&first[2], &second[1], &other, &first[0], &second[0], &first[3], &first[1]].map(Vec::clone).concat();
    let (records, summary) = read_bytes(&file, &ReadOptions::default());
    let kinds: Vec<_> = records.iter().map(|record| (record.record_no, record.kind)).collect();
    assert_eq!(kinds, [(3, FrameKind::Whole), (2, FrameKind::Joined(2)), (1, FrameKind::Joined(4))]);
    for joined in &records[1..] {
        assert_eq!(sections(&described(&joined.contents)), sections(&one.whole()));
    }
    assert!(summary.damage.is_empty());
}

/// Two coupling facilities in one interval give records that agree in every identifying field.
#[test]
fn records_alike_are_told_apart_by_their_sequence() {
    let one = sample();
    let mut two = sample();
    two.kinds[1].entries.iter_mut().flatten().for_each(|byte| *byte ^= 0x80);
    let file = [one.parts(&[50], STYLE), two.parts(&[50], STYLE)].concat().concat();
    let (records, _) = read_bytes(&file, &ReadOptions::default());
    assert_eq!(records.len(), 2);
    assert_eq!(sections(&described(&records[0].contents)), sections(&one.whole()));
    assert_eq!(sections(&described(&records[1].contents)), sections(&two.whole()));
}

#[test]
fn a_missing_part_is_named_and_the_others_are_handed_on() {
    let parts = sample().parts(&[20, 40, 70], STYLE);
    let other = dump::record(30, &SYS1, 5, &[1; 40]);
    let file = [&other, &parts[0], &parts[2]].map(Vec::clone).concat();
    let (records, summary) = read_bytes(&file, &ReadOptions::default());
    let got: Vec<_> = records.iter().map(|record| (record.record_no, record.kind)).collect();
    assert_eq!(got, [(1, FrameKind::Whole), (2, FrameKind::Whole), (3, FrameKind::Whole)]);
    assert_eq!(records[2].contents, parts[2][4..]);
    let [damage] = summary.damage.entries() else { panic!("{:?}", summary.damage) };
    assert_eq!(damage.reason, DamageReason::IncompleteBrokenRecord);
    assert_eq!((damage.record_no, damage.offset), (2, other.len() as u64));
    assert!(damage.detail.contains("without part 2, 4"), "{}", damage.detail);
}

#[test]
fn waiting_parts_are_bounded() {
    let mut file = Vec::new();
    for interval in 0..100 {
        let rmf = Rmf { interval, ..sample() };
        file.extend_from_slice(&rmf.parts(&[50], STYLE)[0]);
    }
    let options = ReadOptions { max_pending_bytes: 20_000, batch_bytes: 5000, ..ReadOptions::default() };
    let (records, summary) = read_bytes(&file, &options);
    assert_eq!(records.len(), 100);
    assert_eq!(summary.damage.count(DamageReason::IncompleteBrokenRecord), 100);
    let numbers: Vec<_> = records.iter().map(|record| record.record_no).collect();
    assert_eq!(numbers, (1..=100).collect::<Vec<_>>());
}

#[test]
fn a_reassembly_area_outside_the_record_is_reported() {
    let mut part = sample().parts(&[50], STYLE)[0].clone();
    let product = 28 + 8 * 5;
    part[product + 68..product + 72].copy_from_slice(&[0xff; 4]);
    let (records, summary) = read_bytes(&part, &ReadOptions::default());
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].contents, part[4..]);
    assert_eq!(summary.damage.count(DamageReason::UnjoinableBrokenRecord), 1);
}

#[test]
fn joining_can_be_switched_off() {
    let parts = sample().parts(&[50], STYLE);
    let options = ReadOptions { join_broken_records: false, ..ReadOptions::default() };
    let (records, summary) = read_bytes(&parts.concat(), &options);
    assert_eq!(records.len(), 2);
    assert!(summary.damage.is_empty());
}

fn kinds() -> impl Strategy<Value = Kind> {
    (1..40_usize, 0..60_usize, any::<u8>(), prop::bool::weighted(0.2)).prop_map(|(length, count, seed, repeated)| {
        Kind {
            length,
            entries: (0..count).map(|number| vec![seed.wrapping_add(number as u8 * 3); length]).collect(),
            repeated: repeated && count < 3,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn join_of_split_is_identity(
        kinds in prop::collection::vec(kinds(), 1..7),
        cuts in prop::collection::vec(0..=100_usize, 0..6),
        order in any::<u64>(),
        product_block in any::<bool>(),
        batch_bytes in 1..10_000_usize,
    ) {
        let rmf = Rmf { subtype: 1, interval: 1, kinds };
        let mut parts = rmf.parts(&cuts, Style { product_block, ..STYLE });
        let count = parts.len();
        parts.rotate_left((order % count as u64) as usize);
        if order & 0x100 != 0 {
            parts.reverse();
        }
        let options = ReadOptions { batch_bytes, ..ReadOptions::default() };
        let (records, summary) = read_bytes(&parts.concat(), &options);
        prop_assert_eq!(records.len(), 1, "{:?}", summary.damage);
        prop_assert_eq!(records[0].kind, FrameKind::Joined(count as u16));
        prop_assert_eq!(sections(&described(&records[0].contents)), sections(&rmf.whole()));
        // Entries of any bytes can look like the header of a record that ends with theirs, which is noted.
        let others = summary.damage.entries().iter().filter(|each| each.reason != DamageReason::HeaderWithinRecord);
        prop_assert_eq!(others.count(), 0, "{:?}", summary.damage);
    }

    #[test]
    fn damaged_reassembly_areas_do_no_harm(
        cuts in prop::collection::vec(0..=100_usize, 1..4),
        changes in prop::collection::vec((18..200_usize, any::<u8>()), 1..8),
    ) {
        let parts = sample().parts(&cuts, STYLE);
        let count = parts.len();
        let mut file = parts.concat();
        for (at, value) in changes {
            let at = at % file.len();
            file[at] = value;
        }
        let (records, _) = read_bytes(&file, &ReadOptions::default());
        prop_assert!(!records.is_empty() && records.len() <= count);
    }
}
