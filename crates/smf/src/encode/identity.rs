//! Who wrote a record and when: from the caller or the key columns of its rows, into header and product section.

use arrow_array::RecordBatch;

use crate::forms::ebcdic::BLANK;
use crate::forms::smf_date;
use crate::layout::{Field, Identity, RecordMap, Rule, Section, Selector, identity_field};

use super::error::{EncodeError, Misfit};
use super::field::Forms;
use super::section::unwritable;
use super::values::{Value, Values};

const DAY: i64 = 86_400_000_000;
const SECOND: i64 = 1_000_000;
/// The Db2 release that records are of when nothing is said: 12, as QWHSRN has it.
pub(crate) const DB2_RELEASE: u8 = 0xC1;

/// What a record says of itself. What is left out comes from the key columns of its rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RecordIdentity {
    /// System (SMF) id, four characters.
    pub system: Option<String>,
    /// Subsystem or work type in the header; by default what records of the kind have.
    pub ssid: Option<String>,
    /// Subtype, where the record map leaves it open.
    pub subtype: Option<u16>,
    /// Local time in the header, microseconds since 1970, written in hundredths of a second; by default the end of
    /// the interval.
    pub written_at: Option<i64>,
    /// Sysplex name.
    pub sysplex: Option<String>,
    /// Queue manager, Db2 subsystem, CICS applid.
    pub subsystem: Option<String>,
    /// Start of the interval, microseconds since 1970, UTC.
    pub interval_start: Option<i64>,
    /// End of the interval, microseconds since 1970, UTC.
    pub interval_end: Option<i64>,
    /// Local minus UTC, in seconds.
    pub utc_offset: Option<f64>,
}

impl RecordIdentity {
    /// Fills in what is missing from one row of a table.
    pub(crate) fn fill(&mut self, keys: &KeyColumns<'_>, row: usize) {
        let text = |name: &str| match keys.get(name, row) {
            Some(Value::Text(text)) => Some(text.to_owned()),
            _ => None,
        };
        let time = |name: &str| match keys.get(name, row) {
            Some(Value::Time(micros)) => Some(micros),
            _ => None,
        };
        self.system = self.system.take().or_else(|| text("system"));
        self.ssid = self.ssid.take().or_else(|| text("ssid"));
        self.sysplex = self.sysplex.take().or_else(|| text("sysplex"));
        self.subsystem = self.subsystem.take().or_else(|| text("subsystem"));
        self.written_at = self.written_at.or_else(|| time("written_at"));
        self.interval_start = self.interval_start.or_else(|| time("interval_start"));
        self.interval_end = self.interval_end.or_else(|| time("interval_end"));
        self.utc_offset = self.utc_offset.or_else(|| match keys.get("utc_offset", row) {
            Some(Value::Float(seconds)) => Some(seconds),
            Some(Value::Int(seconds)) => Some(seconds as f64),
            _ => None,
        });
        self.subtype = self.subtype.or_else(|| match keys.get("subtype", row) {
            Some(Value::Int(subtype)) => u16::try_from(subtype).ok(),
            _ => None,
        });
    }

    fn offset_micros(&self) -> i64 {
        (self.utc_offset.unwrap_or(0.0) * 1e6).round() as i64
    }

    fn header_time(&self) -> Option<i64> {
        let local = |utc: i64| utc.checked_add(self.offset_micros());
        self.written_at.or_else(|| self.interval_end.or(self.interval_start).and_then(local))
    }

    /// Writes the standard header (24 bytes where the record has a subtype, else 18), lengths left open.
    pub(crate) fn write_header(&self, map: &RecordMap, forms: Forms, out: &mut [u8]) -> Result<(), EncodeError> {
        let wrong = |what: &str, remedy: &str| EncodeError::table(&map.name, what, remedy);
        // The fixed part of a record without triplets has other fields in these places.
        let fixed = map.entries.iter().any(|entry| entry.rule == Rule::Fixed);
        let with_subtype = out.len() >= 24 && !fixed;
        if out[4] == 0 {
            // New record, system from MVS/SP on; with subtypes and subsystem id where there are any.
            out[4] = if with_subtype { 0x5E } else { 0x1E };
        }
        out[5] = map.record_type;
        let unset = |bytes: &[u8]| bytes.iter().all(|&byte| matches!(byte, 0 | BLANK));
        match self.header_time() {
            Some(time) => {
                let hundredths = (time.rem_euclid(DAY) / 10_000) as u32;
                out[6..10].copy_from_slice(&hundredths.to_be_bytes());
                let date = i32::try_from(time.div_euclid(DAY)).ok().and_then(|day| smf_date::encode(day).ok());
                let date =
                    date.ok_or_else(|| wrong("the header's time is outside 1900 to 2899", "check written_at"))?;
                out[10..14].copy_from_slice(&date);
            }
            // The caller's header row may have brought it.
            None if unset(&out[10..14]) => {
                return Err(wrong("no time for the header", "give written_at, or interval_end and utc_offset"));
            }
            None => {}
        }
        let text = |column: &str, text: &str, out: &mut [u8]| {
            forms.code_page.encode(text, out).map_err(|_| {
                EncodeError::column(
                    &map.name,
                    column,
                    format!("`{text}` does not fit the header"),
                    "use at most four characters of the code page",
                )
            })
        };
        match &self.system {
            Some(system) => text("system", system, &mut out[14..18])?,
            None if unset(&out[14..18]) => return Err(wrong("no system id", "give system")),
            None => {}
        }
        if with_subtype {
            let usual = match map.identity {
                Identity::Rmf => "RMF",
                Identity::Cics => "CICS",
                Identity::Mq | Identity::Db2 => self.subsystem.as_deref().unwrap_or(""),
                Identity::Smf30 | Identity::Smf42 | Identity::Smf113 | Identity::Standard => "",
            };
            let usual = Some(usual).filter(|usual| !usual.is_empty() && unset(&out[18..22]));
            if let Some(ssid) = self.ssid.as_deref().or(usual) {
                text("ssid", ssid, &mut out[18..22])?;
            }
            let subtype = match map.selector {
                Selector::Subtype(subtype) | Selector::Class(subtype, _) => Some(subtype),
                // SM101STF tells accounting of plans and of packages apart; statistics number their IFCIDs from 0.
                Selector::Ifcid(239) => self.subtype.or(Some(1)),
                Selector::Ifcid(ifcid) if map.record_type == 100 => self.subtype.or(Some(ifcid.saturating_sub(1))),
                Selector::Ifcid(_) => self.subtype.or(Some(0)),
                Selector::Any => self.subtype,
            };
            if let Some(subtype) = subtype {
                out[22..24].copy_from_slice(&subtype.to_be_bytes());
            }
        }
        Ok(())
    }

    /// Writes when CICS statistics were collected and reset before: text on the local clock.
    fn write_collection(
        &self,
        map: &RecordMap,
        start: i64,
        end: i64,
        product: &mut Product<'_>,
    ) -> Result<(), EncodeError> {
        let digits = |seconds: i64| format!("{:02}{:02}{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
        let reset = whole(start.rem_euclid(DAY), SECOND, "interval_start", map)?;
        let collected = whole(end.rem_euclid(DAY), SECOND, "interval_end", map)?;
        let (year, month, day) = smf_date::date_of(end.div_euclid(DAY)).ok_or_else(|| {
            EncodeError::column(&map.name, "interval_end", "outside 1900 to 2899", "check interval_end")
        })?;
        product.put("RQT", Value::Text("INT"))?;
        product.put("DAT", Value::Text(&format!("{month:02}{day:02}{year:04}")))?;
        product.put("CLT", Value::Text(&digits(collected)))?;
        product.put("LRT", Value::Text(&digits(reset)))
    }

    /// Writes what identifies the record into its product section (identification section for SMF 30), where the
    /// caller's row has no value of its own. `given` tells which columns have.
    pub(crate) fn write_product(
        &self,
        map: &RecordMap,
        section: &Section,
        given: &dyn Fn(&str) -> bool,
        forms: Forms,
        out: &mut [u8],
    ) -> Result<(), EncodeError> {
        let mut product = Product { map, section, given, forms, out };
        let local = |utc: i64| utc.saturating_add(self.offset_micros());
        match map.identity {
            Identity::Rmf => {
                if let Some(start) = self.interval_start.map(local) {
                    let day = i32::try_from(start.div_euclid(DAY)).unwrap_or(i32::MAX);
                    let time = whole(start.rem_euclid(DAY), SECOND, "interval_start", map)?;
                    product.put("IST", Value::Int(time.into()))?;
                    product.put("DAT", Value::Day(day))?;
                }
                if let Some((start, end)) = self.interval_start.zip(self.interval_end) {
                    let milliseconds = whole(end.saturating_sub(start), 1000, "interval_end", map)?;
                    product.put("INT", Value::Float(milliseconds as f64 / 1e3))?;
                }
                product.put("LGO", Value::Float(self.utc_offset.unwrap_or(0.0)))?;
                if let Some(sysplex) = &self.sysplex {
                    product.put("XNM", Value::Text(sysplex))?;
                }
            }
            Identity::Mq | Identity::Db2 => {
                if map.identity == Identity::Db2 {
                    product.put("QWHSRN", Value::Int(DB2_RELEASE.into()))?;
                }
                if let Selector::Ifcid(ifcid) = map.selector {
                    product.put("QWHSIID", Value::Int(ifcid.into()))?;
                }
                if let Some(subsystem) = &self.subsystem {
                    product.put("QWHSSSID", Value::Text(subsystem))?;
                }
                if let Some(end) = self.interval_end {
                    product.put("QWHSSTCK", Value::Time(end))?;
                }
                if let Some((start, end)) = self.interval_start.zip(self.interval_end) {
                    product.put("QWHSTIME", Value::Time(local(start)))?;
                    product.put("QWHSDURN", Value::Float(end.saturating_sub(start) as f64 / 1e6))?;
                }
            }
            Identity::Cics => {
                if let Some(applid) = &self.subsystem {
                    product.put("SPN", Value::Text(applid))?;
                    product.put("PRN", Value::Text(applid))?;
                }
                if let Selector::Class(_, class) = map.selector {
                    product.put("SMFMNCL", Value::Int(class.into()))?;
                } else if let Some((start, end)) = self.interval_start.zip(self.interval_end) {
                    self.write_collection(map, local(start), local(end), &mut product)?;
                }
            }
            Identity::Smf30 | Identity::Smf42 | Identity::Smf113 | Identity::Standard => {
                let ends = [self.interval_start, self.interval_end];
                let (first, last) = map.identity.interval().unwrap_or(("", ""));
                for (name, time) in [first, last].into_iter().zip(ends) {
                    if let Some(time) = time {
                        product.put(name, Value::Time(time))?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// A product section being filled.
struct Product<'a> {
    map: &'a RecordMap,
    section: &'a Section,
    given: &'a dyn Fn(&str) -> bool,
    forms: Forms,
    out: &'a mut [u8],
}

impl Product<'_> {
    /// Writes a field, unless the section lacks it, the caller gave it, or the entry ends before.
    fn put(&mut self, name: &str, value: Value<'_>) -> Result<(), EncodeError> {
        let missing = |field: &&Field| !(self.given)(&field.column);
        let Some(field) = identity_field(self.section, self.map.identity, name).filter(missing) else {
            return Ok(());
        };
        let Some(place) = self.out.get_mut(field.offset..field.end()) else {
            return Ok(());
        };
        let unfit = |Misfit { what, remedy }| EncodeError::column(&self.section.name, &field.column, what, remedy);
        self.forms.put(field, value, place).map_err(unfit)
    }
}

/// A time in larger units, which must be whole: the record has no place for the rest.
fn whole(micros: i64, unit: i64, column: &str, map: &RecordMap) -> Result<i64, EncodeError> {
    if micros % unit == 0 {
        return Ok(micros / unit);
    }
    Err(EncodeError::column(
        &map.name,
        column,
        format!("{micros} us is no whole multiple of {unit} us"),
        "the record holds times of day in seconds (CICS, start of RMF intervals) or lengths in milliseconds (RMF)",
    ))
}

/// The key columns of a table.
pub(crate) struct KeyColumns<'a> {
    columns: Vec<(&'a str, Values<'a>)>,
}

impl<'a> KeyColumns<'a> {
    /// Those of the columns that say which record a row belongs to, and what the record says of itself. `skip` tells
    /// which names are the section's own.
    pub fn find(
        table: &str,
        batch: &'a RecordBatch,
        names: &[&'static str],
        skip: &dyn Fn(&str) -> bool,
    ) -> Result<Self, EncodeError> {
        let mut columns = Vec::new();
        for &name in names.iter().filter(|name| !skip(name)) {
            if let Some(array) = batch.column_by_name(name) {
                let values = Values::new(array).ok_or_else(|| unwritable(table, name, array.data_type()))?;
                columns.push((name, values));
            }
        }
        Ok(Self { columns })
    }

    /// The value of a column in a row.
    pub fn get(&self, name: &str, row: usize) -> Option<Value<'a>> {
        self.columns.iter().find(|(known, _)| *known == name).and_then(|(_, values)| values.get(row))
    }
}
