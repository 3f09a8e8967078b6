//! Which page goes when another needs its buffer.

use super::chain::{Buffers, Standing};
use super::coupling::Coupling;
use super::frames::{CHANGED, Frames, IN_USE, KEPT, PASSED, Place, SEQUENTIAL, UNASKED};
use super::pool::BufferPool;

/// The buffers as a chain sees them. Ages are given once, so an age also tells the chain.
pub(super) struct OnChain<'a> {
    frames: &'a mut Frames,
    /// Where the one is that was said to be available last.
    available: Option<Place>,
}

impl<'a> OnChain<'a> {
    pub fn new(frames: &'a mut Frames) -> Self {
        Self { frames, available: None }
    }
}

impl Buffers<u64> for OnChain<'_> {
    #[inline(always)]
    fn standing(&mut self, key: u64, age: u64) -> Standing {
        self.available = self.frames.find_of_age(key, age);
        match self.available {
            None => Standing::Stale,
            Some(place) if self.frames.state(place).is_available() => Standing::Available,
            Some(_) => Standing::Unavailable,
        }
    }

    #[inline(always)]
    fn fetch(&self, key: u64) {
        self.frames.fetch(key);
    }

    fn pass(&mut self, key: u64) {
        if let Some(place) = self.frames.find(key) {
            self.frames.state_mut(place).add(PASSED);
        }
    }
}

impl<C: Coupling> BufferPool<C> {
    /// Frees a buffer for a page that is read sequentially or not, coupled or not; false when all are in use.
    pub(super) fn steal(&mut self, now: u64, sequential: bool, coupled: bool) -> bool {
        let chosen = self.choose(sequential).or_else(|| {
            self.counters.no_buffer += 1;
            self.free_one()
        });
        let Some((key, place)) = chosen else { return false };
        let (state, read) = self.frames.remove(key, place);
        let (stayed, owner) = (now.saturating_sub(read), self.owner(key));
        let was_sequential = u64::from(state.is(SEQUENTIAL));
        self.counters.stolen += 1;
        self.counters.residency += stayed;
        self.counters.stolen_sequential += was_sequential;
        self.counters.residency_sequential += was_sequential * stayed;
        self.counters.prefetched_unused += u64::from(state.is(UNASKED));
        let counters = &mut self.data_sets[owner as usize].counters;
        counters.stolen += 1;
        counters.residency += stayed;
        counters.stolen_sequential += was_sequential;
        counters.residency_sequential += was_sequential * stayed;
        self.on_sequential -= was_sequential as u32;
        if self.coupling.is_dependent(owner) {
            self.coupling.forget(key, coupled);
            if let (Some(next), Some(later)) = (self.chains[0].upcoming(0), self.chains[0].upcoming(1)) {
                self.coupling.approach(next, later);
            }
        }
        true
    }

    /// The oldest available page, of the sequential chain alone when that has its share of the pool.
    #[inline(always)]
    fn choose(&mut self, sequential: bool) -> Option<(u64, Place)> {
        let mut buffers = OnChain::new(&mut self.frames);
        if self.on_sequential >= self.limits.sequential + u32::from(!sequential)
            && let Some(key) = self.chains[1].oldest(&mut buffers)
        {
            self.counters.sequential_threshold += 1;
            return buffers.available.map(|place| (key, place));
        }
        loop {
            let chain = match (self.chains[0].first(), self.chains[1].first()) {
                (None, None) => return None,
                (Some(_), None) => 0,
                (None, Some(_)) => 1,
                (Some(one), Some(other)) => usize::from(other < one),
            };
            if let Some(key) = self.chains[chain].settle(&mut buffers) {
                return buffers.available.map(|place| (key, place));
            }
        }
    }

    /// Writes the oldest changed page that is not in use, synchronously, and gives its buffer.
    #[cold]
    fn free_one(&mut self) -> Option<(u64, Place)> {
        let changed = self.frames.iter().filter(|(_, state)| state.is(CHANGED) && !state.is(IN_USE | KEPT));
        let (key, _) = changed.min_by_key(|(_, state)| state.age())?;
        self.write_synchronously(key);
        // Stolen at once: whatever the chains still know of it carries an age that will not return.
        self.frames.find(key).map(|place| (key, place))
    }
}
