//! From a record's triplets to the entries of its sections.
//!
//! Nothing read here is trusted. A triplet is absent when its place in the header lies where the first section
//! already begins (an older record with fewer triplets); its offset, length and count must stay inside the record,
//! behind the triplet itself; and all sections of a record together cannot be longer than the record, which bounds
//! the rows that overlapping triplets could produce.

mod links;
mod pass;
mod placed;
mod reach;

use std::collections::BTreeMap;

use crate::layout::{Catalogue, Comparison, Condition, Identity, MapEntry, Place, RecordMap, Rule, Section, Witness};

use super::column::Row;
use super::header::RecordView;
use super::identity::IdentityPlan;
use super::report::{Reason, SectionDamage};

use links::{Base, LinkPlan};
use pass::{Pass, Span};
use placed::PlacedPlan;
pub(crate) use reach::beyond;

/// What a triplet's entries are used for.
#[derive(Debug, Clone)]
struct Use {
    /// The row of the record map.
    index: usize,
    /// Index of the table plan, and the layout within it; `None` when the table is not wanted.
    table: Option<(usize, u16)>,
    section: String,
    rule: Rule,
    /// Which entries the layout is for.
    when: Option<When>,
    /// Fewest bytes with which an entry is worth a row.
    min_len: usize,
    /// Whether identity is read from the first entry.
    identifies: bool,
    /// Whether its entries point at others.
    points: bool,
}

/// A condition, its field placed.
#[derive(Debug, Clone, Copy)]
struct When {
    what: Looks,
    comparison: Comparison,
    value: u64,
}

/// What a condition looks at: length, or a field by its place and length.
#[derive(Debug, Clone, Copy)]
enum Looks {
    Length,
    Entry(usize, usize),
    Product(usize, usize),
}

impl When {
    /// Whether entries of that length can meet it.
    fn allows_length(&self, length: usize) -> bool {
        !matches!(self.what, Looks::Length) || self.comparison.holds(length as u64, self.value)
    }

    /// Whether an entry of a record with that product section meets it.
    fn allows(&self, entry: &[u8], product: &[u8]) -> bool {
        let number = |section: &[u8], at: usize, length: usize| {
            let bytes = section.get(at..at + length)?;
            Some(bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)))
        };
        let found = match self.what {
            Looks::Length => Some(entry.len() as u64),
            Looks::Entry(at, length) => number(entry, at, length),
            Looks::Product(at, length) => number(product, at, length),
        };
        found.is_some_and(|found| self.comparison.holds(found, self.value))
    }
}

/// The uses whose tables are wanted, and those that identify the record or lead on.
fn wanted(uses: &[Use]) -> Vec<&Use> {
    uses.iter().filter(|one| one.table.is_some() || one.identifies || one.points).collect()
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
    name: String,
    /// Triplets of the header, and those of the product section.
    triplets: Vec<TripletPlan>,
    inner: Vec<TripletPlan>,
    links: Vec<LinkPlan>,
    /// Entries that single fields place, and the parts of the record that are at its start.
    placed: Vec<PlacedPlan>,
    fixed: Vec<Use>,
    identity: Identity,
    /// Where the product section holds the length of compressed data.
    compressed: Option<usize>,
    pub keys: IdentityPlan,
}

/// Rows found so far, by table.
#[derive(Debug, Default)]
pub(crate) struct Located {
    pub rows: Vec<Vec<Row>>,
    pub damage: Vec<SectionDamage>,
    /// Rows of all tables.
    pub row_count: u64,
    /// Statistics entries whose identifier no layout has: how many, by record map and identifier.
    pub unmapped: BTreeMap<(String, u16), u64>,
    /// Start and length of the lengths and identifiers that lead from entry to entry, where they are wanted.
    pub structure: Option<Vec<(usize, usize)>>,
}

/// What was found of one record besides rows.
pub(crate) struct LocatedRecord {
    /// Start and length of the entry that identifies it, in the batch's data.
    pub identified: Option<(usize, usize)>,
    /// The layout that came with the data, how many rows it has here, and where in the batch's data the last begins.
    pub connected: Option<(usize, u64, usize)>,
    /// Where in the record the first section begins: its header ends there.
    pub first_section: usize,
}

/// How the data of a record is laid out that a dictionary describes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Described<'a> {
    /// It has the layout of this number, of those that came with the data.
    As(usize),
    /// The record waits for its dictionary.
    Held,
    /// The data cannot be read, for this reason.
    Lost(Reason, &'a str),
}

/// Most bytes of a section's own columns for each byte read. An entry much shorter than its layout, as an older
/// release writes it, stays far below this; entries of a few bytes in a wide layout do not.
const EXPANSION: usize = 32;

impl MapPlan {
    /// Compiles a map; `table` gives the indices of a wanted table's plan and of the layout within it.
    pub fn compile(catalogue: &Catalogue, map: &RecordMap, table: impl Fn(&MapEntry) -> Option<(usize, u16)>) -> Self {
        let mut plan = Self {
            name: map.name.clone(),
            triplets: Vec::new(),
            inner: Vec::new(),
            links: Vec::new(),
            placed: Vec::new(),
            fixed: Vec::new(),
            identity: map.identity,
            compressed: None,
            keys: IdentityPlan::compile(map.identity, None),
        };
        let rows = map.entries.iter().enumerate().filter(|(_, entry)| entry.rule != Rule::Header);
        for (index, entry) in rows {
            let (Some(section), Some(place)) = (catalogue.section(&entry.layout), catalogue.place(map, entry)) else {
                continue; // the catalogue refuses such maps
            };
            let identifies = identifies(map.identity, entry.rule, section);
            if identifies {
                plan.keys = IdentityPlan::compile(map.identity, Some(section));
                plan.compressed = section.field("SMFMNCRL").map(|field| field.offset);
            }
            let least = if identifies { plan.keys.least() } else { 0 };
            let one = Use {
                index,
                table: table(entry),
                section: entry.layout.clone(),
                rule: entry.rule,
                when: condition(catalogue, map, entry),
                min_len: min_len(entry.rule, section, catalogue.section(&entry.table).unwrap_or(section)).max(least),
                identifies,
                points: LinkPlan::points(catalogue, map, index),
            };
            match place {
                Place::Header(at) => add(&mut plan.triplets, at, one),
                Place::Product(at) => add(&mut plan.inner, at, one),
                Place::Entry { .. } => plan.links.push(LinkPlan { one, place }),
                Place::Fixed => plan.fixed.push(one),
                Place::Computed(place) => PlacedPlan::add(&mut plan.placed, place, one),
            }
        }
        plan.triplets.sort_by_key(|triplet| triplet.at);
        plan
    }

    fn uses(&self) -> impl Iterator<Item = &Use> {
        let triplets = self.triplets.iter().chain(&self.inner).flat_map(|triplet| &triplet.uses);
        let placed = self.placed.iter().flat_map(|placed| &placed.uses).chain(&self.fixed);
        triplets.chain(self.links.iter().map(|link| &link.one)).chain(placed)
    }

    /// Whether from where offsets of linked entries count shows from where other sections are.
    fn keeps_spans(&self) -> bool {
        self.links.iter().any(|link| matches!(link.place, Place::Entry { relative: true, .. }))
    }

    /// Whether any of its tables is wanted.
    pub fn is_wanted(&self) -> bool {
        self.uses().any(|one| one.table.is_some())
    }

    /// Name of the record map.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Layout name of the product section.
    pub fn product(&self) -> Option<&str> {
        self.uses().find(|one| one.rule == Rule::Product).map(|one| one.section.as_str())
    }

    /// Finds the entries of a record, which begins at `base` in the batch's data and becomes number `record` of
    /// those decoded.
    pub fn locate(&self, found: &mut Located, record: &RecordPlace<'_>) -> LocatedRecord {
        let mut pass = Pass::new(self, found, record);
        let mut first_section = record.view.0.len();
        let mut count = self.header_count(record.view);
        for triplet in &self.triplets {
            let index = triplet.at.saturating_sub(28) / 8;
            if count.is_some_and(|count| index > count) {
                break;
            }
            if triplet.at + 8 > first_section {
                if count.is_some_and(|count| index < count) {
                    let detail =
                        format!("a section begins at {first_section}, before its triplet at {} ends", triplet.at);
                    pass.damage(&wanted(&triplet.uses), Reason::SectionOutsideRecord, detail);
                    continue;
                }
                break;
            }
            let Some(span) = Span::read(record.view, triplet.at) else { break };
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
        self.inside_product(&mut pass);
        let base = Base::of(&self.links, &pass);
        for link in &self.links {
            link.follow(&mut pass, base);
        }
        for placed in &self.placed {
            first_section = first_section.min(placed.follow(&mut pass).unwrap_or(first_section));
        }
        for one in &self.fixed {
            pass.fixed(one, first_section);
        }
        let identified = pass.identified.map(|(start, len)| (record.base + start, len));
        LocatedRecord { identified, connected: pass.connected, first_section }
    }

    /// Number of triplets as the header has it. Records differ in whether the product section counts, so
    /// triplets 0..n surely are there and those after n surely are not. Db2 has the number in its product section;
    /// so has MQ, but some of its records count wrongly.
    fn header_count(&self, view: RecordView<'_>) -> Option<usize> {
        match self.identity {
            Identity::Rmf | Identity::Cics | Identity::Smf42 => {
                view.u16(24).map(usize::from).filter(|&count| count != 0)
            }
            Identity::Mq | Identity::Db2 | Identity::Smf30 | Identity::Smf113 | Identity::Standard => None,
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

    /// Sections whose triplets stand in the product section.
    fn inside_product(&self, pass: &mut Pass<'_, '_>) {
        let Some((start, len)) = pass.identified.filter(|_| !self.inner.is_empty()) else { return };
        let view = pass.record.view;
        let packed = self.compressed.filter(|at| at + 2 <= len).and_then(|at| view.u16(start + at)).unwrap_or(0);
        for triplet in &self.inner {
            let uses = wanted(&triplet.uses);
            if packed != 0 {
                let why = pass.record.refused.unwrap_or("not expanded");
                pass.damage(&uses, Reason::CicsCompressed, format!("{packed} bytes of compressed data: {why}"));
                continue;
            }
            let span = Span::read(view, start + triplet.at).filter(|_| triplet.at + 8 <= len);
            let Some(span) = span.filter(|span| span.offset != 0 && span.count != 0) else { continue };
            if span.offset < 28 || span.offset > view.0.len() {
                pass.damage(&uses, Reason::SectionOutsideRecord, span.outside(view));
                continue;
            }
            self.section(pass, &triplet.uses, span);
        }
    }

    fn section(&self, pass: &mut Pass<'_, '_>, uses: &[Use], span: Span) {
        let chained = matches!(self.identity, Identity::Mq | Identity::Db2);
        let by_chain = |one: &&Use| matches!(one.rule, Rule::Chain(_)) || (chained && one.rule == Rule::Product);
        let (chain, plain): (Vec<&Use>, Vec<&Use>) = wanted(uses).into_iter().partition(by_chain);
        if !chain.is_empty() {
            // A Db2 product section without length is a varying entry: it follows its own u16 length.
            let varying = self.identity == Identity::Db2 && span.length == 0;
            if varying {
                pass.leads(span.offset, 2);
            }
            let own = || pass.record.view.u16(span.offset).map_or(0, usize::from);
            let span = if varying { Span { offset: span.offset + 2, length: own(), count: 1 } } else { span };
            pass.chain(&chain, span);
        } else if plain.iter().any(|one| matches!(one.rule, Rule::Tagged(..))) {
            pass.tagged(&plain, &self.name, span);
        } else if plain.iter().any(|one| one.rule == Rule::Counted) {
            pass.varying(&plain, span, 1);
        } else if plain.iter().any(|one| one.rule == Rule::Connected) {
            pass.connected(&plain, span);
        } else if plain.iter().any(|one| one.rule == Rule::Varying) && span.length == 0 {
            pass.varying(&plain, span, 2);
        } else if !plain.is_empty() {
            pass.entries(&plain, span);
        }
    }
}

fn add(triplets: &mut Vec<TripletPlan>, at: usize, one: Use) {
    match triplets.iter_mut().find(|triplet| triplet.at == at) {
        Some(triplet) => triplet.uses.push(one),
        None => triplets.push(TripletPlan { at, uses: vec![one] }),
    }
}

/// Whether a record's identity is read from this section.
fn identifies(identity: Identity, rule: Rule, section: &Section) -> bool {
    match identity {
        Identity::Standard => false,
        Identity::Smf30 | Identity::Smf113 => {
            let has = |name| section.field(name).is_some();
            identity.interval().is_some_and(|(start, end)| has(start) && has(end))
        }
        Identity::Rmf | Identity::Mq | Identity::Db2 | Identity::Cics | Identity::Smf42 => rule == Rule::Product,
    }
}

/// Fewest bytes of an entry that make a row of its table, so that a small damaged record cannot become a large one.
fn min_len(rule: Rule, section: &Section, table: &Section) -> usize {
    match rule {
        // Bounded by their number instead.
        Rule::Counted => 0,
        Rule::Placed(placed) if placed.lead != 0 => 2 * usize::from(placed.lead),
        Rule::Connected => 1,
        _ => (table.fields.len() * 8 / EXPANSION).max(4).min(section.length()),
    }
}

fn condition(catalogue: &Catalogue, map: &RecordMap, entry: &MapEntry) -> Option<When> {
    let Condition { comparison, value, .. } = *entry.when.as_ref()?;
    let what = match catalogue.witness(map, entry) {
        None => Looks::Length,
        Some(Witness::Entry(field)) => Looks::Entry(field.offset, field.length),
        Some(Witness::Product(field)) => Looks::Product(field.offset, field.length),
    };
    Some(When { what, comparison, value })
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
    /// What is known of data that a dictionary describes.
    pub described: Described<'a>,
    /// Why its data could not be expanded.
    pub refused: Option<&'a str>,
}
