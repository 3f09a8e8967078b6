//! What a scenario leaves out, with the source of each value.

use super::{Cics, Coupling, Dasd, Db2Path, Routing, Run};

pub(super) fn sysplex() -> String {
    "PLEX1".into()
}

pub(super) fn one() -> f64 {
    1.0
}

pub(super) fn one_engine() -> u32 {
    1
}

pub(super) fn yes() -> bool {
    true
}

pub(super) fn weight() -> f64 {
    100.0
}

/// ZIIPAWMT in IEAOPTxx is 3200 microseconds where HiperDispatch is on.
pub(super) fn ziip_wait() -> f64 {
    0.0032
}

/// No published value: a millisecond is some thousands of cache lines.
pub(super) fn refill_time_us() -> f64 {
    1000.0
}

/// A few microseconds of adapter and switch each way; distance comes on top.
pub(super) fn link() -> f64 {
    0.000_003
}

/// Seven subchannels to a coupling link.
pub(super) fn subchannels() -> u32 {
    7
}

/// No default of Db2's: how much is avoided depends on commits and isolation.
pub(super) fn lock_avoidance() -> f64 {
    0.9
}

/// IRLMRWT, 30 seconds.
pub(super) fn lock_timeout() -> f64 {
    30.0
}

/// DEADLOK, once a second.
pub(super) fn deadlock_cycle() -> f64 {
    1.0
}

/// PCLOSET, ten minutes.
pub(super) fn pseudo_close() -> f64 {
    600.0
}

/// A write to the cache of a control unit.
pub(super) fn log_write() -> f64 {
    0.0005
}

/// CTHREAD of the installation defaults.
pub(super) fn threads() -> u32 {
    200
}

pub(super) fn region_threads() -> u32 {
    40
}

pub(super) fn priority() -> u8 {
    3
}

pub(super) fn page_bytes() -> u32 {
    4096
}

/// VPSEQT, 80 %.
pub(super) fn vpseqt() -> u32 {
    80
}

/// A page of 4 KB with rows of some 200 bytes.
pub(super) fn rows() -> f64 {
    20.0
}

/// CLASST, 5 %.
pub(super) fn class_threshold() -> u32 {
    5
}

/// GBPOOLT, 30 %.
pub(super) fn pool_threshold() -> u32 {
    30
}

pub(super) fn recovery() -> f64 {
    30.0
}

pub(super) fn restart_light() -> f64 {
    10.0
}

/// REBUILDPERCENT, 1 %.
pub(super) fn rebuild_percent() -> f64 {
    1.0
}

/// No default of Db2's: it grows with what was logged since the last checkpoint.
pub(super) fn log_scan() -> f64 {
    5.0
}

impl Default for Run {
    fn default() -> Self {
        Self { seed: 1, warm_up: 60.0, seconds: 600.0, interval: 60.0, sample: None, begin: 32_400.0, preload: true }
    }
}

impl Default for Coupling {
    /// A recent coupling facility and links; of the host's path lengths the order of magnitude.
    fn default() -> Self {
        Self {
            lock_us: 2.0,
            read_us: 3.0,
            page_us: 5.0,
            list_us: 4.0,
            list_page_us: 0.2,
            sync_host_us: 2.0,
            async_host_us: 20.0,
            async_delay: 0.000_050,
            convert_above_us: 0.0,
            contention_host_us: 30.0,
            contention_delay: 0.000_300,
            rebuild_us: 5.0,
            rebuild_delay: 1.0,
            distribution: None,
        }
    }
}

impl Default for Db2Path {
    /// Orders of magnitude of a machine of some 1,500 MIPS an engine.
    fn default() -> Self {
        Self {
            getpage_us: 1.0,
            lock_us: 1.0,
            read_us: 15.0,
            update_us: 3.0,
            commit_us: 20.0,
            write_us: 3.0,
            dependent_us: 0.1,
            page_lock_us: 2.0,
            castout_us: 3.0,
            global_lock_us: 0.0,
            group_request_us: 0.0,
        }
    }
}

impl Default for Cics {
    fn default() -> Self {
        Self { routing: Routing::JoinShortestQueue, mro_us: 15.0, xcf_us: 60.0, xcf_delay: 0.000_100, switch_us: 0.0 }
    }
}

impl Default for Dasd {
    /// A control unit with flash behind its cache.
    fn default() -> Self {
        Self {
            volumes: 64,
            cache_hits: 0.7,
            hit_time: 0.000_3,
            miss_time: 0.001,
            page_time: 0.000_02,
            pending_time: 0.000_05,
            distribution: None,
            parallel: 4,
        }
    }
}
