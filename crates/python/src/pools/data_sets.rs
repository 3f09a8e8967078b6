//! `_core.DataSetCurves` and `_core.TraceSample`: curves of data sets alone and in any grouping.

use std::sync::Mutex;

use plexlens_bufferpool::data_set_curves::DataSetCurves as Alone;
use plexlens_bufferpool::sampled::Estimate;
use plexlens_bufferpool::trace_sample::TraceSample as Sample;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatch;

use super::{locked, references, refused};

/// Object and partition.
type DataSet = (u32, u16);

/// Misses and their standard error at each size.
type Points = Vec<(f64, f64)>;

fn unknown((object, partition): DataSet) -> PyErr {
    PyKeyError::new_err(format!("the trace has no getpage of object {object}, partition {partition}"))
}

fn points(estimate: &Estimate, sizes: &[u64]) -> Points {
    sizes.iter().map(|&size| (estimate.of(size), estimate.error(size))).collect()
}

/// LRU curve of each data set of a trace as if it were in a pool of its own.
#[pyclass(module = "plexlens._core", frozen)]
pub struct DataSetCurves {
    curves: Mutex<Alone>,
}

impl DataSetCurves {
    /// Works on the curve of one data set, everything added being in it.
    fn of<T>(&self, data_set: DataSet, work: impl FnOnce(&Alone, u32) -> T) -> PyResult<T> {
        let mut curves = locked(&self.curves);
        curves.settle();
        let number = curves.data_sets().find(data_set.0, data_set.1).ok_or_else(|| unknown(data_set))?;
        Ok(work(&curves, number))
    }
}

#[pymethods]
impl DataSetCurves {
    #[new]
    #[pyo3(signature = (*, sample = None))]
    fn new(sample: Option<f64>) -> PyResult<Self> {
        Ok(Self { curves: Mutex::new(Alone::new(sample).map_err(refused)?) })
    }

    fn add(&self, py: Python<'_>, batch: PyRecordBatch) -> PyResult<()> {
        let batch = batch.into_inner();
        let rows = references(&batch)?;
        py.detach(|| locked(&self.curves).add(&rows)).map_err(refused)
    }

    #[getter]
    fn rate(&self) -> f64 {
        locked(&self.curves).rate()
    }

    fn data_sets(&self, py: Python<'_>) -> Vec<(u32, u16, u64, f64)> {
        py.detach(|| {
            let mut curves = locked(&self.curves);
            curves.settle();
            let known = (0..).zip(curves.data_sets().known());
            let row = |(number, &(object, partition)): (u32, &DataSet)| {
                (object, partition, curves.getpages(number), curves.distinct_pages(number))
            };
            known.map(row).collect()
        })
    }

    fn enough(&self, py: Python<'_>, object: u32, partition: u16) -> PyResult<u64> {
        py.detach(|| self.of((object, partition), |curves, number| curves.estimate(number).enough()))
    }

    fn read_misses(&self, py: Python<'_>, object: u32, partition: u16, sizes: Vec<u64>) -> PyResult<Points> {
        py.detach(|| self.of((object, partition), |curves, number| points(&curves.estimate(number), &sizes)))
    }
}

/// The sampled references of a trace, held for the curves of any grouping of its data sets.
#[pyclass(module = "plexlens._core", frozen)]
pub struct TraceSample {
    sample: Mutex<Sample>,
}

fn numbers(sample: &Sample, data_sets: &[DataSet]) -> PyResult<Vec<u32>> {
    data_sets.iter().map(|&one| sample.number(one.0, one.1).ok_or_else(|| unknown(one))).collect()
}

#[pymethods]
impl TraceSample {
    #[new]
    #[pyo3(signature = (*, sample))]
    fn new(sample: f64) -> PyResult<Self> {
        Ok(Self { sample: Mutex::new(Sample::new(sample).map_err(refused)?) })
    }

    fn add(&self, py: Python<'_>, batch: PyRecordBatch) -> PyResult<()> {
        let batch = batch.into_inner();
        let rows = references(&batch)?;
        py.detach(|| locked(&self.sample).add(&rows)).map_err(refused)
    }

    #[getter]
    fn rate(&self) -> f64 {
        locked(&self.sample).rate()
    }

    fn __len__(&self) -> usize {
        locked(&self.sample).references()
    }

    fn data_sets(&self) -> Vec<(u32, u16, u64)> {
        let sample = locked(&self.sample);
        let known = (0..).zip(sample.data_sets().known());
        known.map(|(number, &(object, partition))| (object, partition, sample.getpages(number))).collect()
    }

    #[pyo3(signature = (groups, sizes, *, errors = false))]
    fn read_misses(
        &self,
        py: Python<'_>,
        groups: Vec<Vec<DataSet>>,
        sizes: Vec<u64>,
        errors: bool,
    ) -> PyResult<Vec<Points>> {
        py.detach(|| {
            let sample = locked(&self.sample);
            let groups = groups.iter().map(|group| numbers(&sample, group)).collect::<PyResult<Vec<_>>>()?;
            Ok(sample.groups(&groups, errors, |_, group| points(group.estimate(), &sizes)))
        })
    }

    /// Of each group: `(object, partition, [(size, misses), ...])` of each data set.
    fn shares(&self, py: Python<'_>, groups: Vec<Vec<DataSet>>) -> PyResult<Vec<Vec<ShareRow>>> {
        py.detach(|| {
            let sample = locked(&self.sample);
            let numbered = groups.iter().map(|group| numbers(&sample, group)).collect::<PyResult<Vec<_>>>()?;
            let rate = sample.rate();
            Ok(sample.groups(&numbered, false, |at, found| {
                let rows = groups[at].iter().zip(&numbered[at]).map(|(&(object, partition), &number)| {
                    let points = found.sample().share_curve(number);
                    let scaled = points.iter().map(|&(size, misses)| (f64::from(size) / rate, misses as f64 / rate));
                    (object, partition, scaled.collect())
                });
                rows.collect()
            }))
        })
    }
}

type ShareRow = (u32, u16, Vec<(f64, f64)>);
