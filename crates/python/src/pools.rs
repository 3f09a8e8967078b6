//! `_core.PoolCurves` and `_core.PoolSimulation`: page-reference traces in, misses and counters out.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use plexlens_bufferpool::curve::{LruCurve, ShareSizes};
use plexlens_bufferpool::policy::{Counters, DataSetCounters, PoolConfig, Simulation, Steal};
use plexlens_bufferpool::pool_curves::PoolCurves as Exact;
use plexlens_bufferpool::sampled::SampledPools;
use plexlens_bufferpool::trace::{Access, DataSets, Function, References};
use pyo3::create_exception;
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3_arrow::PyRecordBatch;

create_exception!(
    plexlens._core,
    PoolError,
    PyValueError,
    "A trace or a pool's settings that cannot be used: its text says what is wrong and what to do."
);

fn refused(error: impl ToString) -> PyErr {
    PoolError::new_err(error.to_string())
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Values of a column of the one type that it may have.
fn column<'a, T: ArrowPrimitiveType>(batch: &'a RecordBatch, name: &str) -> PyResult<&'a [T::Native]> {
    let Some(column) = batch.column_by_name(name) else {
        return Err(refused(format!("a trace batch has no column {name}; see plexlens._core.TRACE_COLUMNS")));
    };
    let Some(values) = column.as_primitive_opt::<T>() else {
        let (found, needed) = (column.data_type(), T::DATA_TYPE);
        return Err(refused(format!("column {name} is {found}; cast it to {needed}")));
    };
    if values.null_count() > 0 {
        return Err(refused(format!("column {name} has {} nulls; leave such rows out", values.null_count())));
    }
    Ok(values.values())
}

fn references(batch: &RecordBatch) -> PyResult<References<'_>> {
    Ok(References {
        time: column::<Int64Type>(batch, "time")?,
        member: column::<UInt8Type>(batch, "member")?,
        pool: column::<UInt16Type>(batch, "pool")?,
        object: column::<UInt32Type>(batch, "object")?,
        partition: column::<UInt16Type>(batch, "partition")?,
        page: column::<UInt64Type>(batch, "page")?,
        function: column::<UInt8Type>(batch, "function")?,
        access: column::<UInt8Type>(batch, "access")?,
    })
}

/// Columns of a trace batch and their Arrow types.
pub fn trace_columns() -> Vec<(&'static str, &'static str)> {
    vec![
        ("time", "int64"),
        ("member", "uint8"),
        ("pool", "uint16"),
        ("object", "uint32"),
        ("partition", "uint16"),
        ("page", "uint64"),
        ("function", "uint8"),
        ("access", "uint8"),
    ]
}

/// Names of the function codes, in their order.
pub fn functions() -> Vec<&'static str> {
    Function::ALL.iter().map(|&(_, name)| name).collect()
}

/// Names of the access codes, in their order.
pub fn accesses() -> Vec<&'static str> {
    Access::ALL.iter().map(|&(_, name)| name).collect()
}

enum Curves {
    Exact(Exact),
    Sampled(SampledPools),
}

/// LRU curves of the pools of a trace.
#[pyclass(module = "plexlens._core", frozen)]
pub struct PoolCurves {
    curves: Mutex<Curves>,
}

impl Curves {
    fn pool(&self, id: u16) -> PyResult<Pool<'_>> {
        let found = match self {
            Self::Exact(curves) => curves.pools().get(&id).map(|pool| Pool {
                curve: pool.curve(),
                events: pool.events(),
                distinct_pages: pool.curve().distinct_pages() as f64,
            }),
            Self::Sampled(curves) => curves.pools().get(&id).map(|pool| Pool {
                curve: pool.sample(),
                events: pool.events(),
                distinct_pages: pool.distinct_pages(),
            }),
        };
        found.ok_or_else(|| PyKeyError::new_err(format!("the trace has no pool {id}")))
    }

    fn data_sets(&self) -> &DataSets {
        match self {
            Self::Exact(curves) => curves.data_sets(),
            Self::Sampled(curves) => curves.data_sets(),
        }
    }

    fn rate(&self) -> f64 {
        match self {
            Self::Exact(_) => 1.0,
            Self::Sampled(curves) => curves.rate(),
        }
    }
}

struct Pool<'a> {
    curve: &'a LruCurve,
    events: &'a [u64],
    distinct_pages: f64,
}

#[pymethods]
impl PoolCurves {
    #[new]
    #[pyo3(signature = (*, sample = None))]
    fn new(sample: Option<f64>) -> PyResult<Self> {
        let curves = match sample {
            None => Curves::Exact(Exact::new(ShareSizes::Steps)),
            Some(rate) => Curves::Sampled(SampledPools::new(rate, ShareSizes::Steps).map_err(refused)?),
        };
        Ok(Self { curves: Mutex::new(curves) })
    }

    fn add(&self, py: Python<'_>, batch: PyRecordBatch) -> PyResult<()> {
        let batch = batch.into_inner();
        let rows = references(&batch)?;
        let done = py.detach(|| match &mut *locked(&self.curves) {
            Curves::Exact(curves) => curves.add(&rows),
            Curves::Sampled(curves) => curves.add(&rows),
        });
        done.map_err(refused)
    }

    #[getter]
    fn rate(&self) -> f64 {
        locked(&self.curves).rate()
    }

    fn pools(&self) -> Vec<u16> {
        match &*locked(&self.curves) {
            Curves::Exact(curves) => curves.pools().keys().copied().collect(),
            Curves::Sampled(curves) => curves.pools().keys().copied().collect(),
        }
    }

    fn events(&self, pool: u16) -> PyResult<Named> {
        let curves = locked(&self.curves);
        let events = curves.pool(pool)?.events;
        Ok(Function::ALL.iter().zip(events).map(|(&(_, name), &count)| (name, count)).collect())
    }

    fn distinct_pages(&self, pool: u16) -> PyResult<f64> {
        Ok(locked(&self.curves).pool(pool)?.distinct_pages)
    }

    fn enough(&self, py: Python<'_>, pool: u16) -> PyResult<u64> {
        py.detach(|| match &*locked(&self.curves) {
            Curves::Sampled(curves) if curves.pools().contains_key(&pool) => {
                Ok(curves.pools()[&pool].estimate().enough())
            }
            curves => Ok(curves.pool(pool)?.curve.misses().enough() as u64),
        })
    }

    fn read_misses(&self, py: Python<'_>, pool: u16, sizes: Vec<u64>) -> PyResult<Vec<(f64, f64)>> {
        py.detach(|| match &*locked(&self.curves) {
            Curves::Sampled(curves) if curves.pools().contains_key(&pool) => {
                let estimate = curves.pools()[&pool].estimate();
                Ok(sizes.iter().map(|&size| (estimate.of(size), estimate.error(size))).collect())
            }
            curves => {
                let misses = curves.pool(pool)?.curve.misses();
                Ok(sizes.iter().map(|&size| (misses.of(size as usize) as f64, 0.0)).collect())
            }
        })
    }

    /// `(object, partition, getpages, distinct pages, [(size, misses), ...])` of each data set.
    fn shares(&self, pool: u16) -> PyResult<Vec<ShareRow>> {
        let curves = locked(&self.curves);
        let (curve, rate) = (curves.pool(pool)?.curve, curves.rate());
        let known = curves.data_sets().known().iter().zip(curve.shares()).enumerate();
        let used = known.filter(|(_, (_, share))| share.references() > 0);
        Ok(used
            .map(|(number, (&(object, partition), share))| {
                let points = curve.share_curve(number as u32);
                let scaled = points.iter().map(|&(size, misses)| (f64::from(size) / rate, misses as f64 / rate));
                let (getpages, pages) = (share.references() as f64 / rate, share.distinct_pages() as f64 / rate);
                (object, partition, getpages, pages, scaled.collect())
            })
            .collect())
    }
}

type ShareRow = (u32, u16, f64, f64, Vec<(f64, f64)>);

/// One configuration of each pool of a trace, event by event.
#[pyclass(module = "plexlens._core", frozen)]
pub struct PoolSimulation {
    simulation: Mutex<Simulation>,
}

/// Counts by name.
type Named = BTreeMap<&'static str, u64>;

/// Settings of one pool by name.
fn config(settings: &Bound<'_, PyDict>) -> PyResult<PoolConfig> {
    let mut config = PoolConfig::default();
    for (key, value) in settings {
        let name: String = key.extract()?;
        match name.as_str() {
            "size" => config.size = value.extract()?,
            "page_bytes" => config.page_bytes = value.extract()?,
            "steal" => {
                config.steal = match value.extract::<String>()?.to_lowercase().as_str() {
                    "lru" => Steal::Lru,
                    "fifo" => Steal::Fifo,
                    "none" => Steal::None,
                    other => return Err(refused(format!("PGSTEAL {other} is not possible; give LRU, FIFO or NONE"))),
                }
            }
            "vpseqt" => config.vpseqt = value.extract()?,
            "dwqt" => config.dwqt = value.extract()?,
            "vdwqt" => config.vdwqt = value.extract()?,
            "vdwqt_pages" => config.vdwqt_pages = value.extract()?,
            "prefetch" => config.prefetch = value.extract()?,
            "releases" => config.releases = value.extract()?,
            "checkpoint" => config.checkpoint = value.extract()?,
            _ => {
                return Err(refused(format!(
                    "a pool has no setting {name}; give size, page_bytes, steal, vpseqt, dwqt, vdwqt, vdwqt_pages, \
                     prefetch, releases, checkpoint"
                )));
            }
        }
    }
    Ok(config)
}

fn by_name(fields: &[(&'static str, &'static str, &'static str)], values: &[u64]) -> Named {
    fields.iter().zip(values).map(|(&(name, _, _), &value)| (name, value)).collect()
}

#[pymethods]
impl PoolSimulation {
    #[new]
    #[pyo3(signature = (pools, *, interval = None))]
    fn new(pools: BTreeMap<u16, Bound<'_, PyDict>>, interval: Option<i64>) -> PyResult<Self> {
        let configs = pools.iter().map(|(&id, settings)| Ok((id, config(settings)?)));
        let configs = configs.collect::<PyResult<BTreeMap<u16, PoolConfig>>>()?;
        let simulation = Simulation::new(&configs, interval).map_err(refused)?;
        Ok(Self { simulation: Mutex::new(simulation) })
    }

    fn set_pages(&self, object: u32, partition: u16, pages: u64) {
        locked(&self.simulation).set_pages(object, partition, pages);
    }

    fn add(&self, py: Python<'_>, batch: PyRecordBatch) -> PyResult<()> {
        let batch = batch.into_inner();
        let rows = references(&batch)?;
        py.detach(|| locked(&self.simulation).add(&rows)).map_err(refused)
    }

    fn counters(&self) -> BTreeMap<u16, Named> {
        let simulation = locked(&self.simulation);
        let pools = simulation.pools().iter();
        pools.map(|(&id, pool)| (id, by_name(Counters::FIELDS, &pool.pool().counters().values()))).collect()
    }

    fn snapshots(&self, pool: u16) -> PyResult<Vec<(i64, u32, u32, Named)>> {
        let simulation = locked(&self.simulation);
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
        let simulation = locked(&self.simulation);
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
        locked(&self.simulation).without_configuration().clone()
    }

    /// Name, field of the statistics record, and meaning of each counter.
    #[staticmethod]
    fn fields() -> Vec<(&'static str, &'static str, &'static str)> {
        Counters::FIELDS.iter().map(|&(name, field, about)| (name, field, about.trim())).collect()
    }
}
