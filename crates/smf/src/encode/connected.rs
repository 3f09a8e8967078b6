//! CICS monitoring data: which dictionary describes the records that are written, and in which order fields stand.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray, UInt16Array};
use arrow_schema::ArrowError;

use crate::cics::{CLOCK_LONG, Connected, Dictionary, DictionaryEntry};
use crate::layout::{Catalogue, Part, RecordMap, Rule, Section};

use super::error::EncodeError;
use super::options::EncodeOptions;
use super::values::{Value, Values};

/// How data records of one kind are written: their layout, and the connectors that say so.
#[derive(Debug)]
pub(crate) struct ConnectedData {
    pub layout: Connected,
    pub connectors: Vec<u16>,
    /// In the product section: the triplet of the connectors.
    pub at: usize,
}

impl ConnectedData {
    /// For a record map with connected data; `None` for others.
    pub fn new(catalogue: &Catalogue, map: &RecordMap, options: &EncodeOptions) -> Result<Option<Self>, EncodeError> {
        let Some(entry) = map.entries.iter().find(|entry| entry.rule == Rule::Connected) else { return Ok(None) };
        let product = map.product().and_then(|product| catalogue.section(&product.layout));
        let (Some(known), Some(at)) =
            (catalogue.section(&entry.layout), product.and_then(|section| section.field("SMFMNDCA")))
        else {
            return Err(EncodeError::table(
                &map.name,
                "its product section has no field SMFMNDCA",
                "records with connected data say there which connectors they have",
            ));
        };
        let entries = match &options.dictionary {
            Some(rows) => from_rows(rows)?,
            None => standard_dictionary(known),
        };
        let connectors =
            options.connectors.clone().unwrap_or_else(|| entries.iter().map(|entry| entry.connector).collect());
        let layout = Connected::new(known, &Dictionary::new(entries), &connectors)
            .map_err(|what| EncodeError::table(&entry.layout, what, "give connectors of the dictionary"))?;
        if layout.length == 0 {
            return Err(EncodeError::table(&entry.layout, "no connectors", "give at least one"));
        }
        Ok(Some(Self { layout, connectors, at: at.offset }))
    }
}

/// A dictionary of all fields that a section knows, in its order, as a region of a current release would write it.
#[must_use]
pub fn standard_dictionary(known: &Section) -> Vec<DictionaryEntry> {
    let described = known.fields.iter().filter_map(|field| field.described.as_ref().map(|d| (field, d)));
    let (mut entries, mut offset) = (Vec::new(), 0_u16);
    for (field, described) in described.filter(|(_, described)| described.part != Part::Count) {
        let length = if described.part == Part::Seconds { CLOCK_LONG } else { field.length } as u16;
        let mut id = described.id.chars();
        entries.push(DictionaryEntry {
            owner: described.owner.clone(),
            kind: id.next().unwrap_or('C'),
            ident: id.collect(),
            length,
            connector: entries.len() as u16 + 1,
            offset,
            nickname: described.nickname.clone(),
        });
        offset = offset.saturating_add(length);
    }
    entries
}

/// A dictionary as rows of `smf110_1_dictionary`, to be written, or changed and given to the encoder.
///
/// # Errors
/// None with columns of equal length, which these are.
pub fn dictionary_rows(entries: &[DictionaryEntry]) -> Result<RecordBatch, ArrowError> {
    let text = |of: &dyn Fn(&DictionaryEntry) -> String| -> ArrayRef {
        Arc::new(entries.iter().map(|entry| Some(of(entry))).collect::<StringArray>())
    };
    let number = |of: &dyn Fn(&DictionaryEntry) -> u16| -> ArrayRef {
        Arc::new(entries.iter().map(of).collect::<UInt16Array>())
    };
    RecordBatch::try_from_iter([
        ("cmodname", text(&|entry| entry.owner.clone())),
        ("cmodtype", text(&|entry| entry.kind.to_string())),
        ("cmodidnt", text(&|entry| entry.ident.clone())),
        ("cmodleng", number(&|entry| entry.length)),
        ("cmodconn", number(&|entry| entry.connector)),
        ("cmodofst", number(&|entry| entry.offset)),
        ("cmodhead", text(&|entry| entry.nickname.clone())),
    ])
}

/// Dictionary entries from rows of their table.
fn from_rows(rows: &RecordBatch) -> Result<Vec<DictionaryEntry>, EncodeError> {
    let wrong = |column: &str, row: usize, what: &str, remedy: &str| EncodeError {
        row: Some(row),
        ..EncodeError::column("dictionary", column, what, remedy)
    };
    let column = |name: &str| {
        let array = rows.column_by_name(name);
        array.and_then(Values::new).ok_or_else(|| {
            EncodeError::column(
                "dictionary",
                name,
                "there is no such column",
                "give the columns of smf110_1_dictionary",
            )
        })
    };
    let text = |values: &Values<'_>, name: &str, row: usize| match values.get(row) {
        Some(Value::Text(text)) => Ok(text.to_owned()),
        None => Ok(String::new()),
        _ => Err(wrong(name, row, "no text", "give text")),
    };
    let number = |values: &Values<'_>, name: &str, row: usize| match values.get(row) {
        Some(Value::Int(number)) => u16::try_from(number).map_err(|_| wrong(name, row, "too large", "give 0 to 65535")),
        _ => Err(wrong(name, row, "no whole number", "give 0 to 65535")),
    };
    let [owner, kind, ident, nickname] =
        [column("cmodname")?, column("cmodtype")?, column("cmodidnt")?, column("cmodhead")?];
    let [length, connector, offset] = [column("cmodleng")?, column("cmodconn")?, column("cmodofst")?];
    (0..rows.num_rows())
        .map(|row| {
            Ok(DictionaryEntry {
                owner: text(&owner, "cmodname", row)?,
                kind: text(&kind, "cmodtype", row)?.chars().next().unwrap_or(' '),
                ident: text(&ident, "cmodidnt", row)?,
                length: number(&length, "cmodleng", row)?,
                connector: number(&connector, "cmodconn", row)?,
                offset: number(&offset, "cmodofst", row)?,
                nickname: text(&nickname, "cmodhead", row)?,
            })
        })
        .collect()
}
