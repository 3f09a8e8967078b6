//! System, sysplex, subsystem and interval of a record: the columns before a section's own.

use crate::forms::ebcdic::CodePage;
use crate::forms::packed_decimal::{self, Packed};
use crate::forms::rmf_time;
use crate::forms::smf_date::{self, SmfDate};
use crate::forms::tod_clock::{LeapSeconds, units_to_micros};
use crate::layout::{Field, Format, Identity, Section, identity_field};

use super::column::float_scale;
use super::header::RecordView;

const QUARTER_HOUR: i64 = 900_000_000;
const DAY: i64 = 86_400_000_000;
/// A record is built at the end of its interval, and buffered at once; more than this between those times (five
/// minutes) means that one of them is no such time.
const INTERVAL_SLACK: u64 = 300_000_000;

/// What the key columns of a record's rows hold.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct RecordKeys {
    pub record_no: u64,
    pub system: Option<String>,
    pub sysplex: Option<String>,
    pub subsystem: Option<String>,
    pub interval_start: Option<i64>,
    pub interval_end: Option<i64>,
    pub utc_offset: Option<f64>,
}

/// How the keys of a record map's records are read: field places in its product section (in the identification
/// section for SMF 30), compiled once.
#[derive(Debug, Clone)]
pub(crate) enum IdentityPlan {
    Rmf {
        start: usize,
        date: usize,
        length: usize,
        offset: usize,
        sysplex: Option<(usize, usize)>,
    },
    Header {
        subsystem: Option<(usize, usize)>,
        /// Whether the name in the record's header comes first.
        header_names: bool,
        built: Option<usize>,
        start: Option<usize>,
        duration: Option<Duration>,
    },
    Cics {
        applid: (usize, usize),
        collected: Option<Collected>,
    },
    Interval {
        start: usize,
        end: usize,
    },
    Standard,
}

/// Where CICS statistics say when they were collected, and reset before: text on the local clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Collected {
    /// Month, day and year, eight digits.
    date: usize,
    /// Hours, minutes and seconds, six digits.
    time: usize,
    reset: usize,
}

/// What is known of a record besides its own bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Hints {
    /// Local minus UTC in microseconds.
    pub zone: Option<i64>,
    /// When the last of what the record measures ended.
    pub stop: Option<i64>,
}

/// Where an interval's duration is, and how many microseconds its unit has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Duration {
    at: usize,
    micros: f64,
}

/// Bytes of a time, a date or a duration in RMF's product section.
const RMF_TIME: usize = 4;
/// Bytes of a number of clock units.
const CLOCK: usize = 8;

impl IdentityPlan {
    /// The plan for a section; `Standard` where the section lacks a field that the identity needs.
    pub fn compile(identity: Identity, section: Option<&Section>) -> Self {
        let place = |name: &str, formats: &[Format]| {
            identity_field(section?, identity, name).filter(|field| formats.contains(&field.format))
        };
        let at = |name: &str, formats: &[Format]| place(name, formats).map(|field| field.offset);
        let text = |name: &str| place(name, &[Format::Ebcdic]).map(|field| (field.offset, field.length));
        let plan = match identity {
            Identity::Rmf => (|| {
                Some(Self::Rmf {
                    start: at("IST", &[Format::Packed])?,
                    date: at("DAT", &[Format::SmfDate])?,
                    length: at("INT", &[Format::Packed])?,
                    offset: at("LGO", &[Format::I64])?,
                    sysplex: text("XNM"),
                })
            })(),
            Identity::Mq | Identity::Db2 => Some(Self::Header {
                subsystem: text("QWHSSSID"),
                header_names: identity == Identity::Mq,
                built: at("QWHSSTCK", &[Format::Stck]),
                start: at("QWHSTIME", &[Format::Stck]),
                duration: place("QWHSDURN", &[Format::U64, Format::CpuStck]).map(duration),
            }),
            Identity::Cics => text("SPN").map(|applid| {
                let digits = |name: &str, length: usize| {
                    place(name, &[Format::Ebcdic]).filter(|field| field.length == length).map(|field| field.offset)
                };
                let collected = (|| {
                    let (date, time, reset) = (digits("DAT", 8)?, digits("CLT", 6)?, digits("LRT", 6)?);
                    Some(Collected { date, time, reset })
                })();
                Self::Cics { applid, collected }
            }),
            Identity::Smf30 | Identity::Smf42 | Identity::Smf113 => (|| {
                let (start, end) = identity.interval()?;
                Some(Self::Interval { start: at(start, &[Format::Stck])?, end: at(end, &[Format::Stck])? })
            })(),
            Identity::Standard => None,
        };
        plan.unwrap_or(Self::Standard)
    }

    /// Fewest bytes of RMF's product section that tell the interval: its begin, its length and the offset from UTC.
    pub fn least(&self) -> usize {
        match *self {
            Self::Rmf { start, date, length, offset, .. } => {
                (start.max(date).max(length) + RMF_TIME).max(offset + CLOCK)
            }
            _ => 0,
        }
    }

    /// Reads the keys. `section` is the entry that the plan was compiled for, where the record has it.
    /// The flag says that an interval is there but cannot be right.
    pub fn read(
        &self,
        record: RecordView<'_>,
        section: Option<&[u8]>,
        hints: Hints,
        page: CodePage,
        leap: LeapSeconds,
    ) -> (RecordKeys, bool) {
        let mut keys = RecordKeys { system: record.system().map(|id| page.decode(id)), ..RecordKeys::default() };
        let view = RecordView(section.unwrap_or(&[]));
        let text = |(at, length): (usize, usize)| {
            view.0.get(at..at + length).map(|text| page.decode(text)).filter(|text| !text.is_empty())
        };
        let clock = |at: usize| view.bytes(at).map(u64::from_be_bytes);
        let mut inconsistent = false;
        match self {
            Self::Rmf { start, date, length, offset, sysplex } => {
                keys.sysplex = sysplex.and_then(text);
                let offset = view.bytes(*offset).map(|bytes| units_to_micros(i64::from_be_bytes(bytes)));
                keys.utc_offset = offset.map(|micros| micros as f64 / 1e6);
                let local = rmf_start(view, *start, *date);
                keys.interval_start = local.zip(offset).and_then(|(local, offset)| local.checked_sub(offset));
                let length = view.bytes(*length).and_then(packed4).and_then(rmf_time::mst_to_milliseconds);
                keys.interval_end =
                    keys.interval_start.zip(length).and_then(|(start, ms)| start.checked_add(ms * 1000));
            }
            Self::Header { subsystem, header_names, built, start, duration } => {
                let named = record.ssid().map(|id| page.decode(id)).filter(|id| !id.is_empty());
                let written = subsystem.and_then(text);
                keys.subsystem = if *header_names { named.or(written) } else { written.or(named) };
                let built = built.and_then(clock).and_then(|clock| leap.to_utc(clock));
                let zone = header_offset(record, built);
                keys.utc_offset = zone.map(|zone| zone as f64 / 1e6);
                keys.interval_end = built;
                let began = start.and_then(clock).and_then(|clock| leap.to_utc(clock));
                let lasted = duration.and_then(|Duration { at, micros }| {
                    clock(at).filter(|&count| count != 0).map(|count| (count as f64 * micros) as i64)
                });
                if let (Some(began), Some(lasted), Some(built), Some(zone)) = (began, lasted, built, zone) {
                    let start = began - zone;
                    let end = start.saturating_add(lasted);
                    if end.abs_diff(built) < INTERVAL_SLACK {
                        keys.interval_start = Some(start);
                        keys.interval_end = Some(end);
                    } else {
                        inconsistent = true;
                    }
                }
            }
            Self::Cics { applid, collected } => {
                keys.subsystem = text(*applid);
                let zone = header_offset(record, hints.stop).or(hints.zone);
                keys.utc_offset = zone.map(|zone| zone as f64 / 1e6);
                keys.interval_end = hints.stop;
                if let Some((collected, zone)) = collected.as_ref().zip(zone) {
                    let (start, end) = collected.read(view, page).unzip();
                    keys.interval_start = start.map(|start| start - zone);
                    keys.interval_end = end.map(|end| end - zone);
                }
            }
            Self::Interval { start, end } => {
                keys.interval_start = clock(*start).and_then(|clock| leap.to_utc(clock));
                keys.interval_end = clock(*end).and_then(|clock| leap.to_utc(clock));
                keys.utc_offset = header_offset(record, keys.interval_end).map(|zone| zone as f64 / 1e6);
            }
            Self::Standard => {}
        }
        (keys, inconsistent)
    }
}

impl Collected {
    /// When statistics were last reset and when they were collected, on the local clock. A time of day after that of
    /// the collection was on the day before: resets are at most a day apart.
    fn read(&self, product: RecordView<'_>, page: CodePage) -> Option<(i64, i64)> {
        let digits = |at: usize, length: usize| {
            let text = page.decode(product.0.get(at..at + length)?);
            text.bytes().all(|digit| digit.is_ascii_digit()).then_some(text).filter(|text| text.len() == length)
        };
        let of_day = |at: usize| {
            let time: i64 = digits(at, 6)?.parse().ok()?;
            rmf_time::hms_to_seconds(time).map(|seconds| seconds as i64 * 1_000_000)
        };
        let date = digits(self.date, 8)?;
        let (month, day, year) = (date[..2].parse().ok()?, date[2..4].parse().ok()?, date[4..].parse().ok()?);
        let midnight = smf_date::days_of(year, month, day)? * DAY;
        let (end, reset) = (midnight + of_day(self.time)?, midnight + of_day(self.reset)?);
        Some((if reset > end { reset - DAY } else { reset }, end))
    }
}

fn duration(field: &Field) -> Duration {
    let micros = match field.format {
        Format::CpuStck => 1.0 / 4096.0,
        _ => float_scale(field.unit.conversion).apply(1e6),
    };
    Duration { at: field.offset, micros }
}

fn packed4(bytes: [u8; 4]) -> Option<i64> {
    match packed_decimal::decode(&bytes) {
        Packed::Number(number) => Some(number),
        Packed::Empty | Packed::Unreadable => None,
    }
}

/// Start of an RMF interval on the local clock. An empty time field cannot be midnight: midnight is `0000000F`.
fn rmf_start(product: RecordView<'_>, time: usize, date: usize) -> Option<i64> {
    let seconds = product.bytes(time).and_then(packed4).and_then(rmf_time::hms_to_seconds)?;
    match smf_date::decode(product.bytes(date)?) {
        SmfDate::Days(days) => Some(i64::from(days) * DAY + seconds as i64 * 1_000_000),
        SmfDate::Empty | SmfDate::Unreadable => None,
    }
}

/// Local minus UTC in microseconds, from the header's local time and a UTC time of the same moment. Time zones are
/// multiples of 15 minutes between -12 and +14 hours; anything else is no time zone.
pub(crate) fn header_offset(record: RecordView<'_>, utc: Option<i64>) -> Option<i64> {
    let difference = record.written_at()?.checked_sub(utc?)?;
    let offset = round_to_quarter(difference);
    let fits = difference.abs_diff(offset) < INTERVAL_SLACK && (-48..=56).contains(&(offset / QUARTER_HOUR));
    fits.then_some(offset)
}

fn round_to_quarter(micros: i64) -> i64 {
    micros.saturating_add(QUARTER_HOUR / 2).div_euclid(QUARTER_HOUR) * QUARTER_HOUR
}
