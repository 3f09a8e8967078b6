//! The sampled references of a trace, held, so that any grouping of its data sets has its curve without another pass.
//!
//! Whoever looks for a good placement asks for the curves of thousands of groups. Of each only the sampled references of its data
//! sets are worked on, in the order of the trace. Memory: 13 bytes a sampled reference, up to three times that while the columns grow.

use rayon::prelude::*;

use crate::curve::LruCurve;
use crate::sampled::{Estimate, Filter, PARTS, RateError};
use crate::trace::{DataSets, Function, References, TraceError};

/// References worked on together.
const STRETCH: usize = 1 << 14;

/// The sampled references of a trace, while stretches of it are added.
pub struct TraceSample {
    filter: Filter,
    data_sets: DataSets,
    /// Getpages of each data set, sampled or not.
    getpages: Vec<u64>,
    keys: Vec<u64>,
    /// Data set of each, and which part of the sample it belongs to.
    sets: Vec<u32>,
    parts: Vec<u8>,
}

impl TraceSample {
    /// A sample of this rate, above 0 and at most 1.
    pub fn new(rate: f64) -> Result<Self, RateError> {
        Ok(Self {
            filter: Filter::new(rate)?,
            data_sets: DataSets::new(),
            getpages: Vec::new(),
            keys: Vec::new(),
            sets: Vec::new(),
            parts: Vec::new(),
        })
    }

    /// Adds the next stretch of the trace. Where it is cut changes nothing.
    pub fn add(&mut self, rows: &References<'_>) -> Result<(), TraceError> {
        rows.check()?;
        for row in (0..rows.len()).filter(|&row| rows.function[row] == Function::Getpage as u8) {
            let (object, partition, page) = (rows.object[row], rows.partition[row], rows.page[row]);
            let number = self.data_sets.number(object, partition);
            if number as usize == self.getpages.len() {
                self.getpages.push(0);
            }
            self.getpages[number as usize] += 1;
            if let Some(part) = self.filter.part_of(object, partition, page) {
                self.keys.push(self.data_sets.key(number, page).ok_or(TraceError::DataSets { row })?);
                self.sets.push(number);
                self.parts.push(part);
            }
        }
        Ok(())
    }

    /// The rate, to the precision of the hash.
    pub fn rate(&self) -> f64 {
        self.filter.rate()
    }

    /// Data sets of the trace, numbered.
    pub fn data_sets(&self) -> &DataSets {
        &self.data_sets
    }

    /// Number of a data set; none when the trace does not have it.
    pub fn number(&self, object: u32, partition: u16) -> Option<u32> {
        self.data_sets.find(object, partition)
    }

    /// Getpages of a data set, sampled or not.
    pub fn getpages(&self, data_set: u32) -> u64 {
        self.getpages[data_set as usize]
    }

    /// References held.
    pub fn references(&self) -> usize {
        self.keys.len()
    }

    /// The curve of a pool that holds these data sets and no others. Without `errors`, [`Estimate::error`] is 0.
    pub fn group(&self, data_sets: &[u32], errors: bool) -> Group {
        let mut wanted = vec![false; self.getpages.len()];
        let mut getpages = 0;
        for &number in data_sets {
            if !std::mem::replace(&mut wanted[number as usize], true) {
                getpages += self.getpages[number as usize];
            }
        }
        let mut whole = LruCurve::default();
        let mut parts: Vec<LruCurve> = (0..if errors { PARTS } else { 0 }).map(|_| LruCurve::default()).collect();
        let (mut keys, mut sets) = (Vec::with_capacity(STRETCH), Vec::with_capacity(STRETCH));
        let mut by_part: [Vec<u64>; PARTS] = Default::default();
        for from in (0..self.keys.len()).step_by(STRETCH) {
            let to = (from + STRETCH).min(self.keys.len());
            for row in (from..to).filter(|&row| wanted[self.sets[row] as usize]) {
                keys.push(self.keys[row]);
                sets.push(self.sets[row]);
                if errors {
                    by_part[usize::from(self.parts[row])].push(self.keys[row]);
                }
            }
            whole.add(&keys, &sets);
            keys.clear();
            sets.clear();
            for (curve, keys) in parts.iter_mut().zip(&mut by_part) {
                curve.add(keys, &[]);
                keys.clear();
            }
        }
        let misses = parts.iter().map(LruCurve::misses).collect();
        let estimate = Estimate::new(getpages as f64, self.rate(), whole.misses(), misses);
        Group { curve: whole, estimate }
    }

    /// What is wanted of the curves of many groups, on all cores; no curve is kept.
    pub fn groups<T: Send>(
        &self,
        groups: &[Vec<u32>],
        errors: bool,
        wanted: impl Fn(usize, &Group) -> T + Sync,
    ) -> Vec<T> {
        let numbered = groups.par_iter().enumerate();
        numbered.map(|(number, data_sets)| wanted(number, &self.group(data_sets, errors))).collect()
    }
}

/// A pool of some data sets of a sample.
pub struct Group {
    curve: LruCurve,
    estimate: Estimate,
}

impl Group {
    /// The curve of the sampled references: sizes and counts are those of the sample.
    pub fn sample(&self) -> &LruCurve {
        &self.curve
    }

    /// Misses of every size, estimated.
    pub fn estimate(&self) -> &Estimate {
        &self.estimate
    }
}
