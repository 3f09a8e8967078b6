//! Exact LRU curves: the misses of every pool size from one pass over the references.
//!
//! The stack distance of a reference is the number of distinct pages referenced since the last reference to its page,
//! that page included (Mattson and others, "Evaluation techniques for storage hierarchies", 1970). An LRU pool of `n`
//! buffers reads a page exactly when the distance is above `n`, or when the page was never referenced before. So the
//! histogram of distances is the curve of all sizes.
//!
//! Two structures hold what a pass needs: [`PageTable`] gives the slot of a page's last reference, [`Recency`] the
//! distance of a slot. References are taken in batches, and the memory that a batch will need is asked for before the
//! first reference is worked on, because a load from memory costs as much as everything else a reference needs.
//!
//! Memory a distinct page: table 17.8 to 23.1 bytes (40.9 while it grows), histogram 4.5, slots 0.7; below 48 in all.
//! An object adds a histogram of at most 1,700 numbers.

use std::collections::BTreeMap;
use std::hint::black_box;

use crate::page_table::PageTable;
use crate::recency::Recency;

/// References worked on together.
const BATCH: usize = 256;

/// Distance given to the first reference to a page.
const FIRST: u32 = u32::MAX;

/// The sizes at which objects' shares of a curve are kept. A share is exact at each of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShareSizes {
    /// Every size up to 64, then 64 to each doubling: 1.6 % apart or less.
    Steps,
    /// These sizes, in rising order.
    These(Vec<u32>),
}

impl ShareSizes {
    /// Index of the smallest kept size that is at least `distance`.
    #[inline(always)]
    fn index(&self, distance: u32) -> usize {
        match self {
            Self::Steps => {
                let below = distance - 1;
                if below < 64 {
                    return below as usize;
                }
                let octave = below.ilog2() - 6;
                64 * octave as usize + (below >> octave) as usize
            }
            Self::These(sizes) => sizes.partition_point(|&size| size < distance),
        }
    }

    /// The kept size of an index; none past the last.
    pub fn size(&self, index: usize) -> Option<u32> {
        match self {
            Self::Steps if index < 64 => Some(index as u32 + 1),
            Self::Steps => {
                let (octave, step) = ((index - 64) / 64, (index - 64) % 64);
                (octave < 26).then(|| ((64 + step as u64 + 1) << octave).min(u64::from(u32::MAX)) as u32)
            }
            Self::These(sizes) => sizes.get(index).copied(),
        }
    }
}

/// What one object contributes to a pool's curve.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Share {
    references: u64,
    first: u64,
    bins: Vec<u64>,
}

impl Share {
    /// References to the object.
    pub fn references(&self) -> u64 {
        self.references
    }

    /// Distinct pages of it: first references, which miss at every size.
    pub fn distinct_pages(&self) -> u64 {
        self.first
    }
}

/// The curve of a pool, while references are added.
pub struct LruCurve {
    table: PageTable,
    line: Recency,
    counts: Vec<u32>,
    /// What went over the 32 bits of a count.
    carried: BTreeMap<u32, u64>,
    first: u64,
    references: u64,
    sizes: ShareSizes,
    shares: Vec<Share>,
    arch: pulp::Arch,
}

impl Default for LruCurve {
    fn default() -> Self {
        Self::new(ShareSizes::Steps)
    }
}

impl LruCurve {
    /// An empty curve that keeps objects' shares at these sizes.
    pub fn new(sizes: ShareSizes) -> Self {
        Self {
            table: PageTable::new(),
            line: Recency::new(),
            counts: Vec::new(),
            carried: BTreeMap::new(),
            first: 0,
            references: 0,
            sizes,
            shares: Vec::new(),
            arch: pulp::Arch::new(),
        }
    }

    /// Adds references in their order.
    ///
    /// `pages` are keys that tell pages of all objects apart; `objects` holds the object's ordinal of each reference, or
    /// is empty when shares are not wanted. Batches may be of any length; where they are cut changes nothing.
    ///
    /// # Panics
    ///
    /// When the two differ in length, which is a defect of the caller.
    pub fn add(&mut self, pages: &[u64], objects: &[u32]) {
        assert!(objects.is_empty() || objects.len() == pages.len(), "an object for each page, or none");
        let arch = self.arch;
        arch.dispatch(Adding { curve: self, pages, objects });
    }

    #[inline(always)]
    fn add_batches(&mut self, pages: &[u64], objects: &[u32]) {
        let mut distances = [0u32; BATCH];
        for (at, batch) in pages.chunks(BATCH).enumerate() {
            self.distances(batch, &mut distances);
            let distances = &distances[..batch.len()];
            self.count(distances);
            if !objects.is_empty() {
                self.share(&objects[at * BATCH..][..batch.len()], distances);
            }
        }
    }

    /// Distances of a batch.
    #[inline(always)]
    fn distances(&mut self, pages: &[u64], distances: &mut [u32; BATCH]) {
        if self.line.room() < BATCH {
            self.renumber();
        }
        let mut touched = 0;
        for &page in pages {
            touched ^= self.table.touch(page);
        }
        black_box(touched);
        // The table first, the line after: the table's misses overlap, the line stays in cache.
        let begin = self.line.next();
        for (i, (&page, distance)) in pages.iter().zip(distances.iter_mut()).enumerate() {
            *distance = self.table.replace(page, begin + i as u32).unwrap_or(FIRST);
        }
        let count = pages.len();
        self.line.take(count);
        black_box(distances[..count].iter().fold(0, |sum, &slot| sum ^ self.line.touch(slot)));
        for (i, distance) in distances[..count].iter_mut().enumerate() {
            let slot = *distance;
            if slot != FIRST {
                *distance = self.line.distance(slot) - (count - i) as u32;
                self.line.give_up(slot);
            }
        }
    }

    #[inline(always)]
    fn count(&mut self, distances: &[u32]) {
        self.references += distances.len() as u64;
        if self.counts.len() <= self.table.len() {
            let length = self.table.len() + 1;
            let more = (length - self.counts.len()).max(length / 8);
            self.counts.reserve_exact(more);
            self.counts.resize(self.counts.len() + more, 0);
        }
        let mut first = 0;
        for &distance in distances {
            if distance == FIRST {
                first += 1;
            } else {
                let count = &mut self.counts[distance as usize];
                *count = count.wrapping_add(1);
                if *count == 0 {
                    *self.carried.entry(distance).or_default() += 1 << 32;
                }
            }
        }
        self.first += first;
    }

    #[inline(always)]
    fn share(&mut self, objects: &[u32], distances: &[u32]) {
        for (&object, &distance) in objects.iter().zip(distances) {
            let object = object as usize;
            if object >= self.shares.len() {
                self.shares.resize(object + 1, Share::default());
            }
            let share = &mut self.shares[object];
            share.references += 1;
            if distance == FIRST {
                share.first += 1;
                continue;
            }
            let index = self.sizes.index(distance);
            if index >= share.bins.len() {
                share.bins.resize(index + 1, 0);
            }
            share.bins[index] += 1;
        }
    }

    #[cold]
    fn renumber(&mut self) {
        let moved = self.line.renumbering();
        for slot in self.table.values_mut() {
            *slot = moved.of(*slot);
        }
    }

    /// References added.
    pub fn references(&self) -> u64 {
        self.references
    }

    /// Distinct pages referenced.
    pub fn distinct_pages(&self) -> u64 {
        self.first
    }

    /// Bytes held, objects' shares included.
    pub fn bytes(&self) -> usize {
        self.table.bytes()
            + self.line.bytes()
            + self.counts.capacity() * 4
            + self.shares.iter().map(|share| size_of::<Share>() + share.bins.capacity() * 8).sum::<usize>()
    }

    /// The misses of every size.
    pub fn misses(&self) -> Misses {
        let of = |distance: usize| {
            u64::from(self.counts[distance]) + self.carried.get(&(distance as u32)).copied().unwrap_or(0)
        };
        let longest = (1..self.counts.len()).rev().find(|&distance| of(distance) != 0).unwrap_or(0);
        let mut at = vec![self.references; longest + 1];
        for size in 1..=longest {
            at[size] = at[size - 1] - of(size);
        }
        Misses { references: self.references, at }
    }

    /// Misses of an object at every kept size, smallest first, up to the one after which they fall no further.
    pub fn share_curve(&self, object: u32) -> Vec<(u32, u64)> {
        let Some(share) = self.shares.get(object as usize) else { return Vec::new() };
        let mut left = share.references;
        let sizes = (0..).map_while(|index| self.sizes.size(index));
        sizes
            .zip(&share.bins)
            .map(|(size, hits)| {
                left -= hits;
                (size, left)
            })
            .collect()
    }

    /// Misses of all objects together, each at the price of its object, at every kept size up to the last at which one
    /// is hit, at one size at least. They are added object by object, in the order of the ordinals.
    ///
    /// # Panics
    ///
    /// When an object has no price, which is a defect of the caller.
    pub fn priced_misses(&self, prices: &[f64]) -> Vec<(u32, f64)> {
        assert!(prices.len() >= self.shares.len(), "a price for each object");
        let longest = self.shares.iter().map(|share| share.bins.len()).max().unwrap_or(0).max(1);
        let sizes = (0..longest).map_while(|index| self.sizes.size(index));
        let mut priced: Vec<(u32, f64)> = sizes.map(|size| (size, 0.0)).collect();
        for (share, price) in self.shares.iter().zip(prices).filter(|(share, _)| share.references > 0) {
            let mut left = share.references;
            let mut hits = share.bins.iter();
            for (_, cost) in &mut priced {
                left -= hits.next().unwrap_or(&0);
                *cost += price * left as f64;
            }
        }
        priced
    }

    /// Misses of an object at sizes that may lie between kept ones, where they are interpolated. Sizes and misses are
    /// divided by `rate`, the share of the pages that the curve has seen.
    pub fn interpolated_misses(&self, object: u32, sizes: &[f64], rate: f64) -> Vec<f64> {
        let references = self.shares.get(object as usize).map_or(0, Share::references) as f64 / rate;
        // A pool without buffers misses always.
        let mut known = vec![(0.0, references)];
        let scaled = self.share_curve(object).into_iter();
        known.extend(scaled.map(|(size, misses)| (f64::from(size) / rate, misses as f64 / rate)));
        let at = |&size: &f64| {
            let above = known.partition_point(|&(kept, _)| kept <= size);
            let Some(&(left, misses)) = known[..above].last() else { return references };
            match known.get(above) {
                Some(&(right, fewer)) if left != size => (fewer - misses) / (right - left) * (size - left) + misses,
                _ => misses,
            }
        };
        sizes.iter().map(at).collect()
    }

    /// Objects' shares by ordinal.
    pub fn shares(&self) -> &[Share] {
        &self.shares
    }

    /// Misses of an object at a kept size; none where the size is not kept.
    pub fn share_misses(&self, object: u32, size: u32) -> Option<u64> {
        let share = self.shares.get(object as usize)?;
        if size == 0 {
            return Some(share.references);
        }
        let index = self.sizes.index(size);
        if self.sizes.size(index) != Some(size) {
            return None;
        }
        Some(share.first + share.bins.iter().skip(index + 1).sum::<u64>())
    }
}

/// The work of [`LruCurve::add`], compiled for the vector instructions that the machine has.
struct Adding<'a> {
    curve: &'a mut LruCurve,
    pages: &'a [u64],
    objects: &'a [u32],
}

impl pulp::WithSimd for Adding<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) {
        self.curve.add_batches(self.pages, self.objects);
    }
}

/// Misses of every pool size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misses {
    references: u64,
    at: Vec<u64>,
}

impl Misses {
    /// References, hits and misses together.
    pub fn references(&self) -> u64 {
        self.references
    }

    /// Misses of an LRU pool of this many buffers.
    pub fn of(&self, size: usize) -> u64 {
        if size == 0 {
            return self.references;
        }
        self.at[size.min(self.at.len() - 1)]
    }

    /// The smallest size at which only first references miss; a larger pool reads no less.
    pub fn enough(&self) -> usize {
        self.at.len() - 1
    }

    /// Misses of the sizes 0, 1, 2 and so on to [`Misses::enough`].
    pub fn all(&self) -> &[u64] {
        &self.at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_above_32_bits_carry() {
        let mut curve = LruCurve::default();
        curve.add(&[1, 1], &[]);
        curve.counts[1] = u32::MAX;
        curve.references = 1 + u64::from(u32::MAX);
        curve.add(&[1, 1, 1], &[]);
        assert_eq!(curve.counts[1], 2);
        assert_eq!((curve.misses().of(0), curve.misses().of(1)), ((1 << 32) + 3, 1));
    }
}
