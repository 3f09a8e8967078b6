//! `_core.DataSetAges`: how long the pages of each data set rest between references.

use std::sync::{Arc, Mutex};

use arrow_array::{ArrayRef, RecordBatch, UInt16Array, UInt32Array, UInt64Array};
use plexlens_bufferpool::ages::{DataSetAges as Counted, longest};
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatch;

use super::{locked, references, refused};

/// Rests of the pages of each data set between references.
#[pyclass(module = "plexlens._core", frozen)]
pub struct DataSetAges {
    counted: Mutex<Counted>,
}

#[pymethods]
impl DataSetAges {
    #[new]
    #[pyo3(signature = (*, sample = None))]
    fn new(sample: Option<f64>) -> PyResult<Self> {
        Ok(Self { counted: Mutex::new(Counted::new(sample).map_err(refused)?) })
    }

    fn add(&self, py: Python<'_>, batch: PyRecordBatch) -> PyResult<()> {
        let batch = batch.into_inner();
        let rows = references(&batch)?;
        py.detach(|| locked(&self.counted).add(&rows)).map_err(refused)
    }

    #[getter]
    fn rate(&self) -> f64 {
        locked(&self.counted).rate()
    }

    #[getter]
    fn getpages(&self) -> u64 {
        locked(&self.counted).getpages()
    }

    /// `(object, partition, random getpages, others, random first references, others)` of each data set.
    fn data_sets(&self, py: Python<'_>) -> Vec<(u32, u16, u64, u64, u64, u64)> {
        py.detach(|| {
            let counted = locked(&self.counted);
            let known = counted.data_sets().known().iter().zip(counted.ages());
            let row = |(&(object, partition), ages): (&(u32, u16), plexlens_bufferpool::ages::Ages)| {
                let ([random, others], [first, other_first]) = (ages.getpages, ages.first);
                (object, partition, random, others, first, other_first)
            };
            known.map(row).collect()
        })
    }

    /// A row for each data set and step of rests that has any.
    fn rests<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let batch = py.detach(|| rows_of(&locked(&self.counted))).map_err(refused)?;
        PyRecordBatch::new(batch).into_pyarrow(py)
    }
}

fn rows_of(counted: &Counted) -> Result<RecordBatch, arrow_schema::ArrowError> {
    let (mut objects, mut partitions): (Vec<u32>, Vec<u16>) = Default::default();
    let mut counts: [Vec<u64>; 5] = Default::default();
    for (&(object, partition), ages) in counted.data_sets().known().iter().zip(counted.ages()) {
        for (step, rests) in ages.rests.iter().enumerate().filter(|(_, rests)| rests.sum > 0) {
            objects.push(object);
            partitions.push(partition);
            let row = [longest(step), rests.random, rests.sequential, rests.ends, rests.sum];
            counts.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
        }
    }
    let names = ["longest", "random", "sequential", "ends", "sum"];
    let mut columns: Vec<(&str, ArrayRef)> =
        vec![("object", Arc::new(UInt32Array::from(objects))), ("partition", Arc::new(UInt16Array::from(partitions)))];
    for (name, column) in names.into_iter().zip(counts) {
        columns.push((name, Arc::new(UInt64Array::from(column))));
    }
    RecordBatch::try_from_iter(columns)
}
