//! `_core.PoolCurves`: read misses of every size of every pool.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use plexlens_bufferpool::curve::{LruCurve, Share, ShareSizes};
use plexlens_bufferpool::placement::Placement;
use plexlens_bufferpool::pool_curves::PoolCurves as Exact;
use plexlens_bufferpool::sampled::SampledPools;
use plexlens_bufferpool::trace::{DataSets, Function};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatch;

use super::{Named, Places, locked, placed, references, refused};

enum Curves {
    Exact(Exact),
    Sampled(SampledPools),
}

/// LRU curves of the pools of a trace.
#[pyclass(module = "plexlens._core", frozen)]
pub struct PoolCurves {
    held: Mutex<Held>,
}

struct Held {
    curves: Curves,
    placement: Option<Placement>,
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
    #[pyo3(signature = (*, sample = None, placement = None, share_sizes = None))]
    fn new(sample: Option<f64>, placement: Option<Places>, share_sizes: Option<Vec<u32>>) -> PyResult<Self> {
        let kept = share_sizes.map_or(ShareSizes::Steps, |mut sizes| {
            sizes.sort_unstable();
            sizes.dedup();
            ShareSizes::These(sizes)
        });
        let curves = match sample {
            None => Curves::Exact(Exact::new(kept)),
            Some(rate) => Curves::Sampled(SampledPools::new(rate, ShareSizes::Steps).map_err(refused)?),
        };
        Ok(Self { held: Mutex::new(Held { curves, placement: super::placement(placement) }) })
    }

    fn add(&self, py: Python<'_>, batch: PyRecordBatch) -> PyResult<()> {
        let batch = batch.into_inner();
        let rows = references(&batch)?;
        let done = py.detach(|| {
            let Held { curves, placement } = &mut *locked(&self.held);
            let rows = placed(placement, &rows)?;
            match curves {
                Curves::Exact(curves) => curves.add(&rows),
                Curves::Sampled(curves) => curves.add(&rows),
            }
        });
        done.map_err(refused)
    }

    #[getter]
    fn rate(&self) -> f64 {
        locked(&self.held).curves.rate()
    }

    fn pools(&self) -> Vec<u16> {
        match &locked(&self.held).curves {
            Curves::Exact(curves) => curves.pools().keys().copied().collect(),
            Curves::Sampled(curves) => curves.pools().keys().copied().collect(),
        }
    }

    fn events(&self, pool: u16) -> PyResult<Named> {
        let curves = &locked(&self.held).curves;
        let events = curves.pool(pool)?.events;
        Ok(Function::ALL.iter().zip(events).map(|(&(_, name), &count)| (name, count)).collect())
    }

    fn distinct_pages(&self, pool: u16) -> PyResult<f64> {
        Ok(locked(&self.held).curves.pool(pool)?.distinct_pages)
    }

    fn enough(&self, py: Python<'_>, pool: u16) -> PyResult<u64> {
        py.detach(|| match &locked(&self.held).curves {
            Curves::Sampled(curves) if curves.pools().contains_key(&pool) => {
                Ok(curves.pools()[&pool].estimate().enough())
            }
            curves => Ok(curves.pool(pool)?.curve.misses().enough() as u64),
        })
    }

    fn read_misses(&self, py: Python<'_>, pool: u16, sizes: Vec<u64>) -> PyResult<Vec<(f64, f64)>> {
        py.detach(|| match &locked(&self.held).curves {
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

    /// `(object, partition, getpages, distinct pages, [misses at each size])` of each data set.
    fn shares(&self, py: Python<'_>, pool: u16, sizes: Vec<f64>) -> PyResult<Vec<ShareRow>> {
        py.detach(|| {
            let curves = &locked(&self.held).curves;
            let (curve, rate) = (curves.pool(pool)?.curve, curves.rate());
            let known = curves.data_sets().known().iter().zip(curve.shares()).enumerate();
            let used = known.filter(|(_, (_, share))| share.references() > 0);
            Ok(used
                .map(|(number, (&(object, partition), share))| {
                    let misses = curve.interpolated_misses(number as u32, &sizes, rate);
                    let (getpages, pages) = (share.references() as f64 / rate, share.distinct_pages() as f64 / rate);
                    (object, partition, getpages, pages, misses)
                })
                .collect())
        })
    }

    /// Columns `size` and `cost`: the misses of every data set at the price of its object, by size.
    fn priced_misses<'py>(&self, py: Python<'py>, pool: u16, prices: HashMap<u32, f64>) -> PyResult<Bound<'py, PyAny>> {
        let batch = py.detach(|| {
            let curves = &locked(&self.held).curves;
            let curve = curves.pool(pool)?.curve;
            let known = curves.data_sets().known().iter().zip(curve.shares());
            let price = |(&(object, _), share): (&(u32, u16), &Share)| match prices.get(&object) {
                Some(&price) => Ok(price),
                None if share.references() == 0 => Ok(0.0),
                None => Err(PyKeyError::new_err(format!("object {object} has no price"))),
            };
            let prices = known.map(price).collect::<PyResult<Vec<f64>>>()?;
            let (sizes, costs): (Vec<f64>, Vec<f64>) =
                curve.priced_misses(&prices).into_iter().map(|(size, cost)| (f64::from(size), cost)).unzip();
            let columns: [(&str, ArrayRef); 2] =
                [("size", Arc::new(Float64Array::from(sizes))), ("cost", Arc::new(Float64Array::from(costs)))];
            RecordBatch::try_from_iter(columns).map_err(refused)
        })?;
        PyRecordBatch::new(batch).into_pyarrow(py)
    }
}

type ShareRow = (u32, u16, f64, f64, Vec<f64>);
