//! `_core.PoolSimulation`: one configuration of each pool, event by event.

use std::collections::BTreeMap;
use std::sync::Mutex;

use plexlens_bufferpool::placement::Placement;
use plexlens_bufferpool::policy::{Counters, DataSetCounters, PoolConfig, Simulation};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3_arrow::PyRecordBatch;

use super::settings::config;
use super::{Named, Places, by_name, locked, placed, references, refused};

/// One configuration of each pool of a trace, event by event.
#[pyclass(module = "plexlens._core", frozen)]
pub struct PoolSimulation {
    held: Mutex<Held>,
}

struct Held {
    simulation: Simulation,
    placement: Option<Placement>,
}

#[pymethods]
impl PoolSimulation {
    #[new]
    #[pyo3(signature = (pools, *, interval = None, placement = None))]
    fn new(
        pools: BTreeMap<u16, Bound<'_, PyDict>>,
        interval: Option<i64>,
        placement: Option<Places>,
    ) -> PyResult<Self> {
        let configs = pools.iter().map(|(&id, settings)| Ok((id, config(settings)?)));
        let configs = configs.collect::<PyResult<BTreeMap<u16, PoolConfig>>>()?;
        let simulation = Simulation::new(&configs, interval).map_err(refused)?;
        Ok(Self { held: Mutex::new(Held { simulation, placement: super::placement(placement) }) })
    }

    fn set_pages(&self, object: u32, partition: u16, pages: u64) {
        locked(&self.held).simulation.set_pages(object, partition, pages);
    }

    fn add(&self, py: Python<'_>, batch: PyRecordBatch) -> PyResult<()> {
        let batch = batch.into_inner();
        let rows = references(&batch)?;
        let done = py.detach(|| {
            let Held { simulation, placement } = &mut *locked(&self.held);
            simulation.add(&placed(placement, &rows)?)
        });
        done.map_err(refused)
    }

    fn counters(&self) -> BTreeMap<u16, Named> {
        let simulation = &locked(&self.held).simulation;
        let pools = simulation.pools().iter();
        pools.map(|(&id, pool)| (id, by_name(Counters::FIELDS, &pool.pool().counters().values()))).collect()
    }

    fn snapshots(&self, pool: u16) -> PyResult<Vec<(i64, u32, u32, Named)>> {
        let simulation = &locked(&self.held).simulation;
        let Some(pool) = simulation.pools().get(&pool) else {
            return Err(PyKeyError::new_err(format!("pool {pool} has no configuration")));
        };
        let snapshots = pool.snapshots().iter();
        Ok(snapshots
            .map(|one| {
                let counters = by_name(Counters::FIELDS, &one.counters.values());
                (one.time, one.sequential.0, one.sequential.1, counters)
            })
            .collect())
    }

    fn data_sets(&self, pool: u16) -> PyResult<Vec<(u32, u16, Named)>> {
        let simulation = &locked(&self.held).simulation;
        let Some(pool) = simulation.pools().get(&pool) else {
            return Err(PyKeyError::new_err(format!("pool {pool} has no configuration")));
        };
        let known = simulation.data_sets().known().iter().enumerate();
        let counted = known.map(|(number, &(object, partition))| {
            let counters = pool.pool().data_set_counters(number as u32);
            (object, partition, counters)
        });
        let used = counted.filter(|(_, _, counters)| *counters != DataSetCounters::default());
        Ok(used
            .map(|(object, partition, counters)| {
                (object, partition, by_name(DataSetCounters::FIELDS, &counters.values()))
            })
            .collect())
    }

    fn without_configuration(&self) -> BTreeMap<u16, u64> {
        locked(&self.held).simulation.without_configuration().clone()
    }

    /// Name, field of the statistics record, and meaning of each counter.
    #[staticmethod]
    fn fields() -> Vec<(&'static str, &'static str, &'static str)> {
        Counters::FIELDS.iter().map(|&(name, field, about)| (name, field, about.trim())).collect()
    }
}
