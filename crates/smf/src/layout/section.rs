//! One section: a CSV file, a raw table.

use std::collections::HashSet;

use super::error::LayoutError;
use super::format::Format;
use super::unit::Unit;

/// Columns that every raw table has before those of its section.
pub const KEY_COLUMNS: [&str; 9] = [
    "system",
    "sysplex",
    "subsystem",
    "interval_start",
    "interval_end",
    "utc_offset",
    "source_id",
    "record_no",
    "section_no",
];

/// One field of a section.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Name as IBM documents it.
    pub name: String,
    /// Column name: the field name in lower case.
    pub column: String,
    /// Bytes from the start of the section (of the record, for a header section).
    pub offset: usize,
    /// Length in bytes.
    pub length: usize,
    /// Data form.
    pub format: Format,
    /// Unit as recorded.
    pub unit: Unit,
    /// One line on what it holds.
    pub description: String,
    /// First release that has it; empty where not known.
    pub since: String,
    /// Where the offset was verified.
    pub source: String,
    /// `high`, `medium` or `low`.
    pub confidence: String,
    /// By what a dictionary in the data names it, where no offset places it.
    pub described: Option<Described>,
    /// Line in the layout file.
    pub line: u64,
}

/// How the dictionary of a CICS region names a field.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Described {
    /// Group that owns the field, such as `DFHTASK`.
    pub owner: String,
    /// Type and number in the group, such as `S007`.
    pub id: String,
    /// Short name, such as `USRDISPT`.
    pub nickname: String,
    /// What of the field the column holds.
    pub part: Part,
}

impl Described {
    /// Whether the number is published; `S???` leaves it open.
    #[must_use]
    pub fn is_numbered(&self) -> bool {
        !self.id.contains('?')
    }

    /// Reads the column `dictionary`: owner, type and number, and the short name where it is not the field's.
    fn parse(text: &str, field: &str) -> Option<Self> {
        let mut parts = text.split(':');
        let (owner, id, nickname) = (parts.next()?, parts.next()?, parts.next().unwrap_or(field));
        let fits = (1..=8).contains(&owner.len()) && id.len() == 4 && (1..=8).contains(&nickname.len());
        (fits && parts.next().is_none()).then(|| Self {
            owner: owner.into(),
            id: id.into(),
            nickname: nickname.into(),
            part: Part::Whole,
        })
    }
}

/// What of a described field a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// All of it.
    Whole,
    /// The time of a clock.
    Seconds,
    /// How often a clock was started.
    Count,
}

impl Field {
    /// The byte after the field's last.
    #[must_use]
    pub fn end(&self) -> usize {
        self.offset + self.length
    }
}

/// One section layout.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// The table's name: the file name without its ending.
    pub name: String,
    /// The file it was read from, for messages.
    pub file: String,
    /// Its fields in file order.
    pub fields: Vec<Field>,
    /// Whether the fields have offsets. Fields of a CICS performance record have none: a dictionary record in the
    /// dump places them (rule `connected`).
    pub placed: bool,
}

impl Section {
    /// Reads the text of a layout file.
    ///
    /// # Errors
    /// The first row that breaks a rule of the layout format, with its line.
    pub fn parse(name: &str, file: &str, text: &str) -> Result<Self, LayoutError> {
        let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
        let columns = Columns::find(file, &mut reader)?;
        let mut fields = Vec::new();
        let mut seen = HashSet::new();
        let (mut rows, mut unplaced) = (0_usize, 0_usize);
        for row in reader.records() {
            let row = row.map_err(|error| csv_error(file, &error))?;
            let line = row.position().map_or(0, csv::Position::line);
            let (field, placed) = columns.field(file, line, &row)?;
            rows += 1;
            unplaced += usize::from(!placed);
            for field in split_clock(field) {
                if !seen.insert(field.column.clone()) {
                    return Err(LayoutError::row(
                        file,
                        line,
                        &field.name,
                        "this field name stands twice (upper and lower case count as the same)",
                        "give each field of a section its own name",
                    ));
                }
                fields.push(field);
            }
        }
        if fields.is_empty() {
            return Err(LayoutError::file(file, "it has no fields", "add a row for each field, or remove the file"));
        }
        if unplaced != 0 && unplaced != rows {
            return Err(LayoutError::file(
                file,
                format!("{unplaced} of {rows} fields have no offset"),
                "give every field an offset, or none where a dictionary in the data places them",
            ));
        }
        if let Some(field) = fields.iter().find(|field| unplaced != 0 && field.described.is_none()) {
            return Err(LayoutError::row(
                file,
                field.line,
                &field.name,
                "no offset, and no owner, number and short name of eight characters in column `dictionary`",
                "give an offset, or the dictionary entry: DFHTASK:S007, and where its short name is not the field's \
                 DFHSTOR:A105:SCUGETCT",
            ));
        }
        Ok(Self { name: name.into(), file: file.into(), fields, placed: unplaced == 0 })
    }

    /// Length in bytes up to the end of the last field; reserved bytes after it are not known here.
    #[must_use]
    pub fn length(&self) -> usize {
        self.fields.iter().map(Field::end).max().unwrap_or(0)
    }

    /// The field of that name, in any case.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name.eq_ignore_ascii_case(name))
    }
}

/// A clock that a dictionary places becomes two columns: its time, and how often it was started.
fn split_clock(field: Field) -> Vec<Field> {
    let clock = field.unit.recorded == "clock";
    let Some(described) = field.described.clone().filter(|_| clock) else {
        return vec![field];
    };
    let part = |part, ending: &str, format, what: &str| Field {
        name: format!("{}_{}", field.name, ending.to_ascii_uppercase()),
        column: format!("{}_{ending}", field.column),
        length: if format == Format::U24 { 3 } else { 8 },
        format,
        unit: Unit::NONE,
        description: format!("{}: {what}", field.description),
        described: Some(Described { part, ..described.clone() }),
        ..field.clone()
    };
    vec![
        part(Part::Seconds, "seconds", Format::CpuStck, "time"),
        part(Part::Count, "count", Format::U24, "number of periods measured"),
    ]
}

pub(crate) fn csv_error(file: &str, error: &csv::Error) -> LayoutError {
    LayoutError {
        file: file.into(),
        line: error.position().map(csv::Position::line),
        field: None,
        what: format!("not readable as CSV: {error}"),
        remedy: "each row needs as many columns as the heading; text with commas stands in double quotes".into(),
    }
}

/// Finds a named column of a CSV heading.
pub(crate) fn column_at(file: &str, heading: &csv::StringRecord, name: &str) -> Result<usize, LayoutError> {
    heading.iter().position(|column| column.trim() == name).ok_or_else(|| {
        LayoutError::file(
            file,
            format!("its heading has no column `{name}`"),
            format!("found: {}", heading.iter().collect::<Vec<_>>().join(", ")),
        )
    })
}

/// Where the columns of a section file are, by its heading.
struct Columns {
    field: usize,
    offset: usize,
    length: usize,
    format: usize,
    unit: usize,
    description: usize,
    since: Option<usize>,
    source: usize,
    confidence: usize,
    dictionary: Option<usize>,
}

impl Columns {
    fn find(file: &str, reader: &mut csv::Reader<&[u8]>) -> Result<Self, LayoutError> {
        let heading = reader.headers().map_err(|error| csv_error(file, &error))?;
        let at = |name| column_at(file, heading, name);
        Ok(Self {
            field: at("field")?,
            offset: at("offset")?,
            length: at("length")?,
            format: at("format")?,
            unit: at("unit")?,
            description: at("description")?,
            since: at("since").ok(),
            source: at("source")?,
            confidence: at("confidence")?,
            dictionary: at("dictionary").ok(),
        })
    }

    /// Reads one row; the flag says whether it has an offset.
    fn field(&self, file: &str, line: u64, row: &csv::StringRecord) -> Result<(Field, bool), LayoutError> {
        let text = |at: usize| row.get(at).unwrap_or("").trim();
        let name = text(self.field);
        let wrong = |what: String, remedy: String| LayoutError::row(file, line, name, what, remedy);
        let column = name.to_ascii_lowercase();
        let legal = column.starts_with(|c: char| c.is_ascii_alphabetic())
            && column.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '#' | '@'));
        if !legal {
            return Err(wrong(
                format!("`{name}` cannot be a column name"),
                "use letters, digits, _ $ # @, with a letter first".into(),
            ));
        }
        if KEY_COLUMNS.contains(&column.as_str()) {
            return Err(wrong(
                format!("`{column}` is a column that every table has already"),
                format!("choose a name other than {}", KEY_COLUMNS.join(", ")),
            ));
        }
        let number = |at: usize, what: &str| {
            text(at).parse::<u16>().map(usize::from).map_err(|_| {
                wrong(format!("{what} `{}` is not a number", text(at)), "use a whole number from 0 to 65535".into())
            })
        };
        let placed = !text(self.offset).is_empty();
        let offset = if placed { number(self.offset, "offset")? } else { 0 };
        let length = number(self.length, "length")?;
        let format = Format::parse(text(self.format)).ok_or_else(|| {
            wrong(format!("unknown format `{}`", text(self.format)), format!("use one of {}", Format::names()))
        })?;
        if !format.allows_length(length) {
            return Err(wrong(
                format!("format `{}` cannot have length {length}", format.name()),
                format!("its length is {}", format.lengths()),
            ));
        }
        let unit = Unit::parse(text(self.unit)).ok_or_else(|| {
            wrong(
                format!("unknown unit `{}`", text(self.unit)),
                format!("leave it empty or use one of {}", Unit::names()),
            )
        })?;
        if let Some(why) = unit.mismatch(format) {
            return Err(wrong(format!("unit `{}` with format `{}`", unit.recorded, format.name()), why.into()));
        }
        let described = self.dictionary.map_or("", text);
        let described = Described::parse(described, name).filter(|_| !placed);
        let confidence = text(self.confidence);
        if !matches!(confidence, "high" | "medium" | "low") {
            return Err(wrong(format!("confidence `{confidence}`"), "use high, medium or low".into()));
        }
        let field = Field {
            name: name.into(),
            column,
            offset,
            length,
            format,
            unit,
            description: text(self.description).into(),
            since: self.since.map_or("", text).into(),
            source: text(self.source).into(),
            confidence: confidence.into(),
            described,
            line,
        };
        Ok((field, placed))
    }
}
