//! Damage as edits of a dump: bytes flipped, pieces spliced, lengths, offsets and counts that lie, ends cut off.
//!
//! Since each edit says which bytes it touches, it is known of every record of the original whether it is intact in
//! the copy, and where it lies there.

use std::ops::Range;

use super::dumps::{Original, Unit};
use super::records::Random;

/// A range of the original, and what stands in its place.
#[derive(Debug, Clone)]
pub struct Edit {
    pub range: Range<usize>,
    pub into: Vec<u8>,
}

/// A damaged copy.
pub struct Copy {
    pub bytes: Vec<u8>,
    /// Records that no edit touched, by their number among the units of the original, and where they begin now.
    pub intact: Vec<(usize, u64)>,
}

/// Carries edits out. Those that overlap an earlier one are left out.
pub fn apply(original: &Original, mut edits: Vec<Edit>) -> Copy {
    edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
    let (mut bytes, mut at) = (Vec::with_capacity(original.bytes.len()), 0);
    let (mut intact, mut units) = (Vec::new(), original.units.iter().enumerate().peekable());
    let mut made = edits.into_iter().peekable();
    loop {
        let edit = made.next_if(|_| true);
        let start = edit.as_ref().map_or(original.bytes.len(), |edit| edit.range.start);
        if edit.is_some() && start < at {
            continue;
        }
        // Units that end before the edit are whole, if they begin after the one before.
        while let Some((number, unit)) = units.next_if(|(_, unit)| unit.end <= start) {
            if unit.start >= at {
                intact.push((number, (bytes.len() + unit.start - at) as u64));
            }
        }
        bytes.extend_from_slice(&original.bytes[at..start]);
        let Some(edit) = edit else { break };
        bytes.extend_from_slice(&edit.into);
        at = edit.range.end;
        // A unit that begins before the end of the edit and ends after its start has been touched.
        while units.next_if(|(_, unit)| unit.start < at || unit.start < start).is_some() {}
    }
    Copy { bytes, intact }
}

/// One to four edits of a kind drawn for the copy.
pub fn draw(original: &Original, others: &[Original], random: &mut Random) -> Vec<Edit> {
    let kind = random.below(4);
    let count = 1 + random.below(4);
    (0..count)
        .flat_map(|_| match kind {
            0 => flip(original, random),
            1 => splice(original, others, random),
            2 => lie(original, random),
            _ => truncate(original, random),
        })
        .collect()
}

fn below(random: &mut Random, limit: usize) -> usize {
    random.below(limit as u64) as usize
}

/// A bit, a byte, or some bytes of zero or ones.
fn flip(original: &Original, random: &mut Random) -> Vec<Edit> {
    let bytes = &original.bytes;
    let at = below(random, bytes.len());
    let end = (at + 1 + below(random, 8)).min(bytes.len());
    let (range, into) = match random.below(4) {
        0 => (at..at + 1, vec![bytes[at] ^ (1 << random.below(8))]),
        1 => (at..at + 1, random.bytes(1)),
        2 => (at..end, vec![0; end - at]),
        _ => (at..end, vec![0xff; end - at]),
    };
    vec![Edit { range, into }]
}

/// Something that does not belong there, something left out, or something again, at record boundaries or within.
fn splice(original: &Original, others: &[Original], random: &mut Random) -> Vec<Edit> {
    let place = |random: &mut Random| {
        if random.below(2) == 0 {
            original.units[below(random, original.units.len())].start
        } else {
            below(random, original.bytes.len() + 1)
        }
    };
    let part = |bytes: &[u8], random: &mut Random| {
        let from = below(random, bytes.len());
        bytes[from..(from + below(random, 3000)).min(bytes.len())].to_vec()
    };
    let at = place(random);
    let until = place(random);
    let edit = match random.below(8) {
        0 => {
            let length = below(random, 40);
            Edit { range: at..at, into: random.bytes(length) }
        }
        1 => Edit { range: at..at, into: vec![0; below(random, 5000)] },
        2 => Edit { range: at..at, into: b"IEE389I SMF: text that has no place in a dump\r\n".repeat(3) },
        3 => Edit { range: at..at, into: part(&others[below(random, others.len())].bytes, random) },
        4 => Edit { range: at..at, into: part(&original.bytes, random) },
        5 => Edit { range: at.min(until)..at.max(until), into: Vec::new() },
        6 => {
            // The rest of another dump, as when files are joined in the middle.
            let other = &others[below(random, others.len())];
            let from = other.units[below(random, other.units.len())].start;
            Edit { range: at..original.bytes.len(), into: other.bytes[from..].to_vec() }
        }
        _ => {
            let length = below(random, 300);
            Edit { range: at..(at + length).min(original.bytes.len()), into: random.bytes(length) }
        }
    };
    vec![edit]
}

/// A descriptor word, triplet or other number of a record that is not true.
fn lie(original: &Original, random: &mut Random) -> Vec<Edit> {
    let number = below(random, original.units.len());
    let unit = &original.units[number];
    let length = unit.end - unit.start;
    let (at, width) = match random.below(6) {
        0 | 1 => (unit.start, 2),
        2 => (unit.start + 2, 2),
        3 => {
            let at = unit.start + 28 + 8 * below(random, 12);
            [(at, 4), (at + 4, 2), (at + 6, 2)][below(random, 3)]
        }
        4 => (unit.start + 24 + 2 * below(random, 100), 2),
        _ => (unit.start.saturating_sub(4), 4),
    };
    let after = |count: usize| original.units.get(number + count).map_or(length, |other: &Unit| other.end - unit.start);
    let true_number = original.bytes[unit.start..].iter().take(2).fold(0, |sum, &byte| sum << 8 | usize::from(byte));
    let values = [
        0,
        1,
        4,
        17,
        18,
        length - 1,
        length + 1,
        length / 2,
        after(1),
        after(2),
        after(1).saturating_sub(1),
        true_number + 4,
        0x7fff,
        0x8000,
        0xffff,
        below(random, 1 << 16),
    ];
    let value = values[below(random, values.len())] as u64;
    if at + width > original.bytes.len() {
        return Vec::new();
    }
    vec![Edit { range: at..at + width, into: value.to_be_bytes()[8 - width..].to_vec() }]
}

/// The end, or the beginning, is missing.
fn truncate(original: &Original, random: &mut Random) -> Vec<Edit> {
    let size = original.bytes.len();
    let near = |random: &mut Random| {
        let unit = &original.units[below(random, original.units.len())];
        (unit.start + below(random, 24)).min(size)
    };
    let at = if random.below(2) == 0 { near(random) } else { below(random, size) };
    match random.below(4) {
        0 => vec![Edit { range: 0..at, into: Vec::new() }],
        1 => vec![Edit { range: at..size, into: vec![0; below(random, 4096)] }],
        _ => vec![Edit { range: at..size, into: Vec::new() }],
    }
}
