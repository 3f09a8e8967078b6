//! The buffers of a pool: a hash table from pages to what is known of them, one cache line a lookup.
//!
//! What a getpage looks at lies beside the key that finds it, so a hit loads one line and a steal two: the new page's and
//! the old one's. [`Frames::fetch`] lets a caller start the loads of pages before it needs them.
//!
//! Memory: 35.6 bytes a buffer once the pool is full.

use prefetch_index::prefetch_index;

use crate::page_table::scramble;

/// Pages of a bucket: three of 20 bytes fill a cache line, with room for the counts.
const WAYS: usize = 3;
/// Share of the places in use once the pool is full. With more, too many pages lie in the line after their own.
const LOAD: f64 = 0.5;
/// Buckets of an empty pool.
const SMALLEST: usize = 16;

/// On the sequential chain.
pub(super) const SEQUENTIAL: u8 = 1;
/// Changed and not written.
pub(super) const CHANGED: u8 = 2;
/// Its entry left its chain's queue because it could not be stolen.
pub(super) const PASSED: u8 = 4;
/// Prefetched and not yet asked for.
pub(super) const UNASKED: u8 = 8;
/// Held by a requester.
pub(super) const IN_USE: u8 = 16;
/// Never stolen (PGSTEAL(NONE)): on no chain.
pub(super) const KEPT: u8 = 32;

const AGE_SHIFT: u32 = 24;
const FLAG_SHIFT: u32 = 16;

/// Age and flags of a buffer; its lowest 16 bits are those of the time when its page was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct State(u64);

impl State {
    /// Ages have 40 bits: a million million touches.
    #[inline(always)]
    pub fn new(age: u64, flags: u8) -> Self {
        Self(age << AGE_SHIFT | u64::from(flags) << FLAG_SHIFT)
    }

    #[inline(always)]
    pub fn age(self) -> u64 {
        self.0 >> AGE_SHIFT
    }

    #[inline(always)]
    pub fn is(self, flags: u8) -> bool {
        (self.0 >> FLAG_SHIFT) as u8 & flags != 0
    }

    #[inline(always)]
    pub fn chain(self) -> usize {
        usize::from(self.is(SEQUENTIAL))
    }

    #[inline(always)]
    pub fn is_available(self) -> bool {
        !self.is(CHANGED | IN_USE)
    }

    #[inline(always)]
    pub fn add(&mut self, flags: u8) {
        self.0 |= u64::from(flags) << FLAG_SHIFT;
    }

    #[inline(always)]
    pub fn drop(&mut self, flags: u8) {
        self.0 &= !(u64::from(flags) << FLAG_SHIFT);
    }

    #[inline(always)]
    pub fn set_age(&mut self, age: u64) {
        self.0 = age << AGE_SHIFT | self.0 & ((1 << AGE_SHIFT) - 1);
    }
}

#[derive(Clone, Copy, Default)]
#[repr(C, align(64))]
struct Bucket {
    keys: [u64; WAYS],
    states: [State; WAYS],
    /// The upper 32 bits of the times when the pages were read.
    read: [u32; WAYS],
    used: u16,
    /// Keys that belong here or before and lie further on, so that a search has to go on. At its highest it stays.
    further: u16,
}

impl Bucket {
    /// Index of a key, all ways compared at once: no branch to mispredict before the answer.
    #[inline(always)]
    fn position(&self, key: u64) -> Option<usize> {
        let mut found = 0u32;
        for way in 0..WAYS {
            found |= u32::from(self.keys[way] == key) << way;
        }
        found &= (1 << self.used) - 1;
        (found != 0).then(|| found.trailing_zeros() as usize)
    }

    #[inline(always)]
    fn put(&mut self, key: u64, state: State, read: u32) {
        let way = usize::from(self.used);
        (self.keys[way], self.states[way], self.read[way]) = (key, state, read);
        self.used += 1;
    }

    #[inline(always)]
    fn take(&mut self, way: usize) {
        self.used -= 1;
        let last = usize::from(self.used);
        (self.keys[way], self.states[way], self.read[way]) = (self.keys[last], self.states[last], self.read[last]);
    }
}

/// Where a buffer is, until the next one comes or goes.
#[derive(Clone, Copy)]
pub(super) struct Place {
    bucket: usize,
    way: usize,
}

/// The buffers of a pool by the page that they hold.
pub(super) struct Frames {
    buckets: Vec<Bucket>,
    len: usize,
    /// Buffers at which the table grows.
    limit: usize,
    /// Buffers of the pool.
    size: usize,
}

impl Frames {
    /// No page yet, and never more than `size`.
    pub fn new(size: usize) -> Self {
        let mut made = Self { buckets: Vec::new(), len: 0, limit: 0, size };
        made.lay_out(SMALLEST);
        made
    }

    fn lay_out(&mut self, buckets: usize) {
        self.buckets = vec![Bucket::default(); buckets];
        self.limit = (buckets as f64 * WAYS as f64 * LOAD) as usize;
    }

    /// Pages held.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Where a search for a page begins.
    #[inline(always)]
    fn home(&self, key: u64) -> usize {
        ((u128::from(scramble(key)) * self.buckets.len() as u128) >> 64) as usize
    }

    #[inline(always)]
    fn after(&self, at: usize) -> usize {
        if at + 1 == self.buckets.len() { 0 } else { at + 1 }
    }

    /// Begins to load the line that a lookup of the key will need.
    #[inline(always)]
    pub fn fetch(&self, key: u64) {
        prefetch_index(&self.buckets, self.home(key));
    }

    /// Where a page is.
    #[inline(always)]
    pub fn find(&self, key: u64) -> Option<Place> {
        let mut at = self.home(key);
        loop {
            let bucket = &self.buckets[at];
            if let Some(way) = bucket.position(key) {
                return Some(Place { bucket: at, way });
            }
            if bucket.further == 0 {
                return None;
            }
            at = self.after(at);
        }
    }

    /// Where a page is if that is its age; none if it is not there or has another.
    #[inline(always)]
    pub fn find_of_age(&self, key: u64, age: u64) -> Option<Place> {
        let mut at = self.home(key);
        loop {
            let bucket = &self.buckets[at];
            let (mut here, mut found) = (0u32, 0u32);
            for way in 0..WAYS {
                let same = u32::from(bucket.keys[way] == key) << way;
                here |= same;
                found |= same & u32::from(bucket.states[way].age() == age) << way;
            }
            let used = (1 << bucket.used) - 1;
            // One question that nobody can foresee the answer of, not two: key and age are compared together.
            if found & used != 0 {
                return Some(Place { bucket: at, way: (found & used).trailing_zeros() as usize });
            }
            if (here & used != 0) | (bucket.further == 0) {
                return None;
            }
            at = self.after(at);
        }
    }

    /// State of a buffer.
    #[inline(always)]
    pub fn state(&self, place: Place) -> State {
        self.buckets[place.bucket].states[place.way]
    }

    /// The same, to be changed.
    #[inline(always)]
    pub fn state_mut(&mut self, place: Place) -> &mut State {
        &mut self.buckets[place.bucket].states[place.way]
    }

    /// A page that is not there comes in; `read`, of 48 bits, is the time.
    #[inline(always)]
    pub fn insert(&mut self, key: u64, state: State, read: u64) {
        if self.len == self.limit {
            self.grow();
        }
        let mut at = self.home(key);
        while usize::from(self.buckets[at].used) == WAYS {
            let further = &mut self.buckets[at].further;
            *further = further.saturating_add(1);
            at = self.after(at);
        }
        let bucket = &mut self.buckets[at];
        bucket.put(key, State(state.0 & !0xFFFF | read & 0xFFFF), (read >> 16) as u32);
        self.len += 1;
    }

    /// The page at a place goes; its state and the time when it was read.
    #[inline(always)]
    pub fn remove(&mut self, key: u64, place: Place) -> (State, u64) {
        let mut at = self.home(key);
        while at != place.bucket {
            let further = &mut self.buckets[at].further;
            *further -= u16::from(*further != u16::MAX);
            at = self.after(at);
        }
        let (bucket, way) = (&mut self.buckets[place.bucket], place.way);
        let (state, high) = (bucket.states[way], bucket.read[way]);
        bucket.take(way);
        self.len -= 1;
        if bucket.further > 0 {
            self.pull_back(place.bucket);
        }
        (state, u64::from(high) << 16 | state.0 & 0xFFFF)
    }

    /// Fills a free place with a page that had to go further on, and the place of that one, and so on: else searches
    /// would become longer and longer.
    fn pull_back(&mut self, free: usize) {
        let mut free = free;
        while self.buckets[free].further > 0 {
            let from = self.after(free);
            let used = usize::from(self.buckets[from].used);
            // Whatever lies there and does not belong there has passed by here.
            let Some(way) = (0..used).find(|&way| self.home(self.buckets[from].keys[way]) != from) else { return };
            let other = &mut self.buckets[from];
            let (key, state, read) = (other.keys[way], other.states[way], other.read[way]);
            other.take(way);
            let bucket = &mut self.buckets[free];
            bucket.put(key, state, read);
            bucket.further -= u16::from(bucket.further != u16::MAX);
            free = from;
        }
    }

    /// Twice as large, but no larger than the pool needs.
    #[cold]
    fn grow(&mut self) {
        let enough = (self.size as f64 / (WAYS as f64 * LOAD)) as usize + 2;
        let buckets = (2 * self.buckets.len()).min(enough.max(self.buckets.len() + 1));
        let old = std::mem::take(&mut self.buckets);
        self.lay_out(buckets);
        self.len = 0;
        for bucket in &old {
            for way in 0..usize::from(bucket.used) {
                let state = bucket.states[way];
                self.insert(bucket.keys[way], state, u64::from(bucket.read[way]) << 16 | state.0 & 0xFFFF);
            }
        }
    }

    /// Every page and its state.
    pub fn iter(&self) -> impl Iterator<Item = (u64, State)> {
        let used = |bucket: &Bucket| usize::from(bucket.used);
        self.buckets.iter().flat_map(move |bucket| {
            let (keys, states) = (bucket.keys, bucket.states);
            (0..used(bucket)).map(move |way| (keys[way], states[way]))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn answers_as_the_standard_map(
            size in 1usize..300,
            steps in prop::collection::vec((0u64..400, 0u64..1 << 48, any::<u8>(), any::<bool>()), 0..3000),
            stride in prop::sample::select(vec![1u64, 1 << 40, 0x9E37_79B9]),
        ) {
            let (mut frames, mut map) = (Frames::new(size), BTreeMap::new());
            for (age, (key, read, flags, goes)) in (0..).zip(steps) {
                let key = key.wrapping_mul(stride);
                let found = frames.find(key).map(|place| frames.state(place));
                prop_assert_eq!(found.map(|state| (state.age(), state.is(flags))), map.get(&key).map(|&(age, all, _)| (age, all & flags != 0)));
                if goes || (map.len() == size && !map.contains_key(&key)) {
                    let place = frames.find(key);
                    let gone = place.map(|place| frames.remove(key, place)).map(|(state, read)| (state.age(), read));
                    prop_assert_eq!(gone, map.remove(&key).map(|(age, _, read)| (age, read)));
                } else if let Some(place) = frames.find(key) {
                    frames.state_mut(place).set_age(age);
                    map.get_mut(&key).unwrap().0 = age;
                } else {
                    frames.insert(key, State::new(age, flags), read);
                    map.insert(key, (age, flags, read));
                }
                prop_assert_eq!(frames.len(), map.len());
            }
            let all: BTreeMap<u64, u64> = frames.iter().map(|(key, state)| (key, state.age())).collect();
            prop_assert_eq!(all, map.into_iter().map(|(key, (age, _, _))| (key, age)).collect());
        }
    }

    #[test]
    fn a_full_pool_whose_pages_come_and_go_keeps_its_size_and_its_searches_short() {
        let size = 10_000u64;
        let mut frames = Frames::new(size as usize);
        for page in 0..300_000u64 {
            if page >= size {
                let place = frames.find(page - size).unwrap();
                assert_eq!(frames.remove(page - size, place).1, page - size);
            }
            frames.insert(page, State::new(page, 0), page);
        }
        assert!(frames.buckets.len() * size_of::<Bucket>() < 43 * size as usize);
        // Filled once, 6.6 % of the buckets would get more pages than they hold (Poisson, mean 1.5).
        let on = frames.buckets.iter().filter(|bucket| bucket.further > 0).count();
        assert!(on < frames.buckets.len() / 6, "{on} of {} buckets send searches on", frames.buckets.len());
    }
}
