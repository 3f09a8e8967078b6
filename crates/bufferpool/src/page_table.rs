//! A hash table from pages to 32-bit numbers, one cache line a lookup.
//!
//! A trace touches millions of pages in no order, so every lookup is a load from memory. Entries therefore lie in
//! buckets of one cache line, and [`PageTable::touch`] lets a caller start the loads of a whole batch before it needs
//! the first of them.
//!
//! Memory: 12.8 bytes an entry at a load between [`LOAD`] / [`GROWTH`] and [`LOAD`], which is 17.8 to 23.1 bytes a
//! page; while the table grows, old and new stand side by side, 40.9 bytes a page.

use prefetch_index::prefetch_index;

/// Entries of a bucket: five keys and five values fill a cache line, with room for the count.
const WAYS: usize = 5;
/// Share of the entries that may be in use; above, the table grows. A fuller one sends more pages to the next bucket,
/// whose line no [`PageTable::touch`] has loaded: at 0.82 a trace took half as long again.
const LOAD: f64 = 0.72;
/// Factor by which it grows: small enough that old and new table together stay below 41 bytes a page.
const GROWTH: f64 = 1.3;
/// Buckets of an empty table.
const SMALLEST: usize = 16;

#[derive(Clone, Copy, Default)]
#[repr(C, align(64))]
struct Bucket {
    keys: [u64; WAYS],
    values: [u32; WAYS],
    /// Entries in use, and [`OVERFLOWN`].
    state: u32,
}

/// A key that belongs here went to a bucket further on, so a search must go on there. Stays until the table is rebuilt.
const OVERFLOWN: u32 = 1 << 31;

impl Bucket {
    #[inline(always)]
    fn used(&self) -> usize {
        (self.state & !OVERFLOWN) as usize
    }

    #[inline(always)]
    fn is_overflown(&self) -> bool {
        self.state & OVERFLOWN != 0
    }

    /// Index of a key, all ways compared at once: no branch to mispredict before the answer.
    #[inline(always)]
    fn position(&self, key: u64) -> Option<usize> {
        let mut found = 0u32;
        for way in 0..WAYS {
            found |= u32::from(self.keys[way] == key) << way;
        }
        found &= (1 << self.used()) - 1;
        (found != 0).then(|| found.trailing_zeros() as usize)
    }
}

/// A map from page keys to `u32`.
pub struct PageTable {
    buckets: Vec<Bucket>,
    len: usize,
    limit: usize,
    /// Removals since the table was built.
    removed: usize,
    /// Buckets that are overflown. Never more than half of them, so that every search ends, and soon.
    overflown: usize,
}

impl Default for PageTable {
    fn default() -> Self {
        Self::new()
    }
}

impl PageTable {
    /// An empty table.
    pub fn new() -> Self {
        Self::with_buckets(SMALLEST)
    }

    fn with_buckets(count: usize) -> Self {
        Self {
            buckets: vec![Bucket::default(); count],
            len: 0,
            limit: (count as f64 * WAYS as f64 * LOAD) as usize,
            removed: 0,
            overflown: 0,
        }
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no key is in it.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.buckets.capacity() * size_of::<Bucket>()
    }

    /// Bucket where a search for the key begins. The order of keys by bucket does not depend on the table's size.
    #[inline(always)]
    fn home(&self, key: u64) -> usize {
        ((u128::from(scramble(key)) * self.buckets.len() as u128) >> 64) as usize
    }

    /// Loads the line that a lookup of the key will need, and says something about it, so that the load stays in the
    /// program. Calls do not wait for each other; lookups do.
    #[inline(always)]
    pub fn touch(&self, key: u64) -> u32 {
        self.buckets[self.home(key)].state
    }

    /// Begins to load the line that a lookup of the key will need.
    #[inline(always)]
    pub fn fetch(&self, key: u64) {
        prefetch_index(&self.buckets, self.home(key));
    }

    /// Bucket and way of a key.
    #[inline(always)]
    fn place(&self, key: u64) -> Option<(usize, usize)> {
        let mut at = self.home(key);
        loop {
            let bucket = &self.buckets[at];
            if let Some(way) = bucket.position(key) {
                return Some((at, way));
            }
            if !bucket.is_overflown() {
                return None;
            }
            at = self.after(at);
        }
    }

    #[inline(always)]
    fn after(&self, at: usize) -> usize {
        if at + 1 == self.buckets.len() { 0 } else { at + 1 }
    }

    /// The value of a key.
    #[inline(always)]
    pub fn get(&self, key: u64) -> Option<u32> {
        self.place(key).map(|(at, way)| self.buckets[at].values[way])
    }

    /// Takes a key out and returns its value.
    #[inline]
    pub fn remove(&mut self, key: u64) -> Option<u32> {
        let (at, way) = self.place(key)?;
        let bucket = &mut self.buckets[at];
        let (value, last) = (bucket.values[way], bucket.used() - 1);
        (bucket.keys[way], bucket.values[way]) = (bucket.keys[last], bucket.values[last]);
        bucket.state -= 1;
        self.len -= 1;
        self.removed += 1;
        Some(value)
    }

    /// Puts a value in place of the key's former one, which is returned; none if the key is new.
    #[inline(always)]
    pub fn replace(&mut self, key: u64, value: u32) -> Option<u32> {
        let slot = self.slot(key, value);
        (!slot.1).then(|| std::mem::replace(slot.0, value))
    }

    /// The place of a key's value and whether the key is new; a new key's place holds `first`.
    #[inline(always)]
    pub fn slot(&mut self, key: u64, first: u32) -> (&mut u32, bool) {
        if self.len == self.limit {
            self.grow();
        }
        if let Some((at, way)) = self.place(key) {
            return (&mut self.buckets[at].values[way], false);
        }
        let mut at = self.home(key);
        while self.buckets[at].used() == WAYS {
            self.overflown += usize::from(!self.buckets[at].is_overflown());
            self.buckets[at].state |= OVERFLOWN;
            at = self.after(at);
        }
        if self.overflown > self.buckets.len() / 2 {
            // Keys that came and went have left their traces; where none did, the table is too full by chance.
            if self.removed > self.limit / 2 {
                self.rebuild(self.buckets.len())
            } else {
                self.grow()
            }
            return self.slot(key, first);
        }
        let bucket = &mut self.buckets[at];
        let way = bucket.used();
        bucket.keys[way] = key;
        bucket.values[way] = first;
        bucket.state += 1;
        self.len += 1;
        (&mut bucket.values[way], true)
    }

    #[cold]
    fn grow(&mut self) {
        self.rebuild((self.buckets.len() as f64 * GROWTH) as usize + 1);
    }

    #[cold]
    fn rebuild(&mut self, count: usize) {
        let old = std::mem::replace(self, Self::with_buckets(count));
        for bucket in &old.buckets {
            for way in 0..bucket.used() {
                self.slot(bucket.keys[way], bucket.values[way]);
            }
        }
    }

    /// Every key with its value, in no order.
    pub fn entries(&self) -> impl Iterator<Item = (u64, u32)> {
        self.buckets.iter().flat_map(|bucket| {
            let used = bucket.used();
            bucket.keys[..used].iter().copied().zip(bucket.values[..used].iter().copied())
        })
    }

    /// Every value, to be changed in place.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut u32> {
        self.buckets.iter_mut().flat_map(|bucket| {
            let used = bucket.used();
            &mut bucket.values[..used]
        })
    }
}

/// Spreads keys over 64 bits; a bijection, so different pages stay different.
#[inline(always)]
pub fn scramble(key: u64) -> u64 {
    let mut x = key.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x ^= x >> 32;
    x = x.wrapping_mul(0xD6E8_FEB8_6659_FD93);
    x ^ (x >> 32)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn answers_as_the_standard_map(
            steps in prop::collection::vec((0u64..400, any::<u32>(), any::<bool>()), 0..2000),
            stride in prop::sample::select(vec![1u64, 1 << 40, 0x9E37_79B9]),
        ) {
            let (mut table, mut map) = (PageTable::new(), HashMap::new());
            for (key, value, removed) in steps {
                let key = key.wrapping_mul(stride);
                prop_assert_eq!(table.get(key), map.get(&key).copied());
                if removed {
                    prop_assert_eq!(table.remove(key), map.remove(&key));
                } else {
                    prop_assert_eq!(table.replace(key, value), map.insert(key, value));
                }
                prop_assert_eq!(table.len(), map.len());
            }
            for value in table.values_mut() {
                *value ^= 5;
            }
            for (key, value) in map {
                prop_assert_eq!(table.get(key), Some(value ^ 5));
            }
        }
    }

    #[test]
    fn the_key_zero_and_the_largest_are_keys_like_others() {
        let mut table = PageTable::new();
        assert_eq!(table.get(0), None);
        assert_eq!(table.replace(0, 7), None);
        assert_eq!(table.replace(u64::MAX, 8), None);
        assert_eq!((table.get(0), table.get(u64::MAX)), (Some(7), Some(8)));
    }

    #[test]
    fn pages_that_come_and_go_are_found_in_a_table_that_stays_small() {
        let mut table = PageTable::new();
        for page in 0..200_000u64 {
            table.replace(page, page as u32);
            if page >= 1000 {
                assert_eq!(table.remove(page - 1000), Some(page as u32 - 1000));
                assert_eq!(table.get(page - 500), Some(page as u32 - 500));
                assert_eq!(table.get(page - 1000), None);
            }
        }
        assert_eq!(table.len(), 1000);
        assert!(table.bytes() < 30_000, "{} bytes", table.bytes());
    }

    #[test]
    fn memory_stays_within_its_bound_a_page() {
        let mut table = PageTable::new();
        for page in 0..300_000u64 {
            table.replace(page, 0);
            if page > 1000 {
                let each = table.bytes() as f64 / table.len() as f64;
                assert!(each < 23.3, "{each} bytes a page at {page} pages");
            }
        }
    }
}
