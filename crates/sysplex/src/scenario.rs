//! What is simulated, as data. Names are resolved and numbers checked by [`Scenario::check`]; whatever is wrong is said
//! with the path of its key (`class[2].references[0].page_set`) and what would be right.
//!
//! Lengths of time are in seconds where nothing else is said, and mean those of a processor of speed 1.

use serde::Deserialize;
use thiserror::Error;

pub(crate) mod checks;
mod defaults;

use defaults as default;

/// A value that makes no sense, where it stands, and what may stand there.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{path}: {what}; {remedy}")]
pub struct ScenarioError {
    /// Keys and positions from the top of the scenario.
    pub path: String,
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub remedy: String,
}

/// A sysplex, its work, and how long to run it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Name of the sysplex.
    #[serde(default = "default::sysplex")]
    pub sysplex: String,
    /// The run.
    #[serde(default)]
    pub run: Run,
    /// Machines.
    pub cec: Vec<Cec>,
    /// z/OS images.
    pub system: Vec<System>,
    /// Coupling facilities.
    #[serde(default)]
    pub coupling_facility: Vec<CouplingFacility>,
    /// What requests to coupling facilities cost.
    #[serde(default)]
    pub coupling: Coupling,
    /// Db2 data-sharing groups, or single subsystems.
    #[serde(default)]
    pub db2: Vec<Db2>,
    /// CICS regions.
    #[serde(default)]
    pub region: Vec<Region>,
    /// CICS: how regions are chosen and what the way there costs.
    #[serde(default)]
    pub cics: Cics,
    /// Transaction classes.
    pub class: Vec<Class>,
    /// Disks.
    #[serde(default)]
    pub dasd: Dasd,
    /// What breaks, and when.
    #[serde(default)]
    pub failure: Vec<Failure>,
}

/// How long to run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Run {
    /// Seed of all chance.
    pub seed: u64,
    /// Seconds before anything is measured.
    pub warm_up: f64,
    /// Seconds measured.
    pub seconds: f64,
    /// Seconds of an interval.
    pub interval: f64,
    /// Whether pools are filled before the run, by references that take no time.
    pub preload: bool,
}

/// A machine.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cec {
    /// Name.
    pub name: String,
    /// General engines.
    pub engines: u32,
    /// zIIPs.
    #[serde(default)]
    pub ziips: u32,
    /// Speed of a general engine; processor times of the scenario are those of speed 1.
    #[serde(default = "default::one")]
    pub speed: f64,
    /// Speed of a zIIP.
    #[serde(default = "default::one")]
    pub ziip_speed: f64,
}

/// A z/OS image.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct System {
    /// SMF id.
    pub name: String,
    /// Machine that it runs on.
    pub cec: String,
    /// Logical general engines; all of the machine by default.
    #[serde(default)]
    pub engines: Option<u32>,
    /// Logical zIIPs; all of the machine by default.
    #[serde(default)]
    pub ziips: Option<u32>,
    /// Weight among the images of the machine, when they want more than it has.
    #[serde(default = "default::weight")]
    pub weight: f64,
    /// What managing the partition adds to all processor time, as a share.
    #[serde(default)]
    pub lpar_overhead: f64,
    /// Whether eligible work may run on general engines when zIIPs are busy (IIPHONORPRIORITY).
    #[serde(default = "default::yes")]
    pub honor_priority: bool,
    /// Seconds that eligible work waits for a zIIP before general engines help (ZIIPAWMT).
    #[serde(default = "default::ziip_wait")]
    pub ziip_wait: f64,
}

/// A coupling facility.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CouplingFacility {
    /// Name.
    pub name: String,
    /// Engines, dedicated to it.
    #[serde(default = "default::one_engine")]
    pub engines: u32,
    /// Speed; service times of the scenario are those of speed 1.
    #[serde(default = "default::one")]
    pub speed: f64,
    /// Seconds from a system to here, one way: adapter and link.
    #[serde(default = "default::link")]
    pub link: f64,
    /// Kilometres of fibre to here; 5 microseconds each, one way.
    #[serde(default)]
    pub distance_km: f64,
    /// Requests of one system that may be under way at a time.
    #[serde(default = "default::subchannels")]
    pub subchannels: u32,
}

/// What requests to coupling facilities cost: microseconds at speed 1.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Coupling {
    /// Coupling facility engine, a lock or unlock request.
    pub lock_us: f64,
    /// A read that registers interest and returns no page.
    pub read_us: f64,
    /// A read or write of a page.
    pub page_us: f64,
    /// Sending processor, a synchronous request besides the wait for its answer.
    pub sync_host_us: f64,
    /// Sending processor, an asynchronous request with its interruption and dispatch.
    pub async_host_us: f64,
    /// Seconds until the end of an asynchronous request is noticed.
    pub async_delay: f64,
    /// Expected synchronous service time above which a request is sent asynchronously; 0: never.
    pub convert_above_us: f64,
    /// Processor time at both systems that settle a contention by messages.
    pub contention_host_us: f64,
    /// Seconds until a contention is settled.
    pub contention_delay: f64,
}

/// A Db2 data-sharing group; a single subsystem when it has one member and no lock structure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Db2 {
    /// Name of the group.
    pub group: String,
    /// Members.
    pub member: Vec<Member>,
    /// Lock structure; none for a subsystem that shares with nobody.
    #[serde(default)]
    pub lock: Option<LockStructure>,
    /// Local pools, the same in all members.
    pub pool: Vec<Pool>,
    /// Page sets.
    pub page_set: Vec<PageSet>,
    /// Share of read-only getpages of data pages that need no lock.
    #[serde(default = "default::lock_avoidance")]
    pub lock_avoidance: f64,
    /// Seconds after which a waiting lock request gives up (IRLMRWT).
    #[serde(default = "default::lock_timeout")]
    pub lock_timeout: f64,
    /// Seconds between searches for deadlocks (DEADLOK).
    #[serde(default = "default::deadlock_cycle")]
    pub deadlock_cycle: f64,
    /// Seconds without an update after which a page set is read-only again for a member (PCLOSET).
    #[serde(default = "default::pseudo_close")]
    pub pseudo_close: f64,
    /// Seconds to write a log buffer to disk.
    #[serde(default = "default::log_write")]
    pub log_write: f64,
    /// Processor time of things that Db2 does, microseconds.
    #[serde(default)]
    pub path: Db2Path,
}

/// Processor time of things that Db2 does: microseconds at speed 1.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Db2Path {
    /// A getpage.
    pub getpage_us: f64,
    /// A lock or unlock request to the IRLM of the same system.
    pub lock_us: f64,
    /// Starting a read and taking up its end.
    pub read_us: f64,
    /// A page marked for writing, with its log record.
    pub update_us: f64,
    /// A commit.
    pub commit_us: f64,
    /// Deferred writes and castout, of each page, in the address space of the database services.
    pub write_us: f64,
}

/// A member.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Member {
    /// Subsystem id.
    pub name: String,
    /// System that it runs on.
    pub system: String,
    /// Threads at the same time (CTHREAD).
    #[serde(default = "default::threads")]
    pub threads: u32,
}

/// A lock structure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockStructure {
    /// Coupling facility that it is in.
    pub coupling_facility: String,
    /// Entries of its hash table.
    pub entries: u64,
    /// Coupling facility of a second instance that is kept the same (system-managed duplexing).
    #[serde(default)]
    pub duplex: Option<String>,
}

/// A local buffer pool, and its group buffer pool.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pool {
    /// Number: 1 is BP1.
    pub number: u16,
    /// Buffers in each member.
    pub size: u32,
    /// Bytes of a page.
    #[serde(default = "default::page_bytes")]
    pub page_bytes: u32,
    /// Percentage for sequential pages (VPSEQT).
    #[serde(default = "default::vpseqt")]
    pub vpseqt: u32,
    /// Group buffer pool; none where all page sets of the pool are used by one member or only read.
    #[serde(default)]
    pub group: Option<GroupPool>,
}

/// A group buffer pool.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupPool {
    /// Coupling facility that it is in.
    pub coupling_facility: String,
    /// Pages that it holds.
    pub data_entries: u32,
    /// Pages that it knows of; five times the data entries by default.
    #[serde(default)]
    pub directory_entries: Option<u32>,
    /// Percentage of changed pages of one class (CLASST).
    #[serde(default = "default::class_threshold")]
    pub class_threshold: u32,
    /// Percentage of changed pages in all (GBPOOLT).
    #[serde(default = "default::pool_threshold")]
    pub pool_threshold: u32,
    /// Coupling facility of a second instance (duplexed group buffer pool).
    #[serde(default)]
    pub duplex: Option<String>,
}

/// A table space, an index or a partition.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageSet {
    /// Name.
    pub name: String,
    /// Number of its pool.
    pub pool: u16,
    /// Pages.
    pub pages: u64,
    /// Whether it is an index.
    #[serde(default)]
    pub index: bool,
    /// Exponent of Zipf's law of how often pages are used; 0: all alike.
    #[serde(default)]
    pub skew: f64,
}

/// A CICS region.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Region {
    /// Application id.
    pub name: String,
    /// System that it runs on.
    pub system: String,
    /// Db2 group whose member on the same system it is connected to.
    #[serde(default)]
    pub db2: Option<String>,
    /// Threads to Db2 at the same time (TCBLIMIT, THREADLIMIT).
    #[serde(default = "default::region_threads")]
    pub threads: u32,
    /// Dispatching priority: lower numbers first.
    #[serde(default = "default::priority")]
    pub priority: u8,
}

/// How regions are chosen, and what the way there costs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Cics {
    /// The rule.
    pub routing: Routing,
    /// Processor time at each end to ship a transaction within a system, microseconds.
    pub mro_us: f64,
    /// Processor time at each end to ship a transaction to another system, microseconds.
    pub xcf_us: f64,
    /// Seconds on the way to another system.
    pub xcf_delay: f64,
}

/// How a region is chosen.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Routing {
    /// The one with the fewest transactions inside; of equal ones on the same system, then in turn.
    JoinShortestQueue,
    /// The one whose system has the lowest load against its engines, then as above.
    GoalOriented,
    /// In turn.
    RoundRobin,
}

/// A class of transactions.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Class {
    /// Transaction id.
    pub name: String,
    /// Arrivals a second, in all.
    #[serde(default)]
    pub rate: Option<f64>,
    /// Users who think between transactions.
    #[serde(default)]
    pub users: Option<u32>,
    /// Seconds of thought.
    #[serde(default)]
    pub think: Option<Think>,
    /// Regions where transactions come in, in turn; they go on to one of `regions`.
    #[serde(default)]
    pub terminal_regions: Vec<String>,
    /// Regions that can run it.
    pub regions: Vec<String>,
    /// Processor time in the terminal region.
    #[serde(default)]
    pub terminal_cpu: f64,
    /// Processor time in the region, on its QR TCB.
    #[serde(default)]
    pub cpu: f64,
    /// Processor time of Db2 on the thread, besides what [`Db2Path`] counts.
    #[serde(default)]
    pub db2_cpu: f64,
    /// Share of the Db2 time that may run on a zIIP.
    #[serde(default)]
    pub ziip_share: f64,
    /// Calls to Db2: how often the region is left and entered again.
    #[serde(default = "default::one_engine")]
    pub calls: u32,
    /// Seconds of response that a transaction is to meet.
    #[serde(default)]
    pub goal: Option<f64>,
    /// What it reads and changes.
    #[serde(default)]
    pub references: Vec<References>,
    /// Classes that each of its transactions starts when it ends, four at most, and how many of each.
    #[serde(default)]
    pub starts: Vec<Start>,
}

/// Two-humped or exponential thought.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(untagged)]
pub enum Think {
    /// Exponential, with this mean.
    Mean(f64),
    /// Two humps.
    Humps {
        /// Mean of the short ones.
        short: f64,
        /// Mean of the long ones.
        long: f64,
        /// Share of the short ones.
        short_share: f64,
    },
}

/// Pages of one page set that a transaction refers to.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct References {
    /// The page set.
    pub page_set: String,
    /// Getpages on the average; a whole part always, one more as often as the rest says.
    pub getpages: f64,
    /// Share of the getpages that change the page.
    #[serde(default)]
    pub update: f64,
    /// How pages are chosen.
    #[serde(default)]
    pub access: Access,
}

/// How pages are chosen.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// By the page set's skew.
    #[default]
    Random,
    /// One after the other from a random page on.
    Sequential,
    /// At the end, which moves on: inserts in the order of the key.
    Append,
}

/// A class started by another.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Start {
    /// The class.
    pub class: String,
    /// How many on the average.
    #[serde(default = "default::one")]
    pub number: f64,
}

/// Disks.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Dasd {
    /// Volumes that page sets are spread over.
    pub volumes: u32,
    /// Share of reads that the cache of the control unit answers.
    pub cache_hits: f64,
    /// Seconds of a read from the cache.
    pub hit_time: f64,
    /// Seconds of a read from the disk.
    pub miss_time: f64,
    /// Seconds to transfer a further page of the same request.
    pub page_time: f64,
    /// Requests to one volume that run at the same time (parallel access volumes).
    pub parallel: u32,
}

/// What breaks.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// Seconds after the warm-up.
    pub at: f64,
    /// Member that is lost.
    #[serde(default)]
    pub member: Option<String>,
    /// Coupling facility that is lost.
    #[serde(default)]
    pub coupling_facility: Option<String>,
    /// Seconds until a lost member is back, or structures are rebuilt.
    #[serde(default = "default::recovery")]
    pub recovery: f64,
}

impl Scenario {
    /// Reads a scenario from JSON.
    ///
    /// # Errors
    /// A key that is unknown or missing, a value of a wrong kind, or one that [`Scenario::check`] refuses.
    pub fn from_json(text: &str) -> Result<Self, ScenarioError> {
        let made: Self =
            serde_path_to_error::deserialize(&mut serde_json::Deserializer::from_str(text)).map_err(|error| {
                let path = error.path().to_string();
                let what = error.into_inner().to_string();
                // serde ends with the place in the JSON text, which nobody has written.
                let what = what.split(" at line ").next().unwrap_or_default().to_owned();
                ScenarioError { path, what, remedy: "see the reference of scenarios for its keys".into() }
            })?;
        made.check()?;
        Ok(made)
    }
}
