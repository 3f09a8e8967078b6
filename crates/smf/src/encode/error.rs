//! Why a value or a record cannot be written.

use std::fmt;

/// A value that has no form in its field, or a record that cannot be put together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct EncodeError {
    /// Table or record map that is meant.
    pub table: String,
    /// Column that is meant.
    pub column: Option<String>,
    /// Row of the table, from 0.
    pub row: Option<usize>,
    /// What is wrong, with the value.
    pub what: String,
    /// The limit, and what would be right.
    pub remedy: String,
}

impl EncodeError {
    /// An error about a table or record as a whole.
    pub(crate) fn table(table: &str, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { table: table.into(), column: None, row: None, what: what.into(), remedy: remedy.into() }
    }

    /// An error about a column.
    pub(crate) fn column(table: &str, column: &str, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { column: Some(column.into()), ..Self::table(table, what, remedy) }
    }

    /// An error about one value.
    pub(crate) fn value(table: &str, column: &str, row: usize, unfit: Misfit) -> Self {
        Self { row: Some(row), ..Self::column(table, column, unfit.what, unfit.remedy) }
    }
}

impl fmt::Display for EncodeError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.table)?;
        if let Some(column) = &self.column {
            write!(out, ", column {column}")?;
        }
        if let Some(row) = self.row {
            write!(out, ", row {row}")?;
        }
        write!(out, ": {}; {}", self.what, self.remedy)
    }
}

/// Why one value has no form in a field, before it is known where the value stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Misfit {
    pub what: String,
    pub remedy: String,
}

impl Misfit {
    pub fn new(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { what: what.into(), remedy: remedy.into() }
    }
}
