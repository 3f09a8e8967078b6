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
use std::hint::black_box;

/// Entries whose memory is asked for together.
const AHEAD: usize = 48;

/// What a chain must know of a buffer.
pub(crate) trait Buffers {
    /// Whether the buffer still has this age on this chain.
    fn is_current(&self, buffer: u32, age: u64) -> bool;
    /// Whether it can be stolen.
    fn is_available(&self, buffer: u32) -> bool;
    /// Loads a buffer; no branch may depend on what comes.
    fn touch(&self, buffer: u32) -> u64;
    /// Loads the page that a buffer holds.
    fn touch_page(&self, buffer: u32) -> u64;
    /// Loads where the table says that it does.
    fn touch_place(&self, buffer: u32) -> u32;
    /// Its entry left the queue because it cannot be stolen.
    fn pass(&mut self, buffer: u32);
}

#[derive(Default)]
pub(crate) struct Chain {
    queue: VecDeque<(u64, u32)>,
    waiting: BinaryHeap<Reverse<(u64, u32)>>,
    /// Entries at the front whose buffers have been loaded.
    loaded: usize,
}

impl Chain {
    /// A touch: ages rise from call to call.
    #[inline(always)]
    pub fn touch(&mut self, buffer: u32, age: u64) {
        self.queue.push_back((age, buffer));
    }

    /// Entries in the queue, stale ones too.
    #[inline(always)]
    pub fn entries(&self) -> usize {
        self.queue.len()
    }

    /// Sweeps stale entries out.
    pub fn sweep(&mut self, buffers: &impl Buffers) {
        self.queue.retain(|&(age, buffer)| buffers.is_current(buffer, age));
    }

    /// A passed buffer became available.
    pub fn wake(&mut self, buffer: u32, age: u64) {
        self.waiting.push(Reverse((age, buffer)));
    }

    /// The oldest buffer that can be stolen. It stays in the chain until its age changes.
    #[inline]
    pub fn oldest(&mut self, buffers: &mut impl Buffers) -> Option<(u64, u32)> {
        while let Some(&Reverse((age, buffer))) = self.waiting.peek() {
            if buffers.is_current(buffer, age) {
                if buffers.is_available(buffer) {
                    return Some((age, buffer));
                }
                buffers.pass(buffer);
            }
            self.waiting.pop();
        }
        while let Some(&(age, buffer)) = self.queue.front() {
            if self.loaded == 0 {
                self.load_ahead(buffers);
            }
            if buffers.is_current(buffer, age) {
                if buffers.is_available(buffer) {
                    return Some((age, buffer));
                }
                buffers.pass(buffer);
            }
            self.queue.pop_front();
            self.loaded = self.loaded.saturating_sub(1);
        }
        None
    }

    /// Loads what the next entries will need, all of it at once: whether an entry is stale cannot be guessed, and its
    /// buffer is far away.
    #[cold]
    fn load_ahead(&mut self, buffers: &impl Buffers) {
        let next = || self.queue.iter().take(AHEAD);
        black_box(next().fold(0, |sum, &(_, buffer)| sum ^ buffers.touch(buffer)));
        let current = || next().filter(|&&(age, buffer)| buffers.is_current(buffer, age));
        black_box(current().fold(0, |sum, &(_, buffer)| sum ^ buffers.touch_page(buffer)));
        black_box(current().fold(0, |sum, &(_, buffer)| sum ^ buffers.touch_place(buffer)));
        self.loaded = AHEAD;
    }
}
