//! What can be wrong with a layout file.

use std::fmt;

/// A layout file that cannot be used: where, what, and what would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct LayoutError {
    /// The file as it was named.
    pub file: String,
    /// Line in the file, from 1; `None` when the file as a whole is meant.
    pub line: Option<u64>,
    /// The field or row that is meant.
    pub field: Option<String>,
    /// What is wrong.
    pub what: String,
    /// What would be right.
    pub remedy: String,
}

impl LayoutError {
    /// An error about a whole file.
    pub(crate) fn file(file: &str, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { file: file.into(), line: None, field: None, what: what.into(), remedy: remedy.into() }
    }

    /// An error about one row of a file.
    pub(crate) fn row(file: &str, line: u64, field: &str, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            line: Some(line),
            field: Some(field.into()),
            what: what.into(),
            remedy: remedy.into(),
        }
    }
}

impl fmt::Display for LayoutError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.file)?;
        if let Some(line) = self.line {
            write!(out, ", line {line}")?;
        }
        if let Some(field) = &self.field {
            write!(out, ", {field}")?;
        }
        write!(out, ": {}; {}", self.what, self.remedy)
    }
}
