//! The decoder against a slow, obvious twin: one record, one entry, one field at a time, over records whose bytes
//! were damaged at random. The twin takes names and places from the layouts, and nothing else from the crate.

mod records;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Float64Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, TimeUnit};
use plexlens_smf::decode::{DecodeOptions, Decoder};
use plexlens_smf::encode::{EncodeOptions, RecordEncoder, RecordIdentity};
use plexlens_smf::layout::{
    Catalogue, Conversion, Field, Format, Identity, MapEntry, RecordMap, Rule, Section, Selector, Subject, data_type,
};
use proptest::prelude::*;
use records::Random;

/// A value as it can be compared: numbers by their bits.
#[derive(Debug, Clone, PartialEq)]
enum Cell {
    Null,
    Whole(i128),
    Real(u64),
    Text(String),
    Bytes(Vec<u8>),
}

/// Big-endian number, a byte at a time.
fn big(bytes: &[u8]) -> u128 {
    bytes.iter().fold(0, |number, &byte| number * 256 + u128::from(byte))
}

fn real(value: f64) -> Cell {
    Cell::Real(value.to_bits())
}

/// Packed digits and sign by printing the half bytes.
fn packed(bytes: &[u8]) -> Option<i128> {
    let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let (digits, sign) = text.split_at(text.len() - 1);
    let number: i64 = digits.parse().ok()?;
    match sign {
        "a" | "c" | "e" | "f" => Some(number.into()),
        "b" | "d" => Some((-number).into()),
        _ => None,
    }
}

fn hexfloat(bits: u64) -> f64 {
    let part = |shift: u32| ((bits & 0x00FF_FFFF_FFFF_FFFF) >> shift & 0x0FFF_FFFF) as f64;
    let fraction = part(28) * 268_435_456.0 + part(0);
    let exponent = (bits >> 56 & 0x7F) as i32 - 64 - 14;
    let value = fraction * 16f64.powi(exponent / 2) * 16f64.powi(exponent - exponent / 2);
    if bits >> 63 == 1 { -value } else { value }
}

/// A number in base units: by the names of the units, not by the crate's table.
fn converted(field: &Field, recorded: f64) -> f64 {
    match field.unit.recorded {
        "0.1s" => recorded / 10.0,
        "0.01s" | "0.01" | "/100" => recorded / 100.0,
        "ms" | "0.001" | "/1000" => recorded / 1000.0,
        "us" => recorded / 1e6,
        "1024us" | "page_1024us" => recorded * 1024.0 / 1e6,
        "128us" => recorded * 128.0 / 1e6,
        "16us" => recorded * 16.0 / 1e6,
        "0.5us" => recorded / 2e6,
        "stck_units" => recorded / 4_096_000_000.0,
        "us^2" => recorded / 1e12,
        "(1024us)^2" => recorded * 1_048_576.0 / 1e12,
        "/256" => recorded / 256.0,
        "/1024" => recorded / 1024.0,
        "/4096" => recorded / 4096.0,
        "/10000" => recorded / 10_000.0,
        "256B" => recorded * 256.0,
        "KiB" => recorded * 1024.0,
        "4KiB" => recorded * 4096.0,
        "MiB" => recorded * 1_048_576.0,
        "GiB" => recorded * 1_073_741_824.0,
        _ => recorded,
    }
}

fn text(bytes: &[u8]) -> String {
    // Only the codes that the generated texts use; anything else by its code, told from text by the prefix.
    let mut bytes = bytes.to_vec();
    while matches!(bytes.last(), Some(0 | 0x40)) {
        bytes.pop();
    }
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// One field of one entry.
fn field(field: &Field, entry: &[u8]) -> Cell {
    let Some(bytes) = entry.get(field.offset..field.offset + field.length) else { return Cell::Null };
    let number = if bytes.len() <= 8 { big(bytes) } else { 0 };
    let signed = number as i128 - if bytes[0] >= 128 { 1_i128 << (8 * bytes.len().min(8)) } else { 0 };
    let keep = matches!(field.unit.conversion, Conversion::Keep);
    let size = matches!(field.unit.conversion, Conversion::Size(_));
    match field.format {
        Format::Ebcdic => Cell::Text(text(bytes)),
        Format::Bytes => Cell::Bytes(bytes.to_vec()),
        Format::Stck if number == 0 => Cell::Null,
        Format::Stck => Cell::Whole((number / 4096) as i128 - 25_567 * 86_400 * 1_000_000),
        Format::CpuStck => real(number as u64 as f64 / 4_096_000_000.0),
        Format::TodHundredths => real(number as f64 / 100.0),
        Format::SmfDate => date(bytes).map_or(Cell::Null, Cell::Whole),
        Format::F32Hex => real(converted(field, hexfloat((number << 32) as u64))),
        Format::F64Hex => real(converted(field, hexfloat(number as u64))),
        Format::F64Bfp => real(converted(field, f64::from_bits(number as u64))),
        Format::Packed => {
            let Some(number) = packed(bytes) else { return Cell::Null };
            match field.unit.recorded {
                "0hhmmssF" => {
                    let (h, m, s) = (number / 10_000, number / 100 % 100, number % 100);
                    let valid = number >= 0 && m < 60 && s < 60;
                    if valid { real((h * 3600 + m * 60 + s) as f64) } else { Cell::Null }
                }
                "mmsstttF" => {
                    let (m, s, t) = (number / 100_000, number / 1000 % 100, number % 1000);
                    let valid = number >= 0 && s < 60;
                    if valid { real((m * 60_000 + s * 1000 + t) as f64 / 1000.0) } else { Cell::Null }
                }
                _ if keep => Cell::Whole(number),
                _ => real(converted(field, number as f64)),
            }
        }
        Format::Bits => Cell::Whole(number as i128),
        _ if keep && field.format.name().starts_with('i') => Cell::Whole(signed),
        _ if field.format.name().starts_with('i') => real(converted(field, signed as i64 as f64)),
        _ if keep => Cell::Whole(number as i128),
        _ if size => {
            let bytes = number as i128 * converted(field, 1.0) as i128;
            if bytes < 1 << 64 { Cell::Whole(bytes) } else { Cell::Null }
        }
        _ => real(converted(field, number as u64 as f64)),
    }
}

fn date(bytes: &[u8]) -> Option<i128> {
    let number = packed(bytes)?;
    let (year, day) = (1900 + number / 1000, number % 1000);
    let leap = |year: i128| (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    let days = |year: i128| if leap(year) { 366 } else { 365 };
    let valid = (0..1_000_000).contains(&number) && day >= 1 && day <= days(year);
    valid.then(|| (1900..year).map(days).sum::<i128>() - 25_567 + day - 1)
}

/// Record number, section number and values of a row.
type Row = (u64, u32, Vec<Cell>);

/// All rows of a batch of records, and how many sections could not be read.
#[derive(Debug, Default, PartialEq)]
struct Slow {
    tables: BTreeMap<String, Vec<Row>>,
    damaged: Vec<u64>,
}

/// A row of a record map: the layout of its entries, and the table they fill.
#[derive(Clone, Copy)]
struct Use<'a> {
    entry: &'a MapEntry,
    section: &'a Section,
    table: &'a Section,
}

impl Use<'_> {
    fn rule(&self) -> Rule {
        self.entry.rule
    }

    /// Whether the row is for an entry: by its length, or by a field of it or of the product section.
    fn is_for(&self, catalogue: &Catalogue, map: &RecordMap, entry: &[u8], product: &[u8]) -> bool {
        let Some(when) = &self.entry.when else { return true };
        let found = match &when.subject {
            Subject::Length => entry.len() as u128,
            Subject::Field(name) => {
                let first = map.entries.iter().find(|other| other.shares_entries(self.entry)).expect("itself");
                let own = catalogue.section(&first.layout).and_then(|section| section.field(name));
                let of_product = || catalogue.section(&map.product()?.layout)?.field(name);
                let (bytes, field) = match own {
                    Some(field) => (entry, field),
                    None => (product, of_product().expect("a field")),
                };
                let Some(bytes) = bytes.get(field.offset..field.offset + field.length) else { return false };
                big(bytes)
            }
        };
        match when.to_string() {
            text if text.contains(">=") => found >= u128::from(when.value),
            text if text.contains('<') => found < u128::from(when.value),
            _ => found == u128::from(when.value),
        }
    }

    /// Fewest bytes worth a row: at most 32 bytes of the table's own columns for each byte read.
    ///
    /// A product section of RMF has to tell the interval, whose last part is the offset of local time.
    fn least(&self, map: &RecordMap) -> usize {
        let ends = || self.section.fields.iter().map(|field| field.offset + field.length);
        let least = (self.table.fields.len() * 8 / 32).max(4).min(ends().max().expect("fields"));
        if map.identity != Identity::Rmf || self.rule() != Rule::Product {
            return least;
        }
        let offset = self.section.field("SMF7xLGO");
        offset.map_or(least, |offset| least.max(offset.offset + offset.length))
    }
}

impl Slow {
    fn row(&mut self, one: &Use<'_>, record_no: u64, section_no: usize, entry: &[u8]) {
        let cell = |column: &Field| {
            let own = one.section.fields.iter().find(|field| field.column == column.column);
            match own.map_or(Cell::Null, |own| field(own, entry)) {
                Cell::Whole(number) if data_type(column) == DataType::Float64 => real(number as f64),
                cell => cell,
            }
        };
        let cells = one.table.fields.iter().map(cell).collect();
        self.tables.entry(one.table.name.clone()).or_default().push((record_no, section_no as u32, cells));
    }

    /// Entries of a table that the record gave so far.
    fn before(&self, one: &Use<'_>, record_no: u64) -> usize {
        let rows = self.tables.get(&one.table.name).map_or(&[][..], Vec::as_slice);
        rows.last().filter(|row| row.0 == record_no).map_or(0, |row| row.1 as usize)
    }

    fn record(&mut self, catalogue: &Catalogue, map: &RecordMap, record: &[u8], record_no: u64) {
        let number = |at: usize, length: usize| record.get(at..at + length).map(|bytes| big(bytes) as usize);
        let mut by_triplet: BTreeMap<usize, Vec<Use<'_>>> = BTreeMap::new();
        for entry in map.entries.iter().filter(|entry| entry.rule != Rule::Header) {
            let at = catalogue.triplet(map, entry).expect("a triplet").offset;
            let section = catalogue.section(&entry.layout).expect("a layout");
            let table = catalogue.section(&entry.table).expect("a table");
            by_triplet.entry(at).or_default().push(Use { entry, section, table });
        }
        let mut product: &[u8] = &[];
        let mut first = record.len();
        let mut left = record.len();
        let mut counted = if map.identity == Identity::Rmf { number(24, 2).filter(|&count| count != 0) } else { None };
        let mut product_read = false;
        let mut product_damaged = false;
        for (at, uses) in by_triplet {
            let index = at.saturating_sub(28) / 8;
            if counted.is_some_and(|count| index > count) {
                break;
            }
            let is_product = uses.iter().any(|one| one.rule() == Rule::Product);
            let mut damage = |slow: &mut Self, times: usize| {
                slow.damaged.extend(vec![record_no; times]);
                product_damaged |= is_product;
            };
            if at + 8 > first {
                if counted.is_some_and(|count| index < count) {
                    damage(self, uses.len());
                    continue;
                }
                break;
            }
            let (Some(offset), Some(length), Some(count)) = (number(at, 4), number(at + 4, 2), number(at + 6, 2))
            else {
                break;
            };
            if offset == 0 || count == 0 {
                continue;
            }
            if offset < at + 8 || offset > record.len() {
                damage(self, uses.len());
                continue;
            }
            first = first.min(offset);
            let chained = matches!(map.identity, Identity::Mq | Identity::Db2)
                && uses.iter().any(|one| matches!(one.rule(), Rule::Product | Rule::Chain(_)));
            let before: Vec<usize> = uses.iter().map(|one| self.before(one, record_no)).collect();
            if length == 0 && uses.iter().any(|one| one.rule() == Rule::Varying) {
                let mut start = offset;
                for entry in 0..count {
                    let own = number(start, 2).filter(|own| start + 2 + own <= record.len() && 2 + own <= left);
                    let Some(own) = own else {
                        damage(self, uses.len());
                        break;
                    };
                    left -= 2 + own;
                    let bytes = &record[start + 2..start + 2 + own];
                    for (one, before) in uses.iter().zip(&before) {
                        if !one.is_for(catalogue, map, bytes, product) {
                            continue;
                        }
                        if own < one.least(map) {
                            damage(self, 1);
                        } else {
                            self.row(one, record_no, before + entry + 1, bytes);
                        }
                    }
                    start += 2 + own;
                }
                continue;
            }
            // A Db2 product section without length follows its own.
            let varying = chained && map.identity == Identity::Db2 && length == 0;
            let (offset, length, count) =
                if varying { (offset + 2, number(offset, 2).unwrap_or(0), 1) } else { (offset, length, count) };
            if offset + length * count > record.len() || length * count > left {
                damage(self, uses.len());
                continue;
            }
            left -= length * count;
            if chained {
                let region = &record[offset..offset + length * count];
                let mut at = 0;
                while at < region.len() && region[at..].iter().any(|&byte| byte != 0) {
                    let own = region.get(at..at + 2).map_or(0, |bytes| big(bytes) as usize);
                    if own < 4 || at + own > region.len() {
                        damage(self, uses.len());
                        break;
                    }
                    for one in &uses {
                        let here = match one.rule() {
                            Rule::Chain(kind) => kind == region[at + 2],
                            _ => at == 0,
                        };
                        if here && own < one.least(map) {
                            damage(self, 1);
                        } else if here {
                            if one.rule() == Rule::Product {
                                product_read = true;
                                product = &region[..own];
                                if map.identity == Identity::Db2 {
                                    counted = product.get(6).map(|&n| usize::from(n)).filter(|&n| n != 0);
                                }
                            }
                            self.row(one, record_no, self.before(one, record_no) + 1, &region[at..at + own]);
                        }
                    }
                    at += own;
                }
                continue;
            }
            for (one, before) in uses.iter().zip(&before) {
                let entries =
                    (0..count).map(|number| &record[offset + number * length..offset + (number + 1) * length]);
                let by_length = one.entry.when.as_ref().is_some_and(|when| when.subject == Subject::Length);
                if by_length && !one.is_for(catalogue, map, &record[offset..offset + length], product) {
                    continue;
                }
                if let Rule::Array(array) = one.rule() {
                    let size = usize::from(array.length);
                    let room = length.saturating_sub(array.offset.into()) / size;
                    let elements = array.count.map_or(room, |most| room.min(most.into()));
                    for (number, entry) in entries.enumerate() {
                        for element in (0..elements).filter(|_| one.is_for(catalogue, map, entry, product)) {
                            let start = usize::from(array.offset) + element * size;
                            if entry[start..start + size].iter().any(|&byte| byte != 0) {
                                self.row(one, record_no, number * elements + element + 1, &entry[start..start + size]);
                            }
                        }
                    }
                    continue;
                }
                if length < one.least(map) {
                    damage(self, 1);
                    continue;
                }
                for (number, entry) in entries.enumerate() {
                    if one.rule() == Rule::Product && !product_read {
                        product_read = true;
                        product = entry;
                    }
                    if one.is_for(catalogue, map, entry, product) {
                        self.row(one, record_no, before + number + 1, entry);
                    }
                }
            }
        }
        let has_product = map.entries.iter().any(|entry| entry.rule == Rule::Product);
        if has_product && !product_read && !product_damaged {
            self.damaged.push(record_no);
        }
    }
}

/// An Arrow value as a cell. Texts are compared by the EBCDIC codes they came from.
fn cell(column: &ArrayRef, row: usize) -> Cell {
    if column.is_null(row) {
        return Cell::Null;
    }
    let text_codes = |text: &str| -> String {
        let mut codes = vec![0; text.chars().count()];
        plexlens_smf::forms::ebcdic::CodePage::Cp1047.encode(text, &mut codes).expect("its own text");
        codes.iter().map(|code| format!("{code:02x}")).collect()
    };
    match column.data_type() {
        DataType::UInt8 => Cell::Whole(column.as_primitive::<UInt8Type>().value(row).into()),
        DataType::UInt16 => Cell::Whole(column.as_primitive::<UInt16Type>().value(row).into()),
        DataType::UInt32 => Cell::Whole(column.as_primitive::<UInt32Type>().value(row).into()),
        DataType::UInt64 => Cell::Whole(column.as_primitive::<UInt64Type>().value(row).into()),
        DataType::Int16 => Cell::Whole(column.as_primitive::<Int16Type>().value(row).into()),
        DataType::Int32 => Cell::Whole(column.as_primitive::<Int32Type>().value(row).into()),
        DataType::Int64 => Cell::Whole(column.as_primitive::<Int64Type>().value(row).into()),
        DataType::Date32 => Cell::Whole(column.as_primitive::<Date32Type>().value(row).into()),
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            Cell::Whole(column.as_primitive::<TimestampMicrosecondType>().value(row).into())
        }
        DataType::Float64 => real(column.as_primitive::<Float64Type>().value(row)),
        DataType::Utf8 => Cell::Text(text_codes(column.as_string::<i32>().value(row))),
        DataType::Binary => Cell::Bytes(column.as_binary::<i32>().value(row).to_vec()),
        other => panic!("unexpected type {other}"),
    }
}

static DECODER: LazyLock<Decoder> =
    LazyLock::new(|| Decoder::new(records::catalogue(), DecodeOptions::default()).expect("all tables"));

/// The fast decoder's answer in the twin's form.
fn fast(decoder: &Decoder, records: &[Vec<u8>]) -> Slow {
    let decoded = decoder.decode(&records::batch(records), None, "test").expect("decodes");
    // The same damage of entries that follow each other is one row with a count.
    let damaged = decoded.damage.iter().flat_map(|damage| vec![damage.record_no; 1 + damage.repeats as usize]);
    let mut found = Slow { damaged: damaged.collect(), ..Slow::default() };
    for (name, table) in decoded.tables.iter().filter(|(name, _)| name != "smf_record") {
        let record_no = table.column_by_name("record_no").expect("key").as_primitive::<UInt64Type>();
        let section_no = table.column_by_name("section_no").expect("key").as_primitive::<UInt32Type>();
        for row in 0..table.num_rows() {
            let cells = table.columns()[9..].iter().map(|column| cell(column, row)).collect();
            let row = (record_no.value(row), section_no.value(row), cells);
            found.tables.entry(name.clone()).or_default().push(row);
        }
    }
    found
}

/// Whether the map is for the record, as it names type, subtype or IFCID.
fn is_for(map: &RecordMap, record: &[u8]) -> bool {
    let number = |at: usize| record.get(at..at + 2).map(|bytes| big(bytes) as u16);
    let product = record.get(28..32).map_or(0, |bytes| big(bytes) as usize);
    // An entry without length in its triplet begins with its own.
    let own = if number(32) == Some(0) { 2 } else { 0 };
    let ifcid = if product == 0 { None } else { number(product + 4 + own) };
    let by_subtype = match (record.get(5), number(22)) {
        (Some(101), Some(0)) => Some(3),
        (Some(101), Some(1)) => Some(239),
        _ => None,
    };
    let selected = match map.selector {
        Selector::Any => true,
        Selector::Subtype(subtype) => number(22) == Some(subtype),
        Selector::Ifcid(wanted) => ifcid.or(by_subtype) == Some(wanted),
        Selector::Class(..) => false,
    };
    record.get(5) == Some(&map.record_type) && selected
}

/// Whether a Db2 record looks compressed: marked, and without a header of 52 bytes and type 1 where the triplet leads.
fn looks_compressed(record: &[u8]) -> bool {
    let number = |at: usize, length: usize| record.get(at..at + length).map_or(0, |bytes| big(bytes) as usize);
    let product = number(28, 4);
    let headed = |at: usize| number(at, 2) >= 52 && number(at + 2, 1) == 1;
    let plain = product >= 36 && (headed(product) || headed(product + 2));
    matches!(record.get(5), Some(100..=102)) && number(24, 4) != 0 && !plain
}

fn slow(catalogue: &Catalogue, records: &[Vec<u8>]) -> Slow {
    let mut found = Slow::default();
    for (record_no, record) in (1..).zip(records) {
        if looks_compressed(record) {
            found.damaged.push(record_no);
            continue;
        }
        let maps: Vec<_> = catalogue.maps().filter(|map| is_for(map, record)).collect();
        assert!(maps.len() <= 1, "one map takes a record");
        for map in maps {
            found.record(catalogue, map, record, record_no);
        }
    }
    found
}

/// Whether the twin reads all that the map has: entries behind the header's triplets.
fn is_plain(catalogue: &Catalogue, map: &RecordMap) -> bool {
    map.entries.iter().filter(|entry| entry.rule != Rule::Header).all(|entry| {
        let rule =
            matches!(entry.rule, Rule::Product | Rule::Entries | Rule::Varying | Rule::Chain(_) | Rule::Array(_));
        rule && catalogue.triplet(map, entry).is_some()
    })
}

/// A record of the map whose sections hold random bytes, one to three entries each.
fn random_record(catalogue: &Catalogue, map: &RecordMap, random: &mut Random) -> Vec<u8> {
    let identity = RecordIdentity {
        system: Some("SYS1".into()),
        subsystem: Some("QM01".into()),
        written_at: Some(1_772_356_500_000_000),
        ..RecordIdentity::default()
    };
    let encoder = RecordEncoder::new(catalogue, &map.name, EncodeOptions::default()).expect("a known map");
    let mut record = encoder.encode(&identity, &[]).expect("an empty record").get(0).expect("one").to_vec();
    let entries = || map.entries.iter().filter(|entry| matches!(entry.rule, Rule::Entries | Rule::Varying));
    let place = |entry: &MapEntry| catalogue.triplet(map, entry).expect("a triplet").offset;
    let triplets: BTreeSet<usize> = entries().map(place).collect();
    for at in triplets {
        let layouts: Vec<&MapEntry> = entries().filter(|entry| place(entry) == at).collect();
        let entry = layouts[random.below(layouts.len() as u64) as usize];
        let section = catalogue.section(&entry.layout).expect("a layout");
        let table = catalogue.section(&entry.table).expect("a table");
        let least = Use { entry, section, table }.least(map);
        let length = section.length() + random.below(40) as usize;
        let count = 1 + random.below(3) as usize;
        let start = record.len();
        let varying = entry.rule == Rule::Varying && random.below(2) == 0;
        for _ in 0..count {
            let shorter = random.below(20.min((length - least) as u64 + 1)) as usize;
            let own = if varying { length - shorter } else { length };
            if varying {
                record.extend((own as u16).to_be_bytes());
            }
            record.extend(random.bytes(own));
        }
        let length = if varying { 0 } else { length };
        record[at..at + 4].copy_from_slice(&(start as u32).to_be_bytes());
        record[at + 4..at + 6].copy_from_slice(&(length as u16).to_be_bytes());
        record[at + 6..at + 8].copy_from_slice(&(count as u16).to_be_bytes());
    }
    record
}

/// Overwrites some bytes, most of them in header and triplets, and sometimes cuts the record.
fn damage(record: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..random.below(4) {
        let reach = if random.below(4) == 0 { record.len() } else { record.len().min(140) };
        let at = 6 + random.below(reach.saturating_sub(6) as u64) as usize;
        if let Some(byte) = record.get_mut(at).filter(|_| !(22..24).contains(&at)) {
            *byte = match random.below(3) {
                0 => 0,
                1 => 0xFF,
                _ => random.next() as u8,
            };
        }
    }
    if random.below(6) == 0 {
        record.truncate(24 + random.below(record.len() as u64) as usize);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn fast_and_slow_read_alike(seed: u64, damaged: bool) {
        let catalogue = records::catalogue();
        let maps: Vec<_> = catalogue.maps().filter(|map| is_plain(catalogue, map)).collect();
        let map = maps[(seed % maps.len() as u64) as usize];
        let mut random = Random(seed);
        let records: Vec<Vec<u8>> = (0..4)
            .map(|_| {
                let mut record = random_record(catalogue, map, &mut random);
                if damaged {
                    damage(&mut record, &mut random);
                }
                record
            })
            .collect();
        let (fast, slow) = (fast(&DECODER, &records), slow(catalogue, &records));
        if !damaged {
            prop_assert!(fast.damaged.is_empty(), "{:?}", fast.damaged);
            prop_assert!(!fast.tables.is_empty());
        }
        prop_assert_eq!(&fast.damaged, &slow.damaged, "{}", &map.name);
        prop_assert_eq!(fast.tables.keys().collect::<Vec<_>>(), slow.tables.keys().collect::<Vec<_>>());
        for (name, rows) in &slow.tables {
            let section = catalogue.section(name).expect("a layout");
            prop_assert_eq!(rows.len(), fast.tables[name].len(), "{}", name);
            for (slow, fast) in rows.iter().zip(&fast.tables[name]) {
                prop_assert_eq!((slow.0, slow.1), (fast.0, fast.1), "{}", name);
                for ((one, slow), fast) in section.fields.iter().zip(&slow.2).zip(&fast.2) {
                    prop_assert_eq!(slow, fast, "{} of {}", &one.name, name);
                }
            }
        }
    }
}
