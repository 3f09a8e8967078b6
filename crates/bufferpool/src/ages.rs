//! How long each data set's pages rest between references: what a pool of any composition needs to know of it.
//!
//! A pool that steals what was not referenced for the last `T` getpages holds of a data set the pages of the last `T`
//! getpages, and reads what rested longer than `T`. Both follow from the distribution of rests, for every `T` at once.
//! The mean number of distinct pages over all windows of `T` getpages that lie in the trace, its *footprint*, is the
//! number of its pages less the sum of `rest - T` over all longer rests divided by the number of windows; the rest
//! before the first reference to a page and the one after its last belong to them (Xiang and others, "HOTL: a higher
//! order theory of locality", ASPLOS 2013).
//!
//! Rests are counted in getpages of the whole trace, by steps of an eighth of a doubling; at the edges of the steps both
//! functions are exact. One pass, a table of 18 to 41 bytes per page, at most 240 steps of 32 bytes per data set.

use crate::page_table::PageTable;
use crate::sampled::{Filter, RateError};
use crate::trace::{Access, DataSets, Function, PAGE_BITS, References, TraceError};

/// Steps to a doubling, as a power of two.
const STEPS: u32 = 3;

/// References worked on together.
const BATCH: usize = 256;

/// Rests that lie in one step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rests {
    /// Random getpages that end such a rest.
    pub random: u64,
    /// Getpages of scans and lists that end such a rest.
    pub sequential: u64,
    /// Pages that rest so long before their first reference, or after their last one.
    pub ends: u64,
    /// Sum of all these rests in getpages.
    pub sum: u64,
}

/// Index of the step of a rest of at least one getpage.
#[inline(always)]
fn step(rest: u32) -> usize {
    let below = rest - 1;
    if below < 1 << STEPS {
        return below as usize;
    }
    let octave = below.ilog2() - STEPS;
    ((octave as usize) << STEPS) + (below >> octave) as usize
}

/// The longest rest of a step.
pub fn longest(step: usize) -> u64 {
    let (octave, within) = (step >> STEPS, (step & ((1 << STEPS) - 1)) as u64);
    if octave == 0 {
        return within + 1;
    }
    ((1 << STEPS) + within + 1) << (octave - 1)
}

/// What is known of a data set.
#[derive(Clone, Debug, Default)]
pub struct Ages {
    /// Random getpages, and those of scans and lists, sampled or not.
    pub getpages: [u64; 2],
    /// First references to a page, random and others, of the sample.
    pub first: [u64; 2],
    /// Rests by step, of the sample.
    pub rests: Vec<Rests>,
}

impl Ages {
    #[inline(always)]
    fn at(&mut self, rest: u32) -> &mut Rests {
        let step = step(rest);
        if step >= self.rests.len() {
            self.rests.resize(step + 1, Rests::default());
        }
        let found = &mut self.rests[step];
        found.sum += u64::from(rest);
        found
    }
}

/// The rests of a trace's data sets, while stretches of it are added.
///
/// Positions have 32 bits: a rest of more than 4,294,967,295 getpages counts as one that much shorter.
pub struct DataSetAges {
    filter: Option<Filter>,
    data_sets: DataSets,
    ages: Vec<Ages>,
    /// The data set of each extent of page keys.
    owners: Vec<u32>,
    table: PageTable,
    getpages: u64,
}

impl DataSetAges {
    /// All pages, or a sample of this rate, above 0 and at most 1.
    pub fn new(rate: Option<f64>) -> Result<Self, RateError> {
        Ok(Self {
            filter: rate.map(Filter::new).transpose()?,
            data_sets: DataSets::new(),
            ages: Vec::new(),
            owners: Vec::new(),
            table: PageTable::new(),
            getpages: 0,
        })
    }

    /// Adds the next stretch of the trace. Where it is cut changes nothing.
    pub fn add(&mut self, rows: &References<'_>) -> Result<(), TraceError> {
        rows.check()?;
        let mut strip = [(0u64, 0u32, 0u32, false); BATCH];
        let mut held = 0;
        for row in (0..rows.len()).filter(|&row| rows.function[row] == Function::Getpage as u8) {
            let (object, partition, page) = (rows.object[row], rows.partition[row], rows.page[row]);
            let number = self.data_sets.number(object, partition);
            if number as usize == self.ages.len() {
                self.ages.push(Ages::default());
            }
            let random = rows.access[row] == Access::Random as u8;
            self.ages[number as usize].getpages[usize::from(!random)] += 1;
            self.getpages += 1;
            if self.filter.is_some_and(|filter| filter.part_of(object, partition, page).is_none()) {
                continue;
            }
            let key = self.data_sets.key(number, page).ok_or(TraceError::DataSets { row })?;
            self.table.fetch(key);
            strip[held] = (key, self.getpages as u32, number, random);
            held += 1;
            if held == BATCH {
                self.count(&strip);
                held = 0;
            }
        }
        self.count(&strip[..held]);
        Ok(())
    }

    fn count(&mut self, strip: &[(u64, u32, u32, bool)]) {
        for &(key, now, number, random) in strip {
            let ages = &mut self.ages[number as usize];
            match self.table.replace(key, now) {
                // The same position once more can only be 2^32 getpages ago.
                Some(before) => {
                    let rests = ages.at(now.wrapping_sub(before).max(1));
                    rests.random += u64::from(random);
                    rests.sequential += u64::from(!random);
                }
                None => {
                    ages.first[usize::from(!random)] += 1;
                    ages.at(now.max(1)).ends += 1;
                    let extent = (key >> PAGE_BITS) as usize;
                    if extent >= self.owners.len() {
                        self.owners.resize(extent + 1, 0);
                    }
                    self.owners[extent] = number;
                }
            }
        }
    }

    /// The rate, to the precision of the hash; 1 where all pages are looked at.
    pub fn rate(&self) -> f64 {
        self.filter.map_or(1.0, Filter::rate)
    }

    /// Getpages of the trace, sampled or not.
    pub fn getpages(&self) -> u64 {
        self.getpages
    }

    /// Data sets of the trace, numbered.
    pub fn data_sets(&self) -> &DataSets {
        &self.data_sets
    }

    /// What is known of each data set by its number, the rests that end with the trace included.
    pub fn ages(&self) -> Vec<Ages> {
        let mut found = self.ages.clone();
        let end = (self.getpages as u32).wrapping_add(1);
        for (key, position) in self.table.entries() {
            let number = self.owners[(key >> PAGE_BITS) as usize];
            found[number as usize].at(end.wrapping_sub(position).max(1)).ends += 1;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn steps_follow_each_other_and_hold_their_rests() {
        let mut before = 0;
        for at in 0..239 {
            let last = longest(at);
            assert!(last > before, "step {at}");
            assert_eq!((step(before as u32 + 1), step(last as u32)), (at, at));
            before = last;
        }
    }

    fn references<'a>(columns: &'a Columns, from: usize, to: usize) -> References<'a> {
        References {
            time: &columns.time[from..to],
            member: &columns.zero[from..to],
            pool: &columns.partition[from..to],
            object: &columns.object[from..to],
            partition: &columns.partition[from..to],
            page: &columns.page[from..to],
            function: &columns.function[from..to],
            access: &columns.access[from..to],
            agent: &columns.nobody[from..to],
            status: &columns.zero[from..to],
        }
    }

    struct Columns {
        time: Vec<i64>,
        zero: Vec<u8>,
        nobody: Vec<u32>,
        object: Vec<u32>,
        partition: Vec<u16>,
        page: Vec<u64>,
        function: Vec<u8>,
        access: Vec<u8>,
    }

    proptest! {
        /// Against a look at every window, and at every instant.
        #[test]
        fn footprints_and_reads_are_those_of_looking(
            rows in prop::collection::vec((1u32..4, 0u64..6, 0u8..2, 0u8..4), 1..120), cut in 0usize..120
        ) {
            let columns = Columns {
                time: (0..rows.len() as i64).collect(),
                zero: vec![0; rows.len()],
                nobody: vec![0; rows.len()],
                object: rows.iter().map(|row| row.0).collect(),
                partition: vec![0; rows.len()],
                page: rows.iter().map(|row| row.1).collect(),
                function: rows.iter().map(|row| row.2).collect(),
                access: rows.iter().map(|row| row.3).collect(),
            };
            let mut ages = DataSetAges::new(None).unwrap();
            let cut = cut.min(rows.len());
            ages.add(&references(&columns, 0, cut)).unwrap();
            ages.add(&references(&columns, cut, rows.len())).unwrap();
            let getpages: Vec<_> = rows.iter().filter(|row| row.2 == 0).collect();
            let found = ages.ages();
            for (number, &(object, _)) in ages.data_sets().known().iter().enumerate() {
                let own = &found[number];
                let pages = own.first[0] + own.first[1];
                for at in (0..40).filter(|&at| longest(at) as usize <= getpages.len()) {
                    let length = longest(at) as usize;
                    let windows = getpages.windows(length);
                    let seen: u64 = windows.map(|window| {
                        let own = window.iter().filter(|row| row.0 == object).map(|row| row.1);
                        own.collect::<std::collections::HashSet<_>>().len() as u64
                    }).sum();
                    let (count, sum) = own.rests.iter().skip(at + 1).fold((0, 0), |(count, sum), rests| {
                        (count + rests.random + rests.sequential + rests.ends, sum + rests.sum)
                    });
                    let windows = (getpages.len() - length + 1) as u64;
                    prop_assert_eq!(pages * windows, seen + sum - count * length as u64, "object {} of {}", object, length);
                    let mut reads = [0, 0];
                    for (now, row) in getpages.iter().enumerate().filter(|(_, row)| row.0 == object) {
                        let before = &getpages[now.saturating_sub(length)..now];
                        if !before.iter().any(|other| (other.0, other.1) == (row.0, row.1)) {
                            reads[usize::from(row.3 != 0)] += 1;
                        }
                    }
                    let later = own.rests.iter().skip(at + 1).fold(own.first, |sum, rests| {
                        [sum[0] + rests.random, sum[1] + rests.sequential]
                    });
                    prop_assert_eq!(later, reads, "object {} of {}", object, length);
                }
            }
        }
    }
}
