//! The curve of each data set as if it were in a pool of its own, from one pass.

use rayon::prelude::*;

use crate::curve::LruCurve;
use crate::sampled::{Estimate, Filter, PARTS, RateError};
use crate::trace::{DataSets, Function, References, TraceError};

/// References that are gathered before curves are worked on: traces of many data sets have few of each in a stretch.
const GATHERED: usize = 1 << 20;

struct DataSet {
    getpages: u64,
    whole: LruCurve,
    pages: Vec<u64>,
    /// Empty unless sampled.
    parts: Vec<(LruCurve, Vec<u64>)>,
}

/// The curves of a trace's data sets, while stretches of it are added.
pub struct DataSetCurves {
    filter: Option<Filter>,
    data_sets: DataSets,
    sets: Vec<DataSet>,
    gathered: usize,
}

impl DataSetCurves {
    /// Curves from all pages, or from a sample of this rate, above 0 and at most 1.
    pub fn new(rate: Option<f64>) -> Result<Self, RateError> {
        let filter = rate.map(Filter::new).transpose()?;
        Ok(Self { filter, data_sets: DataSets::new(), sets: Vec::new(), gathered: 0 })
    }

    /// Adds the next stretch of the trace. Where it is cut changes nothing.
    pub fn add(&mut self, rows: &References<'_>) -> Result<(), TraceError> {
        rows.check()?;
        let parts = if self.filter.is_some() { PARTS } else { 0 };
        for row in (0..rows.len()).filter(|&row| rows.function[row] == Function::Getpage as u8) {
            let (object, partition, page) = (rows.object[row], rows.partition[row], rows.page[row]);
            let number = self.data_sets.number(object, partition) as usize;
            if number == self.sets.len() {
                let parts = (0..parts).map(|_| (LruCurve::default(), Vec::new())).collect();
                self.sets.push(DataSet { getpages: 0, whole: LruCurve::default(), pages: Vec::new(), parts });
            }
            let set = &mut self.sets[number];
            set.getpages += 1;
            if let Some(filter) = self.filter {
                let Some(part) = filter.part_of(object, partition, page) else { continue };
                set.parts[usize::from(part)].1.push(page);
            }
            set.pages.push(page);
            self.gathered += 1;
        }
        if self.gathered >= GATHERED {
            self.settle();
        }
        Ok(())
    }

    /// Works on what has been gathered; to be called before curves are asked for.
    pub fn settle(&mut self) {
        if std::mem::take(&mut self.gathered) == 0 {
            return;
        }
        self.sets.par_iter_mut().for_each(|set| {
            set.whole.add(&set.pages, &[]);
            set.pages.clear();
            for (curve, pages) in &mut set.parts {
                curve.add(pages, &[]);
                pages.clear();
            }
        });
    }

    /// The rate, to the precision of the hash; 1 where all pages are looked at.
    pub fn rate(&self) -> f64 {
        self.filter.map_or(1.0, Filter::rate)
    }

    /// Data sets of the trace, numbered.
    pub fn data_sets(&self) -> &DataSets {
        &self.data_sets
    }

    /// Getpages of a data set, sampled or not.
    pub fn getpages(&self, data_set: u32) -> u64 {
        self.sets[data_set as usize].getpages
    }

    /// Distinct pages of a data set; estimated from a sample.
    pub fn distinct_pages(&self, data_set: u32) -> f64 {
        self.sets[data_set as usize].whole.distinct_pages() as f64 / self.rate()
    }

    /// Misses of every size of a data set's own pool.
    pub fn estimate(&self, data_set: u32) -> Estimate {
        let set = &self.sets[data_set as usize];
        let parts = set.parts.iter().map(|(curve, _)| curve.misses()).collect();
        Estimate::new(set.getpages as f64, self.rate(), set.whole.misses(), parts)
    }
}
