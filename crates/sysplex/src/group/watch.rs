//! A run as seen by whoever waits for it: how far it is, and a way to end it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use thiserror::Error;

use crate::kernel::{Time, seconds};

/// What a run and whoever waits for it share.
#[derive(Clone, Debug, Default)]
pub struct Watch(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    ended: AtomicBool,
    reached: AtomicU64,
}

impl Watch {
    /// The run is to end as soon as it can, without results.
    pub fn end(&self) {
        self.0.ended.store(true, Ordering::Relaxed);
    }

    /// Whether the run is to end.
    pub fn is_ended(&self) -> bool {
        self.0.ended.load(Ordering::Relaxed)
    }

    /// Simulated seconds so far, the warm-up among them.
    pub fn seconds(&self) -> f64 {
        seconds(self.0.reached.load(Ordering::Relaxed))
    }

    pub(super) fn reach(&self, now: Time) {
        self.0.reached.store(now, Ordering::Relaxed);
    }
}

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
