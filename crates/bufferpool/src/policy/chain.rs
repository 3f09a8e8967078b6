//! Chains of buffers in the order in which they may be stolen.
//!
//! A chain is a queue of touches. A touched buffer gets a new age and a new entry at the back; its former entry stays
//! and is passed over when it comes to the front, because the buffer's age no longer is the entry's. So a hit writes
//! one entry in sequence instead of relinking neighbours all over memory. When stale entries abound, they are
//! swept out.
//!
//! A buffer that cannot be stolen (changed or in use) when its entry comes to the front is *passed*: it leaves the queue,
//! and a heap takes it in when it becomes available. Whatever is in the heap is older than the whole queue.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use prefetch_index::prefetch_index;

/// How many entries before its turn a buffer is asked for: whether an entry is stale cannot be guessed, and its buffer is
/// far away.
const AHEAD: usize = 24;

/// What an entry of a chain is worth.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// The buffer was touched since, or is gone.
    Stale,
    /// It can be stolen.
    Available,
    /// It cannot.
    Unavailable,
}

/// What a chain must know of buffers.
pub(crate) trait Buffers<Id> {
    /// What an entry of this age is worth.
    fn standing(&mut self, buffer: Id, age: u64) -> Standing;
    /// Begins to load what `standing` needs.
    fn fetch(&self, buffer: Id);
    /// Its entry left the queue because it cannot be stolen.
    fn pass(&mut self, buffer: Id);
}

/// A chain; buffers are named by an `Id`.
pub(crate) struct Chain<Id> {
    queue: VecDeque<(u64, Id)>,
    waiting: BinaryHeap<Reverse<(u64, Id)>>,
}

impl<Id: Ord> Default for Chain<Id> {
    fn default() -> Self {
        Self { queue: VecDeque::new(), waiting: BinaryHeap::new() }
    }
}

impl<Id: Copy + Ord> Chain<Id> {
    /// A touch: ages rise from call to call.
    #[inline(always)]
    pub fn touch(&mut self, buffer: Id, age: u64) {
        self.queue.push_back((age, buffer));
    }

    /// Entries in the queue, stale ones too.
    #[inline(always)]
    pub fn entries(&self) -> usize {
        self.queue.len()
    }

    /// Sweeps stale entries out.
    #[cold]
    pub fn sweep(&mut self, buffers: &mut impl Buffers<Id>) {
        for _ in 0..self.queue.len() {
            if let Some((age, buffer)) = self.next(buffers)
                && buffers.standing(buffer, age) != Standing::Stale
            {
                self.queue.push_back((age, buffer));
            }
        }
    }

    /// Takes the first entry out and asks for the buffer of a later one.
    #[inline(always)]
    fn next(&mut self, buffers: &impl Buffers<Id>) -> Option<(u64, Id)> {
        let (front, _) = self.queue.as_slices();
        prefetch_index(front, 4 * AHEAD);
        if let Some(&(_, buffer)) = front.get(AHEAD) {
            buffers.fetch(buffer);
        }
        self.queue.pop_front()
    }

    /// A buffer that will come to the front after so many others, unless it is touched.
    #[inline(always)]
    pub fn upcoming(&self, after: usize) -> Option<Id> {
        self.queue.get(after).map(|&(_, buffer)| buffer)
    }

    /// A passed buffer became available.
    pub fn wake(&mut self, buffer: Id, age: u64) {
        self.waiting.push(Reverse((age, buffer)));
    }

    /// Age of the first entry, whatever it is worth: no buffer of the chain that can be stolen is older.
    #[inline(always)]
    pub fn first(&self) -> Option<u64> {
        match self.waiting.peek() {
            Some(&Reverse((age, _))) => Some(age),
            None => self.queue.front().map(|&(age, _)| age),
        }
    }

    /// Takes the first entry out; its buffer if that can be stolen.
    #[inline(always)]
    pub fn settle(&mut self, buffers: &mut impl Buffers<Id>) -> Option<Id> {
        let (age, buffer) = match self.waiting.pop() {
            Some(Reverse(entry)) => entry,
            None => self.next(buffers)?,
        };
        match buffers.standing(buffer, age) {
            Standing::Available => return Some(buffer),
            Standing::Unavailable => buffers.pass(buffer),
            Standing::Stale => {}
        }
        None
    }

    /// Takes out the oldest buffer that can be stolen.
    #[inline]
    pub fn oldest(&mut self, buffers: &mut impl Buffers<Id>) -> Option<Id> {
        while self.first().is_some() {
            if let Some(found) = self.settle(buffers) {
                return Some(found);
            }
        }
        None
    }
}
