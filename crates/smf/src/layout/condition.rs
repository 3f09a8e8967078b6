//! When a row of a record map applies: layouts of one section differ by release, and the entry tells which it has.

use std::fmt;

/// A condition on an entry, from the column `when` of a record map.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Condition {
    /// Entries shorter than so many bytes.
    Below(u16),
    /// Entries of at least so many bytes.
    From(u16),
    /// Entries in which an unsigned field has this value. The field is one of the first layout that the map names for
    /// the same triplet.
    Equals {
        /// Name of the field.
        field: String,
        /// What it has to hold.
        value: u64,
    },
}

/// What the column `when` can say, for messages.
pub(crate) const CONDITIONS: &str = "length<N, length>=N or FIELD=N";

impl Condition {
    /// Reads the column `when`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(bytes) = text.strip_prefix("length<") {
            return bytes.parse().ok().map(Self::Below);
        }
        if let Some(bytes) = text.strip_prefix("length>=") {
            return bytes.parse().ok().map(Self::From);
        }
        let (field, value) = text.split_once('=')?;
        let named = !field.is_empty() && field.chars().all(|c| c.is_ascii_alphanumeric() || "_$#@".contains(c));
        named.then(|| value.parse().ok().map(|value| Self::Equals { field: field.into(), value }))?
    }

    /// Whether an entry of that length can meet it.
    #[must_use]
    pub fn allows_length(&self, length: usize) -> bool {
        match self {
            Self::Below(limit) => length < usize::from(*limit),
            Self::From(limit) => length >= usize::from(*limit),
            Self::Equals { .. } => true,
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Below(bytes) => write!(out, "length<{bytes}"),
            Self::From(bytes) => write!(out, "length>={bytes}"),
            Self::Equals { field, value } => write!(out, "{field}={value}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_written_as_they_are_read() {
        for text in ["length<400", "length>=400", "SMF73CMG=2"] {
            assert_eq!(Condition::parse(text).map(|condition| condition.to_string()).as_deref(), Some(text));
        }
        for text in ["", "length", "length>400", "length<x", "length<=3", "=2", "A B=2", "SMF73CMG=x", "SMF73CMG=-1"] {
            assert_eq!(Condition::parse(text), None, "{text}");
        }
    }
}
