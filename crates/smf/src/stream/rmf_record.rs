//! The self-defining structure of an RMF record (types 70 to 79), as far as joining needs it.
//!
//! Positions are those of `layouts/rmf_header_triplets.csv`, `rmf_product_section.csv`,
//! `rmf_reassembly_header.csv` and `rmf_reassembly_block.csv`; a test holds them to those files.

use super::header::{SYSTEM, TYPE, be16, be32};
use std::ops::{Range, RangeInclusive};

/// Record types that RMF writes.
pub(super) const RMF_TYPES: RangeInclusive<u8> = 70..=79;
/// SMF7xSTY in the header.
pub(super) const SUBTYPE: usize = 22;
/// SMF7xTRN in the header.
pub(super) const TRIPLET_COUNT: usize = 24;
/// SMF7xPRS in the header: the product section's triplet, which the other triplets follow.
pub(super) const TRIPLETS: usize = 28;
/// Bytes of a triplet: u32 offset from the start of the record, u16 length of an entry, u16 count.
pub(super) const TRIPLET: usize = 8;
/// SMF7xIST, SMF7xDAT and SMF7xINT in the product section, which follow each other.
pub(super) const INTERVAL: Range<usize> = 10..22;
/// SMF7xRAO in the product section.
pub(super) const AREA_OFFSET: usize = 68;
/// SMF7xRAL in the product section.
pub(super) const AREA_LENGTH: usize = 72;
/// SMF7xRAN in the product section.
pub(super) const AREA_COUNT: usize = 74;
/// SMF7xRBR in the reassembly header.
pub(super) const PARTS: usize = 0;
/// SMF7xRSQ in the reassembly header.
pub(super) const SEQUENCE: usize = 2;
/// SMF7xRIO in the reassembly header.
pub(super) const BLOCK_OFFSET: usize = 4;
/// SMF7xRIL in the reassembly header.
pub(super) const BLOCK_LENGTH: usize = 8;
/// SMF7xRIN in the reassembly header.
pub(super) const BLOCK_COUNT: usize = 10;
/// Bytes of the reassembly header that are used; four reserved ones follow.
const AREA_HEADER: usize = 12;
/// SMF7xRNN in a reassembly block.
pub(super) const BLOCK_TOTAL: usize = 0;
/// SMF7xRPP in a reassembly block.
pub(super) const BLOCK_POSITION: usize = 2;
/// Bytes of a reassembly block.
const BLOCK: usize = 4;

/// Entries of one kind in a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Triplet {
    offset: usize,
    length: usize,
    count: usize,
}

impl Triplet {
    fn is_empty(&self) -> bool {
        self.offset == 0 || self.length == 0 || self.count == 0
    }

    fn bytes(&self) -> Range<usize> {
        if self.is_empty() { 0..0 } else { self.offset..self.offset + self.length * self.count }
    }
}

/// How many entries of a kind the record had before it was split, and which of them stand here first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Block {
    total: usize,
    position: usize,
}

/// The entries of one kind that one part brings: the part, the position of the first entry, and the triplet.
type Piece = (usize, usize, Triplet);

/// Whether `record` says of itself that it is part of a record that RMF split.
pub(super) fn is_broken(record: &[u8]) -> bool {
    if !RMF_TYPES.contains(&record[TYPE]) || record.len() < TRIPLETS + TRIPLET {
        return false;
    }
    let product = be32(record, TRIPLETS) as usize;
    let length = usize::from(be16(record, TRIPLETS + 4));
    product != 0
        && length >= AREA_COUNT + 2
        && product.checked_add(length).is_some_and(|end| end <= record.len())
        && be16(record, product + AREA_COUNT) == 1
}

/// One part of a broken record, taken apart.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub bytes: Vec<u8>,
    /// SMF7xRBR: of how many parts the record consists.
    pub parts: u16,
    /// SMF7xRSQ: which of them this is.
    pub sequence: u16,
    triplets: Vec<Triplet>,
    blocks: Vec<Block>,
}

/// What parts of one record have in common.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Identity(Vec<u8>);

impl Part {
    /// Takes a part apart; what is wrong with it otherwise.
    pub(super) fn new(bytes: Vec<u8>) -> Result<Self, (Vec<u8>, String)> {
        match structure(&bytes) {
            Ok((parts, sequence, triplets, blocks)) => Ok(Self { bytes, parts, sequence, triplets, blocks }),
            Err(why) => Err((bytes, why)),
        }
    }

    /// System, type, subtype, interval (start, date, length), number of parts and of entries of each kind.
    pub(super) fn identity(&self) -> Identity {
        let product = self.triplets[0].offset;
        let mut key = self.bytes[SYSTEM..SYSTEM + 4].to_vec();
        key.push(self.bytes[TYPE]);
        key.extend_from_slice(&self.bytes[SUBTYPE..SUBTYPE + 2]);
        key.extend_from_slice(&self.bytes[product + INTERVAL.start..product + INTERVAL.end]);
        key.extend_from_slice(&self.parts.to_be_bytes());
        for block in &self.blocks {
            key.extend_from_slice(&(block.total as u64).to_be_bytes());
        }
        Identity(key)
    }

    /// Record type and subtype, as they are usually written.
    pub(super) fn kind(&self) -> String {
        format!("{}.{}", self.bytes[TYPE], be16(&self.bytes, SUBTYPE))
    }
}

type Structure = (u16, u16, Vec<Triplet>, Vec<Block>);

fn structure(record: &[u8]) -> Result<Structure, String> {
    let count = usize::from(be16(record, TRIPLET_COUNT)).max(1);
    let table = TRIPLETS + TRIPLET * count;
    if table > record.len() {
        return Err(format!("{count} triplets do not fit into {} bytes", record.len()));
    }
    let mut triplets = Vec::with_capacity(count);
    for at in (TRIPLETS..table).step_by(TRIPLET) {
        let triplet = Triplet {
            offset: be32(record, at) as usize,
            length: usize::from(be16(record, at + 4)),
            count: usize::from(be16(record, at + 6)),
        };
        if !triplet.is_empty() {
            let end = triplet.offset.checked_add(triplet.length * triplet.count);
            if triplet.offset < table || end.is_none_or(|end| end > record.len()) {
                return Err(format!(
                    "the triplet at byte {at} says {} entries of {} bytes at {}; the record has {} bytes",
                    triplet.count,
                    triplet.length,
                    triplet.offset,
                    record.len()
                ));
            }
        }
        triplets.push(triplet);
    }
    let product = triplets[0];
    if product.is_empty() || product.length < AREA_COUNT + 2 {
        return Err("the product section is missing or too short".to_owned());
    }
    let offset = be32(record, product.offset + AREA_OFFSET) as usize;
    let length = usize::from(be16(record, product.offset + AREA_LENGTH));
    let area = product.offset.checked_add(offset).filter(|area| area + length <= record.len());
    let Some(area) = area.filter(|_| length >= AREA_HEADER) else {
        return Err(format!("a reassembly area of {length} bytes at {offset} does not lie in the record"));
    };
    let parts = be16(record, area + PARTS);
    let sequence = be16(record, area + SEQUENCE);
    if parts == 0 || sequence > parts {
        return Err(format!("the reassembly area says part {sequence} of {parts}"));
    }
    let blocks = blocks(record, product.offset, area..area + length)?;
    Ok((parts, sequence, triplets, blocks))
}

fn blocks(record: &[u8], product: usize, area: Range<usize>) -> Result<Vec<Block>, String> {
    let offset = be32(record, area.start + BLOCK_OFFSET) as usize;
    let length = usize::from(be16(record, area.start + BLOCK_LENGTH));
    let count = usize::from(be16(record, area.start + BLOCK_COUNT));
    if count == 0 || length < BLOCK {
        return Err(format!("the reassembly area says {count} blocks of {length} bytes"));
    }
    // The documentation does not say from where the offset counts: the reading that stays within the area is right.
    let first = [area.start, product, 0].into_iter().filter_map(|base| base.checked_add(offset)).find(|&first| {
        first >= area.start + AREA_HEADER && first.checked_add(length * count).is_some_and(|end| end <= area.end)
    });
    let Some(first) = first else {
        return Err(format!("{count} reassembly blocks of {length} bytes at {offset} do not lie in their area"));
    };
    let blocks = (0..count).map(|number| {
        let at = first + number * length;
        Block {
            total: usize::from(be16(record, at + BLOCK_TOTAL)),
            position: usize::from(be16(record, at + BLOCK_POSITION)),
        }
    });
    Ok(blocks.collect())
}

/// Joins parts, in sequence order, into the record that RMF split.
///
/// Header and product section are those of the first part. Entries of each kind are put in the order of their
/// positions in the original; what every part repeats (a control section) is taken once.
pub(super) fn join(parts: &[Part], limit: usize) -> Result<Vec<u8>, String> {
    let count = parts[0].triplets.len();
    if parts.iter().any(|part| part.triplets.len() != count) {
        return Err("the parts differ in the number of their triplets".to_owned());
    }
    let blocks = parts[0].blocks.len();
    // Blocks are there for each triplet, the product section's included or not. Where their number does not say
    // which, the reading under which the entries are complete is right.
    let readings: &[usize] = if blocks == count {
        &[0]
    } else if blocks + 1 == count {
        &[1]
    } else {
        &[1, 0]
    };
    let mut why = String::new();
    for &shift in readings {
        match arrange(parts, shift) {
            Ok(pieces) => return assemble(parts, &pieces, limit),
            Err(reason) if why.is_empty() => why = reason,
            Err(_) => {}
        }
    }
    Err(why)
}

/// For each triplet behind the product section, the pieces that make up the original, in order.
fn arrange(parts: &[Part], shift: usize) -> Result<Vec<Vec<Piece>>, String> {
    (1..parts[0].triplets.len())
        .map(|index| {
            let block = |part: &Part| index.checked_sub(shift).and_then(|at| part.blocks.get(at)).copied();
            let mut pieces: Vec<Piece> = Vec::new();
            let mut total = None;
            for (number, part) in parts.iter().enumerate() {
                let triplet = part.triplets[index];
                let block = block(part);
                total = total.or(block.map(|block| block.total));
                if !triplet.is_empty() {
                    pieces.push((number, block.map_or(0, |block| block.position), triplet));
                }
            }
            if pieces.iter().any(|(_, _, triplet)| triplet.length != pieces[0].2.length) {
                return Err(format!("the parts differ in the length of the entries of triplet {}", index + 1));
            }
            pieces.sort_by_key(|&(number, position, _)| (position, number));
            // What several parts repeat in full, or in part at the same position, is taken once.
            pieces.dedup_by_key(|&mut (_, position, triplet)| (position, triplet.count));
            if let Some(&all) = pieces.iter().find(|(_, _, triplet)| Some(triplet.count) == total) {
                return Ok(vec![all]);
            }
            let Some(&(_, base, _)) = pieces.first() else {
                return match total {
                    None | Some(0) => Ok(pieces),
                    Some(total) => Err(format!("none of {total} entries of triplet {} is there", index + 1)),
                };
            };
            let mut next = base;
            for &(_, position, triplet) in &pieces {
                if position != next {
                    return Err(format!("entry {next} of triplet {} is missing or there twice", index + 1));
                }
                next += triplet.count;
            }
            // Positions count from one; from zero is accepted, since the documentation does not say.
            let total = total.unwrap_or(next - base);
            if base > 1 || next - base != total {
                return Err(format!("{} of {total} entries of triplet {} are there", next - base, index + 1));
            }
            Ok(pieces)
        })
        .collect()
}

fn assemble(parts: &[Part], pieces: &[Vec<Piece>], limit: usize) -> Result<Vec<u8>, String> {
    let first = &parts[0];
    let size: usize = pieces.iter().flatten().map(|(_, _, triplet)| triplet.bytes().len()).sum();
    let product = first.triplets[0];
    let header =
        first.triplets.iter().filter(|triplet| !triplet.is_empty()).map(|triplet| triplet.offset).min().unwrap_or(0);
    let length = header + product.bytes().len() + size;
    if length > limit {
        return Err(format!("the joined record would take {length} bytes; the limit is {limit}"));
    }
    let mut out = Vec::with_capacity(length);
    out.extend_from_slice(&first.bytes[..header]);
    out.extend_from_slice(&first.bytes[product.bytes()]);
    set32(&mut out, TRIPLETS, header)?;
    out[header + AREA_COUNT..header + AREA_COUNT + 2].fill(0);
    for (index, pieces) in pieces.iter().enumerate() {
        let at = TRIPLETS + TRIPLET * (index + 1);
        let start = out.len();
        let mut count = 0;
        for &(number, _, triplet) in pieces {
            out.extend_from_slice(&parts[number].bytes[triplet.bytes()]);
            count += triplet.count;
        }
        let Ok(entries) = u16::try_from(count) else {
            return Err(format!("{count} entries of triplet {} exceed its count field", index + 2));
        };
        if let Some((_, _, triplet)) = pieces.first() {
            set32(&mut out, at, start)?;
            set16(&mut out, at + 4, triplet.length)?;
        }
        out[at + 6..at + 8].copy_from_slice(&entries.to_be_bytes());
    }
    let word = u16::try_from(out.len()).unwrap_or(u16::MAX).to_be_bytes();
    out[..4].copy_from_slice(&[word[0], word[1], 0, 0]);
    Ok(out)
}

fn set32(out: &mut [u8], at: usize, value: usize) -> Result<(), String> {
    let value = u32::try_from(value).map_err(|_| format!("offset {value} exceeds its field"))?;
    out[at..at + 4].copy_from_slice(&value.to_be_bytes());
    Ok(())
}

fn set16(out: &mut [u8], at: usize, value: usize) -> Result<(), String> {
    let value = u16::try_from(value).map_err(|_| format!("length {value} exceeds its field"))?;
    out[at..at + 2].copy_from_slice(&value.to_be_bytes());
    Ok(())
}
