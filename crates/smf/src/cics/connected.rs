//! The layout that a dictionary gives to the data of one list of connectors.

use std::sync::Arc;

use crate::layout::{Described, Field, Format, Part, Section, Unit};

use super::dictionary::{Dictionary, DictionaryEntry};

/// A clock of twelve bytes: time in TOD units, and at the end a count of three bytes after one of flags.
pub(crate) const CLOCK_LONG: usize = 12;
/// A clock of eight bytes (before CICS TS 3.2): time in 16 microseconds, and the count likewise.
pub(crate) const CLOCK_SHORT: usize = 8;

/// What stands for the file of a layout that a dictionary gave.
pub(crate) const CONNECTED: &str = "dictionary in the dump";

/// How records with one list of connectors are laid out.
#[derive(Debug, Clone, PartialEq)]
pub struct Connected {
    /// The known fields, placed.
    pub section: Arc<Section>,
    /// Fields that the dictionary describes and no layout names: `OWNER.T123 NICKNAME`.
    pub unknown: Vec<String>,
    /// Bytes of the fields together.
    pub length: usize,
    /// Where the time is at which the measurement of a row ended.
    pub stop: Option<usize>,
}

impl Connected {
    /// Places the fields of `known` in records with these connectors.
    ///
    /// # Errors
    /// A connector that the dictionary lacks.
    pub fn new(known: &Section, dictionary: &Dictionary, connectors: &[u16]) -> Result<Self, String> {
        let (mut fields, mut unknown, mut stop) = (Vec::new(), Vec::new(), None);
        let mut offset = 0;
        for &connector in connectors {
            let entry = dictionary.get(connector).ok_or_else(|| {
                format!("connector {connector} is not among the {} of the dictionary", dictionary.len())
            })?;
            let before = fields.len();
            let named = named(known, entry);
            fields.extend(named.iter().filter_map(|field| placed(field, entry, offset)));
            // A field measured twice under one name would make two columns of it.
            let twice = fields[before..].iter().any(|field| fields[..before].iter().any(|f| f.column == field.column));
            if twice {
                fields.truncate(before);
            }
            if fields.len() == before {
                unknown.push(format!("{}.{} {}", entry.owner, entry.id(), entry.nickname));
            }
            if (entry.owner.as_str(), entry.id().as_str(), entry.length) == ("DFHCICS", "T006", 8) {
                stop = Some(offset);
            }
            offset += usize::from(entry.length);
        }
        let section = Section { name: known.name.clone(), file: CONNECTED.into(), fields, placed: true };
        Ok(Self { section: Arc::new(section), unknown, length: offset, stop })
    }
}

/// The columns of a field: by owner and number, if the short names agree as far as the shorter goes, since CICS gives
/// some pairs of fields one short name; else by owner, type and short name.
fn named<'a>(known: &'a Section, entry: &DictionaryEntry) -> Vec<&'a Field> {
    let id = entry.id();
    let of = |matches: &dyn Fn(&Described) -> bool| -> Vec<&'a Field> {
        let fields = known.fields.iter();
        fields.filter(|field| field.described.as_ref().is_some_and(|d| d.owner == entry.owner && matches(d))).collect()
    };
    let nickname = entry.nickname.to_ascii_uppercase();
    let alike = |other: &str| other.starts_with(&nickname) || nickname.starts_with(other);
    let by_number = of(&|described| described.is_numbered() && described.id == id && alike(&described.nickname));
    if by_number.is_empty() {
        of(&|described| described.nickname == nickname && described.id.starts_with(entry.kind))
    } else {
        by_number
    }
}

/// A known field as the dictionary has it: its place and its length, which differ by release; `None` for a form that
/// the column cannot take.
fn placed(field: &Field, entry: &DictionaryEntry, offset: usize) -> Option<Field> {
    let length = usize::from(entry.length);
    let part = field.described.as_ref().map_or(Part::Whole, |described| described.part);
    let as_is = |offset, length, format, unit| Field { offset, length, format, unit, ..field.clone() };
    let found = match (entry.kind, length, part) {
        ('S', CLOCK_LONG, Part::Seconds) => as_is(offset, 8, Format::CpuStck, field.unit),
        ('S', CLOCK_SHORT, Part::Seconds) => as_is(offset, 4, Format::U32, Unit::parse("16us")?),
        ('S', CLOCK_LONG | CLOCK_SHORT, Part::Count) => as_is(offset + length - 3, 3, Format::U24, field.unit),
        ('A', _, Part::Whole) if field.format.is_unsigned() => {
            let format = match length {
                1 => Format::U8,
                2 => Format::U16,
                4 => Format::U32,
                8 => Format::U64,
                _ => return None,
            };
            as_is(offset, length, format, field.unit)
        }
        ('A' | 'C', _, Part::Whole) if field.format == Format::Bits && length == field.length => {
            as_is(offset, length, field.format, field.unit)
        }
        ('C', _, Part::Whole) if matches!(field.format, Format::Ebcdic | Format::Bytes) && length != 0 => {
            as_is(offset, length, field.format, field.unit)
        }
        ('P', _, Part::Whole) if field.format == Format::Packed && Format::Packed.allows_length(length) => {
            as_is(offset, length, field.format, field.unit)
        }
        ('T', 8, Part::Whole) if field.format == Format::Stck => as_is(offset, length, field.format, field.unit),
        _ => return None,
    };
    Some(found)
}
