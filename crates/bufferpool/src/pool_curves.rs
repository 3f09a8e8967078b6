//! Curves of all pools of a trace, pools side by side on all cores.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::curve::{LruCurve, ShareSizes};
use crate::trace::{DataSets, Function, References, TraceError};

/// One pool of a trace.
pub struct Pool {
    curve: LruCurve,
    pages: Vec<u64>,
    data_sets: Vec<u32>,
    events: [u64; Function::ALL.len()],
}

impl Pool {
    /// Its curve: getpages are the references; objects' shares are numbered as [`PoolCurves::data_sets`].
    pub fn curve(&self) -> &LruCurve {
        &self.curve
    }

    /// Events by [`Function`]; all but getpages have no part in the curve.
    pub fn events(&self) -> &[u64; Function::ALL.len()] {
        &self.events
    }
}

/// The curves of a trace, while stretches of it are added.
pub struct PoolCurves {
    data_sets: DataSets,
    pools: BTreeMap<u16, Pool>,
    sizes: ShareSizes,
    span: Option<(i64, i64)>,
    backward: u64,
}

impl PoolCurves {
    /// No pools yet; objects' shares will be kept at these sizes.
    pub fn new(sizes: ShareSizes) -> Self {
        Self { data_sets: DataSets::new(), pools: BTreeMap::new(), sizes, span: None, backward: 0 }
    }

    /// Adds the next stretch of the trace. Where it is cut changes nothing.
    pub fn add(&mut self, rows: &References<'_>) -> Result<(), TraceError> {
        rows.check()?;
        let mut at = 0;
        while at < rows.len() {
            // Rows of one pool follow each other in many traces, and often a trace is of one pool.
            let (id, run) = rows.pool_run(at, rows.len());
            let pool = self.pools.entry(id).or_insert_with(|| Pool {
                curve: LruCurve::new(self.sizes.clone()),
                pages: Vec::new(),
                data_sets: Vec::new(),
                events: Default::default(),
            });
            rows.count_functions(at, run, &mut pool.events);
            for row in at..at + run {
                if rows.function[row] == Function::Getpage as u8 {
                    let number = self.data_sets.number(rows.object[row], rows.partition[row]);
                    let key = self.data_sets.key(number, rows.page[row]).ok_or(TraceError::DataSets { row })?;
                    pool.pages.push(key);
                    pool.data_sets.push(number);
                }
            }
            at += run;
        }
        for &time in rows.time {
            let (first, last) = *self.span.get_or_insert((time, time));
            self.backward += u64::from(time < last);
            self.span = Some((first.min(time), last.max(time)));
        }
        self.pools.par_iter_mut().for_each(|(_, pool)| {
            pool.curve.add(&pool.pages, &pool.data_sets);
            pool.pages.clear();
            pool.data_sets.clear();
        });
        Ok(())
    }

    /// Pools by id.
    pub fn pools(&self) -> &BTreeMap<u16, Pool> {
        &self.pools
    }

    /// Data sets of the trace, numbered.
    pub fn data_sets(&self) -> &DataSets {
        &self.data_sets
    }

    /// Earliest and latest time; none before the first row.
    pub fn span(&self) -> Option<(i64, i64)> {
        self.span
    }

    /// Rows whose time lies before that of a row that came earlier. They are taken in the order in which they stand.
    pub fn backward(&self) -> u64 {
        self.backward
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::Random;

    #[test]
    fn pools_are_kept_apart_and_cuts_change_nothing() {
        let mut random = Random::new(3);
        let rows = 20_000;
        let pool: Vec<u16> = (0..rows).map(|_| random.below(3) as u16).collect();
        let object: Vec<u32> = pool.iter().map(|&pool| u32::from(pool) * 10 + random.below(4) as u32).collect();
        let page: Vec<u64> = (0..rows).map(|_| random.below(300)).collect();
        let function: Vec<u8> = (0..rows).map(|_| random.below(3) as u8).collect();
        let (time, zero): (Vec<i64>, Vec<u8>) = ((0..rows as i64).collect(), vec![0; rows]);
        let partition = vec![0u16; rows];
        let cut = |from: usize, to: usize| References {
            time: &time[from..to],
            member: &zero[from..to],
            pool: &pool[from..to],
            object: &object[from..to],
            partition: &partition[from..to],
            page: &page[from..to],
            function: &function[from..to],
            access: &zero[from..to],
            ..References::default()
        };
        let mut whole = PoolCurves::new(ShareSizes::Steps);
        whole.add(&cut(0, rows)).unwrap();
        let mut pieces = PoolCurves::new(ShareSizes::Steps);
        for at in (0..rows).step_by(777) {
            pieces.add(&cut(at, (at + 777).min(rows))).unwrap();
        }
        assert_eq!(whole.pools().len(), 3);
        for (id, one) in whole.pools() {
            let mut alone = LruCurve::default();
            let rows = (0..rows).filter(|&row| pool[row] == *id && function[row] == 0);
            let pages: Vec<u64> = rows.map(|row| u64::from(object[row]) << 40 | page[row]).collect();
            alone.add(&pages, &[]);
            assert_eq!(one.curve().misses(), alone.misses(), "pool {id}");
            assert_eq!(one.curve().misses(), pieces.pools()[id].curve().misses(), "pool {id}");
            assert_eq!(one.events()[0], pages.len() as u64);
            assert_eq!(one.events().iter().sum::<u64>(), pool.iter().filter(|&&pool| pool == *id).count() as u64);
        }
        assert_eq!((whole.span(), whole.backward()), (Some((0, rows as i64 - 1)), 0));
    }
}
