//! Entries that other entries point at: written behind all sections, the pointers filled in.

use crate::layout::Place;

use super::error::EncodeError;

/// Rows of a section that another section's rows point at.
#[derive(Debug)]
pub(crate) struct Linked {
    /// The section's row in the record map.
    pub part: usize,
    pub name: String,
    pub place: Place,
    /// Bytes of an entry.
    pub length: usize,
    pub bytes: Vec<u8>,
    /// Which of the pointing entries each belongs to, from 0; not used for lists, whose entries follow each other.
    pub numbers: Vec<usize>,
}

/// Appends linked entries to the record that begins at `start` of `data`. `entries` holds, by row of the record map,
/// where in the record the entries written so far are.
pub(crate) fn append(
    linked: &[Linked],
    entries: &mut Vec<(usize, Vec<usize>)>,
    start: usize,
    data: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    for one in linked {
        let Place::Entry { parent, offset, length: (holder, length_at), next } = one.place else { continue };
        let of = |part: usize| entries.iter().find(|(other, _)| *other == part).map(|(_, at)| at.clone());
        let wrong = |what: String, remedy: &str| EncodeError::table(&one.name, what, remedy);
        let (Some(parents), Some(holders)) = (of(parent), of(holder)) else {
            return Err(wrong("nothing points at its rows".into(), "give a row of the section that points"));
        };
        let mut places = Vec::new();
        for (row, bytes) in one.bytes.chunks_exact(one.length).enumerate() {
            let at = data.len() - start;
            data.extend_from_slice(bytes);
            let from = match (next, places.last()) {
                (Some(next), Some(&before)) => Some(before + next),
                (Some(_), None) => parents.first().map(|at| at + offset),
                (None, _) => parents.get(one.numbers[row]).map(|at| at + offset),
            };
            let Some(from) = from else {
                let what = format!("section_no {} of {} entries that point", one.numbers[row] + 1, parents.len());
                return Err(wrong(what, "number its rows as those of the section that points"));
            };
            put(data, start + from, &(at as u32).to_be_bytes());
            places.push(at);
        }
        for at in holders {
            put(data, start + at + length_at, &(one.length as u16).to_be_bytes());
        }
        entries.push((one.part, places));
    }
    Ok(())
}

fn put(data: &mut [u8], at: usize, bytes: &[u8]) {
    // An entry shorter than its layout has no place for the pointer.
    if let Some(place) = data.get_mut(at..at + bytes.len()) {
        place.copy_from_slice(bytes);
    }
}
