//! From a record's triplets to the entries of its sections.
//!
//! Nothing read here is trusted. A triplet is absent when its place in the header lies where the first section
//! already begins (an older record with fewer triplets); its offset, length and count must stay inside the record,
//! behind the triplet itself; and all sections of a record together cannot be longer than the record, which bounds
//! the rows that overlapping triplets could produce.

use crate::layout::{ArrayRule, Catalogue, Identity, RecordMap, Rule};

use super::column::Row;
use super::header::RecordView;
use super::identity::IdentityPlan;
use super::report::{Reason, SectionDamage};

/// What a triplet's entries are used for.
#[derive(Debug, Clone)]
struct Use {
    /// Index of the table plan; `None` when the table is not wanted.
    table: Option<usize>,
    section: String,
    rule: Rule,
    /// Fewest bytes with which an entry is worth a row.
    min_len: usize,
    /// Whether identity is read from the first entry.
    identifies: bool,
}

/// The uses whose tables are wanted, and those that identify the record.
fn wanted(uses: &[Use]) -> Vec<&Use> {
    uses.iter().filter(|one| one.table.is_some() || one.identifies).collect()
}

/// One triplet of a header, with its uses: a Db2 or MQ product section has several.
#[derive(Debug, Clone)]
struct TripletPlan {
    at: usize,
    uses: Vec<Use>,
}

/// A record map compiled for decoding.
#[derive(Debug, Clone)]
pub(crate) struct MapPlan {
    triplets: Vec<TripletPlan>,
    identity: Identity,
    pub keys: IdentityPlan,
}

/// Rows found so far, by table.
#[derive(Debug, Default)]
pub(crate) struct Located {
    pub rows: Vec<Vec<Row>>,
    pub damage: Vec<SectionDamage>,
}

/// Most bytes of a section's own columns for each byte read. An entry much shorter than its layout, as an older
/// release writes it, stays far below this; entries of a few bytes in a wide layout do not.
const EXPANSION: usize = 32;

impl MapPlan {
    /// Compiles a map; `table` gives the index of a wanted table's plan.
    pub fn compile(catalogue: &Catalogue, map: &RecordMap, table: impl Fn(&str) -> Option<usize>) -> Self {
        let mut triplets: Vec<TripletPlan> = Vec::new();
        let mut keys = IdentityPlan::compile(map.identity, None);
        for entry in map.entries.iter().filter(|entry| entry.rule != Rule::Header) {
            let (Some(section), Some(field)) = (catalogue.section(&entry.layout), catalogue.triplet(map, entry)) else {
                continue; // the catalogue refuses such maps
            };
            let identifies = match map.identity {
                Identity::Standard => false,
                Identity::Smf30 => section.field("SMF30ISS").is_some() && section.field("SMF30IET").is_some(),
                Identity::Rmf | Identity::Mq | Identity::Db2 | Identity::Cics => entry.rule == Rule::Product,
            };
            if identifies {
                keys = IdentityPlan::compile(map.identity, Some(section));
            }
            let min_len = (section.fields.len() * 8 / EXPANSION).max(4).min(section.length());
            let one = Use {
                table: table(&entry.layout),
                section: entry.layout.clone(),
                rule: entry.rule,
                min_len,
                identifies,
            };
            match triplets.iter_mut().find(|triplet| triplet.at == field.offset) {
                Some(triplet) => triplet.uses.push(one),
                None => triplets.push(TripletPlan { at: field.offset, uses: vec![one] }),
            }
        }
        triplets.sort_by_key(|triplet| triplet.at);
        Self { triplets, identity: map.identity, keys }
    }

    /// Whether any of its tables is wanted.
    pub fn is_wanted(&self) -> bool {
        self.triplets.iter().any(|triplet| triplet.uses.iter().any(|one| one.table.is_some()))
    }

    /// Layout name of the product section.
    pub fn product(&self) -> Option<&str> {
        let mut uses = self.triplets.iter().flat_map(|triplet| &triplet.uses);
        uses.find(|one| one.rule == Rule::Product).map(|one| one.section.as_str())
    }

    /// Finds the entries of a record, which begins at `base` in the batch's data and becomes number `record` of
    /// those decoded. Returns where the entry is that identifies the record, if it has it.
    pub fn locate(&self, found: &mut Located, record: &RecordPlace<'_>) -> Option<(usize, usize)> {
        let mut pass = Pass { found, record, left: record.view.0.len(), identified: None };
        let mut first_section = record.view.0.len();
        let mut count = self.header_count(record.view);
        for triplet in &self.triplets {
            let index = triplet.at.saturating_sub(28) / 8;
            if count.is_some_and(|count| index > count) {
                break;
            }
            if triplet.at + 8 > first_section {
                if count.is_some_and(|count| index < count) {
                    pass.damage(
                        &wanted(&triplet.uses),
                        Reason::SectionOutsideRecord,
                        format!("a section begins at {first_section}, before its triplet at {} ends", triplet.at),
                    );
                    continue;
                }
                break;
            }
            let read = (record.view.u32(triplet.at), record.view.u16(triplet.at + 4), record.view.u16(triplet.at + 6));
            let (Some(offset), Some(length), Some(number)) = read else {
                break;
            };
            let span = Span { offset: offset as usize, length: usize::from(length), count: usize::from(number) };
            if span.offset == 0 || span.count == 0 {
                continue;
            }
            if span.offset < triplet.at + 8 || span.offset > record.view.0.len() {
                pass.damage(&wanted(&triplet.uses), Reason::SectionOutsideRecord, span.outside(record.view));
                continue;
            }
            first_section = first_section.min(span.offset);
            self.section(&mut pass, &triplet.uses, span);
            if count.is_none() && self.identity == Identity::Db2 {
                count = pass.identified.and_then(|(start, len)| {
                    let product = record.view.0.get(start..start + len)?;
                    product.get(6).map(|&number| usize::from(number)).filter(|&number| number != 0)
                });
            }
        }
        if pass.identified.is_none() {
            self.missing_product(&mut pass);
        }
        pass.identified.map(|(start, len)| (record.base + start, len))
    }

    /// Number of triplets as the header has it. Records differ in whether the product section counts, so
    /// triplets 0..n surely are there and those after n surely are not. Db2 has the number in its product section;
    /// so has MQ, but some of its records count wrongly.
    fn header_count(&self, view: RecordView<'_>) -> Option<usize> {
        match self.identity {
            Identity::Rmf | Identity::Cics => view.u16(24).map(usize::from).filter(|&count| count != 0),
            Identity::Mq | Identity::Db2 | Identity::Smf30 | Identity::Standard => None,
        }
    }

    fn missing_product(&self, pass: &mut Pass<'_, '_>) {
        let Some(product) = self.product() else {
            return;
        };
        let damage = &pass.found.damage;
        let mut damaged = damage.iter().rev().take_while(|damage| damage.record_no == pass.record.record_no);
        if damaged.all(|damage| damage.section != product) {
            pass.damage_one(product, Reason::ProductSectionMissing, "its triplet is empty".into());
        }
    }

    fn section(&self, pass: &mut Pass<'_, '_>, uses: &[Use], span: Span) {
        let chained = matches!(self.identity, Identity::Mq | Identity::Db2);
        let by_chain = |one: &&Use| matches!(one.rule, Rule::Chain(_)) || (chained && one.rule == Rule::Product);
        let (chain, plain): (Vec<&Use>, Vec<&Use>) = wanted(uses).into_iter().partition(by_chain);
        if !chain.is_empty() {
            // A Db2 product section without length is a varying entry: it follows its own u16 length.
            let varying = self.identity == Identity::Db2 && span.length == 0;
            let own = || pass.record.view.u16(span.offset).map_or(0, usize::from);
            let span = if varying { Span { offset: span.offset + 2, length: own(), count: 1 } } else { span };
            pass.chain(&chain, span);
        } else if plain.iter().any(|one| one.rule == Rule::Varying) && span.length == 0 {
            pass.varying(&plain, span);
        } else if !plain.is_empty() {
            pass.entries(&plain, span);
        }
    }
}

/// Whether an element holds anything but zeros. Without an early end the loop is a few vector instructions.
fn is_used(element: &[u8]) -> bool {
    element.iter().fold(0, |bits, byte| bits | byte) != 0
}

/// A record and where it lies.
pub(crate) struct RecordPlace<'a> {
    pub view: RecordView<'a>,
    /// Where the record begins in the batch's data.
    pub base: usize,
    /// Index among the records decoded of the batch.
    pub record: u32,
    /// Number of the record in its file.
    pub record_no: u64,
    /// Byte offset of the record in its file.
    pub offset: u64,
}

/// A triplet's three numbers.
#[derive(Debug, Clone, Copy)]
struct Span {
    offset: usize,
    length: usize,
    count: usize,
}

impl Span {
    /// Bytes of all entries: at most 65535 * 65535.
    fn bytes(self) -> usize {
        self.length * self.count
    }

    fn outside(self, view: RecordView<'_>) -> String {
        let Self { offset, length, count } = self;
        format!("offset {offset}, length {length}, count {count} in a record of {} bytes", view.0.len())
    }
}

/// The work on one record.
struct Pass<'a, 'b> {
    found: &'a mut Located,
    record: &'a RecordPlace<'b>,
    /// Bytes that sections may still take before some must overlap.
    left: usize,
    /// Entry that identifies the record: start and length.
    identified: Option<(usize, usize)>,
}

impl Pass<'_, '_> {
    fn damage_one(&mut self, section: &str, reason: Reason, detail: String) {
        self.found.damage.push(SectionDamage {
            record_no: self.record.record_no,
            offset: self.record.offset,
            section: section.into(),
            reason,
            detail,
        });
    }

    fn damage<'u>(&mut self, uses: impl IntoIterator<Item = &'u &'u Use>, reason: Reason, detail: String) {
        for one in uses {
            self.damage_one(&one.section, reason, detail.clone());
        }
    }

    /// Takes an entry, whose place in the record has been checked, for a use.
    fn take(&mut self, one: &Use, start: usize, len: usize) {
        if one.identifies && self.identified.is_none() {
            self.identified = Some((start, len));
        }
        let Some(table) = one.table else { return };
        let last = self.found.rows[table].last().filter(|row| row.record == self.record.record);
        let number = last.map_or(0, |row| row.section_no as usize);
        self.push(table, start, len, number);
    }

    /// Adds a row; `number` counts the entries of the record before it.
    fn push(&mut self, table: usize, start: usize, len: usize, number: usize) {
        let start = self.record.base + start;
        let section_no = u32::try_from(number + 1).unwrap_or(u32::MAX);
        self.found.rows[table].push(Row { start, len: len as u32, section_no, record: self.record.record });
    }

    /// Whether the record has that many bytes left for sections that do not overlap.
    fn afford(&mut self, uses: &[&Use], span: Span, bytes: usize) -> bool {
        let affordable = bytes <= self.left;
        if affordable {
            self.left -= bytes;
        } else {
            self.damage(uses, Reason::SectionsOverlap, span.outside(self.record.view));
        }
        affordable
    }

    /// Entries one after the other, each of the triplet's length.
    fn entries(&mut self, uses: &[&Use], span: Span) {
        if span.bytes() > self.record.view.0.len() - span.offset {
            return self.damage(uses, Reason::SectionOutsideRecord, span.outside(self.record.view));
        }
        if !self.afford(uses, span, span.bytes()) {
            return;
        }
        for one in uses {
            if let Rule::Array(array) = one.rule {
                self.elements(one, array, span);
            } else if span.length < one.min_len {
                let detail = format!("entries of {} bytes, at least {} expected", span.length, one.min_len);
                self.damage_one(&one.section, Reason::SectionTooShort, detail);
            } else {
                for number in 0..span.count {
                    self.take(one, span.offset + number * span.length, span.length);
                }
            }
        }
    }

    /// Elements of an array in each entry. Those of binary zeros are unused.
    fn elements(&mut self, one: &Use, array: ArrayRule, span: Span) {
        let elements = array.elements(span.length);
        let length = usize::from(array.length);
        let Some(table) = one.table else { return };
        for entry in 0..span.count {
            let first = span.offset + entry * span.length + usize::from(array.offset);
            for element in 0..elements {
                let start = first + element * length;
                let used = self.record.view.0.get(start..start + length).is_some_and(is_used);
                if used {
                    self.push(table, start, length, entry * elements + element);
                }
            }
        }
    }

    /// Entries each after its own u16 length, which does not count itself.
    fn varying(&mut self, uses: &[&Use], span: Span) {
        let mut at = span.offset;
        for number in 1..=span.count {
            let len = self.record.view.u16(at).map(usize::from);
            let Some(len) = len.filter(|len| at + 2 + len <= self.record.view.0.len()) else {
                let detail = format!("entry {number} of {} at {at} leads outside the record", span.count);
                return self.damage(uses, Reason::ChainBroken, detail);
            };
            if !self.afford(uses, span, 2 + len) {
                return;
            }
            for one in uses {
                if len < one.min_len {
                    let detail = format!("entry {number} has {len} bytes, at least {} expected", one.min_len);
                    self.damage_one(&one.section, Reason::SectionTooShort, detail);
                } else {
                    self.take(one, at + 2, len);
                }
            }
            at += 2 + len;
        }
    }

    /// Headers of a Db2 or MQ product section: each begins with its u16 length and u8 type.
    fn chain(&mut self, uses: &[&Use], span: Span) {
        let view = self.record.view;
        let Some(region) = view.0.get(span.offset..).and_then(|rest| rest.get(..span.bytes())) else {
            return self.damage(uses, Reason::SectionOutsideRecord, span.outside(view));
        };
        if !self.afford(uses, span, span.bytes()) {
            return;
        }
        let region = RecordView(region);
        let mut at = 0;
        while region.0[at..].iter().any(|&byte| byte != 0) {
            let length = region.u16(at).map(usize::from).filter(|&length| length >= 4 && at + length <= region.0.len());
            let (Some(length), Some(&kind)) = (length, region.0.get(at + 2)) else {
                let detail = format!("the header at {at} of the product section leads outside it");
                return self.damage(uses, Reason::ChainBroken, detail);
            };
            for one in uses {
                let wanted = match one.rule {
                    Rule::Chain(wanted) => wanted == kind,
                    _ => at == 0,
                };
                if wanted && length >= one.min_len {
                    self.take(one, span.offset + at, length);
                } else if wanted {
                    let detail = format!("a header of {length} bytes, at least {} expected", one.min_len);
                    self.damage_one(&one.section, Reason::SectionTooShort, detail);
                }
            }
            at += length;
        }
    }
}
