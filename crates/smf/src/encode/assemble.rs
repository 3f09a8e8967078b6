//! Filled sections into the bytes of one record, or of several when they are too long for one.

use crate::forms::ebcdic;
use crate::layout::{ArrayRule, Identity, Rule};

use super::error::EncodeError;
use super::linked::{Linked, append};
use super::options::{EncodedRecords, Oversize};
use super::placed::{self, Placed};
use super::record::RecordEncoder;
use super::table::Table;

/// Longest record that SMF takes, its descriptor word included.
pub const LONGEST: usize = 32_756;
/// SMF7xRAO, SMF7xRAL and SMF7xRAN in the RMF product section.
const AREA_OFFSET: usize = 68;
/// Bytes of a reassembly area before its blocks, and of a block.
const AREA_HEADER: usize = 16;
const AREA_BLOCK: usize = 4;

/// Where a triplet stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Slot {
    /// So many bytes from the start of the record.
    Header(usize),
    /// So many bytes from the start of the product section.
    Product(usize),
}

/// Entries behind one triplet.
#[derive(Debug)]
pub(crate) struct Content {
    slot: Slot,
    /// The section's row in the record map.
    part: Option<usize>,
    /// Bytes of an entry; each is preceded by its length when varying.
    pub length: usize,
    count: usize,
    varying: bool,
    /// Length and count as the triplet shall say, where they are not those of the entries.
    said: Option<(usize, usize)>,
    /// Whether every record has it that the entries of others are spread over.
    always: bool,
    pub bytes: Vec<u8>,
}

impl Content {
    fn new(slot: Slot, part: Option<usize>) -> Self {
        Self { slot, part, length: 0, count: 0, varying: false, said: None, always: false, bytes: Vec::new() }
    }

    /// Entries one after the other.
    pub fn entries(slot: Slot, part: usize, table: &Table<'_>, (from, to): (usize, usize)) -> Self {
        let bytes = table.entries.slice(from, to).to_vec();
        Self { length: table.entries.length, count: to - from, bytes, ..Self::new(slot, Some(part)) }
    }

    /// Entries each after its u16 length.
    pub fn varying(slot: Slot, part: usize, table: &Table<'_>, (from, to): (usize, usize)) -> Self {
        let length = table.entries.length;
        let mut bytes = Vec::with_capacity((length + 2) * (to - from));
        for row in from..to {
            bytes.extend((length as u16).to_be_bytes());
            bytes.extend(table.entries.slice(row, row + 1));
        }
        Self { length, count: to - from, varying: true, bytes, ..Self::new(slot, Some(part)) }
    }

    /// Texts each after its u8 length, without blanks at the end.
    pub fn counted(slot: Slot, part: usize, table: &Table<'_>, (from, to): (usize, usize)) -> Self {
        let mut bytes = Vec::new();
        for row in from..to {
            let text = ebcdic::trim(table.entries.slice(row, row + 1));
            let text = &text[..text.len().min(255)];
            bytes.push(text.len() as u8);
            bytes.extend_from_slice(text);
        }
        Self { said: Some((bytes.len(), to - from)), ..Self::blob(slot, bytes) }.of(part)
    }

    /// Connectors of CICS monitoring data.
    pub fn connectors(slot: Slot, connectors: &[u16]) -> Self {
        let bytes = connectors.iter().flat_map(|connector| connector.to_be_bytes()).collect();
        Self { length: 2, count: connectors.len(), always: true, bytes, ..Self::new(slot, None) }
    }

    /// Bytes that are not divided.
    pub fn blob(slot: Slot, bytes: Vec<u8>) -> Self {
        Self { length: bytes.len(), count: 1, bytes, ..Self::new(slot, None) }
    }

    fn of(self, part: usize) -> Self {
        Self { part: Some(part), ..self }
    }

    fn stride(&self) -> usize {
        self.length + if self.varying { 2 } else { 0 }
    }
}

/// All sections of one record.
#[derive(Debug, Default)]
pub(crate) struct Filled {
    /// Offset of its triplet, and the product section.
    pub product: Option<(usize, Vec<u8>)>,
    pub contents: Vec<Content>,
    pub linked: Vec<Linked>,
    pub placed: Vec<Placed>,
}

impl Filled {
    /// Puts the elements of an array into the entries behind a triplet, which are made longer and more as needed.
    pub fn elements(
        &mut self,
        slot: Slot,
        (name, array): (&str, ArrayRule),
        parent: Option<usize>,
        (table, from, to): (&Table<'_>, usize, usize),
    ) -> Result<(), EncodeError> {
        let (offset, length) = (usize::from(array.offset), usize::from(array.length));
        let number = |row: usize| table.section_no(row).unwrap_or(row - from + 1) - 1;
        let most = (from..to).map(number).max().map_or(0, |number| number + 1);
        if most > usize::from(u16::MAX) {
            return Err(EncodeError::column(
                name,
                "section_no",
                format!("element {most} of an array"),
                "a record holds at most 65535: number the elements of each record from 1",
            ));
        }
        let known = self.contents.iter_mut().position(|content| content.slot == slot);
        let index = known.unwrap_or_else(|| {
            let length = parent.unwrap_or(0);
            self.contents.push(Content { length, ..Content::new(slot, None) });
            self.contents.len() - 1
        });
        let content = &mut self.contents[index];
        // Without a number of elements the array ends with the entry: as long as the one entry needs.
        let per_entry = match array.count {
            Some(count) => usize::from(count),
            None if content.count > 1 => content.length.saturating_sub(offset) / length,
            None => most.max(content.length.saturating_sub(offset) / length),
        };
        if per_entry == 0 {
            return Err(EncodeError::table(name, "the entries have no room for the array", "give a longer length"));
        }
        let entries = most.div_ceil(per_entry).max(content.count);
        content.resize(offset + per_entry * length, entries);
        for row in from..to {
            let (entry, element) = (number(row) / per_entry, number(row) % per_entry);
            let start = entry * content.length + offset + element * length;
            content.bytes[start..start + length].copy_from_slice(table.entries.slice(row, row + 1));
        }
        Ok(())
    }
}

impl Content {
    fn resize(&mut self, length: usize, count: usize) {
        if length > self.length {
            let mut bytes = vec![0; length * self.count];
            for (entry, longer) in self.bytes.chunks_exact(self.length.max(1)).zip(bytes.chunks_exact_mut(length)) {
                longer[..entry.len()].copy_from_slice(entry);
            }
            self.length = length;
            self.bytes = bytes;
        }
        self.bytes.resize(self.length * count, 0);
        self.count = count;
    }
}

/// One record being put together.
pub(crate) struct Assembly<'a> {
    pub encoder: &'a RecordEncoder,
    pub header: Vec<u8>,
    pub filled: &'a Filled,
    /// Offsets of all triplets of the header.
    pub triplets: &'a [usize],
}

/// The entries of each content that go into one record: first and the one after the last.
type Share = Vec<(usize, usize)>;

impl Assembly<'_> {
    /// Appends the record, or the records it is split into.
    pub fn write(&self, out: &mut EncodedRecords) -> Result<(), EncodeError> {
        let contents = &self.filled.contents;
        let whole: Share = contents.iter().map(|content| (0, content.count)).collect();
        let shares = if self.size(&whole) <= LONGEST { vec![whole] } else { self.split()? };
        let parts = shares.len();
        for (number, share) in shares.iter().enumerate() {
            self.write_one(share, (parts > 1).then_some((number, parts)), out)?;
        }
        Ok(())
    }

    fn fixed(&self) -> usize {
        let product = self.filled.product.as_ref().map_or(0, |(_, bytes)| bytes.len());
        self.header.len() + product
    }

    fn size(&self, share: &Share) -> usize {
        let sections =
            share.iter().zip(&self.filled.contents).map(|(&(from, to), content)| (to - from) * content.stride());
        let linked = self.filled.linked.iter().map(|linked| linked.bytes.len());
        let placed = self.filled.placed.iter().map(|placed| placed.bytes.len());
        self.fixed() + sections.sum::<usize>() + linked.sum::<usize>() + placed.sum::<usize>()
    }

    fn area(&self) -> usize {
        AREA_HEADER + AREA_BLOCK * self.triplets.len()
    }

    fn too_long(&self) -> EncodeError {
        let whole = self.filled.contents.iter().map(|content| (0, content.count)).collect();
        EncodeError::table(
            &self.encoder.map.name,
            format!("the record would have {} bytes", self.size(&whole)),
            format!("SMF takes {LONGEST}: give fewer rows, or choose how to split it"),
        )
    }

    /// Divides entries so that every record fits.
    fn split(&self) -> Result<Vec<Share>, EncodeError> {
        let map = &self.encoder.map;
        let contents = &self.filled.contents;
        let parts = match self.encoder.options.oversize {
            _ if !(self.filled.linked.is_empty() && self.filled.placed.is_empty()) => return Err(self.too_long()),
            Oversize::Refuse => return Err(self.too_long()),
            Oversize::Spread => false,
            Oversize::RmfParts => true,
        };
        let product = self.filled.product.as_ref().map_or(0, |(_, bytes)| bytes.len());
        if parts && (map.identity != Identity::Rmf || product < AREA_OFFSET + 8) {
            return Err(EncodeError::table(
                &map.name,
                "only RMF records with a product section of 76 bytes can be split in parts",
                "choose several records instead",
            ));
        }
        if let Some(many) = contents.iter().find(|content| content.count > usize::from(u16::MAX)) {
            return Err(EncodeError::table(
                &map.name,
                format!("{} entries of one kind in a record", many.count),
                "a record holds at most 65535: give fewer rows a record",
            ));
        }
        // A part is readable by itself: it repeats the sections that a record has once.
        let repeated = |content: &Content| content.always || (parts && content.count == 1);
        let base: Share =
            contents.iter().map(|content| if repeated(content) { (0, content.count) } else { (0, 0) }).collect();
        let room = LONGEST - if parts { self.area() } else { 0 };
        let mut shares = vec![base.clone()];
        let mut used = self.size(&base);
        for (index, content) in contents.iter().enumerate().filter(|(_, content)| !repeated(content)) {
            for entry in 0..content.count {
                if used + content.stride() > room {
                    used = self.size(&base);
                    shares.push(base.clone());
                }
                used += content.stride();
                if used > room {
                    return Err(EncodeError::table(
                        &map.name,
                        format!("an entry of {} bytes does not fit a record", content.length),
                        format!("header, product section and one entry must stay below {room} bytes"),
                    ));
                }
                if let Some(last) = shares.last_mut() {
                    let from = if last[index].1 == 0 { entry } else { last[index].0 };
                    last[index] = (from, entry + 1);
                }
            }
        }
        Ok(shares)
    }

    fn write_one(
        &self,
        share: &Share,
        part: Option<(usize, usize)>,
        out: &mut EncodedRecords,
    ) -> Result<(), EncodeError> {
        let start = out.data.len();
        out.data.extend_from_slice(&self.header);
        if matches!(self.encoder.map.identity, Identity::Rmf | Identity::Cics | Identity::Smf42) {
            put16(&mut out.data, start + 24, self.triplets.len());
        }
        // The product section of Db2 and MQ comes last, that of the others first.
        let last = matches!(self.encoder.map.identity, Identity::Mq | Identity::Db2);
        let parts = part.filter(|_| self.encoder.options.oversize == Oversize::RmfParts);
        if !last {
            self.write_product(start, parts, share, &mut out.data);
        }
        let product = self.header.len();
        let mut entries: Vec<(usize, Vec<usize>)> = Vec::new();
        for (&(from, to), content) in share.iter().zip(&self.filled.contents) {
            if from == to {
                continue;
            }
            let (length, count) = content.said.unwrap_or((if content.varying { 0 } else { content.length }, to - from));
            let at = match content.slot {
                Slot::Header(at) => start + at,
                Slot::Product(at) => start + product + at,
            };
            self.triplet(&mut out.data, at, start, length, count)?;
            let first = out.data.len() - start;
            let places = (from..to).map(|number| first + (number - from) * content.stride()).collect();
            entries.extend(content.part.map(|part| (part, places)));
            out.data.extend_from_slice(&content.bytes[from * content.stride()..to * content.stride()]);
        }
        append(&self.filled.linked, &mut entries, start, &mut out.data)?;
        placed::append(&self.filled.placed, &self.encoder.map.name, start, &mut out.data)?;
        self.data_section(start, &mut out.data)?;
        if last {
            self.write_product(start, parts, share, &mut out.data);
        }
        let length = out.data.len() - start;
        put16(&mut out.data, start, length);
        out.ends.push(out.data.len());
        Ok(())
    }

    /// CICS monitoring: connectors and data together are the record's data section, whose triplet is in the header.
    fn data_section(&self, start: usize, data: &mut [u8]) -> Result<(), EncodeError> {
        let inner = self.filled.contents.iter().any(|content| matches!(content.slot, Slot::Product(_)));
        let headers = self.encoder.parts.iter().filter(|part| part.rule == Rule::Header);
        let field = headers.filter_map(|part| part.section.field("SMFASS")).next();
        let (Some((_, product)), Some(field)) = (self.filled.product.as_ref().filter(|_| inner), field) else {
            return Ok(());
        };
        let offset = self.header.len() + product.len();
        let length = data.len() - start - offset;
        put32(data, start + field.offset, offset);
        put16(data, start + field.offset + 4, length);
        put16(data, start + field.offset + 6, 1);
        put16(data, start + 24, self.triplets.len() + 1);
        Ok(())
    }

    fn triplet(
        &self,
        data: &mut [u8],
        at: usize,
        start: usize,
        length: usize,
        count: usize,
    ) -> Result<(), EncodeError> {
        let offset = u32::try_from(data.len() - start).unwrap_or(u32::MAX);
        data[at..at + 4].copy_from_slice(&offset.to_be_bytes());
        let (Ok(length), Ok(count)) = (u16::try_from(length), u16::try_from(count)) else {
            return Err(EncodeError::table(
                &self.encoder.map.name,
                format!("{count} entries of {length} bytes"),
                "a triplet holds at most 65535 of either",
            ));
        };
        data[at + 4..at + 6].copy_from_slice(&length.to_be_bytes());
        data[at + 6..at + 8].copy_from_slice(&count.to_be_bytes());
        Ok(())
    }

    fn write_product(&self, start: usize, part: Option<(usize, usize)>, share: &Share, data: &mut Vec<u8>) {
        let Some((at, product)) = &self.filled.product else {
            return;
        };
        let offset = data.len();
        put32(data, start + at, offset - start);
        put16(data, start + at + 4, product.len());
        put16(data, start + at + 6, 1);
        data.extend_from_slice(product);
        let Some((number, parts)) = part else { return };
        put32(data, offset + AREA_OFFSET, product.len());
        put16(data, offset + AREA_OFFSET + 4, self.area() - AREA_BLOCK);
        put16(data, offset + AREA_OFFSET + 6, 1);
        let kinds: Vec<usize> = self.triplets.iter().copied().filter(|kind| kind != at).collect();
        let area = data.len();
        data.resize(area + AREA_HEADER, 0);
        put16(data, area, parts);
        put16(data, area + 2, number + 1);
        put32(data, area + 4, AREA_HEADER);
        put16(data, area + 8, AREA_BLOCK);
        put16(data, area + 10, kinds.len());
        for kind in kinds {
            let content = self.filled.contents.iter().position(|content| content.slot == Slot::Header(kind));
            let (total, first) = content.map_or((0, 0), |index| {
                let (from, to) = share[index];
                (self.filled.contents[index].count, if from == to { 0 } else { from + 1 })
            });
            data.extend((total as u16).to_be_bytes());
            data.extend((first as u16).to_be_bytes());
        }
    }
}

/// Writes a number that is known to fit 16 bits.
fn put16(data: &mut [u8], at: usize, number: usize) {
    data[at..at + 2].copy_from_slice(&u16::try_from(number).unwrap_or(u16::MAX).to_be_bytes());
}

/// Writes a number that is known to fit 32 bits.
fn put32(data: &mut [u8], at: usize, number: usize) {
    data[at..at + 4].copy_from_slice(&u32::try_from(number).unwrap_or(u32::MAX).to_be_bytes());
}
