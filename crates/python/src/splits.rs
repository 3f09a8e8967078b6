//! `_core.SplitPlanner`: how large dumps are read in parts. A part is a dictionary, which travels between processes.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use plexlens_smf::cics::Remembered;
use plexlens_smf::decode::{DecodeOptions, Decoder};
use plexlens_smf::pipeline::{Split, Splitter};
use plexlens_smf::stream::{Frame, FrameKind, Part, Place, ReadOptions, WaitingPart};
use pyo3::prelude::*;

use crate::catalogue::Catalogue;
use crate::errors::{layout_error, stream_error};
use crate::reader::{code_page, form};

/// A part of a record that RMF split: the record's number among those that wait; number, offset and bytes in the file;
/// segments that it was put together from, 0 where it lay there whole; its bytes.
type Waiting = (u64, (u64, u64, u64), u16, Vec<u8>);

/// `plexlens_smf::pipeline::Split` as a dictionary.
#[derive(FromPyObject, IntoPyObject)]
pub struct SplitItems {
    /// Form, and offset, record number and end of the block where the part begins; None for the whole file.
    #[pyo3(item)]
    part: Option<(String, u64, u64, Option<u64>)>,
    #[pyo3(item)]
    until: Option<u64>,
    #[pyo3(item)]
    waiting: Vec<Waiting>,
    /// 64 bits each, the lowest byte first.
    #[pyo3(item)]
    came_before: Vec<u8>,
    #[pyo3(item)]
    dictionaries: Vec<Vec<u8>>,
    #[pyo3(item)]
    zones: Vec<(Vec<u8>, i64)>,
}

impl SplitItems {
    /// The split that the dictionary stands for.
    pub(crate) fn split(self, py: Python<'_>) -> PyResult<Split> {
        let part = match self.part {
            None => None,
            Some((name, offset, record_no, block_end)) => Some(Part {
                form: form(py, &name)?,
                from: Place { offset, record_no, block_end },
                until: self.until,
                waiting: self.waiting.into_iter().map(waiting_part).collect(),
            }),
        };
        let came_before = self.came_before.as_chunks().0.iter().map(|hash| u64::from_le_bytes(*hash)).collect();
        let zone = |(system, zone): (Vec<u8>, i64)| Some((system.try_into().ok()?, zone));
        let zones = self.zones.into_iter().filter_map(zone).collect();
        Ok(Split { part, came_before, remembered: Remembered { dictionaries: self.dictionaries, zones } })
    }
}

fn waiting_part((record, (record_no, offset, file_bytes), segments, bytes): Waiting) -> WaitingPart {
    let kind = if segments == 0 { FrameKind::Whole } else { FrameKind::Spanned(segments) };
    let frame = Frame { record_no, offset, start: 0, len: bytes.len(), file_bytes, kind };
    WaitingPart { record, frame, bytes }
}

impl From<Split> for SplitItems {
    fn from(split: Split) -> Self {
        let Split { part, came_before, remembered: Remembered { dictionaries, zones } } = split;
        let until = part.as_ref().and_then(|part| part.until);
        let waiting = part.iter().flat_map(|part| &part.waiting).map(|one| {
            let Frame { record_no, offset, file_bytes, kind, .. } = one.frame;
            let segments = if let FrameKind::Spanned(segments) = kind { segments } else { 0 };
            (one.record, (record_no, offset, file_bytes), segments, one.bytes.clone())
        });
        Self {
            until,
            waiting: waiting.collect(),
            part: part.map(|part| {
                let Place { offset, record_no, block_end } = part.from;
                (part.form.name().to_owned(), offset, record_no, block_end)
            }),
            came_before: came_before.iter().flat_map(|hash| hash.to_le_bytes()).collect(),
            dictionaries,
            zones: zones.into_iter().map(|(system, zone)| (system.to_vec(), zone)).collect(),
        }
    }
}

/// Plans how dumps are read in parts, dump after dump.
#[pyclass(frozen, module = "plexlens._core")]
pub struct SplitPlanner {
    splitter: Mutex<Splitter>,
    decoder: Decoder,
    split_bytes: u64,
}

#[pymethods]
impl SplitPlanner {
    #[new]
    #[pyo3(signature = (catalogue, *, split_bytes, tables=None, codepage="1047".to_owned()))]
    fn new(
        py: Python<'_>,
        catalogue: &Catalogue,
        split_bytes: u64,
        tables: Option<Vec<String>>,
        codepage: String,
    ) -> PyResult<Self> {
        let tables = tables.map(BTreeSet::from_iter);
        let options = DecodeOptions { code_page: code_page(py, &codepage)?, tables, ..DecodeOptions::default() };
        let decoder = Decoder::new(&catalogue.inner, options).map_err(|error| layout_error(py, &error))?;
        Ok(Self { splitter: Mutex::default(), decoder, split_bytes: split_bytes.max(1) })
    }

    /// The parts of a dump, each for `SmfReader(split=...)`.
    fn plan(&self, py: Python<'_>, path: PathBuf) -> PyResult<Vec<SplitItems>> {
        let planned = py.detach(|| {
            let mut splitter = self.splitter.lock().unwrap_or_else(PoisonError::into_inner);
            splitter.plan(path, &self.decoder, &ReadOptions::default(), self.split_bytes)
        });
        let splits = planned.map_err(|error| stream_error(py, &error))?;
        Ok(splits.into_iter().map(SplitItems::from).collect())
    }
}
