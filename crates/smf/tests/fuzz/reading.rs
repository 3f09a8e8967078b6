//! Intact records of a damaged copy that the reader did not give.

use super::accounts::Found;
use super::dumps::Original;
use super::edits::Copy;

/// Whether no intact record ends where this one begins, or begins where it ends; a block descriptor word may lie between.
fn is_alone(original: &Original, copy: &Copy, number: usize, at: u64) -> bool {
    let length = |number: usize| (original.units[number].end - original.units[number].start) as u64;
    let end = at + length(number);
    !copy.intact.iter().any(|&(other, start)| {
        (end..=end + 4).contains(&start) || (start + length(other)..=start + length(other) + 4).contains(&at)
    })
}

/// Records that were lost.
pub enum Lost {
    /// Damage stands on both sides: what is data of a record and what is the next one cannot always be told.
    Alone,
    /// Others, and what the reader said instead.
    Beside(String),
}

/// Records that no edit touched and that the reader did not give as they are.
pub fn lost(original: &Original, copy: &Copy, found: &Found) -> Option<Lost> {
    let missing = copy.intact.iter().filter(|(number, at)| found.contents.get(at) != Some(&original.contents[*number]));
    let missing: Vec<(usize, u64)> = missing.copied().collect();
    let &(_, first) = missing.first()?;
    let beside = match &found.refused {
        // What begins with a header, as its descriptor word was cut off, and has few other records, passes for a dump
        // without descriptor words; the refusal names them.
        Some(text) if text.contains("record descriptor words are lost") => return Some(Lost::Alone),
        None if found.damage == 0 => "without damage".to_owned(),
        // So it is where a copy has no other records: then it is refused.
        _ if missing.iter().all(|&(number, at)| is_alone(original, copy, number, at)) => return Some(Lost::Alone),
        Some(text) => format!("refused: {text}"),
        None => format!("beside {} places of damage", found.damage),
    };
    let (count, all) = (missing.len(), copy.intact.len());
    Some(Lost::Beside(format!("{count} of {all} intact records lost, the first at {first}, {beside}")))
}
