//! What a run measures, interval by interval, as data for whoever writes records of it.

use std::collections::BTreeMap;

use serde::Serialize;

use super::in_pool::InPool;
use super::task::{Account, WAITS, Wait};

/// Count, sum and sum of squares of times in seconds.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Timing {
    /// How many.
    pub count: u64,
    /// Seconds in all.
    pub seconds: f64,
    /// Squared seconds in all.
    pub squares: f64,
}

impl Timing {
    /// Adds one.
    pub fn add(&mut self, seconds: f64) {
        self.count += 1;
        self.seconds += seconds;
        self.squares += seconds * seconds;
    }
}

/// A run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Results {
    /// Intervals in their order.
    pub intervals: Vec<Interval>,
    /// Response of each class over the whole run.
    pub responses: Vec<ResponseEstimate>,
    /// Events of the run.
    pub events: u64,
    /// What the laws of queueing say of it, by name: two ways to the same number.
    pub laws: Vec<Law>,
    /// Systems whose engines were busy nearly all the time.
    pub saturated: Vec<String>,
}

/// A number that was come to in two ways.
#[derive(Clone, Debug, Serialize)]
pub struct Law {
    /// Which law, and of what.
    pub name: String,
    /// From the course over time.
    pub by_level: f64,
    /// From what each transaction spent.
    pub by_time: f64,
}

/// Mean response time of a class, with half its 95 % confidence interval.
#[derive(Clone, Debug, Serialize)]
pub struct ResponseEstimate {
    /// Class.
    pub class: String,
    /// Transactions.
    pub count: u64,
    /// Mean seconds; none where no transaction ended.
    pub mean: Option<f64>,
    /// Half of the interval; none where there are too few transactions for one.
    pub half_width: Option<f64>,
}

/// What was measured in an interval; seconds count from the end of the warm-up.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Interval {
    /// Start.
    pub start: f64,
    /// End.
    pub end: f64,
    /// Systems.
    pub systems: Vec<SystemUse>,
    /// Coupling facilities.
    pub facilities: Vec<FacilityUse>,
    /// Requests of each system to each structure.
    pub structures: Vec<StructureUse>,
    /// Members of groups.
    pub members: Vec<MemberUse>,
    /// Classes.
    pub classes: Vec<ClassUse>,
    /// Volumes.
    pub volumes: Vec<VolumeUse>,
}

/// A system's processors.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SystemUse {
    /// Name.
    pub name: String,
    /// Busy seconds of general engines.
    pub busy: f64,
    /// Busy seconds of zIIPs.
    pub ziip_busy: f64,
    /// Work that was running or waiting, on the average.
    pub dispatchable: f64,
    /// Address spaces.
    pub spaces: Vec<SpaceUse>,
}

/// Processor time of an address space.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SpaceUse {
    /// Name.
    pub name: String,
    /// Seconds on general engines.
    pub cpu: f64,
    /// Seconds on zIIPs.
    pub ziip: f64,
    /// Seconds on general engines that a zIIP might have taken.
    pub ziip_on_cp: f64,
}

/// A coupling facility's engines.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FacilityUse {
    /// Name.
    pub name: String,
    /// Engines.
    pub engines: usize,
    /// Busy seconds.
    pub busy: f64,
}

/// Requests of a system to a structure.
#[derive(Clone, Debug, Default, Serialize)]
pub struct StructureUse {
    /// Name.
    pub name: String,
    /// Coupling facility.
    pub facility: String,
    /// System.
    pub system: String,
    /// Whether it is a lock structure; a cache structure otherwise.
    pub lock: bool,
    /// Synchronous requests.
    pub synchronous: Timing,
    /// Asynchronous requests.
    pub asynchronous: Timing,
    /// Of the asynchronous, those that were meant to be synchronous.
    pub converted: u64,
    /// Requests that waited for a subchannel, and how long.
    pub subchannel_waits: Timing,
    /// Lock requests that met another's interest, and of these those in another resource.
    pub contentions: u64,
    /// False contentions.
    pub false_contentions: u64,
}

/// A member of a group.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MemberUse {
    /// Name.
    pub name: String,
    /// Group.
    pub group: String,
    /// System.
    pub system: String,
    /// Pools: number and counters of the interval.
    pub pools: Vec<PoolUse>,
    /// Locking.
    pub locking: LockUse,
    /// Writes of the log.
    pub log_writes: u64,
    /// Commits.
    pub commits: u64,
    /// Units of work that were rolled back.
    pub rollbacks: u64,
    /// Threads in use at the end.
    pub threads: u32,
}

/// A member's pool and what it asked of the group buffer pool.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PoolUse {
    /// Number.
    pub number: u16,
    /// Counters of the local pool by name.
    pub local: BTreeMap<&'static str, u64>,
    /// Counters of the member for the group buffer pool.
    pub member: BTreeMap<&'static str, u64>,
    /// Counters of the group buffer pool itself, the same in all members.
    pub group: BTreeMap<&'static str, u64>,
}

/// Locking of a member.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct LockUse {
    /// Lock requests.
    pub locks: u64,
    /// Unlock requests.
    pub unlocks: u64,
    /// Lock requests to the lock structure.
    pub global_locks: u64,
    /// Unlock requests to the lock structure.
    pub global_unlocks: u64,
    /// Contentions between resources that only hash alike.
    pub false_contentions: u64,
    /// Contentions that the lock managers found compatible.
    pub xes_contentions: u64,
    /// Contentions that made a task wait.
    pub real_contentions: u64,
    /// Waits for locks.
    pub suspensions: Timing,
    /// Deadlocks.
    pub deadlocks: u64,
    /// Timeouts.
    pub timeouts: u64,
    /// Page set locks asked for or changed.
    pub page_set_locks: u64,
}

/// A class of transactions.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ClassUse {
    /// Name.
    pub name: String,
    /// By system where they ran: name and what ended there.
    pub systems: Vec<ClassOnSystem>,
}

/// Transactions of a class that ended in regions of one system.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ClassOnSystem {
    /// System.
    pub system: String,
    /// Response times.
    pub response: Timing,
    /// Transactions that met the goal.
    pub met_goal: u64,
    /// What they used: sums by name, seconds and counts.
    pub used: BTreeMap<&'static str, f64>,
    /// What they did in each pool.
    pub pools: Vec<InPool>,
}

/// A volume.
#[derive(Clone, Debug, Default, Serialize)]
pub struct VolumeUse {
    /// Requests.
    pub requests: u64,
    /// Seconds that requests waited for the volume.
    pub queued: f64,
    /// Seconds of service.
    pub service: f64,
}

impl Account {
    /// The sums by name.
    pub fn named(&self) -> BTreeMap<&'static str, f64> {
        let wait = |kind: Wait| self.waits[kind as usize];
        let count = |kind: Wait| self.wait_counts[kind as usize] as f64;
        debug_assert_eq!(self.waits.len(), WAITS);
        BTreeMap::from([
            ("terminal_cpu", self.terminal_cpu),
            ("region_cpu", self.region_cpu),
            ("db2_cpu", self.db2_cpu),
            ("db2_ziip", self.ziip),
            ("db2_ziip_on_cp", self.ziip_on_cp),
            ("coupling_spin", self.spin),
            ("db2_elapsed", self.db2_elapsed),
            ("wait_sync_read", wait(Wait::SyncRead)),
            ("wait_other_read", wait(Wait::OtherRead)),
            ("wait_log", wait(Wait::Log)),
            ("wait_contention", wait(Wait::Contention)),
            ("wait_shipping", wait(Wait::Shipping)),
            ("wait_coupling", wait(Wait::Coupling)),
            ("wait_lock", self.lock_wait),
            ("thread_elapsed", self.thread_elapsed),
            ("waits_sync_read", count(Wait::SyncRead)),
            ("waits_other_read", count(Wait::OtherRead)),
            ("waits_log", count(Wait::Log)),
            ("waits_contention", count(Wait::Contention)),
            ("waits_coupling", count(Wait::Coupling)),
            ("waits_lock", self.lock_waits as f64),
            ("getpages", self.getpages as f64),
            ("updates", self.updates as f64),
            ("sync_reads", self.sync_reads as f64),
            ("prefetches", self.prefetches as f64),
            ("locks", self.locks as f64),
            ("unlocks", self.unlocks as f64),
            ("coupling_locks", self.coupling_locks as f64),
            ("coupling_unlocks", self.coupling_unlocks as f64),
            ("false_contentions", self.contentions[0] as f64),
            ("xes_contentions", self.contentions[1] as f64),
            ("real_contentions", self.contentions[2] as f64),
            ("coupling_pages", self.coupling_pages as f64),
        ])
    }
}
