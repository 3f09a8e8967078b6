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
        let Place::Entry { parent, offset, length: (holder, length_at), next, count, relative } = one.place else {
            continue;
        };
        let of = |part: usize| entries.iter().find(|(other, _)| *other == part).map(|(_, at)| at.clone());
        let wrong = |what: String, remedy: &str| EncodeError::table(&one.name, what, remedy);
        let (Some(parents), Some(holders)) = (of(parent), of(holder)) else {
            return Err(wrong("nothing points at its rows".into(), "give a row of the section that points"));
        };
        if let Some(count) = count {
            let places = deal(one, &parents, (offset, count, relative), start, data)?;
            for at in holders {
                put(data, start + at + length_at, &(one.length as u16).to_be_bytes());
            }
            entries.push((one.part, places));
            continue;
        }
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

/// Writes entries that follow each other behind the entries that point at them: as many to each as its count says, all
/// to the first where none says so. Gives the places of the entries.
fn deal(
    one: &Linked,
    parents: &[usize],
    (offset, count, relative): (usize, usize, bool),
    start: usize,
    data: &mut Vec<u8>,
) -> Result<Vec<usize>, EncodeError> {
    let rows = one.bytes.len() / one.length.max(1);
    let said = |at: &usize| {
        let bytes = data.get(start + at + count..start + at + count + 2);
        bytes.map_or(0, |bytes| usize::from(bytes[0]) << 8 | usize::from(bytes[1]))
    };
    let mut counts: Vec<usize> = parents.iter().map(said).collect();
    if counts.iter().all(|&count| count == 0)
        && let Some(first) = counts.first_mut()
    {
        *first = rows;
    }
    let total: usize = counts.iter().sum();
    if total != rows || counts.iter().any(|&count| count > usize::from(u16::MAX)) {
        let what = format!("{rows} rows, and {total} in the counts of the entries that point at them");
        return Err(EncodeError::table(&one.name, what, "give as many rows as the counts add up to, or no counts"));
    }
    let mut left = one.bytes.as_slice();
    let mut places = Vec::with_capacity(rows);
    for (&parent, &number) in parents.iter().zip(&counts) {
        let (own, rest) = left.split_at(number * one.length);
        left = rest;
        let at = if number == 0 { 0 } else { data.len() - start };
        data.extend_from_slice(own);
        let offset_of = if relative && number != 0 { at - parent } else { at };
        put(data, start + parent + offset, &(offset_of as u32).to_be_bytes());
        put(data, start + parent + count, &(number as u16).to_be_bytes());
        places.extend((0..number).map(|entry| at + entry * one.length));
    }
    Ok(places)
}

fn put(data: &mut [u8], at: usize, bytes: &[u8]) {
    // An entry shorter than its layout has no place for the pointer.
    if let Some(place) = data.get_mut(at..at + bytes.len()) {
        place.copy_from_slice(bytes);
    }
}
