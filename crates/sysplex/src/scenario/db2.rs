//! Db2 groups: members, lock structure, pools and page sets.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::Scenario;
use super::checks::{
    Checked, MOST_MICROSECONDS, MOST_SERVICE, MOST_WORK, at_most, between, different, known, number, share, some,
    times, wrong,
};
use super::defaults as default;
use super::distribution::{Distribution, check_distribution};

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
    /// Distribution of `log_write`; constant by default.
    #[serde(default)]
    pub log_distribution: Option<Distribution>,
    /// Seconds that a request waits for a lock that is retained for a lost member before its transaction fails (RETLKTO).
    #[serde(default)]
    pub retained_lock_wait: f64,
    /// Seconds to read the log when a member is restarted or pages of a lost group buffer pool are recovered.
    #[serde(default = "default::log_scan")]
    pub log_scan: f64,
    /// Processor time of things that Db2 does, microseconds.
    #[serde(default)]
    pub path: Db2Path,
    /// Processor time of its address spaces for each unit of work, besides what `path` counts there.
    #[serde(default)]
    pub services: Db2Services,
}

/// Processor time of Db2's address spaces for each unit of work, besides what [`Db2Path`] counts there: microseconds at
/// speed 1.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Db2Services {
    /// Database services (DBM1).
    pub dbm1_us: f64,
    /// System services (MSTR).
    pub mstr_us: f64,
    /// Lock manager (IRLM).
    pub irlm_us: f64,
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
    /// Deferred writes, of each page, in the address space of the database services.
    pub write_us: f64,
    /// What a getpage takes more where the page set depends on a group buffer pool: whether the page is still valid.
    pub dependent_us: f64,
    /// A request for or the return of a page physical lock, besides the request to the lock structure.
    pub page_lock_us: f64,
    /// What the IRLM does more for a lock or unlock request that goes to the lock structure, of the requester. No
    /// published value apart from `coupling.sync_host_us`: IBM's path lengths for one more request may contain it.
    pub global_lock_us: f64,
    /// What Db2 does for a request to a group buffer pool, besides `coupling.sync_host_us`, of the requester. No
    /// published value either.
    pub group_request_us: f64,
    /// Castout, of each page, in the address space of the database services of the castout owner.
    pub castout_us: f64,
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
    /// Microseconds of a coupling facility engine for each request; `coupling.lock_us` by default.
    #[serde(default)]
    pub service_us: Option<f64>,
    /// Coupling facility of a second instance that is kept the same (system-managed duplexing).
    #[serde(default)]
    pub duplex: Option<String>,
    /// Coupling facilities that it may be in, in the order in which they are tried when it is rebuilt (PREFLIST); all
    /// by default.
    #[serde(default)]
    pub preference: Vec<String>,
    /// Percentage of the members' systems that have to lose their connection before it is rebuilt where all are
    /// connected (REBUILDPERCENT).
    #[serde(default = "default::rebuild_percent")]
    pub rebuild_percent: f64,
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
    /// Microseconds of a coupling facility engine for each request, whatever it moves; by default `coupling.read_us` and
    /// `coupling.page_us`.
    #[serde(default)]
    pub service_us: Option<f64>,
    /// Percentage of changed pages of one class (CLASST).
    #[serde(default = "default::class_threshold")]
    pub class_threshold: u32,
    /// Percentage of changed pages in all (GBPOOLT).
    #[serde(default = "default::pool_threshold")]
    pub pool_threshold: u32,
    /// Coupling facility of a second instance (duplexed group buffer pool).
    #[serde(default)]
    pub duplex: Option<String>,
    /// Coupling facilities that it may be in, in the order in which they are tried when it is rebuilt (PREFLIST); all
    /// by default.
    #[serde(default)]
    pub preference: Vec<String>,
    /// Percentage of the members' systems that have to lose their connection before it is rebuilt where all are
    /// connected (REBUILDPERCENT).
    #[serde(default = "default::rebuild_percent")]
    pub rebuild_percent: f64,
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
    /// Whether it is an index: its pages have no locks of transactions; members lock a page physically to change it.
    #[serde(default)]
    pub index: bool,
    /// What transactions lock (LOCKSIZE). Where it is less than a page, members lock the page physically to change it.
    #[serde(default)]
    pub lock_size: LockSize,
    /// Member that changes it first and so becomes its castout owner; whichever does so by default.
    #[serde(default)]
    pub castout_owner: Option<String>,
    /// Rows of a page, or entries of a leaf: how many of them are inserted at the end before the next page is made.
    #[serde(default = "default::rows")]
    pub rows: f64,
    /// Exponent of Zipf's law of how often pages are used; 0: all alike.
    #[serde(default)]
    pub skew: f64,
    /// Numbers of the volumes that it is spread over, from 0; all by default. SMF 42-6 has the data sets whose volumes are
    /// given.
    #[serde(default)]
    pub volumes: Vec<u32>,
}

/// What transactions lock.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum LockSize {
    /// Pages.
    #[default]
    Page,
    /// Rows.
    Row,
}

/// Pools that Db2 has names for (BP0 to BP49, BP8K0 to BP32K9).
const MOST_POOLS: usize = 80;
/// Buffers of all pools of all members: some gigabytes of the simulator's own memory.
const MOST_BUFFERS: u64 = 100_000_000;
/// Entries of a group buffer pool.
const MOST_ENTRIES: u32 = 100_000_000;
/// Entries of a lock table, a power of two: SMF 74-4 has four bytes for their number.
const MOST_LOCK_ENTRIES: f64 = 2_147_483_648.0;
/// Pages of a page set, and rows of a page.
const MOST_PAGES: f64 = (1u64 << 40) as f64;
const MOST_ROWS: f64 = 32_768.0;

impl Scenario {
    /// All pools of all members fit in memory.
    pub(super) fn check_buffers(&self) -> Checked {
        let mut all = 0;
        for (number, group) in self.db2.iter().enumerate() {
            for (at, pool) in group.pool.iter().enumerate() {
                all += u64::from(pool.size) * group.member.len() as u64;
                if all > MOST_BUFFERS {
                    let what = format!("the pools of all members have {all} buffers and more");
                    let remedy = format!("give all of them together {MOST_BUFFERS} or less");
                    return wrong(format!("db2[{number}].pool[{at}].size"), what, remedy);
                }
            }
        }
        Ok(())
    }

    pub(super) fn check_group(&self, path: &str, group: &Db2) -> Checked {
        some(&format!("{path}member"), group.member.len(), "member")?;
        different(&format!("{path}member"), "member", group.member.iter().map(|one| one.name.as_str()))?;
        let systems: Vec<&str> = self.system.iter().map(|one| one.name.as_str()).collect();
        for (at, member) in group.member.iter().enumerate() {
            known(format!("{path}member[{at}].system"), &member.system, "system", &systems)?;
            number(&format!("{path}member[{at}]."), "threads", member.threads.into(), false)?;
        }
        different(&format!("{path}member"), "member on system", group.member.iter().map(|one| one.system.as_str()))?;
        if group.member.len() > 32 {
            return wrong(format!("{path}member"), "a group has 32 members at most".into(), "split the group");
        }
        let facilities = self.names_of_facilities();
        if group.member.len() > 1 && group.lock.is_none() {
            return wrong(
                format!("{path}lock"),
                "a group of several members needs a lock structure".into(),
                "define it",
            );
        }
        if let Some(lock) = &group.lock {
            known(format!("{path}lock.coupling_facility"), &lock.coupling_facility, "coupling facility", &facilities)?;
            between(&format!("{path}lock."), "entries", lock.entries as f64, 1.0, MOST_LOCK_ENTRIES)?;
            let service = [("service_us", lock.service_us.unwrap_or(0.0))];
            times(&format!("{path}lock."), MOST_MICROSECONDS, &service)?;
            let places = Places::of_lock(lock);
            self.check_places(&format!("{path}lock."), &places)?;
        }
        if group.pool.len() > MOST_POOLS {
            let what = format!("a group has {MOST_POOLS} pools at most");
            return wrong(format!("{path}pool[{MOST_POOLS}]"), what, "leave some out");
        }
        for (at, pool) in group.pool.iter().enumerate() {
            let here = format!("{path}pool[{at}].");
            number(&here, "size", pool.size.into(), false)?;
            if ![4096, 8192, 16384, 32768].contains(&pool.page_bytes) {
                let what = format!("{} is no size of a page", pool.page_bytes);
                return wrong(format!("{here}page_bytes"), what, "give 4096, 8192, 16384 or 32768");
            }
            at_most(&here, "vpseqt", pool.vpseqt, 100)?;
            if let Some(shared) = &pool.group {
                let facility = &shared.coupling_facility;
                known(format!("{here}group.coupling_facility"), facility, "coupling facility", &facilities)?;
                let inner = format!("{here}group.");
                number(&inner, "data_entries", shared.data_entries.into(), false)?;
                at_most(&inner, "data_entries", shared.data_entries, MOST_ENTRIES)?;
                at_most(&inner, "directory_entries", shared.directory_entries.unwrap_or(0), MOST_ENTRIES)?;
                times(&inner, MOST_MICROSECONDS, &[("service_us", shared.service_us.unwrap_or(0.0))])?;
                self.check_places(&format!("{here}group."), &Places::of_pool(shared))?;
                at_most(&format!("{here}group."), "class_threshold", shared.class_threshold, 90)?;
                at_most(&format!("{here}group."), "pool_threshold", shared.pool_threshold, 90)?;
                if let Some(entries) = shared.directory_entries.filter(|&entries| entries < shared.data_entries) {
                    let what = format!("{entries} is less than data_entries");
                    let remedy = format!("give {} or more, or leave it out", shared.data_entries);
                    return wrong(format!("{here}group.directory_entries"), what, remedy);
                }
            }
        }
        different(&format!("{path}pool"), "pool", group.pool.iter().map(|one| one.number))?;
        different(&format!("{path}page_set"), "page set", group.page_set.iter().map(|one| one.name.as_str()))?;
        for (at, page_set) in group.page_set.iter().enumerate() {
            let here = format!("{path}page_set[{at}].");
            if !group.pool.iter().any(|pool| pool.number == page_set.pool) {
                let numbers: Vec<String> = group.pool.iter().map(|pool| pool.number.to_string()).collect();
                let what = format!("there is no pool {} in group {}", page_set.pool, group.group);
                return wrong(format!("{here}pool"), what, format!("give one of {}", numbers.join(", ")));
            }
            self.check_volumes(&here, &page_set.volumes)?;
            number(&here, "pages", page_set.pages as f64, false)?;
            between(&here, "pages", page_set.pages as f64, 1.0, MOST_PAGES)?;
            number(&here, "skew", page_set.skew, true)?;
            between(&here, "skew", page_set.skew, 0.0, 10.0)?;
            if let Some(name) = &page_set.castout_owner {
                let members: Vec<&str> = group.member.iter().map(|one| one.name.as_str()).collect();
                known(format!("{here}castout_owner"), name, "member", &members)?;
            }
            if !(page_set.rows.is_finite() && page_set.rows >= 1.0) {
                let what = format!("a page of {} rows is not possible", page_set.rows);
                return wrong(format!("{here}rows"), what, "give 1 or more");
            }
            between(&here, "rows", page_set.rows, 1.0, MOST_ROWS)?;
        }
        self.check_path(path, group)?;
        share(path, "lock_avoidance", group.lock_avoidance)?;
        number(path, "lock_timeout", group.lock_timeout, false)?;
        number(path, "deadlock_cycle", group.deadlock_cycle, false)?;
        number(path, "pseudo_close", group.pseudo_close, false)?;
        between(path, "lock_timeout", group.lock_timeout, 0.001, MOST_WORK)?;
        // What is done again and again must not be done all the time.
        between(path, "deadlock_cycle", group.deadlock_cycle, 0.001, MOST_WORK)?;
        between(path, "pseudo_close", group.pseudo_close, 0.01, 1e9)?;
        times(path, MOST_SERVICE, &[("log_write", group.log_write)])?;
        check_distribution(&format!("{path}log_distribution"), group.log_distribution.as_ref())?;
        let waits = [("retained_lock_wait", group.retained_lock_wait), ("log_scan", group.log_scan)];
        times(path, MOST_WORK, &waits)?;
        self.check_shared(path, group)
    }

    /// What one member changes while another uses it needs a group buffer pool.
    fn check_shared(&self, path: &str, group: &Db2) -> Checked {
        for (at, page_set) in group.page_set.iter().enumerate() {
            let pool = group.pool.iter().find(|pool| pool.number == page_set.pool);
            if pool.is_none_or(|pool| pool.group.is_some()) {
                continue;
            }
            let (mut systems, mut changed) = (BTreeSet::new(), false);
            for class in &self.class {
                let here = class.references.iter().filter(|one| one.page_set == page_set.name && one.getpages > 0.0);
                let mut regions = self.region.iter().filter(|one| class.regions.contains(&one.name));
                if here.clone().next().is_none() || regions.clone().any(|one| one.db2.as_ref() != Some(&group.group)) {
                    continue;
                }
                changed |= here.clone().any(|one| one.update > 0.0);
                systems.extend(regions.by_ref().map(|one| one.system.as_str()));
            }
            if changed && systems.len() > 1 {
                let what = format!(
                    "page set {} is used by members on {} and changed, but pool {} has no group buffer pool",
                    page_set.name,
                    systems.into_iter().collect::<Vec<_>>().join(", "),
                    page_set.pool
                );
                let remedy = "give the pool a group, or put the page set into a pool that has one";
                return wrong(format!("{path}page_set[{at}].pool"), what, remedy);
            }
        }
        Ok(())
    }

    fn check_path(&self, path: &str, group: &Db2) -> Checked {
        let costs = &group.path;
        let paths = [
            ("getpage_us", costs.getpage_us),
            ("lock_us", costs.lock_us),
            ("read_us", costs.read_us),
            ("update_us", costs.update_us),
            ("commit_us", costs.commit_us),
            ("write_us", costs.write_us),
            ("dependent_us", costs.dependent_us),
            ("page_lock_us", costs.page_lock_us),
            ("castout_us", costs.castout_us),
            ("global_lock_us", costs.global_lock_us),
            ("group_request_us", costs.group_request_us),
        ];
        times(&format!("{path}path."), MOST_MICROSECONDS, &paths)?;
        let services = &group.services;
        let spaces = [("dbm1_us", services.dbm1_us), ("mstr_us", services.mstr_us), ("irlm_us", services.irlm_us)];
        times(&format!("{path}services."), MOST_MICROSECONDS, &spaces)
    }

    fn check_places(&self, path: &str, places: &Places<'_>) -> Checked {
        let facilities = self.names_of_facilities();
        if let Some(duplex) = places.duplex {
            known(format!("{path}duplex"), duplex, "coupling facility", &facilities)?;
            if duplex == places.first {
                let what = format!("the first instance is in {duplex} too");
                return wrong(format!("{path}duplex"), what, "name another coupling facility, or leave it out");
            }
        }
        for (at, name) in places.preference.iter().enumerate() {
            known(format!("{path}preference[{at}]"), name, "coupling facility", &facilities)?;
        }
        if !(0.0..=100.0).contains(&places.rebuild_percent) {
            let what = format!("{} is no percentage", places.rebuild_percent);
            return wrong(format!("{path}rebuild_percent"), what, "give a number from 0 to 100");
        }
        Ok(())
    }
}

/// Where a structure may be.
pub(crate) struct Places<'a> {
    /// Coupling facilities of both instances.
    pub first: &'a str,
    /// Second instance.
    pub duplex: Option<&'a str>,
    /// Where it may be rebuilt.
    pub preference: &'a [String],
    /// From which percentage of systems without connection on.
    pub rebuild_percent: f64,
}

impl<'a> Places<'a> {
    /// Of a lock structure.
    pub fn of_lock(lock: &'a LockStructure) -> Self {
        Self {
            first: &lock.coupling_facility,
            duplex: lock.duplex.as_deref(),
            preference: &lock.preference,
            rebuild_percent: lock.rebuild_percent,
        }
    }

    /// Of a group buffer pool.
    pub fn of_pool(pool: &'a GroupPool) -> Self {
        Self {
            first: &pool.coupling_facility,
            duplex: pool.duplex.as_deref(),
            preference: &pool.preference,
            rebuild_percent: pool.rebuild_percent,
        }
    }
}
