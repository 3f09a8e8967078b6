//! `_core.Rewriter`: a dump written anew with other names and times.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use plexlens_smf::layout::Condition;
use plexlens_smf::rewrite::{self, Changes, FieldRule, RewriteError, Tally, Treatment};
use plexlens_smf::stream::{Form, ReadOptions};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::catalogue::Catalogue;
use crate::errors::{Place, layout_error, smf_error, stream_error};
use crate::reader::code_page;
use crate::writer::dump_error;

/// A rule as Python gives it: layout, field, condition (empty for none), first byte, bytes, treatment.
type Given = (String, String, String, usize, Option<usize>, String);

/// Writes dumps anew.
#[pyclass(frozen, module = "plexlens._core")]
pub struct Rewriter {
    inner: rewrite::Rewriter,
}

fn rules(py: Python<'_>, given: Vec<Given>) -> PyResult<Vec<FieldRule>> {
    let wrong = |field: &str, what: String| {
        let place = Place { reason: "rule", field: Some(field), remedy: Some("correct the rule"), ..Place::default() };
        smf_error(py, what, &place)
    };
    let rule = |(layout, field, when, at, length, treatment): Given| {
        let treatment = Treatment::parse(&treatment)
            .ok_or_else(|| wrong(&field, format!("{layout}, {field}: unknown treatment `{treatment}`")))?;
        let condition = Condition::parse(&when);
        if condition.is_none() && !when.is_empty() {
            return Err(wrong(&field, format!("{layout}, {field}: unknown condition `{when}`")));
        }
        Ok(FieldRule { layout, field, when: condition, at, length, treatment })
    };
    given.into_iter().map(rule).collect()
}

fn failed(py: Python<'_>, error: RewriteError) -> PyErr {
    match error {
        RewriteError::Stream(error) => stream_error(py, &error),
        RewriteError::Dump(error) => dump_error(py, error),
        RewriteError::Unknown { .. } => {
            let place = Place { reason: "unknown_record", ..Place::default() };
            smf_error(py, error.to_string(), &place)
        }
    }
}

/// How to read a dump: with a form only where the caller names one.
fn reading(py: Python<'_>, form: Option<&str>) -> PyResult<ReadOptions> {
    let known = |name: &str| [Form::Rdw, Form::Bdw, Form::NoDescriptors].into_iter().find(|form| form.name() == name);
    let place = Place { reason: "form", remedy: Some("use rdw, bdw or no_descriptors"), ..Place::default() };
    let form = form.map(|name| known(name).ok_or_else(|| smf_error(py, format!("unknown form `{name}`"), &place)));
    Ok(ReadOptions { form: form.transpose()?, ..ReadOptions::default() })
}

impl Rewriter {
    fn told<'py>(&self, py: Python<'py>, tally: &Tally) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("records", tally.records)?;
        let counts = |counts: &BTreeMap<String, u64>| counts.clone();
        dict.set_item("unknown", counts(&tally.unknown))?;
        dict.set_item("dropped", counts(&tally.dropped))?;
        dict.set_item("uncovered", counts(&tally.uncovered))?;
        dict.set_item("sections", counts(&tally.sections))?;
        dict.set_item("lost_bytes", tally.lost_bytes)?;
        dict.set_item("unnamed", tally.unnamed)?;
        dict.set_item("unmoved", tally.unmoved)?;
        let fields: Vec<(&str, &str, &str, u64)> = self
            .inner
            .treated(tally)
            .into_iter()
            .map(|(layout, field, treatment, count)| (layout, field, treatment.name(), count))
            .collect();
        dict.set_item("fields", fields)?;
        let mut names: Vec<&String> = tally.names.iter().collect();
        names.sort();
        dict.set_item("names", names)?;
        Ok(dict)
    }
}

#[pymethods]
impl Rewriter {
    #[new]
    #[pyo3(signature = (catalogue, rules, *, codepage="1047"))]
    fn new(py: Python<'_>, catalogue: &Catalogue, rules: Vec<Given>, codepage: &str) -> PyResult<Self> {
        let rules = self::rules(py, rules)?;
        let made = rewrite::Rewriter::new(&catalogue.inner, &rules, code_page(py, codepage)?);
        Ok(Self { inner: made.map_err(|error| layout_error(py, &error))? })
    }

    /// Character fields that no rule is for: pairs of layout and field.
    #[staticmethod]
    fn unruled(py: Python<'_>, catalogue: &Catalogue, rules: Vec<Given>) -> PyResult<Vec<(String, String)>> {
        Ok(rewrite::Rewriter::unruled(&catalogue.inner, &self::rules(py, rules)?))
    }

    /// What a dump holds: counts, and the texts of its names.
    #[pyo3(signature = (path, *, form=None))]
    fn survey<'py>(&self, py: Python<'py>, path: PathBuf, form: Option<&str>) -> PyResult<Bound<'py, PyDict>> {
        let options = reading(py, form)?;
        let tally = py.detach(|| self.inner.survey(&path, &options)).map_err(|error| failed(py, error))?;
        self.told(py, &tally)
    }

    /// Writes a dump anew.
    #[pyo3(signature = (path, to, *, names, days, drop_unknown=false, form=None))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of the Python signature")]
    fn rewrite<'py>(
        &self,
        py: Python<'py>,
        path: PathBuf,
        to: PathBuf,
        names: HashMap<String, String>,
        days: i32,
        drop_unknown: bool,
        form: Option<&str>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let options = reading(py, form)?;
        let changes = Changes { names, days, drop_unknown };
        let done = py.detach(|| self.inner.rewrite(&path, &to, &options, &changes));
        self.told(py, &done.map_err(|error| failed(py, error))?)
    }
}
