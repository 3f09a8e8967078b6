//! One section's table: its rows into a record batch.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, StringBuilder, TimestampMicrosecondBuilder, UInt32Builder, UInt64Builder};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, new_null_array};
use arrow_cast::cast;
use arrow_schema::{ArrowError, FieldRef, Schema, SchemaRef};
use arrow_select::interleave::interleave;

use crate::forms::ebcdic::CodePage;
use crate::forms::tod_clock::LeapSeconds;
use crate::layout::{Field, KEY_COLUMNS, MapEntry, Rule, Section, data_type, table_schema};

use super::DecodeOptions;
use super::column::{Row, builder};
use super::identity::RecordKeys;
use super::report::{Note, NoteKind};

/// Bytes of entries that one pass over all columns should touch: they stay in the second-level cache.
const BLOCK_BYTES: usize = 128 << 10;

/// A section compiled for decoding, with the layouts that other releases have for it.
#[derive(Debug)]
pub(crate) struct TablePlan {
    pub section: Arc<Section>,
    pub schema: SchemaRef,
    /// Layouts of entries: the table's own first. A row says which by its number.
    layouts: Vec<Layout>,
    /// Columns to fill; all of them where nothing is said.
    columns: Option<BTreeSet<String>>,
    /// Whether the last field is as long as its entry lets it be.
    open: bool,
}

/// One layout of a table's entries.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub section: Arc<Section>,
    /// Fields that become columns.
    fields: Vec<Field>,
    length: usize,
    /// Whether some field's place is not confirmed.
    doubtful: bool,
}

impl Layout {
    pub fn new(section: Arc<Section>) -> Self {
        Self::of_columns(section, None)
    }

    fn of_columns(section: Arc<Section>, columns: Option<&BTreeSet<String>>) -> Self {
        let wanted = |field: &&Field| columns.is_none_or(|columns| columns.contains(&field.column));
        let fields: Vec<Field> = section.fields.iter().filter(wanted).cloned().collect();
        let doubtful = fields.iter().any(|field| field.confidence == "low");
        Self { length: section.length(), doubtful, fields, section }
    }
}

impl TablePlan {
    pub fn compile(section: Arc<Section>, open: bool, columns: Option<&BTreeSet<String>>) -> Self {
        let mut schema = table_schema(&section);
        if let Some(columns) = columns {
            let wanted = schema.fields.iter().filter(|field| columns.contains(field.name()));
            schema = Schema::new(wanted.cloned().collect::<Vec<_>>());
        }
        let layouts = vec![Layout::of_columns(Arc::clone(&section), columns)];
        Self { layouts, columns: columns.cloned(), section, schema: Arc::new(schema), open }
    }

    /// Adds a layout that fills this table too.
    pub fn variant(&mut self, section: &Arc<Section>) {
        if self.layouts.iter().all(|layout| layout.section.name != section.name) {
            self.layouts.push(Layout::of_columns(Arc::clone(section), self.columns.as_ref()));
        }
    }

    /// The layout of that number; `None` for one that comes with the data.
    pub fn layout(&self, number: u16) -> Option<&Arc<Section>> {
        self.layouts.get(usize::from(number)).map(|layout| &layout.section)
    }

    /// How many layouts the table has of its own.
    pub fn layouts(&self) -> usize {
        self.layouts.len()
    }

    /// Whether the last field is as long as its entry lets it be.
    pub fn open(&self) -> bool {
        self.open
    }

    /// The number of a record map row's layout; for one whose layouts come with the data, that of the first of them.
    pub fn number(&self, entry: &MapEntry) -> Option<u16> {
        let own = || self.layouts.iter().position(|layout| layout.section.name == entry.layout);
        let number = if entry.rule == Rule::Connected { Some(self.layouts.len()) } else { own() };
        number.and_then(|number| u16::try_from(number).ok())
    }

    /// Reads the rows. `keys` has an element for each record that rows refer to; `more` are the layouts of rows whose
    /// number is beyond the table's own.
    pub fn decode(
        &self,
        data: &[u8],
        rows: &[Row],
        keys: &[RecordKeys],
        source: &Source<'_>,
        more: &[Layout],
        notes: &mut Vec<Note>,
    ) -> Result<RecordBatch, ArrowError> {
        let wanted = |name: &str| self.columns.as_ref().is_none_or(|columns| columns.contains(name));
        let mut columns = key_columns(rows, keys, source.source_id, &wanted);
        if rows.iter().all(|row| row.variant == 0) {
            columns.extend(self.columns(&self.layouts[0], data, rows, source, notes)?);
        } else {
            columns.extend(self.mixed(data, rows, source, more, notes)?);
        }
        // A table that has none of the wanted columns still tells its rows.
        let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)
    }

    /// The columns of one layout.
    fn columns(
        &self,
        layout: &Layout,
        data: &[u8],
        rows: &[Row],
        source: &Source<'_>,
        notes: &mut Vec<Note>,
    ) -> Result<Vec<ArrayRef>, ArrowError> {
        let fields = &layout.fields;
        let last = layout.section.fields.last().map(|field| field.column.as_str());
        let open = |number: usize| self.open && last == Some(fields[number].column.as_str());
        let mut builders: Vec<_> = fields
            .iter()
            .enumerate()
            .map(|(number, field)| builder(field, open(number), source.code_page, source.leap_seconds, rows.len()))
            .collect();
        let longest = rows.iter().map(|row| row.len as usize).max().unwrap_or(1).max(1);
        for block in rows.chunks((BLOCK_BYTES / longest).max(64)) {
            let shortest = block.iter().map(|row| row.len as usize).min().unwrap_or(0);
            for (column, field) in builders.iter_mut().zip(fields) {
                column.append(data, block, shortest >= field.end());
            }
        }
        let mut columns = Vec::with_capacity(fields.len());
        for (column, field) in builders.into_iter().zip(fields) {
            let (array, unreadable) = column.finish()?;
            columns.push(array);
            if unreadable != 0 {
                notes.push(self.note(NoteKind::ValueUnreadable, Some(field.column.clone()), unreadable, 0));
            }
        }
        if !self.open {
            self.note_lengths(layout.length, rows, notes);
        }
        if layout.doubtful {
            notes.push(self.note(NoteKind::LowConfidence, None, rows.len() as u64, 0));
        }
        Ok(columns)
    }

    /// The columns of rows of several layouts: each layout's rows apart, its columns made the table's, then put back
    /// into the order of the rows.
    fn mixed(
        &self,
        data: &[u8],
        rows: &[Row],
        source: &Source<'_>,
        more: &[Layout],
        notes: &mut Vec<Note>,
    ) -> Result<Vec<ArrayRef>, ArrowError> {
        let mut of_variant = BTreeMap::<u16, Vec<Row>>::new();
        for row in rows {
            of_variant.entry(row.variant).or_default().push(*row);
        }
        let mut parts: Vec<Vec<ArrayRef>> = Vec::new();
        for (&variant, rows) in &of_variant {
            let own = self.layouts.get(usize::from(variant));
            let layout = own.or_else(|| more.get(usize::from(variant) - self.layouts.len()));
            let Some(layout) = layout else {
                return Err(ArrowError::ComputeError(format!("table {} has no layout {variant}", self.section.name)));
            };
            let found = self.columns(layout, data, rows, source, notes)?;
            parts.push(self.as_own(layout, &found, rows.len(), notes)?);
        }
        if let [part] = &parts[..] {
            return Ok(part.clone());
        }
        let part_of: BTreeMap<u16, usize> =
            of_variant.keys().enumerate().map(|(part, &variant)| (variant, part)).collect();
        let mut taken = vec![0; parts.len()];
        let order: Vec<(usize, usize)> = rows
            .iter()
            .map(|row| {
                let part = part_of[&row.variant];
                taken[part] += 1;
                (part, taken[part] - 1)
            })
            .collect();
        (0..self.layouts[0].fields.len())
            .map(|column| {
                let arrays: Vec<&dyn Array> = parts.iter().map(|part| part[column].as_ref()).collect();
                interleave(&arrays, &order)
            })
            .collect()
    }

    /// A layout's columns as those of the table: cast to its types, null where the layout has none.
    fn as_own(
        &self,
        layout: &Layout,
        found: &[ArrayRef],
        rows: usize,
        notes: &mut Vec<Note>,
    ) -> Result<Vec<ArrayRef>, ArrowError> {
        let fields = &self.layouts[0].fields;
        let mut columns = Vec::with_capacity(fields.len());
        for field in fields {
            let wanted = data_type(field);
            let at = layout.fields.iter().position(|other| other.column == field.column);
            let Some(array) = at.map(|at| &found[at]) else {
                columns.push(new_null_array(&wanted, rows));
                continue;
            };
            let cast = cast(array, &wanted)?;
            let lost = cast.null_count().saturating_sub(array.null_count());
            if lost != 0 {
                notes.push(self.note(NoteKind::ValueUnreadable, Some(field.column.clone()), lost as u64, 0));
            }
            columns.push(cast);
        }
        Ok(columns)
    }

    fn note(&self, kind: NoteKind, field: Option<String>, count: u64, max_bytes: u64) -> Note {
        Note { kind, section: self.section.name.clone(), field, count, max_bytes }
    }

    fn note_lengths(&self, length: usize, rows: &[Row], notes: &mut Vec<Note>) {
        let excess = |row: &Row| (row.len as usize).saturating_sub(length) as u64;
        let missing = |row: &Row| length.saturating_sub(row.len as usize) as u64;
        let mut count = |kind, bytes: &dyn Fn(&Row) -> u64| {
            let (count, most) = rows
                .iter()
                .map(bytes)
                .filter(|&bytes| bytes != 0)
                .fold((0, 0), |(count, most), bytes| (count + 1, bytes.max(most)));
            if count != 0 {
                notes.push(self.note(kind, None, count, most));
            }
        };
        count(NoteKind::SectionLonger, &excess);
        count(NoteKind::SectionShorter, &missing);
    }
}

/// Records that are one section each, as in the monitor data of z/VM: their fields, without the columns before them.
///
/// The records lie one behind the other in `data`, each as long as `lengths` says.
///
/// # Errors
/// The lengths do not add up to the data, or a column is longer than Arrow permits.
pub fn decode_section(
    section: &Arc<Section>,
    data: &[u8],
    lengths: &[u32],
    options: &DecodeOptions,
) -> Result<(RecordBatch, Vec<Note>), ArrowError> {
    let mut rows = Vec::with_capacity(lengths.len());
    let mut start = 0_usize;
    for &len in lengths {
        rows.push(Row { start, len, section_no: 1, record: 0, variant: 0 });
        start += len as usize;
    }
    if start != data.len() {
        let text =
            format!("the records of {} have {start} bytes by their lengths, {} in all", section.name, data.len());
        return Err(ArrowError::InvalidArgumentError(text));
    }
    let plan = TablePlan::compile(Arc::clone(section), false, options.columns.as_ref());
    let source = Source { source_id: "", code_page: options.code_page, leap_seconds: options.leap_seconds };
    let mut notes = Vec::new();
    let columns = plan.columns(&plan.layouts[0], data, &rows, &source, &mut notes)?;
    let own = |field: &&FieldRef| !KEY_COLUMNS.contains(&field.name().as_str());
    let schema = Schema::new(plan.schema.fields.iter().filter(own).cloned().collect::<Vec<_>>());
    let count = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    Ok((RecordBatch::try_new_with_options(Arc::new(schema), columns, &count)?, notes))
}

/// What is the same for all rows of a source.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'a> {
    pub source_id: &'a str,
    pub code_page: CodePage,
    pub leap_seconds: LeapSeconds,
}

/// The columns before a section's own, those that are wanted.
fn key_columns(rows: &[Row], keys: &[RecordKeys], source_id: &str, wanted: &dyn Fn(&str) -> bool) -> Vec<ArrayRef> {
    let count = rows.len();
    let unknown = RecordKeys::default();
    let of = |row: &Row| keys.get(row.record as usize).unwrap_or(&unknown);
    let text = |value: &dyn Fn(&RecordKeys) -> Option<&str>| -> ArrayRef {
        let mut column = StringBuilder::with_capacity(count, count * 8);
        rows.iter().for_each(|row| column.append_option(value(of(row))));
        Arc::new(column.finish())
    };
    let time = |value: &dyn Fn(&RecordKeys) -> Option<i64>| -> ArrayRef {
        let mut column = TimestampMicrosecondBuilder::with_capacity(count);
        rows.iter().for_each(|row| column.append_option(value(of(row))));
        Arc::new(column.finish().with_timezone("UTC"))
    };
    let utc_offset = || -> ArrayRef {
        let mut column = Float64Builder::with_capacity(count);
        rows.iter().for_each(|row| column.append_option(of(row).utc_offset));
        Arc::new(column.finish())
    };
    let source = || -> ArrayRef {
        let mut column = StringBuilder::with_capacity(count, count * source_id.len());
        rows.iter().for_each(|_| column.append_value(source_id));
        Arc::new(column.finish())
    };
    let record_no = || -> ArrayRef {
        let mut column = UInt64Builder::with_capacity(count);
        rows.iter().for_each(|row| column.append_value(of(row).record_no));
        Arc::new(column.finish())
    };
    let section_no = || -> ArrayRef {
        let mut column = UInt32Builder::with_capacity(count);
        rows.iter().for_each(|row| column.append_value(row.section_no));
        Arc::new(column.finish())
    };
    let columns: [(&str, &dyn Fn() -> ArrayRef); 9] = [
        ("system", &|| text(&|keys| keys.system.as_deref())),
        ("sysplex", &|| text(&|keys| keys.sysplex.as_deref())),
        ("subsystem", &|| text(&|keys| keys.subsystem.as_deref())),
        ("interval_start", &|| time(&|keys| keys.interval_start)),
        ("interval_end", &|| time(&|keys| keys.interval_end)),
        ("utc_offset", &utc_offset),
        ("source_id", &source),
        ("record_no", &record_no),
        ("section_no", &section_no),
    ];
    columns.iter().filter(|(name, _)| wanted(name)).map(|(_, column)| column()).collect()
}
