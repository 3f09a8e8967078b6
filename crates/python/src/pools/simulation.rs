//! `_core.PoolSimulation` and `_core.PoolSimulations`: one configuration of each pool, or several, event by event.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use arrow_array::{ArrayRef, RecordBatch, UInt16Array, UInt32Array, UInt64Array};
use plexlens_bufferpool::policy::{Configs, Counters, DataSetCounters, SimulatedPool, Simulations};
use pyo3::exceptions::{PyIndexError, PyKeyError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3_arrow::PyRecordBatch;

use super::settings::config;
use super::{Named, Places, by_name, locked, placement, references, refused};

/// Settings of each pool by its id.
type Pools<'py> = BTreeMap<u16, Bound<'py, PyDict>>;

fn configs(pools: &Pools<'_>) -> PyResult<Configs> {
    pools.iter().map(|(&id, settings)| Ok((id, config(settings)?))).collect()
}

/// Counters of the data sets that a pool has met, in the order of the trace.
fn met<'a>(
    simulations: &'a Simulations,
    run: usize,
    pool: u16,
) -> PyResult<impl Iterator<Item = (u32, u16, DataSetCounters)> + 'a> {
    let pool = pool_of(simulations, run, pool)?.pool();
    let known = simulations.data_sets().known().iter().zip(0..);
    let counted = known.map(|(&(object, partition), number)| (object, partition, pool.data_set_counters(number)));
    Ok(counted.filter(|(_, _, counters)| *counters != DataSetCounters::default()))
}

fn pool_of(simulations: &Simulations, run: usize, pool: u16) -> PyResult<&SimulatedPool> {
    if run >= simulations.len() {
        return Err(PyIndexError::new_err(format!("there is no configuration {run}")));
    }
    let found = simulations.pools(run).get(&pool);
    found.ok_or_else(|| PyKeyError::new_err(format!("pool {pool} has no configuration")))
}

fn counters(simulations: &Simulations, run: usize) -> BTreeMap<u16, Named> {
    let pools = simulations.pools(run).iter();
    pools.map(|(&id, pool)| (id, by_name(Counters::FIELDS, &pool.pool().counters().values()))).collect()
}

/// One configuration of each pool of a trace, event by event.
#[pyclass(module = "plexlens._core", frozen)]
pub struct PoolSimulation {
    held: Mutex<Simulations>,
}

#[pymethods]
impl PoolSimulation {
    #[new]
    #[pyo3(signature = (pools, *, interval = None, placement = None))]
    fn new(pools: Pools<'_>, interval: Option<i64>, placement: Option<Places>) -> PyResult<Self> {
        let run = (configs(&pools)?, super::placement(placement));
        Ok(Self { held: Mutex::new(Simulations::new([run], interval).map_err(refused)?) })
    }

    fn set_pages(&self, object: u32, partition: u16, pages: u64) {
        locked(&self.held).set_pages(object, partition, pages);
    }

    fn add(&self, py: Python<'_>, batch: PyRecordBatch) -> PyResult<()> {
        let batch = batch.into_inner();
        let rows = references(&batch)?;
        py.detach(|| locked(&self.held).add(&rows)).map_err(refused)
    }

    fn counters(&self) -> BTreeMap<u16, Named> {
        counters(&locked(&self.held), 0)
    }

    fn snapshots(&self, pool: u16) -> PyResult<Vec<(i64, u32, u32, Named)>> {
        let simulations = &locked(&self.held);
        let snapshots = pool_of(simulations, 0, pool)?.snapshots().iter();
        Ok(snapshots
            .map(|one| {
                let counters = by_name(Counters::FIELDS, &one.counters.values());
                (one.time, one.sequential.0, one.sequential.1, counters)
            })
            .collect())
    }

    fn data_sets(&self, pool: u16) -> PyResult<Vec<(u32, u16, Named)>> {
        let simulations = &locked(&self.held);
        let named = |(object, partition, counters): (u32, u16, DataSetCounters)| {
            (object, partition, by_name(DataSetCounters::FIELDS, &counters.values()))
        };
        Ok(met(simulations, 0, pool)?.map(named).collect())
    }

    fn without_configuration(&self) -> BTreeMap<u16, u64> {
        locked(&self.held).without_configuration(0).clone()
    }

    /// Name, field of the statistics record, and meaning of each counter.
    #[staticmethod]
    fn fields() -> Vec<(&'static str, &'static str, &'static str)> {
        Counters::FIELDS.iter().map(|&(name, field, about)| (name, field, about.trim())).collect()
    }
}

/// Several configurations of the pools of a trace side by side.
#[pyclass(module = "plexlens._core", frozen)]
pub struct PoolSimulations {
    held: Mutex<Simulations>,
}

#[pymethods]
impl PoolSimulations {
    #[new]
    fn new(runs: Vec<(Pools<'_>, Option<Places>)>) -> PyResult<Self> {
        let runs = runs.into_iter().map(|(pools, places)| Ok((configs(&pools)?, placement(places))));
        let runs = runs.collect::<PyResult<Vec<_>>>()?;
        Ok(Self { held: Mutex::new(Simulations::new(runs, None).map_err(refused)?) })
    }

    fn add(&self, py: Python<'_>, batch: PyRecordBatch) -> PyResult<()> {
        let batch = batch.into_inner();
        let rows = references(&batch)?;
        py.detach(|| locked(&self.held).add(&rows)).map_err(refused)
    }

    fn counters(&self, run: usize) -> PyResult<BTreeMap<u16, Named>> {
        let simulations = &locked(&self.held);
        if run >= simulations.len() {
            return Err(PyIndexError::new_err(format!("there is no configuration {run}")));
        }
        Ok(counters(simulations, run))
    }

    /// A row for each data set that a pool has met.
    fn data_sets<'py>(&self, py: Python<'py>, run: usize, pool: u16) -> PyResult<Bound<'py, PyAny>> {
        let batch = columns(met(&locked(&self.held), run, pool)?).map_err(refused)?;
        PyRecordBatch::new(batch).into_pyarrow(py)
    }

    fn without_configuration(&self, run: usize) -> PyResult<BTreeMap<u16, u64>> {
        let simulations = &locked(&self.held);
        if run >= simulations.len() {
            return Err(PyIndexError::new_err(format!("there is no configuration {run}")));
        }
        Ok(simulations.without_configuration(run).clone())
    }
}

fn columns(rows: impl Iterator<Item = (u32, u16, DataSetCounters)>) -> Result<RecordBatch, arrow_schema::ArrowError> {
    let (mut objects, mut partitions): (Vec<u32>, Vec<u16>) = Default::default();
    let mut counts = vec![Vec::new(); DataSetCounters::FIELDS.len()];
    for (object, partition, counters) in rows {
        objects.push(object);
        partitions.push(partition);
        counts.iter_mut().zip(counters.values()).for_each(|(column, value)| column.push(value));
    }
    let mut columns: Vec<(&str, ArrayRef)> =
        vec![("object", Arc::new(UInt32Array::from(objects))), ("partition", Arc::new(UInt16Array::from(partitions)))];
    for (&(name, _, _), column) in DataSetCounters::FIELDS.iter().zip(counts) {
        columns.push((name, Arc::new(UInt64Array::from(column))));
    }
    RecordBatch::try_from_iter(columns)
}
