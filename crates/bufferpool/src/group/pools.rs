//! All pools of a group.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use super::config::GroupConfig;
use super::simulation::GroupSimulation;
use crate::policy::{ConfigError, PoolConfig};
use crate::trace::{References, TraceError};

/// A pool of a group: its configuration at each member, the structure between them, and the data sets (object and
/// partition) that are kept coherent through it.
#[derive(Clone, Debug)]
pub struct GroupPool {
    /// Configuration of the pool by member.
    pub members: BTreeMap<u8, PoolConfig>,
    /// Group buffer pool.
    pub structure: GroupConfig,
    /// Dependent data sets ([`super::Interest`] finds them).
    pub dependent: BTreeSet<(u32, u16)>,
}

/// The simulation of a group's pools, side by side on all cores.
pub struct GroupPools {
    pools: BTreeMap<u16, GroupSimulation>,
    without: BTreeMap<(u16, u8), u64>,
}

impl GroupPools {
    /// Pools by id.
    pub fn new(pools: BTreeMap<u16, GroupPool>) -> Result<Self, ConfigError> {
        let made = pools
            .into_iter()
            .map(|(id, pool)| Ok((id, GroupSimulation::new(id, &pool.members, &pool.structure, pool.dependent)?)));
        Ok(Self { pools: made.collect::<Result<_, ConfigError>>()?, without: BTreeMap::new() })
    }

    /// Adds the next stretch of the trace. Where it is cut changes nothing.
    pub fn add(&mut self, rows: &References<'_>) -> Result<(), TraceError> {
        rows.check()?;
        for (&pool, &member) in rows.pool.iter().zip(rows.member) {
            if !self.pools.get(&pool).is_some_and(|known| known.has(member)) {
                *self.without.entry((pool, member)).or_default() += 1;
            }
        }
        self.pools.par_iter_mut().try_for_each(|(_, pool)| pool.add(rows))
    }

    /// Pools by id.
    pub fn pools(&self) -> &BTreeMap<u16, GroupSimulation> {
        &self.pools
    }

    /// Rows left out because their pool has no configuration at their member, by both.
    pub fn without_configuration(&self) -> &BTreeMap<(u16, u8), u64> {
        &self.without
    }
}
