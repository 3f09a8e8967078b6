//! Why a run has no results.

use thiserror::Error;

pub use crate::kernel::watch::Watch;

/// Why a run has no results.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Stopped {
    /// [`Watch::end`].
    #[error("the run was interrupted")]
    Interrupted,
    /// More transactions are on their way than memory is for.
    #[error("after {seconds} s more than {MOST_TASKS} transactions are on their way, most of them of class {class}")]
    TooMany {
        /// Name of the class that has most of them.
        class: String,
        /// Its position in the scenario.
        number: usize,
        /// Simulated seconds so far.
        seconds: u64,
    },
}

/// Transactions and background work that may be on their way at the same time: some gigabytes.
pub(super) const MOST_TASKS: usize = 2_000_000;
