//! LRU curves from a sample of the pages, for traces too long to be looked at whole.
//!
//! A page is in the sample when a hash of its identity is below a threshold, so all references to it are or none
//! (SHARDS: Waldspurger and others, "Efficient MRC construction with SHARDS", FAST 2015). Among sampled pages a
//! distance is the rate times the distance among all, so a pool of `n` buffers behaves as one of `rate * n` in the sample.
//! Misses are divided by the references that the sample should hold, not by those that it holds: whether a few very
//! popular pages are in it moves the latter, but such pages hardly ever miss. (That is the paper's adjustment.)
//!
//! The error has two parts. Which pages are in the sample moves its misses: the sample consists of eight samples of an
//! eighth of the rate, each with a curve of its own, and how far these differ tells how far their union is off. How many
//! pages are in the sample between two references to a page moves the size at which it hits: that number is binomial, so
//! a size of the sample stands for a range of sizes of the whole, and the curve falls by some amount over this range. Where
//! a set of pages begins to fit, the second part is the larger, and the parts of the sample do not show it.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::curve::{LruCurve, Misses, ShareSizes};
use crate::trace::{DataSets, Function, References, TraceError};

/// Samples within the sample.
pub(crate) const PARTS: usize = 8;

/// Standard errors on each side that hold 95 % of a normal distribution.
const NORMAL: f64 = 1.959_964;

/// The same of Student's distribution for a variance of eight parts, seven degrees of freedom.
const STUDENT: f64 = 2.364_624;

/// Rows filtered together.
const STRIP: usize = 512;

/// Which pages are in the sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filter {
    /// Hashes of 32 bits below this are.
    threshold: u64,
}

impl Filter {
    pub fn new(rate: f64) -> Result<Self, RateError> {
        let threshold = (rate * (1u64 << 32) as f64).round();
        if !(threshold >= PARTS as f64 && rate <= 1.0) {
            return Err(RateError(rate));
        }
        Ok(Self { threshold: threshold as u64 })
    }

    /// The rate, to the precision of the hash.
    pub fn rate(self) -> f64 {
        self.threshold as f64 / (1u64 << 32) as f64
    }

    /// The part that a page belongs to; none if it is not in the sample.
    #[inline(always)]
    pub fn part_of(self, object: u32, partition: u16, page: u64) -> Option<u8> {
        let hash = Self::hash(object, partition, page);
        (hash < self.threshold).then(|| self.part(hash) as u8)
    }

    #[inline(always)]
    fn hash(object: u32, partition: u16, page: u64) -> u64 {
        Self::hash_in(Self::hash_of_data_set(object, partition), page)
    }

    #[inline(always)]
    fn hash_of_data_set(object: u32, partition: u16) -> u64 {
        (u64::from(object) << 16 | u64::from(partition)).wrapping_mul(0x9FB2_1C65_1E98_DF25)
    }

    /// The hash of a page of the data set with this hash.
    #[inline(always)]
    fn hash_in(data_set: u64, page: u64) -> u64 {
        // Another mixture than that of the page table: sampled pages must not crowd in a few of its buckets.
        let x = page.wrapping_mul(0xA24B_AED4_963E_E407) ^ data_set;
        (x ^ (x >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93) >> 32
    }

    /// The part that a sampled hash belongs to.
    fn part(self, hash: u64) -> usize {
        (hash * PARTS as u64 / self.threshold) as usize
    }
}

/// A rate that is none.
#[derive(Clone, Copy, Debug, thiserror::Error, PartialEq)]
#[error("a sampling rate of {0} is not possible; give one above 0 and at most 1, such as 0.01")]
pub struct RateError(pub f64);

/// One pool of a sampled trace.
pub struct SampledPool {
    whole: LruCurve,
    parts: [LruCurve; PARTS],
    rate: f64,
    pages: Vec<u64>,
    data_sets: Vec<u32>,
    by_part: [Vec<u64>; PARTS],
    events: [u64; Function::ALL.len()],
}

impl SampledPool {
    fn new(rate: f64, sizes: ShareSizes) -> Self {
        Self {
            whole: LruCurve::new(sizes),
            parts: std::array::from_fn(|_| LruCurve::default()),
            rate,
            pages: Vec::new(),
            data_sets: Vec::new(),
            by_part: Default::default(),
            events: [0; Function::ALL.len()],
        }
    }

    fn work(&mut self) {
        self.whole.add(&self.pages, &self.data_sets);
        self.pages.clear();
        self.data_sets.clear();
        for (curve, pages) in self.parts.iter_mut().zip(&mut self.by_part) {
            curve.add(pages, &[]);
            pages.clear();
        }
    }

    /// Events of the whole trace by [`Function`], sampled or not.
    pub fn events(&self) -> &[u64; Function::ALL.len()] {
        &self.events
    }

    /// Getpages of the whole trace.
    pub fn references(&self) -> u64 {
        self.events[Function::Getpage as usize]
    }

    /// The curve of the sampled pages by themselves: sizes and counts are those of the sample.
    pub fn sample(&self) -> &LruCurve {
        &self.whole
    }

    /// Distinct pages of the whole trace, estimated.
    pub fn distinct_pages(&self) -> f64 {
        self.whole.distinct_pages() as f64 / self.rate
    }

    /// Misses of every size, estimated.
    pub fn estimate(&self) -> Estimate {
        let parts = self.parts.iter().map(LruCurve::misses).collect();
        Estimate::new(self.references() as f64, self.rate, self.whole.misses(), parts)
    }
}

/// Misses of every pool size as a sample tells them.
#[derive(Clone, Debug)]
pub struct Estimate {
    references: f64,
    rate: f64,
    whole: Misses,
    parts: Vec<Misses>,
}

impl Estimate {
    pub(crate) fn new(references: f64, rate: f64, whole: Misses, parts: Vec<Misses>) -> Self {
        Self { references, rate, whole, parts }
    }

    /// Misses of an LRU pool of this many buffers; the pool without buffers misses always.
    pub fn of(&self, size: u64) -> f64 {
        if size == 0 {
            return self.references;
        }
        scaled(&self.whole, self.rate, size).min(self.references)
    }

    /// Standard error of [`Estimate::of`]: 1.96 of it to both sides are an interval of 95 %.
    pub fn error(&self, size: u64) -> f64 {
        if size == 0 || self.rate >= 1.0 || self.parts.is_empty() {
            return 0.0;
        }
        let count = self.parts.len() as f64;
        let each: Vec<f64> = self.parts.iter().map(|part| scaled(part, self.rate / count, size)).collect();
        let mean = each.iter().sum::<f64>() / count;
        let squares: f64 = each.iter().map(|one| (one - mean).powi(2)).sum();
        // Of a finite number of pages the share that was looked at is certain.
        let missed = 1.0 - self.rate;
        let pages = squares / (count - 1.0) / count * missed * (STUDENT / NORMAL).powi(2);
        let off = NORMAL * (missed / (size as f64 * self.rate)).sqrt() * size as f64;
        let (least, most) = ((size as f64 - off).max(1.0), size as f64 + off);
        let fall = self.of(least.round() as u64) - self.of(most.round() as u64);
        (pages + (fall / 2.0 / NORMAL).powi(2)).sqrt()
    }

    /// The smallest size at which only first references miss, estimated.
    pub fn enough(&self) -> u64 {
        (self.whole.enough() as f64 / self.rate).round() as u64
    }
}

/// Misses of a sample at a size of the whole, scaled up.
fn scaled(misses: &Misses, rate: f64, size: u64) -> f64 {
    // The page itself is in its distance with certainty, the others with the rate. Between whole sizes: a straight line.
    let at = (size - 1) as f64 * rate + 1.0;
    let (below, part) = (at.floor(), at.fract());
    let (low, high) = (misses.of(below as usize) as f64, misses.of(below as usize + 1) as f64);
    (low + (high - low) * part) / rate
}

/// Whether all values are equal.
fn same<T: Copy + PartialEq>(values: &[T]) -> bool {
    values.iter().fold(true, |equal, value| equal & (*value == values[0]))
}

/// Sampled curves of all pools of a trace, while stretches of it are added.
pub struct SampledPools {
    filter: Filter,
    rate: f64,
    sizes: ShareSizes,
    data_sets: DataSets,
    pools: BTreeMap<u16, SampledPool>,
}

impl SampledPools {
    /// A sample of this rate, above 0 and at most 1. Objects' shares are kept at these sizes of the sample.
    pub fn new(rate: f64, sizes: ShareSizes) -> Result<Self, RateError> {
        let filter = Filter::new(rate)?;
        Ok(Self { filter, rate: filter.rate(), sizes, data_sets: DataSets::new(), pools: BTreeMap::new() })
    }

    /// Adds the next stretch of the trace. Where it is cut changes nothing.
    pub fn add(&mut self, rows: &References<'_>) -> Result<(), TraceError> {
        rows.check()?;
        let mut at = 0;
        while at < rows.len() {
            let (id, run) = rows.pool_run(at, rows.len());
            let (rate, sizes) = (self.rate, &self.sizes);
            let pool = self.pools.entry(id).or_insert_with(|| SampledPool::new(rate, sizes.clone()));
            rows.count_functions(at, run, &mut pool.events);
            for from in (at..at + run).step_by(STRIP) {
                let to = (at + run).min(from + STRIP);
                let (objects, partitions) = (&rows.object[from..to], &rows.partition[from..to]);
                let (pages, functions) = (&rows.page[from..to], &rows.function[from..to]);
                // First the rows that pass, without a branch; hardly any do.
                let (mut passed, mut count) = ([(0u16, 0u32); STRIP], 0);
                let mut pass = |row: usize, hash: u64, getpage: bool| {
                    passed[count] = (row as u16, hash as u32);
                    count += usize::from(hash < self.filter.threshold && getpage);
                };
                if same(objects) && same(partitions) && same(functions) {
                    // Neighbours are often getpages of one data set; a trace of libCacheSim has nothing else.
                    let data_set = Filter::hash_of_data_set(objects[0], partitions[0]);
                    let getpage = functions[0] == Function::Getpage as u8;
                    for (row, &page) in pages.iter().enumerate() {
                        pass(row, Filter::hash_in(data_set, page), getpage);
                    }
                } else {
                    for row in 0..pages.len() {
                        let getpage = functions[row] == Function::Getpage as u8;
                        pass(row, Filter::hash(objects[row], partitions[row], pages[row]), getpage);
                    }
                }
                for &(row, hash) in &passed[..count] {
                    let row = usize::from(row);
                    let number = self.data_sets.number(objects[row], partitions[row]);
                    let key = self.data_sets.key(number, pages[row]).ok_or(TraceError::DataSets { row: from + row })?;
                    pool.pages.push(key);
                    pool.data_sets.push(number);
                    pool.by_part[self.filter.part(u64::from(hash))].push(key);
                }
            }
            at += run;
        }
        match self.pools.len() {
            // To wake a thread takes longer than the sample of one pool does.
            1 => self.pools.values_mut().for_each(SampledPool::work),
            _ => self.pools.par_iter_mut().for_each(|(_, pool)| pool.work()),
        }
        Ok(())
    }

    /// The rate, to the precision of the hash.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Pools by id.
    pub fn pools(&self) -> &BTreeMap<u16, SampledPool> {
        &self.pools
    }

    /// Data sets of the sample, numbered.
    pub fn data_sets(&self) -> &DataSets {
        &self.data_sets
    }
}
