//! How entries of a section are found.

use std::fmt;

/// How entries of a section are found from the place that a row of a record map names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rule {
    /// The section is at the start of the record; it makes no table.
    Header,
    /// Product section (RMF), or first header of it (QWHS); the record's identity comes from it.
    Product,
    /// Each entry of the triplet is a row.
    Entries,
    /// As `Entries`; where the triplet gives no length, each entry follows its own u16 length.
    Varying,
    /// Each entry follows its own u8 length; the text at its end is as long as the entry lets it be.
    Counted,
    /// Header of this type in the product section's chain (Db2, MQ).
    Chain(u8),
    /// Elements of a fixed length within each entry. One of binary zeros is unused and gives no row, but is
    /// counted in `section_no`.
    Array(ArrayRule),
    /// Statistics entries with this identifier: the triplet leads to entries of all kinds, each of which begins with
    /// its u16 length and its u16 identifier. With an array, its elements are the rows.
    Tagged(u16, Option<ArrayRule>),
    /// Entries that a row of another section points at. [`Link`] says by which fields.
    Linked,
    /// The record itself up to where the first other section begins, a row for each record. Offsets count from the
    /// record's start.
    Fixed,
    /// Entries that fields of the header or of the fixed part place, without a triplet. [`Link`] names these fields.
    Placed(PlacedRule),
    /// CICS monitoring data: connectors in the record say which fields of the region's dictionary it holds.
    Connected,
}

/// How entries are placed without a triplet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PlacedRule {
    /// Bytes from the start of the record to the place from which the offset counts.
    pub base: u16,
    /// Bytes of the type, and as many of the length, with which each entry begins: 1 or 2; the length counts neither.
    /// Zero where all entries have the length that a field gives.
    pub lead: u16,
}

/// Where the elements of an array are in an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ArrayRule {
    /// Bytes before the first element.
    pub offset: u16,
    /// Length of an element, at least 1.
    pub length: u16,
    /// Most elements; `None` for all up to the entry's end.
    pub count: Option<u16>,
}

/// The fields by which a section points at entries of another; all in sections of the same record map.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Link {
    /// Field that holds the length of an entry.
    pub length: String,
    /// Field of an entry that holds the offset of the next; zero ends the list.
    pub next: Option<String>,
    /// Field of the pointing entry that holds how many entries follow each other; one without it.
    pub count: Option<String>,
    /// Whether the offset counts from the start of the pointing entry, and not from that of the record.
    pub relative: bool,
}

/// What a record map can say in its column `rule`, for messages.
pub(crate) const RULES: &str = "header, product, entries, varying, counted, chain:<type>, array:<offset>:<length>[:<count>], \
     tagged:<id>[:<offset>:<length>[:<count>]], linked:<length field>[:[<next field>][:<count field>[:entry]]], fixed, \
     placed:<base>:<length field, 1 or 2>:<count field> or connected";

impl Rule {
    /// Reads the column `rule` of a record map.
    #[must_use]
    pub fn parse(text: &str) -> Option<(Self, Option<Link>)> {
        let rule = match text {
            "header" => Self::Header,
            "product" => Self::Product,
            "entries" => Self::Entries,
            "varying" => Self::Varying,
            "counted" => Self::Counted,
            "connected" => Self::Connected,
            "fixed" => Self::Fixed,
            _ => {
                let (kind, rest) = text.split_once(':')?;
                match kind {
                    "array" => Self::Array(ArrayRule::parse(rest)?),
                    "chain" => Self::Chain(rest.parse().ok()?),
                    "tagged" => match rest.split_once(':') {
                        None => Self::Tagged(rest.parse().ok()?, None),
                        Some((id, array)) => Self::Tagged(id.parse().ok()?, Some(ArrayRule::parse(array)?)),
                    },
                    "placed" => return placed(rest),
                    "linked" => {
                        let (length, rest) = rest.split_once(':').unwrap_or((rest, ""));
                        let (next, rest) = rest.split_once(':').unwrap_or((rest, ""));
                        let (count, base) = rest.split_once(':').unwrap_or((rest, "record"));
                        let sound = base == "record" || (base == "entry" && !count.is_empty());
                        let named = |name: &str| (!name.is_empty()).then(|| name.to_owned());
                        // A list says itself where it ends.
                        return (sound && !length.is_empty() && (next.is_empty() || count.is_empty())).then(|| {
                            let relative = base == "entry";
                            let link = Link { length: length.into(), next: named(next), count: named(count), relative };
                            (Self::Linked, Some(link))
                        });
                    }
                    _ => return None,
                }
            }
        };
        Some((rule, None))
    }

    /// The identifier of the statistics entries that it is for.
    #[must_use]
    pub fn tag(self) -> Option<u16> {
        match self {
            Self::Tagged(id, _) => Some(id),
            _ => None,
        }
    }

    /// Whether the last field of an entry is as long as the entry lets it be.
    #[must_use]
    pub fn is_open(self) -> bool {
        matches!(self, Self::Counted | Self::Placed(PlacedRule { lead: 1.., .. }))
    }

    /// The array whose elements are the rows, where there is one.
    #[must_use]
    pub fn array(self) -> Option<ArrayRule> {
        match self {
            Self::Array(array) | Self::Tagged(_, Some(array)) => Some(array),
            _ => None,
        }
    }
}

/// Base, length field or width of the lengths in the entries, and count field.
fn placed(text: &str) -> Option<(Rule, Option<Link>)> {
    let parts: Vec<&str> = text.split(':').collect();
    let [base, length, count] = parts[..] else { return None };
    let (lead, length) = match length {
        "" => return None,
        "1" => (1, ""),
        "2" => (2, ""),
        name => (0, name),
    };
    let link = Link { length: length.into(), next: None, count: Some(count.into()), relative: false };
    let rule = Rule::Placed(PlacedRule { base: base.parse().ok()?, lead });
    (!count.is_empty()).then_some((rule, Some(link)))
}

impl ArrayRule {
    fn parse(numbers: &str) -> Option<Self> {
        let numbers: Vec<u16> = numbers.split(':').map(|number| number.parse().ok()).collect::<Option<_>>()?;
        let (offset, length, count) = match numbers[..] {
            [offset, length] => (offset, length, None),
            [offset, length, count] => (offset, length, Some(count)),
            _ => return None,
        };
        (length != 0).then_some(Self { offset, length, count })
    }

    /// Whole elements in an entry of that length.
    #[must_use]
    pub fn elements(self, entry: usize) -> usize {
        let fit = entry.saturating_sub(self.offset.into()) / usize::from(self.length.max(1));
        self.count.map_or(fit, |count| fit.min(count.into()))
    }
}

impl fmt::Display for ArrayRule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.offset, self.length)?;
        self.count.map_or(Ok(()), |count| write!(out, ":{count}"))
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header => out.write_str("header"),
            Self::Product => out.write_str("product"),
            Self::Entries => out.write_str("entries"),
            Self::Varying => out.write_str("varying"),
            Self::Counted => out.write_str("counted"),
            Self::Chain(kind) => write!(out, "chain:{kind}"),
            Self::Array(array) => write!(out, "array:{array}"),
            Self::Tagged(id, None) => write!(out, "tagged:{id}"),
            Self::Tagged(id, Some(array)) => write!(out, "tagged:{id}:{array}"),
            Self::Linked => out.write_str("linked"),
            Self::Connected => out.write_str("connected"),
            Self::Fixed => out.write_str("fixed"),
            Self::Placed(placed) => write!(out, "placed:{}", placed.base),
        }
    }
}

impl fmt::Display for Link {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "linked:{}", self.length)?;
        match (&self.next, &self.count) {
            (_, Some(count)) => write!(out, "::{count}{}", if self.relative { ":entry" } else { "" }),
            (Some(next), None) => write!(out, ":{next}"),
            (None, None) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_written_as_they_are_read() {
        for text in [
            "header",
            "product",
            "entries",
            "varying",
            "counted",
            "connected",
            "fixed",
            "chain:16",
            "array:8:20",
            "array:8:20:3",
            "tagged:60",
            "tagged:60:200:112",
            "tagged:60:200:112:4",
        ] {
            let (rule, link) = Rule::parse(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((rule.to_string().as_str(), link), (text, None));
        }
        for text in ["linked:S42JDIOL", "linked:S42JDDSL:S42DSNXT", "linked:SIZE::MANY", "linked:SIZE::MANY:entry"] {
            let (rule, link) = Rule::parse(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((rule, link.map(|link| link.to_string()).as_deref()), (Rule::Linked, Some(text)));
        }
    }

    #[test]
    fn what_is_no_rule_is_refused() {
        for text in [
            "",
            "every",
            "array:1",
            "array:1:0",
            "array:1:2:3:4",
            "chain:256",
            "tagged:",
            "tagged:1:2",
            "linked:",
            "linked:A:B:C",
            "linked:A:B::entry",
            "linked:A::C:elsewhere",
            "placed:4:1",
            "placed:4::COUNT",
            "placed:X:1:COUNT",
            "fixed:4",
        ] {
            assert_eq!(Rule::parse(text), None, "{text}");
        }
    }
}
