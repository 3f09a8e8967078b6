//! When a row of a record map applies: layouts of one section differ by release, and the record tells which it has.

use std::fmt;

use super::catalogue::Catalogue;
use super::record_map::{Identity, MapEntry, RecordMap};
use super::section::Field;

/// What a condition looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// The entry's length in bytes.
    Length,
    /// An unsigned field: of the first layout that the map names for the same entries, or else of the product section.
    Field(String),
}

/// How the value is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// Less than.
    Below,
    /// At least.
    From,
    /// The same.
    Equals,
}

/// A condition on an entry, from the column `when` of a record map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// What it looks at.
    pub subject: Subject,
    /// How.
    pub comparison: Comparison,
    /// What it is compared with.
    pub value: u64,
}

/// Where a condition's field stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Witness<'a> {
    /// In the entry itself.
    Entry(&'a Field),
    /// In the record's product section.
    Product(&'a Field),
}

/// What the column `when` can say, for messages.
pub(crate) const CONDITIONS: &str = "length<N, length>=N, FIELD=N, FIELD<N or FIELD>=N";

impl Comparison {
    /// Whether a value meets it.
    #[inline]
    #[must_use]
    pub fn holds(self, found: u64, value: u64) -> bool {
        match self {
            Self::Below => found < value,
            Self::From => found >= value,
            Self::Equals => found == value,
        }
    }
}

impl Condition {
    /// Reads the column `when`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let signs = [(">=", Comparison::From), ("<", Comparison::Below), ("=", Comparison::Equals)];
        let (subject, comparison, value) = signs.iter().find_map(|&(sign, comparison)| {
            text.split_once(sign).map(|(subject, value)| (subject, comparison, value))
        })?;
        let named = !subject.is_empty() && subject.chars().all(|c| c.is_ascii_alphanumeric() || "_$#@".contains(c));
        let subject = if subject == "length" { Subject::Length } else { Subject::Field(subject.to_owned()) };
        named.then(|| value.parse().ok().map(|value| Self { subject, comparison, value }))?
    }

    /// Whether an entry of that length can meet it.
    #[must_use]
    pub fn allows_length(&self, length: usize) -> bool {
        self.subject != Subject::Length || self.comparison.holds(length as u64, self.value)
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let subject = match &self.subject {
            Subject::Length => "length",
            Subject::Field(name) => name,
        };
        let sign = match self.comparison {
            Comparison::Below => "<",
            Comparison::From => ">=",
            Comparison::Equals => "=",
        };
        write!(out, "{subject}{sign}{}", self.value)
    }
}

impl Catalogue {
    /// The field that the condition of a record map's row looks at; `None` where it is the length, or there is no such
    /// field (the catalogue refuses such maps).
    #[must_use]
    pub fn witness<'a>(&'a self, map: &RecordMap, entry: &MapEntry) -> Option<Witness<'a>> {
        let Some(Condition { subject: Subject::Field(name), .. }) = &entry.when else { return None };
        let field = |row: &MapEntry| self.section(&row.layout)?.field(name);
        let first = map.entries.iter().find(|other| other.shares_entries(entry));
        let here = first.and_then(field).map(Witness::Entry);
        // Records of these identities are not read by a product section.
        let product = || {
            map.product().filter(|_| !matches!(map.identity, Identity::Standard | Identity::Smf30 | Identity::Smf113))
        };
        here.or_else(|| product().and_then(field).map(Witness::Product))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_written_as_they_are_read() {
        for text in ["length<400", "length>=400", "SMF73CMG=2", "QWHSRN<161", "QWHSRN>=161", "length=8"] {
            let condition = Condition::parse(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(condition.to_string(), text);
        }
        for text in ["", "length", "length>8", "length<", "=2", "A B=2", "A=x", "A=-1", "A<>1"] {
            assert_eq!(Condition::parse(text), None, "{text}");
        }
    }

    #[test]
    fn lengths_decide() {
        let below = Condition::parse("length<400").expect("a condition");
        assert!(below.allows_length(399) && !below.allows_length(400));
        let from = Condition::parse("length>=400").expect("a condition");
        assert!(from.allows_length(400) && !from.allows_length(399));
        assert!(Condition::parse("X=400").expect("a condition").allows_length(1));
    }
}
