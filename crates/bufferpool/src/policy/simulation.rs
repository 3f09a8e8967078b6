//! All pools of a trace, each in its configuration.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::config::{ConfigError, PoolConfig};
use super::counters::Counters;
use super::pool::{BufferPool, Reference};
use crate::placement::{Moved, Placement};
use crate::trace::{Access, DataSets, Function, References, TraceError};

/// Rows worked on together: so few that their events stay in the processor's cache.
const STRETCH: usize = 1 << 16;

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

    /// Works on the events of these rows.
    fn work(&mut self, events: &[(Function, Reference)], rows: &[u16]) {
        for (at, &row) in rows.iter().enumerate() {
            if let Some(&later) = rows.get(at + AHEAD) {
                self.pool.foresee(&events[usize::from(later)].1);
            }
            if let Some(&later) = rows.get(at + AHEAD / 2) {
                self.pool.foresee_thread(&events[usize::from(later)].1);
            }
            let (function, one) = &events[usize::from(row)];
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

/// One configuration of each pool, and which rows of a stretch go to which.
struct Run {
    pools: BTreeMap<u16, SimulatedPool>,
    /// Place of each pool in the order of the ids, by id; [`NOWHERE`] of those without a configuration.
    places: Vec<u16>,
    /// Rows of the stretch by place.
    rows: Vec<Vec<u16>>,
    moved: Moved,
    without: BTreeMap<u16, u64>,
}

const NOWHERE: u16 = u16::MAX;

impl Run {
    fn new(configs: &Configs, interval: Option<i64>, moved: Moved) -> Result<Self, ConfigError> {
        let mut pools = BTreeMap::new();
        let mut places = Vec::new();
        for (place, (&id, config)) in configs.iter().enumerate() {
            config.check()?;
            let pool = SimulatedPool {
                pool: BufferPool::new(config),
                interval,
                next: None,
                snapshots: Vec::new(),
                sequential: (0, 0),
            };
            pools.insert(id, pool);
            places.resize(usize::from(id), NOWHERE);
            places.push(place as u16);
        }
        let rows = vec![Vec::new(); pools.len()];
        Ok(Self { pools, places, rows, moved, without: BTreeMap::new() })
    }

    /// A stretch: its events, and the pools that the trace has them in.
    fn work(&mut self, stretch: &Stretch, pools: &[u16]) {
        self.moved.know(stretch.data_sets.known());
        for (row, ((_, one), &id)) in stretch.events.iter().zip(pools).enumerate() {
            let id = self.moved.pool(one.data_set, id);
            match self.places.get(usize::from(id)) {
                Some(&place) if place != NOWHERE => self.rows[usize::from(place)].push(row as u16),
                _ => *self.without.entry(id).or_default() += 1,
            }
        }
        for &(row, pages) in &stretch.sized {
            let (_, one) = &stretch.events[row];
            if let Some(pool) = self.pools.get_mut(&self.moved.pool(one.data_set, pools[row])) {
                pool.pool.set_pages(one.data_set, pages);
            }
        }
        let work: Vec<_> = self.pools.values_mut().zip(&self.rows).filter(|(_, rows)| !rows.is_empty()).collect();
        work.into_par_iter().for_each(|(pool, rows)| pool.work(&stretch.events, rows));
        self.rows.iter_mut().for_each(Vec::clear);
    }
}

/// Rows worked on together, which are the same for every configuration.
struct Stretch {
    data_sets: DataSets,
    events: Vec<(Function, Reference)>,
    pages: BTreeMap<(u32, u16), u64>,
    /// Rows in which a data set appears first whose size is known, and its pages.
    sized: Vec<(usize, u64)>,
}

impl Stretch {
    fn read(&mut self, rows: &References<'_>, from: usize, to: usize) -> Result<(), TraceError> {
        self.events.clear();
        self.sized.clear();
        for row in from..to {
            let known = self.data_sets.known().len();
            let data_set = self.data_sets.number(rows.object[row], rows.partition[row]);
            let key = self.data_sets.key(data_set, rows.page[row]).ok_or(TraceError::DataSets { row })?;
            if self.data_sets.known().len() > known
                && let Some(&pages) = self.pages.get(&(rows.object[row], rows.partition[row]))
            {
                self.sized.push((self.events.len(), pages));
            }
            let access = Access::ALL[usize::from(rows.access[row])].0;
            let function = Function::ALL[usize::from(rows.function[row])].0;
            let (agent, status) = (rows.agent_of(row), rows.status_of(row));
            self.events.push((function, Reference { time: rows.time[row], key, data_set, agent, access, status }));
        }
        Ok(())
    }
}

/// A configuration of each pool by its id.
pub type Configs = BTreeMap<u16, PoolConfig>;

/// Several configurations of the pools of a trace, simulated side by side while stretches of it are added. They share
/// the work on the trace itself: each row's page is named once.
pub struct Simulations {
    stretch: Stretch,
    runs: Vec<Run>,
}

impl Simulations {
    /// Pools by id, and where data sets are that are not where the trace has them. With an `interval` (microseconds)
    /// counters are kept at the end of each.
    pub fn new(
        runs: impl IntoIterator<Item = (Configs, Option<Placement>)>,
        interval: Option<i64>,
    ) -> Result<Self, ConfigError> {
        if let Some(found) = interval.filter(|&every| every <= 0) {
            return Err(ConfigError { setting: "interval", found, allowed: "more than 0 microseconds" });
        }
        let runs = runs.into_iter().map(|(configs, placement)| Run::new(&configs, interval, Moved::new(placement)));
        let data_sets = DataSets::new();
        Ok(Self {
            stretch: Stretch { data_sets, events: Vec::new(), pages: BTreeMap::new(), sized: Vec::new() },
            runs: runs.collect::<Result<_, _>>()?,
        })
    }

    /// Says how many pages an object's partition has: prefetch ends there, and PGSTEAL(NONE) loads so many. To be said
    /// before its first reference.
    pub fn set_pages(&mut self, object: u32, partition: u16, pages: u64) {
        self.stretch.pages.insert((object, partition), pages);
    }

    /// Adds the next stretch of the trace. Where it is cut changes nothing.
    pub fn add(&mut self, rows: &References<'_>) -> Result<(), TraceError> {
        rows.check()?;
        for from in (0..rows.len()).step_by(STRETCH) {
            let to = (from + STRETCH).min(rows.len());
            self.stretch.read(rows, from, to)?;
            let (stretch, pools) = (&self.stretch, &rows.pool[from..to]);
            match &mut self.runs[..] {
                [run] => run.work(stretch, pools),
                runs => runs.par_iter_mut().for_each(|run| run.work(stretch, pools)),
            }
        }
        Ok(())
    }

    /// Pools of a configuration by id.
    pub fn pools(&self, run: usize) -> &BTreeMap<u16, SimulatedPool> {
        &self.runs[run].pools
    }

    /// Number of configurations.
    pub fn len(&self) -> usize {
        self.runs.len()
    }

    /// Whether there is no configuration.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Data sets, numbered as the pools number them.
    pub fn data_sets(&self) -> &DataSets {
        &self.stretch.data_sets
    }

    /// Rows of pools that a configuration does not have, and so were left out of it.
    pub fn without_configuration(&self, run: usize) -> &BTreeMap<u16, u64> {
        &self.runs[run].without
    }
}

/// The simulation of one configuration.
pub struct Simulation(Simulations);

impl Simulation {
    /// Pools by id. With an `interval` (microseconds) counters are kept at the end of each.
    pub fn new(configs: &Configs, interval: Option<i64>) -> Result<Self, ConfigError> {
        Simulations::new([(configs.clone(), None)], interval).map(Self)
    }

    /// As [`Simulations::set_pages`].
    pub fn set_pages(&mut self, object: u32, partition: u16, pages: u64) {
        self.0.set_pages(object, partition, pages);
    }

    /// Adds the next stretch of the trace. Where it is cut changes nothing.
    pub fn add(&mut self, rows: &References<'_>) -> Result<(), TraceError> {
        self.0.add(rows)
    }

    /// Pools by id.
    pub fn pools(&self) -> &BTreeMap<u16, SimulatedPool> {
        self.0.pools(0)
    }

    /// Data sets, numbered as the pools number them.
    pub fn data_sets(&self) -> &DataSets {
        self.0.data_sets()
    }

    /// Rows of pools that have no configuration, and so were left out.
    pub fn without_configuration(&self) -> &BTreeMap<u16, u64> {
        self.0.without_configuration(0)
    }
}
