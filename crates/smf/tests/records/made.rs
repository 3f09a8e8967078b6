//! Whole records of every record map, with random values in all their sections.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, UInt8Array, UInt16Array, UInt32Array, UInt64Array};
use arrow_schema::DataType;
use plexlens_smf::encode::{EncodeOptions, RecordEncoder, RecordIdentity, dictionary_rows, standard_dictionary};
use plexlens_smf::layout::{
    Catalogue, Comparison, Condition, Conversion, Field, MapEntry, RecordMap, Rule, Section, Witness, data_type,
};

use super::Random;
use super::values::values;

/// Columns that the encoder computes, since the record could not be read without them.
const COMPUTED: [&str; 14] = [
    "qwhslen", "qwhstyp", "qwhsnsda", "qwhclen", "qwhctyp", "qwhsiid", "smfmncl", "smfmndca", "smfmndcl", "smfmndcn",
    "smfmndra", "smfmndrl", "smfmndrn", "smfmncrl",
];

/// A record to be written: rows for its tables, and by which layouts.
pub struct Made {
    /// By table.
    pub rows: Vec<(String, RecordBatch)>,
    /// The layout of each table, and how long its entries are.
    pub layouts: BTreeMap<String, (Arc<Section>, usize)>,
    lengths: BTreeMap<String, usize>,
}

/// Where entries are found: by triplet, and for statistics by identifier.
type Place = (String, Option<u16>);

fn place(entry: &MapEntry) -> Place {
    (entry.triplet.clone(), entry.rule.tag())
}

/// Values that decide which layouts a record has: by the field's column in the product section, and by triplet.
struct Chosen {
    product: BTreeMap<String, u64>,
    entry: BTreeMap<Place, (String, u64)>,
}

impl Chosen {
    /// A value from around each condition's, so that every side of it is drawn.
    fn draw(catalogue: &Catalogue, map: &RecordMap, random: &mut Random) -> Self {
        let mut values = BTreeMap::<(bool, Place, String), BTreeSet<u64>>::new();
        for entry in &map.entries {
            let Some(Condition { comparison, value, .. }) = &entry.when else { continue };
            let key = match catalogue.witness(map, entry) {
                None => continue,
                Some(Witness::Product(field)) => (true, (String::new(), None), field.column.clone()),
                Some(Witness::Entry(field)) => (false, place(entry), field.column.clone()),
            };
            let below = (*comparison != Comparison::Equals).then(|| value.saturating_sub(1));
            values.entry(key).or_default().extend(below.into_iter().chain([*value]));
        }
        let mut chosen = Self { product: BTreeMap::new(), entry: BTreeMap::new() };
        for ((product, place, column), values) in values {
            let value = *values.iter().nth(random.below(values.len() as u64) as usize).expect("one of them");
            if product {
                chosen.product.insert(column, value);
            } else {
                chosen.entry.insert(place, (column, value));
            }
        }
        chosen
    }

    /// Whether a row of the map can apply; conditions on the length remain to be met.
    fn allows(&self, catalogue: &Catalogue, map: &RecordMap, entry: &MapEntry) -> bool {
        let Some(Condition { comparison, value, .. }) = &entry.when else { return true };
        match catalogue.witness(map, entry) {
            None => true,
            Some(Witness::Product(field)) => comparison.holds(self.product[&field.column], *value),
            // A second field on which the same triplet depends is left alone.
            Some(Witness::Entry(field)) => self
                .entry
                .get(&place(entry))
                .is_some_and(|(column, chosen)| *column == field.column && comparison.holds(*chosen, *value)),
        }
    }
}

/// Bytes of an entry that the row's layout takes: its own, as far as its condition goes.
fn length(entry: &MapEntry, section: &Section) -> usize {
    let whole = section.length().max(4);
    let Some(when) = entry.when.as_ref().filter(|when| !when.allows_length(whole)) else { return whole };
    match when.comparison {
        Comparison::Below => when.value as usize - 1,
        Comparison::From | Comparison::Equals => when.value as usize,
    }
}

/// Fields by which the map finds other entries, and the heads of statistics entries: the encoder writes them.
fn pointers(catalogue: &Catalogue, map: &RecordMap) -> BTreeSet<String> {
    let links = map.entries.iter().filter_map(|entry| Some((&entry.triplet, entry.link.as_ref()?)));
    let names =
        links.flat_map(|(triplet, link)| [Some(triplet), Some(&link.length), link.next.as_ref(), link.count.as_ref()]);
    let mut names: BTreeSet<String> = names.flatten().map(|name| name.to_ascii_lowercase()).collect();
    for entry in &map.entries {
        // Of entries with a type and a length, the length; the type may decide which layouts they have.
        let head = match entry.rule {
            Rule::Tagged(_, None) => 0..4,
            Rule::Placed(placed) => usize::from(placed.lead)..2 * usize::from(placed.lead),
            _ => continue,
        };
        let section = catalogue.section(&entry.layout).expect("a layout");
        names.extend(
            section.fields.iter().filter(|field| head.contains(&field.offset)).map(|field| field.column.clone()),
        );
    }
    names
}

fn constant(field: &Field, value: u64, rows: usize) -> ArrayRef {
    match data_type(field) {
        DataType::UInt8 => Arc::new(UInt8Array::from(vec![value as u8; rows])),
        DataType::UInt16 => Arc::new(UInt16Array::from(vec![value as u16; rows])),
        DataType::UInt32 => Arc::new(UInt32Array::from(vec![value as u32; rows])),
        DataType::UInt64 => Arc::new(UInt64Array::from(vec![value; rows])),
        other => panic!("a condition on {other}"),
    }
}

fn with_column(batch: &RecordBatch, name: &str, column: ArrayRef) -> RecordBatch {
    let mut columns = batch.columns().to_vec();
    columns[batch.schema().index_of(name).expect("its column")] = column;
    RecordBatch::try_new(batch.schema(), columns).expect("the same types")
}

/// No element of zeros: it would be unused and give no row.
fn used(section: &Section, batch: &RecordBatch) -> RecordBatch {
    let whole = |field: &&Field| {
        let plain = field.format.is_unsigned() && data_type(field).is_integer();
        plain && !matches!(field.unit.conversion, Conversion::Size(_))
    };
    match section.fields.iter().find(whole) {
        Some(field) => with_column(batch, &field.column, constant(field, 7, batch.num_rows())),
        None => batch.clone(),
    }
}

/// Random rows for every table of a record map: one of what a record has once, else up to three.
pub fn make(catalogue: &Catalogue, map: &RecordMap, seed: u64) -> Made {
    let mut random = Random(seed);
    let chosen = Chosen::draw(catalogue, map, &mut random);
    let pointers = pointers(catalogue, map);
    let mut made = Made { rows: Vec::new(), layouts: BTreeMap::new(), lengths: BTreeMap::new() };
    let body = || map.entries.iter().filter(|entry| entry.rule != Rule::Header);
    for first in body() {
        let table = &first.table;
        if made.layouts.contains_key(table) {
            continue;
        }
        // Conditions on a field of the entry choose among what is read; rows are written by the table's own layout.
        let by_entry = |entry: &MapEntry| matches!(catalogue.witness(map, entry), Some(Witness::Entry(_)));
        let fits = |entry: &&MapEntry| {
            entry.table == *table && chosen.allows(catalogue, map, entry) && (!by_entry(entry) || !entry.is_variant())
        };
        let candidates: Vec<&MapEntry> = body().filter(fits).collect();
        if candidates.is_empty() {
            continue;
        }
        let entry = candidates[random.below(candidates.len() as u64) as usize];
        let section = catalogue.section(&entry.layout).expect("a layout");
        let same_place = || body().filter(|other| other.shares_entries(entry));
        let arrays = || same_place().filter_map(|other| other.rule.array());
        let mut bytes = length(entry, section);
        if entry.when.as_ref().is_some_and(|_| !by_entry(entry)) && entry.rule.array().is_none() {
            let ends = arrays().map(|a| usize::from(a.offset) + usize::from(a.length * a.count.unwrap_or(0)));
            bytes = bytes.max(ends.max().unwrap_or(0));
            made.lengths.insert(table.clone(), bytes);
        }
        // An array up to the end of its entry has as many elements as the one entry needs.
        let open = arrays().any(|array| array.count.is_none()) && entry.rule.array().is_none();
        let once = matches!(entry.rule, Rule::Product | Rule::Chain(_) | Rule::Fixed) || open;
        let linked = entry.link.as_ref().is_some_and(|link| link.next.is_none() && link.count.is_none());
        let rows = match entry.rule {
            _ if once || linked => 1,
            // Tables of one place have parts of the same entries.
            Rule::Placed(_) => 2,
            // Elements are at most three, and each entry has room for one or more.
            Rule::Entries | Rule::Tagged(_, None) if arrays().next().is_some() => 3,
            _ => 1 + random.below(3) as usize,
        };
        let mut batch = values(random.next(), section, rows);
        if entry.rule.array().is_some() {
            batch = used(section, &batch);
        }
        let decides = match entry.rule {
            Rule::Product => chosen.product.clone(),
            _ => chosen.entry.get(&place(entry)).cloned().into_iter().collect(),
        };
        for (column, value) in &decides {
            if let Some(field) = section.fields.iter().find(|field| field.column == *column) {
                batch = with_column(&batch, column, constant(field, *value, rows));
            }
        }
        let mut kept: Vec<usize> = (0..section.fields.len()).collect();
        kept.retain(|&at| {
            let field = &section.fields[at];
            let computed = COMPUTED.contains(&field.column.as_str()) || pointers.contains(&field.column);
            // Lengths of other headers stand first in them, as those of QWHS and QWHC do.
            !(computed || (matches!(entry.rule, Rule::Chain(_)) && field.offset <= 2))
        });
        made.rows.push((table.clone(), batch.project(&kept).expect("its own columns")));
        let bytes = if entry.rule == Rule::Connected { usize::MAX } else { bytes };
        made.layouts.insert(table.clone(), (Arc::clone(section), bytes));
    }
    made
}

/// Writes the record; before it the dictionary that describes its data, where there is one.
pub fn encode(catalogue: &Catalogue, map: &RecordMap, made: &Made) -> Result<Vec<Vec<u8>>, String> {
    let identity = RecordIdentity {
        system: Some("SYS1".into()),
        written_at: Some(1_772_356_500_000_000),
        subtype: Some(5),
        ..RecordIdentity::default()
    };
    let encode = |name: &str, options: EncodeOptions, rows: &[(String, RecordBatch)]| {
        let encoder = RecordEncoder::new(catalogue, name, options).expect("known record");
        let encoded = encoder.encode(&identity, rows).map_err(|error| format!("{name}: {error}"))?;
        Ok::<_, String>(encoded.get(0).expect("one").to_vec())
    };
    let mut all = Vec::new();
    if let Some(connected) = map.entries.iter().find(|entry| entry.rule == Rule::Connected) {
        let known = catalogue.section(&connected.layout).expect("a layout");
        let product = made.rows.iter().find(|(name, _)| name == "smf110_1_product").expect("a product section");
        let rows = dictionary_rows(&standard_dictionary(known)).expect("rows");
        let sections = [product.clone(), ("smf110_1_dictionary".into(), rows)];
        all.push(encode("smf110_1_class1", EncodeOptions::default(), &sections)?);
    }
    let lengths = made.lengths.clone().into_iter().collect();
    all.push(encode(&map.name, EncodeOptions { lengths, ..EncodeOptions::default() }, &made.rows)?);
    Ok(all)
}
