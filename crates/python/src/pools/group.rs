//! `_core.GroupInterest` and `_core.GroupSimulation`: pools of several members with group buffer pools between them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use plexlens_bufferpool::group::{
    GroupCounters, GroupPool, GroupPools, GroupSimulation as OnePool, Interest, MemberGroupCounters,
};
use plexlens_bufferpool::policy::{Counters, DataSetCounters};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3_arrow::PyRecordBatch;

use super::settings::{config, group_config};
use super::{Named, by_name, locked, references, refused};

/// Object and partition.
type DataSet = (u32, u16);

/// Object, partition, counters.
type DataSetRow = (u32, u16, Named);

/// Which data sets of each pool several members share, found in a pass over a trace.
#[pyclass(module = "plexlens._core", frozen)]
pub struct GroupInterest {
    interest: Mutex<Interest>,
}

#[pymethods]
impl GroupInterest {
    #[new]
    fn new() -> Self {
        Self { interest: Mutex::new(Interest::new()) }
    }

    fn add(&self, py: Python<'_>, batch: PyRecordBatch) -> PyResult<()> {
        let batch = batch.into_inner();
        let rows = references(&batch)?;
        py.detach(|| locked(&self.interest).add(&rows)).map_err(refused)
    }

    fn dependent(&self) -> BTreeMap<u16, Vec<DataSet>> {
        let interest = locked(&self.interest);
        let pools = interest.pools().into_iter();
        pools.map(|pool| (pool, interest.dependent(pool).into_iter().collect())).collect()
    }
}

/// Pools of a data-sharing group, event by event.
#[pyclass(module = "plexlens._core", frozen)]
pub struct GroupSimulation {
    simulation: Mutex<GroupPools>,
}

/// Settings of each pool's members.
type Members<'py> = BTreeMap<u16, BTreeMap<u8, Bound<'py, PyDict>>>;

impl GroupSimulation {
    fn of<T>(&self, pool: u16, work: impl FnOnce(&OnePool) -> PyResult<T>) -> PyResult<T> {
        match locked(&self.simulation).pools().get(&pool) {
            Some(known) => work(known),
            None => Err(PyKeyError::new_err(format!("pool {pool} has no configuration"))),
        }
    }

    fn by_member<T>(&self, pool: u16, counted: impl Fn(&OnePool, u8) -> T) -> PyResult<BTreeMap<u8, T>> {
        self.of(pool, |known| Ok(known.members().map(|member| (member, counted(known, member))).collect()))
    }
}

#[pymethods]
impl GroupSimulation {
    #[new]
    #[pyo3(signature = (pools, structures, dependent))]
    fn new(
        pools: Members<'_>,
        structures: BTreeMap<u16, Bound<'_, PyDict>>,
        dependent: BTreeMap<u16, Vec<DataSet>>,
    ) -> PyResult<Self> {
        if let Some(pool) = structures.keys().find(|&pool| !pools.contains_key(pool)) {
            return Err(refused(format!(
                "structure of pool {pool} has no pools; give the pool's settings at each member"
            )));
        }
        let mut made = BTreeMap::new();
        for (id, members) in &pools {
            let Some(structure) = structures.get(id) else {
                return Err(refused(format!("pool {id} has no structure; give its group buffer pool's settings")));
            };
            let members = members.iter().map(|(&member, settings)| Ok((member, config(settings)?)));
            let pool = GroupPool {
                members: members.collect::<PyResult<_>>()?,
                structure: group_config(structure)?,
                dependent: dependent.get(id).into_iter().flatten().copied().collect::<BTreeSet<_>>(),
            };
            made.insert(*id, pool);
        }
        Ok(Self { simulation: Mutex::new(GroupPools::new(made).map_err(refused)?) })
    }

    fn add(&self, py: Python<'_>, batch: PyRecordBatch) -> PyResult<()> {
        let batch = batch.into_inner();
        let rows = references(&batch)?;
        py.detach(|| locked(&self.simulation).add(&rows)).map_err(refused)
    }

    fn structure(&self, pool: u16) -> PyResult<Named> {
        self.of(pool, |known| Ok(by_name(GroupCounters::FIELDS, &known.group_counters().values())))
    }

    fn members(&self, pool: u16) -> PyResult<BTreeMap<u8, Named>> {
        self.by_member(pool, |known, member| {
            by_name(MemberGroupCounters::FIELDS, &known.member_counters(member).values())
        })
    }

    fn pools(&self, pool: u16) -> PyResult<BTreeMap<u8, Named>> {
        self.by_member(pool, |known, member| {
            by_name(Counters::FIELDS, &known.pool_counters(member).unwrap_or_default().values())
        })
    }

    fn data_sets(&self, pool: u16) -> PyResult<BTreeMap<u8, Vec<DataSetRow>>> {
        self.by_member(pool, |known, member| {
            let numbered = (0..).zip(known.data_sets().known());
            let counted = numbered.filter_map(|(number, &(object, partition))| {
                let counters = known.data_set_counters(member, number)?;
                let named = by_name(DataSetCounters::FIELDS, &counters.values());
                (counters != DataSetCounters::default()).then_some((object, partition, named))
            });
            counted.collect()
        })
    }

    fn without_configuration(&self) -> BTreeMap<(u16, u8), u64> {
        locked(&self.simulation).without_configuration().clone()
    }

    /// Name, field of the statistics record, and meaning of each counter of a structure.
    #[staticmethod]
    fn structure_fields() -> Vec<(&'static str, &'static str, &'static str)> {
        trimmed(GroupCounters::FIELDS)
    }

    /// The same of what a member counts.
    #[staticmethod]
    fn member_fields() -> Vec<(&'static str, &'static str, &'static str)> {
        trimmed(MemberGroupCounters::FIELDS)
    }
}

fn trimmed(
    fields: &'static [(&'static str, &'static str, &'static str)],
) -> Vec<(&'static str, &'static str, &'static str)> {
    fields.iter().map(|&(name, field, about)| (name, field, about.trim())).collect()
}
