//! What is done with each field: rules for fields of characters, formats for the others.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::layout::{Catalogue, Comparison, Condition, Field, Format, LayoutError, Section, Subject};

/// What becomes of a field, or of a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Treatment {
    /// It stays: a number, a code, a version.
    Keep,
    /// It is a name, and gets another.
    Name,
    /// It becomes zeros: text, a token.
    Blank,
    /// A TOD clock, moved.
    Clock,
    /// A date as packed decimal `0cyydddF`, moved.
    Day,
    /// A date as eight digits MMDDYYYY, moved.
    PrintedDate,
    /// A name in a dictionary: it stays where the layouts have it, and becomes a question mark otherwise.
    Dictionary,
}

impl Treatment {
    /// The treatment of that name: `keep`, `name`, `blank`, `clock`, `day`, `printed_date`,
    /// `dictionary`.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "keep" => Self::Keep,
            "name" => Self::Name,
            "blank" => Self::Blank,
            "clock" => Self::Clock,
            "day" => Self::Day,
            "printed_date" => Self::PrintedDate,
            "dictionary" => Self::Dictionary,
            _ => return None,
        })
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Name => "name",
            Self::Blank => "blank",
            Self::Clock => "clock",
            Self::Day => "day",
            Self::PrintedDate => "printed_date",
            Self::Dictionary => "dictionary",
        }
    }
}

/// One rule: a field, or a part of it, in entries that meet a condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldRule {
    /// Name of the section layout.
    pub layout: String,
    /// Name of the field.
    pub field: String,
    /// A field of the same entry and its value, as in record maps; always where nothing is said.
    pub when: Option<Condition>,
    /// First byte of the part in its field.
    pub at: usize,
    /// Bytes of the part; up to the field's end where nothing is said.
    pub length: Option<usize>,
    /// What becomes of it.
    pub treatment: Treatment,
}

impl Format {
    /// Whether a field of the format holds characters or bytes whose meaning the format does not tell.
    #[must_use]
    pub fn is_characters(self) -> bool {
        matches!(self, Self::Ebcdic | Self::Bytes)
    }

    /// What becomes of a field of which no rule says anything.
    fn treatment(self) -> Treatment {
        match self {
            Self::Ebcdic | Self::Bytes => Treatment::Blank,
            Self::Stck => Treatment::Clock,
            Self::SmfDate => Treatment::Day,
            _ => Treatment::Keep,
        }
    }
}

/// A part of an entry and its treatment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub at: usize,
    pub length: usize,
    pub treatment: Treatment,
}

/// Where a condition's field is in the entry.
#[derive(Debug, Clone, Copy)]
struct Look {
    at: usize,
    length: usize,
    comparison: Comparison,
    value: u64,
}

impl Look {
    fn holds(self, entry: &[u8]) -> bool {
        let bytes = entry.get(self.at..self.at + self.length);
        let number = bytes.map(|bytes| bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)));
        number.is_some_and(|number| self.comparison.holds(number, self.value))
    }
}

/// A field's ways to be treated: the first whose condition holds.
#[derive(Debug, Clone)]
pub(super) struct FieldPlan {
    pub field: Arc<Field>,
    /// Number of the field among those of all layouts.
    pub number: usize,
    ways: Vec<(Option<Look>, Vec<Step>)>,
}

impl FieldPlan {
    fn new(section: &Section, field: &Field, number: usize, rules: &[&FieldRule]) -> Result<Self, LayoutError> {
        let mut ways: Vec<(Option<&Condition>, Option<Look>, Vec<Step>)> = Vec::new();
        for rule in rules {
            let wrong = |what: String| {
                let remedy = "name a field of the layout, and parts that lie inside it";
                Err(LayoutError::row(&section.name, field.line, &field.name, what, remedy))
            };
            let look = match &rule.when {
                None => None,
                Some(Condition { subject: Subject::Field(name), comparison, value }) => {
                    let Some(other) = section.field(name) else {
                        return wrong(format!("its rule looks at {name}, which the layout has not"));
                    };
                    Some(Look { at: other.offset, length: other.length, comparison: *comparison, value: *value })
                }
                Some(Condition { subject: Subject::Length, .. }) => {
                    return wrong("its rule looks at the length".into());
                }
            };
            let length = rule.length.unwrap_or(field.length.saturating_sub(rule.at));
            // A field that a dictionary places has the length that the dictionary gives it.
            if section.placed && (length == 0 || rule.at + length > field.length) {
                return wrong(format!("its rule has a part of {length} bytes at {}", rule.at));
            }
            let step = Step { at: rule.at, length, treatment: rule.treatment };
            match ways.iter_mut().find(|(when, ..)| *when == rule.when.as_ref()) {
                Some((.., steps)) => steps.push(step),
                None => ways.push((rule.when.as_ref(), look, vec![step])),
            }
        }
        // Rules without a condition are for what the others leave.
        ways.sort_by_key(|(when, ..)| when.is_none());
        if ways.is_empty() {
            let step = Step { at: 0, length: field.length, treatment: field.format.treatment() };
            ways.push((None, None, vec![step]));
        }
        let ways = ways.into_iter().map(|(_, look, steps)| (look, steps)).collect();
        Ok(Self { field: Arc::new(field.clone()), number, ways })
    }

    /// The parts of the field in an entry.
    pub fn steps(&self, entry: &[u8]) -> &[Step] {
        let way = self.ways.iter().find(|(look, _)| look.is_none_or(|look| look.holds(entry)));
        way.map_or(&[], |(_, steps)| steps)
    }
}

/// The plans of one layout.
#[derive(Debug, Default)]
pub(super) struct LayoutPlan {
    /// In the order of the layout.
    pub fields: Vec<FieldPlan>,
    by_name: HashMap<String, usize>,
}

impl LayoutPlan {
    /// The plan of the field of that name.
    pub fn of(&self, name: &str) -> Option<&FieldPlan> {
        self.by_name.get(name).map(|&at| &self.fields[at])
    }
}

/// The plans of all layouts.
#[derive(Debug)]
pub(super) struct Plans {
    layouts: HashMap<String, LayoutPlan>,
    /// Layout and field by the field's number.
    pub names: Vec<(String, String)>,
    /// Owners and short names of all fields that a dictionary places.
    pub dictionary: HashSet<String>,
}

impl Plans {
    pub fn new(catalogue: &Catalogue, rules: &[FieldRule]) -> Result<Self, LayoutError> {
        let mut by_layout = HashMap::<&str, HashMap<&str, Vec<&FieldRule>>>::new();
        for rule in rules {
            let known = catalogue.section(&rule.layout).ok_or_else(|| catalogue.unknown_section(&rule.layout))?;
            if known.field(&rule.field).is_none() {
                let what = "a rule names this field, which the layout has not";
                return Err(LayoutError::row(
                    &rule.layout,
                    0,
                    &rule.field,
                    what,
                    "correct the name, or remove the rule",
                ));
            }
            by_layout.entry(&rule.layout).or_default().entry(&rule.field).or_default().push(rule);
        }
        let (mut layouts, mut names) = (HashMap::new(), Vec::new());
        for section in catalogue.sections() {
            let ruled = by_layout.remove(section.name.as_str()).unwrap_or_default();
            let mut plan = LayoutPlan::default();
            for field in &section.fields {
                let rules = ruled.get(field.name.as_str()).map_or(&[][..], Vec::as_slice);
                plan.by_name.insert(field.name.clone(), plan.fields.len());
                plan.fields.push(FieldPlan::new(section, field, names.len(), rules)?);
                names.push((section.name.clone(), field.name.clone()));
            }
            layouts.insert(section.name.clone(), plan);
        }
        let placed =
            catalogue.sections().flat_map(|section| &section.fields).filter_map(|field| field.described.as_ref());
        let dictionary = placed.flat_map(|one| [one.owner.clone(), one.nickname.clone()]).collect();
        Ok(Self { layouts, names, dictionary })
    }

    /// The plans of a layout's fields.
    pub fn of(&self, layout: &str) -> Option<&LayoutPlan> {
        self.layouts.get(layout)
    }
}
