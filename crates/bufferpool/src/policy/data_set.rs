//! What a pool knows of a data set.

use std::collections::VecDeque;

use super::counters::DataSetCounters;
use super::threads::Last;

/// A data set in a pool. What a getpage that finds its page looks at lies in the first cache line.
#[derive(Default)]
#[repr(C, align(64))]
pub(super) struct DataSet {
    /// Pages up to the last one referenced.
    pub met: u64,
    /// Where the thread is that referred to it last.
    pub thread: Last,
    /// Whether pages were made anew behind all others: then it ends where it has been met, if nobody said how many
    /// pages it has.
    pub grows: bool,
    pub opened: bool,
    pub counters: DataSetCounters,
    /// Pages that it has, where that is known; preloading and the ends of prefetch need it.
    pub pages: Option<u64>,
    pub changed: Changed,
}

/// Changed pages of one data set.
#[derive(Default)]
pub(super) struct Changed {
    /// Keys in the order in which the pages were changed. Those that were written out of order stay and are passed over.
    pub order: VecDeque<u64>,
    /// Pages changed and not yet written.
    pub count: u32,
    /// Whether it waits for the next commit, coupled as it is.
    pub uncommitted: bool,
    /// When a page of it was last marked for writing, and whether its pseudo close is waited for.
    pub last: i64,
    pub closing: bool,
    /// Its ticket in the pool's queue of data sets with changed pages; 0 when it has none.
    pub ticket: u64,
}
