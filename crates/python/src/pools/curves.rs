//! `_core.PoolCurves`: read misses of every size of every pool.

use std::sync::Mutex;

use plexlens_bufferpool::curve::{LruCurve, ShareSizes};
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

    /// `(object, partition, getpages, distinct pages, [(size, misses), ...])` of each data set.
    fn shares(&self, pool: u16) -> PyResult<Vec<ShareRow>> {
        let curves = &locked(&self.held).curves;
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
