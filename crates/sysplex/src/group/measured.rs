//! What a run measures, interval by interval, as data for whoever writes records of it.

use std::collections::BTreeMap;

use serde::Serialize;

use super::in_pool::InPool;

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
    /// Transactions that ended without success.
    pub failures: Vec<FailureCount>,
    /// What broke, and what was done about it.
    pub course: Vec<Occurrence>,
    /// How busy everything was that can be busy.
    pub utilisations: Vec<Utilisation>,
    /// Of these, what was busy nearly all the time.
    pub saturated: Vec<Utilisation>,
}

/// Transactions of a class that ended without success for one reason, in the measured part of the run.
#[derive(Clone, Debug, Serialize)]
pub struct FailureCount {
    /// Class.
    pub class: String,
    /// Reason.
    pub reason: &'static str,
    /// How many.
    pub count: u64,
}

/// Something that happened.
#[derive(Clone, Debug, Serialize)]
pub struct Occurrence {
    /// Seconds after the warm-up.
    pub at: f64,
    /// What.
    pub what: String,
}

/// What can be busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    /// General engines of a machine.
    Machine,
    /// zIIPs of a machine.
    MachineZiips,
    /// Logical general engines of a system.
    System,
    /// Logical zIIPs of a system.
    SystemZiips,
    /// The QR TCB of a region.
    QrTcb,
    /// Threads of a region to Db2.
    RegionThreads,
    /// Open TCBs of a region, where they are limited.
    RegionOpenTcbs,
    /// Threads of a member.
    MemberThreads,
    /// Log of a member: a write is always under way.
    Log,
    /// Engines of a coupling facility.
    CouplingFacility,
    /// Subchannels of a system to a coupling facility.
    Subchannels,
    /// A volume, with all requests that it can take at the same time.
    Volume,
}

/// How busy something was over the whole run.
#[derive(Clone, Debug, Serialize)]
pub struct Utilisation {
    /// What it is.
    pub resource: Resource,
    /// Its name; of subchannels the system and the coupling facility.
    pub name: String,
    /// Share of what there is of it that was in use, on the average.
    pub utilisation: f64,
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
    /// CICS regions.
    pub regions: Vec<RegionUse>,
    /// Members of groups.
    pub members: Vec<MemberUse>,
    /// Classes.
    pub classes: Vec<ClassUse>,
    /// Data sets whose volumes the scenario gives, by job and volume.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub data_sets: Vec<DataSetUse>,
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
    /// Of these, seconds that z/OS attributed to no address space, of general engines and of zIIPs.
    pub uncaptured: [f64; 2],
    /// Of these, seconds that managing the partition took, likewise.
    pub management: [f64; 2],
    /// Work that was running or waiting, on the average.
    pub dispatchable: f64,
    /// Address spaces.
    pub spaces: Vec<SpaceUse>,
    /// Volumes, as this system used them.
    pub volumes: Vec<VolumeUse>,
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
    /// Seconds that work was ready and waited for a general engine.
    pub cpu_delay: f64,
    /// Seconds that work was ready and waited for a zIIP.
    pub ziip_delay: f64,
}

/// A CICS region.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RegionUse {
    /// Name.
    pub name: String,
    /// System.
    pub system: String,
    /// Transactions that came in or were sent there.
    pub attached: u64,
    /// Transactions that it sent to a region of another system.
    pub shipped: u64,
    /// Transactions that came from a region of another system.
    pub received: u64,
    /// Ended.
    pub ended: u64,
    /// Most inside.
    pub most_inside: u32,
    /// Times that the QR TCB was asked for.
    pub qr_dispatches: u64,
    /// Most transactions that waited for it at a time.
    pub most_queued: u64,
    /// Seconds that the QR TCB was given to a transaction, waits for an engine among them.
    pub qr_dispatched: f64,
    /// Seconds of processor time on it.
    pub qr_cpu: f64,
    /// Waits for it.
    pub qr_waits: Timing,
    /// Calls to Db2.
    pub db2_calls: u64,
    /// Seconds that open TCBs were given to a task: in Db2, and in the region where its program is threadsafe.
    pub open_dispatched: f64,
    /// Seconds of processor time on open TCBs.
    pub open_cpu: f64,
    /// Times that an open TCB was dispatched after a wait.
    pub open_dispatches: u64,
    /// Threads that transactions got, seconds that they had them, the most at a time, and waits for one.
    pub threads: u64,
    /// Seconds that threads were in use.
    pub thread_seconds: f64,
    /// Most at a time.
    pub most_threads: u64,
    /// Waits for a thread.
    pub thread_waits: Timing,
    /// Open TCBs that tasks got where the region limits them, seconds that they had them, the most at a time, and waits
    /// for one.
    pub open_tcbs: u64,
    /// Seconds that tasks had them.
    pub open_tcb_seconds: f64,
    /// Most at a time.
    pub most_open_tcbs: u64,
    /// Waits for one.
    pub open_tcb_waits: Timing,
    /// Times that the limit was reached.
    pub open_tcb_limits: u64,
    /// Most tasks that waited for one at a time.
    pub most_open_tcb_queue: u64,
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
    /// Coupling facility of the second instance of a duplexed structure at the end of the interval.
    pub second_facility: Option<String>,
    /// Requests to it; they are also part of those above, which wait for both.
    pub second: Timing,
    /// Requests to it that waited for a subchannel.
    pub second_waits: Timing,
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
    /// Physical locks of pages by pool, until they join the pools' other counters.
    #[serde(skip)]
    pub page_locks: Vec<PageLockUse>,
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
    /// Counters of the group buffer pool itself, the same in all members; the member's part of castout is in `member`.
    pub group: BTreeMap<&'static str, u64>,
    /// Physical locks of pages.
    pub page_locks: PageLockUse,
    /// Pages in the group buffer pool that were changed and not cast out at the end of the interval, the same in all
    /// members.
    pub changed_in_group: u32,
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

/// Pages of dependent page sets and their physical locks, of a member and pool.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct PageLockUse {
    /// Requests to the lock structure.
    pub requests: u64,
    /// Requests that waited for another member to give the lock up.
    pub suspensions: u64,
    /// Times that it gave a lock up for another member.
    pub negotiations: u64,
    /// Locks given back with the page's buffer.
    pub unlocks: u64,
    /// Getpages of page sets that depended on the group buffer pool.
    pub dependent_getpages: u64,
}

/// A class of transactions.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ClassUse {
    /// Name.
    pub name: String,
    /// By system where they ran: name and what ended there.
    pub systems: Vec<ClassOnSystem>,
}

/// Upper bounds of the response times that z/OS counts apart, in percent of the goal (z/OS MVS Planning: Workload
/// Management, response time distribution).
pub const GOAL_PERCENTS: [u16; 13] = [50, 60, 70, 80, 90, 100, 110, 120, 130, 140, 150, 200, 400];

/// Transactions of a class that ended in regions of one system.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ClassOnSystem {
    /// System.
    pub system: String,
    /// Response times.
    pub response: Timing,
    /// Transactions that met the goal.
    pub met_goal: u64,
    /// Transactions by their response as a part of the goal: one number for each of [`GOAL_PERCENTS`], up to which it
    /// was after the one before, and one for those above the last. All zero where there is no goal.
    pub by_goal: [u64; GOAL_PERCENTS.len() + 1],
    /// Transactions that ended without success, by reason; they count in nothing else here.
    pub failed: BTreeMap<&'static str, u64>,
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
    /// Of the service, seconds until the control unit began.
    pub pending: f64,
    /// Of the service, seconds in which the control unit read from the disk.
    pub disconnected: f64,
}

impl VolumeUse {
    /// Adds further requests.
    pub fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.queued += other.queued;
        self.service += other.service;
        self.pending += other.pending;
        self.disconnected += other.disconnected;
    }
}

/// A data set on a volume, as a job used it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct DataSetUse {
    /// Address space: of Db2's database services, or a region.
    pub job: String,
    /// Group of a page set; empty for a data set of programs.
    pub group: String,
    /// System.
    pub system: String,
    /// Page set or data set.
    pub name: String,
    /// Number of the volume.
    pub volume: u32,
    /// Its requests.
    pub used: VolumeUse,
}
