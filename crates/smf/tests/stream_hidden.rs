//! Intact records that damage around them hid: each was lost once, found by the mutators of `fuzz`.

mod dump;

use dump::{PRD2, SYS1, logical, read_bytes, record, segments};
use plexlens_smf::stream::{DamageReason, Form, ReadOptions};

fn sys1(number: u32, length: usize) -> Vec<u8> {
    record(70, &SYS1, number * 100, &vec![0xc1; length])
}

/// Offsets of the records found, and the reasons of damage.
fn found(bytes: &[u8]) -> (Vec<u64>, Vec<DamageReason>) {
    let (records, summary) = read_bytes(bytes, &ReadOptions::default());
    assert_eq!(summary.unaccounted_bytes(), 0, "{summary:?}");
    (records.iter().map(|one| one.offset).collect(), summary.damage.entries().iter().map(|one| one.reason).collect())
}

#[test]
fn a_length_that_covers_the_next_record_too_is_damage() {
    // Records of 58 bytes; the second one says 116: it ends where the fourth begins, and nothing looks wrong.
    let mut bytes: Vec<u8> = (0..5).flat_map(|number| sys1(number, 40)).collect();
    bytes[58..60].copy_from_slice(&116_u16.to_be_bytes());
    assert_eq!(found(&bytes), (vec![0, 116, 174, 232], vec![DamageReason::WrongLength]));
}

#[test]
fn a_length_that_covers_two_records_of_which_the_last_is_cut_is_damage() {
    // The second record reaches to the fifth, and the fourth says that it is longer than it is.
    let mut bytes: Vec<u8> = (0..6).flat_map(|number| sys1(number, 40)).collect();
    bytes[58..60].copy_from_slice(&174_u16.to_be_bytes());
    bytes[174..176].copy_from_slice(&60_u16.to_be_bytes());
    let (offsets, _) = found(&bytes);
    assert!([0, 116, 232, 290].iter().all(|at| offsets.contains(at)), "{offsets:?}");
}

#[test]
fn a_record_with_data_that_look_like_a_header_is_kept_and_named() {
    // A header within a record, behind which no record follows, is data, or a record whose successor is damaged.
    let inner = sys1(9, 40);
    let outer = record(110, &SYS1, 5, &[&[0; 20][..], &inner, &[0; 60]].concat());
    let bytes = [sys1(1, 40), outer, sys1(2, 40)].concat();
    assert_eq!(found(&bytes), (vec![0, 58, 214], vec![DamageReason::HeaderWithinRecord]));
}

#[test]
fn a_single_record_of_another_system_between_damage_is_found() {
    let wild = vec![0x5c; 300];
    let bytes = [sys1(1, 40), wild.clone(), record(200, &PRD2, 7, &[1; 40]), wild, sys1(2, 40)].concat();
    let (offsets, reasons) = found(&bytes);
    assert_eq!(offsets, [0, 358, 716]);
    assert!(reasons.iter().all(|reason| *reason == DamageReason::UnreadableRange), "{reasons:?}");
}

#[test]
fn a_record_that_begins_within_a_cut_first_segment_is_found() {
    // 60 of 200 bytes of a first segment, then an intact record; by chance a last segment's descriptor word stands
    // where the first segment would end.
    let spanned = segments(&logical(70, &SYS1, 100, &[0xc2; 300]), &[196]);
    let mut whole = sys1(3, 400);
    let at = 200 - 60;
    whole[at..at + 4].copy_from_slice(&[0x00, 0x50, 2, 0]);
    let bytes = [sys1(1, 40), spanned[0][..60].to_vec(), whole, sys1(4, 40)].concat();
    let (offsets, _) = found(&bytes);
    assert!(offsets.contains(&118) && offsets.contains(&536), "{offsets:?}");
}

#[test]
fn a_dump_that_lost_its_first_descriptor_word_is_read_from_its_second_record_on() {
    let bytes: Vec<u8> = (0..5).flat_map(|number| sys1(number, 40)).collect();
    let (records, summary) = read_bytes(&bytes[4..], &ReadOptions::default());
    assert_eq!((summary.form, records.len()), (Form::Rdw, 4));
    assert_eq!(summary.damage.skipped_bytes(), 54);
}

#[test]
fn a_record_before_one_without_descriptor_word_is_kept() {
    // The last bytes of the first record and the first two of what follows would make a descriptor word of 193 bytes.
    let mut first = sys1(1, 40);
    first[56] = 0;
    let bytes = [first, vec![0, 0], logical(70, &SYS1, 200, &[0xc1; 60]), sys1(3, 40), sys1(4, 40)].concat();
    let (offsets, _) = found(&bytes);
    assert!([0, 134, 192].iter().all(|at| offsets.contains(at)), "{offsets:?}");
}

#[test]
fn a_record_before_the_rest_of_a_header_is_kept() {
    // The last bytes of the first record and a header that lost its beginning would make a header of their own.
    let mut first = sys1(1, 40);
    first[47..].copy_from_slice(&[0, 40, 0, 0, 0x1e, 70, 0, 0, 1, 0, 1]);
    let rest = [&[0x24, 0x06, 0x1f, 0xe2, 0xe8, 0xe2, 0xf1][..], &[0xc1; 60]].concat();
    let bytes = [sys1(0, 40), first, rest, sys1(3, 40), sys1(4, 40)].concat();
    let (offsets, _) = found(&bytes);
    assert!([0, 58, 183, 241].iter().all(|at| offsets.contains(at)), "{offsets:?}");
}

#[test]
fn damage_and_padding_are_told_apart() {
    let bytes = [sys1(1, 40), vec![0x5c; 30], sys1(2, 40), vec![0; 100]].concat();
    let (_, summary) = read_bytes(&bytes, &ReadOptions::default());
    let damage = &summary.damage;
    assert_eq!((damage.damaged_bytes(), damage.padding_bytes(), summary.record_bytes), (30, 100, 116));
}
