//! All pools of a trace, each in its configuration.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::config::{ConfigError, PoolConfig};
use super::counters::Counters;
use super::pool::{BufferPool, Reference};
use crate::trace::{Access, DataSets, Function, References, TraceError};

/// Rows worked on together: so few that their events stay in the processor's cache.
const STRETCH: usize = 1 << 13;

/// How many events before its turn an event's memory is asked for.
const AHEAD: usize = 24;

/// A pool's counters as they stood at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Microseconds; everything before this moment is counted, nothing from it on.
    pub time: i64,
    /// Counters since the beginning.
    pub counters: Counters,
    /// Fewest and most buffers on the sequential chain since the snapshot before (QBSTSMIN, QBSTSMAX).
    pub sequential: (u32, u32),
}

/// One simulated pool.
pub struct SimulatedPool {
    pool: BufferPool,
    events: Vec<(Function, Reference)>,
    interval: Option<i64>,
    next: Option<i64>,
    snapshots: Vec<Snapshot>,
    sequential: (u32, u32),
}

impl SimulatedPool {
    /// The pool.
    pub fn pool(&self) -> &BufferPool {
        &self.pool
    }

    /// Counters at the end of each full interval so far.
    pub fn snapshots(&self) -> &[Snapshot] {
        &self.snapshots
    }

    fn work(&mut self) {
        let events = std::mem::take(&mut self.events);
        for (at, (function, one)) in events.iter().enumerate() {
            if let Some((_, later)) = events.get(at + AHEAD) {
                self.pool.fetch(later.key);
            }
            if let Some(interval) = self.interval {
                self.pass_time(one.time, interval);
            }
            match function {
                Function::Getpage => self.pool.getpage(one),
                Function::SetWrite => self.pool.set_write(one),
                Function::Release => self.pool.release(one),
                Function::Read | Function::Prefetch => self.pool.recorded(one.time),
                Function::Commit => {}
            }
            if self.interval.is_some() {
                let now = self.pool.on_sequential();
                self.sequential = (self.sequential.0.min(now), self.sequential.1.max(now));
            }
        }
        self.events = events;
        self.events.clear();
    }

    fn pass_time(&mut self, now: i64, interval: i64) {
        let next = self.next.get_or_insert_with(|| now.saturating_add(interval));
        while now >= *next {
            let (time, counters) = (*next, *self.pool.counters());
            self.snapshots.push(Snapshot { time, counters, sequential: self.sequential });
            self.sequential = (self.pool.on_sequential(), self.pool.on_sequential());
            *next = next.saturating_add(interval);
        }
    }
}

/// The simulation of a trace, while stretches of it are added.
pub struct Simulation {
    data_sets: DataSets,
    pools: BTreeMap<u16, SimulatedPool>,
    without: BTreeMap<u16, u64>,
    pages: BTreeMap<(u32, u16), u64>,
}

impl Simulation {
    /// Pools by id. With an `interval` (microseconds) counters are kept at the end of each.
    pub fn new(configs: &BTreeMap<u16, PoolConfig>, interval: Option<i64>) -> Result<Self, ConfigError> {
        if let Some(found) = interval.filter(|&every| every <= 0) {
            return Err(ConfigError { setting: "interval", found, allowed: "more than 0 microseconds" });
        }
        let mut pools = BTreeMap::new();
        for (&id, config) in configs {
            config.check()?;
            let pool = SimulatedPool {
                pool: BufferPool::new(config),
                events: Vec::new(),
                interval,
                next: None,
                snapshots: Vec::new(),
                sequential: (0, 0),
            };
            pools.insert(id, pool);
        }
        Ok(Self { data_sets: DataSets::new(), pools, without: BTreeMap::new(), pages: BTreeMap::new() })
    }

    /// Says how many pages an object's partition has: prefetch ends there, and PGSTEAL(NONE) loads so many. To be said
    /// before its first reference.
    pub fn set_pages(&mut self, object: u32, partition: u16, pages: u64) {
        self.pages.insert((object, partition), pages);
    }

    /// Adds the next stretch of the trace. Where it is cut changes nothing.
    pub fn add(&mut self, rows: &References<'_>) -> Result<(), TraceError> {
        rows.check()?;
        let mut at = 0;
        while at < rows.len() {
            let until = (at + STRETCH).min(rows.len());
            while at < until {
                let (id, run) = rows.pool_run(at, until);
                at = self.add_run(rows, id, at, at + run)?;
            }
            self.pools.par_iter_mut().for_each(|(_, pool)| pool.work());
        }
        Ok(())
    }

    /// Rows of one pool; where they end.
    fn add_run(&mut self, rows: &References<'_>, id: u16, from: usize, to: usize) -> Result<usize, TraceError> {
        let Some(pool) = self.pools.get_mut(&id) else {
            *self.without.entry(id).or_default() += (to - from) as u64;
            return Ok(to);
        };
        for row in from..to {
            let known = self.data_sets.known().len();
            let data_set = self.data_sets.number(rows.object[row], rows.partition[row]);
            let key = self.data_sets.key(data_set, rows.page[row]).ok_or(TraceError::DataSets { row })?;
            if self.data_sets.known().len() > known
                && let Some(&pages) = self.pages.get(&(rows.object[row], rows.partition[row]))
            {
                pool.pool.set_pages(data_set, pages);
            }
            let access = Access::ALL[usize::from(rows.access[row])].0;
            let function = Function::ALL[usize::from(rows.function[row])].0;
            let (agent, status) = (rows.agent_of(row), rows.status_of(row));
            pool.events.push((function, Reference { time: rows.time[row], key, data_set, agent, access, status }));
        }
        Ok(to)
    }

    /// Pools by id.
    pub fn pools(&self) -> &BTreeMap<u16, SimulatedPool> {
        &self.pools
    }

    /// Data sets, numbered as the pools number them.
    pub fn data_sets(&self) -> &DataSets {
        &self.data_sets
    }

    /// Rows of pools that have no configuration, and so were left out.
    pub fn without_configuration(&self) -> &BTreeMap<u16, u64> {
        &self.without
    }
}
