//! What a pool knows of a data set.

use std::collections::VecDeque;

use super::counters::DataSetCounters;
use super::scan::{Detection, Planned};

/// A data set in a pool.
#[derive(Default)]
pub(super) struct DataSet {
    pub counters: DataSetCounters,
    pub detection: Detection,
    pub sequential: Planned,
    pub dynamic: Planned,
    pub list: List,
    pub changed: Changed,
    /// Pages that it has, where that is known; preloading and the ends of prefetch need it.
    pub pages: Option<u64>,
    pub opened: bool,
}

/// The list prefetch request that getpages of a list are grouped into.
#[derive(Default)]
pub(super) struct List {
    pub left: u64,
    pub last: u64,
    pub read: bool,
    /// Whether a page of it was registered with a group buffer pool.
    pub registered: bool,
    pub refused: bool,
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
    /// Its ticket in the pool's queue of data sets with changed pages; 0 when it has none.
    pub ticket: u64,
}
