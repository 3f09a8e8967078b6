//! What a transaction, or all of a class, did in each pool.

use serde::Serialize;

use super::pools::Outcome;

/// Use of one pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct InPool {
    /// Number of the pool.
    pub number: u16,
    /// Getpages.
    pub getpages: u64,
    /// Updates.
    pub updates: u64,
    /// Synchronous reads.
    pub sync_reads: u64,
    /// Sequential prefetch requests.
    pub sequential_requests: u64,
    /// Dynamic prefetch requests.
    pub dynamic_requests: u64,
    /// Pages read by prefetch.
    pub prefetch_pages: u64,
    /// Getpages of page sets that depended on the group buffer pool.
    pub dependent_getpages: u64,
    /// Reads from the group buffer pool because another member had changed the page, which returned it.
    pub invalid_with_data: u64,
    /// The same, which did not.
    pub invalid_without_data: u64,
    /// Reads from the group buffer pool because the page was not in the local pool, which returned it.
    pub misses_with_data: u64,
    /// The same, which did not.
    pub misses_without_data: u64,
    /// Pages written to the group buffer pool at commit.
    pub sync_writes: u64,
    /// Pages written to it before.
    pub async_writes: u64,
}

/// A count of an [`InPool`] by its name.
pub type Named = (&'static str, fn(&InPool) -> u64);

impl InPool {
    /// All counts by name.
    pub const FIELDS: [Named; 13] = [
        ("getpages", |one| one.getpages),
        ("updates", |one| one.updates),
        ("sync_reads", |one| one.sync_reads),
        ("sequential_requests", |one| one.sequential_requests),
        ("dynamic_requests", |one| one.dynamic_requests),
        ("prefetch_pages", |one| one.prefetch_pages),
        ("dependent_getpages", |one| one.dependent_getpages),
        ("invalid_with_data", |one| one.invalid_with_data),
        ("invalid_without_data", |one| one.invalid_without_data),
        ("misses_with_data", |one| one.misses_with_data),
        ("misses_without_data", |one| one.misses_without_data),
        ("sync_writes", |one| one.sync_writes),
        ("async_writes", |one| one.async_writes),
    ];

    /// Counts a getpage, and the update that followed it.
    pub fn refer(&mut self, sequential: bool, update: bool, dependent: bool, outcome: &Outcome) {
        self.getpages += 1;
        self.updates += u64::from(update);
        self.sync_reads += u64::from(outcome.sync_reads);
        *if sequential { &mut self.sequential_requests } else { &mut self.dynamic_requests } +=
            u64::from(outcome.prefetch_requests);
        self.prefetch_pages += u64::from(outcome.prefetch_pages);
        self.dependent_getpages += u64::from(dependent);
        self.ask(outcome);
        self.async_writes += u64::from(outcome.requests.writes);
    }

    /// Counts what a commit wrote.
    pub fn commit(&mut self, outcome: &Outcome) {
        self.ask(outcome);
        self.sync_writes += u64::from(outcome.requests.writes);
    }

    fn ask(&mut self, outcome: &Outcome) {
        let made = &outcome.requests;
        self.invalid_with_data += u64::from(made.invalid_with_data);
        self.invalid_without_data += u64::from(made.invalid_without_data);
        self.misses_with_data += u64::from(made.reads_with_data - made.invalid_with_data);
        self.misses_without_data += u64::from(made.reads_without_data - made.invalid_without_data);
    }

    /// Adds what another did in the same pool.
    pub fn add(&mut self, other: &Self) {
        self.getpages += other.getpages;
        self.updates += other.updates;
        self.sync_reads += other.sync_reads;
        self.sequential_requests += other.sequential_requests;
        self.dynamic_requests += other.dynamic_requests;
        self.prefetch_pages += other.prefetch_pages;
        self.dependent_getpages += other.dependent_getpages;
        self.invalid_with_data += other.invalid_with_data;
        self.invalid_without_data += other.invalid_without_data;
        self.misses_with_data += other.misses_with_data;
        self.misses_without_data += other.misses_without_data;
        self.sync_writes += other.sync_writes;
        self.async_writes += other.async_writes;
    }
}

/// The entry of a pool among those of a transaction or class; a new one where it was not used before.
pub fn of_pool(parts: &mut Vec<InPool>, number: u16) -> &mut InPool {
    let at = parts.iter().position(|one| one.number == number).unwrap_or_else(|| {
        parts.push(InPool { number, ..InPool::default() });
        parts.len() - 1
    });
    &mut parts[at]
}
