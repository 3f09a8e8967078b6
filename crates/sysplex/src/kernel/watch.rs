//! A run as seen by whoever waits for it: how far it is, and a way to end it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::{Time, seconds};

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

    pub(crate) fn reach(&self, now: Time) {
        self.0.reached.store(now, Ordering::Relaxed);
    }
}
