//! What a transaction used and waited for.

use std::collections::BTreeMap;

/// What a task waits for without a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// A read that it asked for itself.
    SyncRead,
    /// A read by prefetch.
    OtherRead,
    /// The log.
    Log,
    /// System services that write the changed pages at commit.
    Commit,
    /// Messages that settle a contention for a lock of transactions, or one that only hashes alike.
    Contention,
    /// The way to another system.
    Shipping,
    /// An asynchronous coupling facility request.
    Coupling,
    /// The end of a structure's rebuild.
    Rebuild,
    /// Nothing that a report shows.
    Unseen,
    /// A read or write of a data set by the program itself.
    File,
    /// Another member that gives the physical lock of a page up.
    PageLock,
}

/// Number of kinds of [`Wait`].
pub const WAITS: usize = 11;

/// What a transaction used and waited for: seconds and counts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Account {
    /// Processor time in the terminal region, in the region, and in Db2 on the thread; of the last, on zIIPs.
    pub terminal_cpu: f64,
    /// In the region.
    pub region_cpu: f64,
    /// Of this, on an open TCB: a threadsafe program after its first call to Db2.
    pub open_cpu: f64,
    /// In Db2.
    pub db2_cpu: f64,
    /// In Db2, on zIIPs.
    pub ziip: f64,
    /// In Db2, eligible and on a general engine.
    pub ziip_on_cp: f64,
    /// Of all these, time spent waiting for coupling facilities with a processor.
    pub spin: f64,
    /// Requests to coupling facilities that the transaction's own task sent.
    pub own_requests: u64,
    /// Time that it was ready and waited for an engine.
    pub cpu_delay: f64,
    /// Waits by [`Wait`].
    pub waits: [f64; WAITS],
    /// How many waits of each kind.
    pub wait_counts: [u64; WAITS],
    /// Waits for locks.
    pub lock_wait: f64,
    /// How many.
    pub lock_waits: u64,
    /// Time that its program had an open TCB in the region, outside Db2, waits for an engine among it.
    pub open_elapsed: f64,
    /// Time between entering Db2 and leaving it.
    pub db2_elapsed: f64,
    /// Time from its first thread to leaving Db2 last.
    pub thread_elapsed: f64,
    /// Commits.
    pub commits: u64,
    /// Units of work that were rolled back.
    pub rollbacks: u64,
    /// Getpages.
    pub getpages: u64,
    /// Updates.
    pub updates: u64,
    /// Synchronous reads.
    pub sync_reads: u64,
    /// Prefetch I/Os.
    pub prefetches: u64,
    /// Lock requests to the lock manager.
    pub locks: u64,
    /// Locks given back.
    pub unlocks: u64,
    /// Lock and unlock requests to the lock structure.
    pub coupling_locks: u64,
    /// Of these the unlock requests.
    pub coupling_unlocks: u64,
    /// Contentions in the lock structure: in another resource, in the same without and with a wait.
    pub contentions: [u64; 3],
    /// Requests to group buffer pools.
    pub coupling_pages: u64,
}

impl Account {
    /// Adds what another used.
    pub fn add(&mut self, other: &Self) {
        self.terminal_cpu += other.terminal_cpu;
        self.region_cpu += other.region_cpu;
        self.open_cpu += other.open_cpu;
        self.db2_cpu += other.db2_cpu;
        self.ziip += other.ziip;
        self.ziip_on_cp += other.ziip_on_cp;
        self.spin += other.spin;
        self.own_requests += other.own_requests;
        self.cpu_delay += other.cpu_delay;
        self.waits.iter_mut().zip(other.waits).for_each(|(sum, wait)| *sum += wait);
        self.wait_counts.iter_mut().zip(other.wait_counts).for_each(|(sum, count)| *sum += count);
        self.lock_wait += other.lock_wait;
        self.lock_waits += other.lock_waits;
        self.open_elapsed += other.open_elapsed;
        self.db2_elapsed += other.db2_elapsed;
        self.thread_elapsed += other.thread_elapsed;
        self.commits += other.commits;
        self.rollbacks += other.rollbacks;
        self.getpages += other.getpages;
        self.updates += other.updates;
        self.sync_reads += other.sync_reads;
        self.prefetches += other.prefetches;
        self.locks += other.locks;
        self.unlocks += other.unlocks;
        self.coupling_locks += other.coupling_locks;
        self.coupling_unlocks += other.coupling_unlocks;
        self.contentions.iter_mut().zip(other.contentions).for_each(|(sum, count)| *sum += count);
        self.coupling_pages += other.coupling_pages;
    }
}

/// A sum of an [`Account`] by its name.
pub type Named = (&'static str, fn(&Account) -> f64);

impl Account {
    /// All sums by name: seconds, then counts.
    pub const FIELDS: [Named; 47] = [
        ("terminal_cpu", |one| one.terminal_cpu),
        ("region_cpu", |one| one.region_cpu),
        ("open_cpu", |one| one.open_cpu),
        ("db2_cpu", |one| one.db2_cpu),
        ("db2_ziip", |one| one.ziip),
        ("db2_ziip_on_cp", |one| one.ziip_on_cp),
        ("coupling_spin", |one| one.spin),
        ("cpu_delay", |one| one.cpu_delay),
        ("open_elapsed", |one| one.open_elapsed),
        ("db2_elapsed", |one| one.db2_elapsed),
        ("thread_elapsed", |one| one.thread_elapsed),
        ("wait_sync_read", |one| one.waits[Wait::SyncRead as usize]),
        ("wait_other_read", |one| one.waits[Wait::OtherRead as usize]),
        ("wait_log", |one| one.waits[Wait::Log as usize]),
        ("wait_commit", |one| one.waits[Wait::Commit as usize]),
        ("wait_contention", |one| one.waits[Wait::Contention as usize]),
        ("wait_page_lock", |one| one.waits[Wait::PageLock as usize]),
        ("wait_shipping", |one| one.waits[Wait::Shipping as usize]),
        ("wait_coupling", |one| one.waits[Wait::Coupling as usize]),
        ("wait_rebuild", |one| one.waits[Wait::Rebuild as usize]),
        ("wait_lock", |one| one.lock_wait),
        ("wait_unseen", |one| one.waits[Wait::Unseen as usize]),
        ("wait_file", |one| one.waits[Wait::File as usize]),
        ("waits_file", |one| one.wait_counts[Wait::File as usize] as f64),
        ("waits_sync_read", |one| one.wait_counts[Wait::SyncRead as usize] as f64),
        ("waits_other_read", |one| one.wait_counts[Wait::OtherRead as usize] as f64),
        ("waits_log", |one| one.wait_counts[Wait::Log as usize] as f64),
        ("waits_commit", |one| one.wait_counts[Wait::Commit as usize] as f64),
        ("waits_contention", |one| one.wait_counts[Wait::Contention as usize] as f64),
        ("waits_page_lock", |one| one.wait_counts[Wait::PageLock as usize] as f64),
        ("waits_coupling", |one| one.wait_counts[Wait::Coupling as usize] as f64),
        ("waits_lock", |one| one.lock_waits as f64),
        ("commits", |one| one.commits as f64),
        ("rollbacks", |one| one.rollbacks as f64),
        ("getpages", |one| one.getpages as f64),
        ("updates", |one| one.updates as f64),
        ("sync_reads", |one| one.sync_reads as f64),
        ("prefetches", |one| one.prefetches as f64),
        ("locks", |one| one.locks as f64),
        ("unlocks", |one| one.unlocks as f64),
        ("coupling_locks", |one| one.coupling_locks as f64),
        ("coupling_unlocks", |one| one.coupling_unlocks as f64),
        ("false_contentions", |one| one.contentions[0] as f64),
        ("xes_contentions", |one| one.contentions[1] as f64),
        ("real_contentions", |one| one.contentions[2] as f64),
        ("coupling_pages", |one| one.coupling_pages as f64),
        ("own_requests", |one| one.own_requests as f64),
    ];

    /// The sums by name.
    pub fn named(&self) -> BTreeMap<&'static str, f64> {
        Self::FIELDS.iter().map(|(name, of)| (*name, of(self))).collect()
    }
}
