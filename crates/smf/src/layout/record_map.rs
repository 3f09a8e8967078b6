//! Which sections a record holds, and where its header says they are.

use super::condition::{CONDITIONS, Condition};
use super::error::LayoutError;
use super::rule::{Link, RULES, Rule};
use super::section::{column_at, csv_error};

/// How the columns before a section's own (system, interval and so on) are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Identity {
    /// RMF product section: interval start and length, local time offset, sysplex.
    Rmf,
    /// MQ product section: queue manager, interval.
    Mq,
    /// Db2 product section: subsystem, time of the record.
    Db2,
    /// CICS product section: applid.
    Cics,
    /// SMF 30 identification section: interval.
    Smf30,
    /// SMF 42 product section: interval.
    Smf42,
    /// SMF 113 identification section: interval.
    Smf113,
    /// The standard header alone.
    Standard,
}

const IDENTITIES: [(&str, Identity); 8] = [
    ("rmf", Identity::Rmf),
    ("mq", Identity::Mq),
    ("db2", Identity::Db2),
    ("cics", Identity::Cics),
    ("smf30", Identity::Smf30),
    ("smf42", Identity::Smf42),
    ("smf113", Identity::Smf113),
    ("standard", Identity::Standard),
];

impl Identity {
    /// The name in record maps.
    #[must_use]
    pub fn name(self) -> &'static str {
        IDENTITIES.iter().find(|(_, identity)| *identity == self).map_or("", |(name, _)| name)
    }

    /// The fields with start and end of the interval, where a section of its own has them: its first entry, whatever
    /// rule the section has.
    #[must_use]
    pub fn interval(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Smf30 => Some(("SMF30ISS", "SMF30IET")),
            Self::Smf42 => Some(("SMF42PTS", "SMF42PTE")),
            Self::Smf113 => Some(("SMF113INTERVALSTART", "SMF113INTERVALEND")),
            Self::Rmf | Self::Mq | Self::Db2 | Self::Cics | Self::Standard => None,
        }
    }
}

/// One row of a record map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapEntry {
    /// Name of the section layout.
    pub layout: String,
    /// Field that holds the offset, of a header, the product section or (for `linked`) another section; empty for
    /// header sections.
    pub triplet: String,
    /// How entries are found.
    pub rule: Rule,
    /// By which fields, where another section points at the entries.
    pub link: Option<Link>,
    /// Which entries the layout is for; all where nothing is said.
    pub when: Option<Condition>,
    /// Table that the entries fill: the layout's own, or that of another layout with the same columns.
    pub table: String,
    /// One line on what it holds.
    pub description: String,
    /// Where the order of triplets was verified.
    pub source: String,
    /// `high`, `medium` or `low`.
    pub confidence: String,
    /// Line in the file.
    pub line: u64,
}

/// Which records of its type a map is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Selector {
    /// Every record of the type that no closer map takes.
    Any,
    /// Records of one subtype.
    Subtype(u16),
    /// Records whose product section names this IFCID (Db2).
    Ifcid(u16),
    /// Records of one subtype and monitoring class (CICS 110).
    Class(u16, u16),
}

/// One record map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordMap {
    /// Name: the file name without its ending.
    pub name: String,
    /// The file it was read from, for messages.
    pub file: String,
    /// SMF record type.
    pub record_type: u8,
    /// Which records of that type.
    pub selector: Selector,
    /// How identity columns are found.
    pub identity: Identity,
    /// Rows in file order.
    pub entries: Vec<MapEntry>,
}

/// Splits `smf74_4`, `smf101_ifcid3`, `smf110_1_class3`, `smf30` into type and selector.
fn parse_name(name: &str) -> Option<(u8, Selector)> {
    let mut parts = name.strip_prefix("smf")?.split('_');
    let record_type: u8 = parts.next()?.parse().ok()?;
    let selector = match (parts.next(), parts.next()) {
        (None, _) => Selector::Any,
        (Some(one), None) => match one.strip_prefix("ifcid") {
            Some(ifcid) => Selector::Ifcid(ifcid.parse().ok()?),
            None => Selector::Subtype(one.parse().ok()?),
        },
        (Some(one), Some(two)) => Selector::Class(one.parse().ok()?, two.strip_prefix("class")?.parse().ok()?),
    };
    parts.next().is_none().then_some((record_type, selector))
}

impl MapEntry {
    /// Whether entries of both are found in the same place: behind one triplet, and of one kind.
    #[must_use]
    pub fn shares_entries(&self, other: &Self) -> bool {
        self.triplet == other.triplet && self.rule.tag() == other.rule.tag()
    }

    /// The column `rule` as the file has it.
    #[must_use]
    pub fn rule_text(&self) -> String {
        match (self.rule, &self.link) {
            (Rule::Placed(placed), Some(link)) => {
                let length = if placed.lead == 0 { link.length.clone() } else { placed.lead.to_string() };
                format!("{}:{length}:{}", self.rule, link.count.as_deref().unwrap_or(""))
            }
            (_, Some(link)) => link.to_string(),
            (_, None) => self.rule.to_string(),
        }
    }

    /// Whether the entries fill another layout's table.
    #[must_use]
    pub fn is_variant(&self) -> bool {
        self.table != self.layout
    }
}

impl RecordMap {
    /// Reads the text of a record map file.
    ///
    /// # Errors
    /// The first row that breaks a rule of the format, with its line. Whether the layouts and triplets exist is
    /// checked by the catalogue, which knows them.
    pub fn parse(name: &str, file: &str, text: &str) -> Result<Self, LayoutError> {
        let (record_type, selector) = parse_name(name).ok_or_else(|| {
            LayoutError::file(
                file,
                format!("`{name}` does not name a record type"),
                "name it smf<type>, smf<type>_<subtype>, smf<type>_ifcid<n> or smf<type>_<subtype>_class<n>",
            )
        })?;
        let identity = parse_identity(file, text)?;
        let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
        let heading = reader.headers().map_err(|error| csv_error(file, &error))?;
        let at = |column| column_at(file, heading, column);
        let (layout, triplet, rule) = (at("layout")?, at("triplet")?, at("rule")?);
        let (description, source, confidence) = (at("description")?, at("source")?, at("confidence")?);
        let (when, table) = (at("when").ok(), at("table").ok());
        let mut entries: Vec<MapEntry> = Vec::new();
        for row in reader.records() {
            let row = row.map_err(|error| csv_error(file, &error))?;
            let line = row.position().map_or(0, csv::Position::line);
            let text = |at: usize| row.get(at).unwrap_or("").trim().to_owned();
            let wrong = |what: String, remedy: &str| LayoutError::row(file, line, &text(layout), what, remedy);
            let (rule, link) = Rule::parse(&text(rule))
                .ok_or_else(|| wrong(format!("unknown rule `{}`", text(rule)), &format!("use {RULES}")))?;
            let when = when.map(text).filter(|when| !when.is_empty());
            let when = when.map(|when| {
                Condition::parse(&when)
                    .ok_or_else(|| wrong(format!("unknown condition `{when}`"), &format!("use {CONDITIONS}")))
            });
            let when = when.transpose()?;
            let by_entry = matches!(rule, Rule::Entries | Rule::Varying | Rule::Array(_) | Rule::Tagged(..))
                || link.as_ref().is_some_and(|link| link.count.is_some());
            if let Some(when) = when.as_ref().filter(|_| !by_entry) {
                return Err(wrong(
                    format!("condition `{when}` with rule `{rule}`"),
                    "conditions go with entries, varying, array, tagged, placed, and linked with a count",
                ));
            }
            if matches!(rule, Rule::Header | Rule::Fixed) != text(triplet).is_empty() {
                return Err(wrong(
                    format!("triplet `{}` with this rule", text(triplet)),
                    "header sections and a fixed part have no triplet, every other section has one",
                ));
            }
            if rule == Rule::Product && entries.iter().any(|entry| entry.rule == Rule::Product) {
                return Err(wrong("a second product section".into(), "a record has one product section"));
            }
            let fills = table.map(text).filter(|table| !table.is_empty());
            entries.push(MapEntry {
                layout: text(layout),
                triplet: text(triplet),
                rule,
                link,
                when,
                table: fills.unwrap_or_else(|| text(layout)),
                description: text(description),
                source: text(source),
                confidence: text(confidence),
                line,
            });
        }
        if !entries.iter().any(|entry| entry.rule == Rule::Header) {
            return Err(LayoutError::file(file, "no row has rule `header`", "add the record's header section"));
        }
        Ok(Self { name: name.into(), file: file.into(), record_type, selector, identity, entries })
    }

    /// Names of the header layouts.
    pub fn headers(&self) -> impl Iterator<Item = &MapEntry> {
        self.entries.iter().filter(|entry| entry.rule == Rule::Header)
    }

    /// The product section's row, where there is one.
    #[must_use]
    pub fn product(&self) -> Option<&MapEntry> {
        self.entries.iter().find(|entry| entry.rule == Rule::Product)
    }
}

fn parse_identity(file: &str, text: &str) -> Result<Identity, LayoutError> {
    let valid = || IDENTITIES.map(|(name, _)| name).join(", ");
    let line = text.lines().next().unwrap_or("");
    let name =
        line.strip_prefix('#').map(str::trim).and_then(|line| line.strip_prefix("identity:")).ok_or_else(|| {
            LayoutError::file(
                file,
                "its first line is not `# identity: ...`",
                format!("name how identity columns are found: {}", valid()),
            )
        })?;
    let name = name.trim();
    IDENTITIES.iter().find(|(known, _)| *known == name).map(|&(_, identity)| identity).ok_or_else(|| {
        LayoutError::row(file, 1, "identity", format!("unknown identity `{name}`"), format!("use one of {}", valid()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_which_records() {
        assert_eq!(parse_name("smf30"), Some((30, Selector::Any)));
        assert_eq!(parse_name("smf74_4"), Some((74, Selector::Subtype(4))));
        assert_eq!(parse_name("smf101_ifcid3"), Some((101, Selector::Ifcid(3))));
        assert_eq!(parse_name("smf110_1_class3"), Some((110, Selector::Class(1, 3))));
        for name in ["smf", "smf300", "rmf74_4", "smf74_x", "smf74_4_class", "smf110_1_class3_x", "smf74_"] {
            assert_eq!(parse_name(name), None, "{name}");
        }
    }

    #[test]
    fn faults_are_named_with_their_line() {
        let map = |text: &str| RecordMap::parse("smf74_4", "m.csv", text).unwrap_err().to_string();
        let heading = "layout,triplet,rule,description,source,confidence\n";
        assert!(map(heading).contains("first line is not"));
        assert!(
            map(&format!("# identity: vtam\n{heading}")).contains("rmf, mq, db2, cics, smf30, smf42, smf113, standard")
        );
        assert!(map(&format!("# identity: rmf\n{heading}")).contains("no row has rule `header`"));
        let text = format!("# identity: rmf\n{heading}h,,header,,,high\nx,F,every,,,high\n");
        assert_eq!(map(&text), format!("m.csv, line 4, x: unknown rule `every`; use {RULES}"));
        let longer = "layout,triplet,rule,when,description,source,confidence\n";
        let text = format!("# identity: rmf\n{longer}h,,header,,,,high\nx,F,entries,length,,,high\n");
        assert!(map(&text).contains("unknown condition `length`"), "{}", map(&text));
        let text = format!("# identity: rmf\n{longer}h,,header,,,,high\nx,F,product,length<8,,,high\n");
        assert!(map(&text).contains("condition `length<8` with rule `product`"), "{}", map(&text));
        let text = format!("# identity: rmf\n{heading}h,,header,,,high\nx,,entries,,,high\n");
        assert!(map(&text).contains("header sections and a fixed part have no triplet"));
    }
}
