//! One pool of all members, and the group buffer pool between them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::config::GroupConfig;
use super::structure::GroupBufferPool;
use crate::policy::{BufferPool, ConfigError, Coupling, PoolConfig, Reference};
use crate::trace::{Access, DataSets, Function, References, TraceError};

/// What members share.
struct Shared {
    structure: GroupBufferPool,
    /// By number of the data set.
    dependent: Vec<bool>,
}

/// Nobody else ever holds it at that moment: a simulation works on one event at a time.
fn locked(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A member's way to the group buffer pool.
struct Link {
    shared: Arc<Mutex<Shared>>,
    member: u8,
}

impl Coupling for Link {
    fn is_dependent(&self, data_set: u32) -> bool {
        locked(&self.shared).dependent[data_set as usize]
    }

    fn read(&mut self, key: u64, data_set: u32) -> bool {
        locked(&self.shared).structure.read(self.member, key, data_set, false)
    }

    fn read_ahead(&mut self, key: u64, data_set: u32, first: bool) -> bool {
        locked(&self.shared).structure.read_ahead(self.member, key, data_set, first)
    }

    fn is_valid(&self, key: u64) -> bool {
        locked(&self.shared).structure.is_registered(self.member, key)
    }

    fn reread(&mut self, key: u64, data_set: u32) -> bool {
        locked(&self.shared).structure.read(self.member, key, data_set, true)
    }

    fn forget(&mut self, key: u64, renamed: bool) {
        locked(&self.shared).structure.forget(self.member, key, renamed);
    }

    fn write(&mut self, key: u64, data_set: u32, synchronous: bool) {
        let structure = &mut locked(&self.shared).structure;
        structure.write(self.member, key, data_set, synchronous);
        // Counted; nobody lets time pass for them here.
        drop(structure.take_castouts());
    }
}

struct Member {
    pool: BufferPool<Link>,
    updates: u32,
}

/// The simulation of one pool of a group, while stretches of a trace are added.
pub struct GroupSimulation {
    pool: u16,
    data_sets: DataSets,
    shared: Arc<Mutex<Shared>>,
    dependent: BTreeSet<(u32, u16)>,
    members: BTreeMap<u8, Member>,
    updates_a_commit: Option<u32>,
    /// Member with changes of a page that it has not written.
    owners: BTreeMap<u64, u8>,
}

impl GroupSimulation {
    /// The pool of this id: its configuration at each member, the group buffer pool, and the dependent data sets (object
    /// and partition; [`super::Interest`] finds them).
    pub fn new(
        pool: u16,
        members: &BTreeMap<u8, PoolConfig>,
        group: &GroupConfig,
        dependent: BTreeSet<(u32, u16)>,
    ) -> Result<Self, ConfigError> {
        group.check()?;
        let structure = GroupBufferPool::new(group);
        let shared = Arc::new(Mutex::new(Shared { structure, dependent: Vec::new() }));
        let mut made = BTreeMap::new();
        for (&member, config) in members {
            config.check()?;
            let link = Link { shared: Arc::clone(&shared), member };
            made.insert(member, Member { pool: BufferPool::coupled(config, link), updates: 0 });
        }
        Ok(Self {
            pool,
            data_sets: DataSets::new(),
            shared,
            dependent,
            members: made,
            updates_a_commit: group.updates_a_commit,
            owners: BTreeMap::new(),
        })
    }

    /// Adds the next stretch of the trace; rows of other pools, and of members without a configuration, are passed over.
    /// Where it is cut changes nothing.
    pub fn add(&mut self, rows: &References<'_>) -> Result<(), TraceError> {
        rows.check()?;
        for row in 0..rows.len() {
            if rows.pool[row] != self.pool || !self.members.contains_key(&rows.member[row]) {
                continue;
            }
            let data_set = self.data_sets.number(rows.object[row], rows.partition[row]);
            let key = self.data_sets.key(data_set, rows.page[row]).ok_or(TraceError::DataSets { row })?;
            if data_set as usize == locked(&self.shared).dependent.len() {
                let dependent = self.dependent.contains(&(rows.object[row], rows.partition[row]));
                locked(&self.shared).dependent.push(dependent);
            }
            let access = Access::ALL[usize::from(rows.access[row])].0;
            let function = Function::ALL[usize::from(rows.function[row])].0;
            let (agent, status) = (rows.agent_of(row), rows.status_of(row));
            let one = Reference { time: rows.time[row], key, data_set, agent, access, status };
            self.event(rows.member[row], function, &one);
        }
        Ok(())
    }

    fn event(&mut self, number: u8, function: Function, reference: &Reference) {
        let dependent = locked(&self.shared).dependent[reference.data_set as usize];
        if dependent && matches!(function, Function::Getpage | Function::SetWrite) {
            self.negotiate(number, reference.key, function == Function::SetWrite);
        }
        let Some(member) = self.members.get_mut(&number) else { return };
        match function {
            Function::Getpage => member.pool.getpage(reference),
            Function::SetWrite => {
                member.pool.set_write(reference);
                member.updates += 1;
                if self.updates_a_commit.is_some_and(|every| member.updates >= every) {
                    self.commit(number);
                }
            }
            Function::Release => member.pool.release(reference),
            Function::Read | Function::Prefetch => member.pool.recorded(reference.time),
            Function::Commit => self.commit(number),
        }
    }

    /// A page that another member has changed and not written is written before this one gets it.
    fn negotiate(&mut self, member: u8, key: u64, change: bool) {
        if let Some(&owner) = self.owners.get(&key)
            && owner != member
        {
            self.owners.remove(&key);
            if let Some(other) = self.members.get_mut(&owner) {
                other.pool.give_up(key);
            }
        }
        if change {
            self.owners.insert(key, member);
        }
    }

    fn commit(&mut self, number: u8) {
        if let Some(member) = self.members.get_mut(&number) {
            member.updates = 0;
            member.pool.commit();
        }
        self.owners.retain(|_, owner| *owner != number);
    }

    /// A member's pool counters.
    pub fn pool_counters(&self, member: u8) -> Option<crate::policy::Counters> {
        self.members.get(&member).map(|known| *known.pool.counters())
    }

    /// Counters of a data set in a member's pool; data sets are numbered as [`GroupSimulation::data_sets`].
    pub fn data_set_counters(&self, member: u8, data_set: u32) -> Option<crate::policy::DataSetCounters> {
        self.members.get(&member).map(|known| known.pool.data_set_counters(data_set))
    }

    /// Data sets of the pool, numbered.
    pub fn data_sets(&self) -> &DataSets {
        &self.data_sets
    }

    /// Whether a member has a configuration.
    pub fn has(&self, member: u8) -> bool {
        self.members.contains_key(&member)
    }

    /// Members with a configuration.
    pub fn members(&self) -> impl Iterator<Item = u8> {
        self.members.keys().copied()
    }

    /// What a member counts of the group buffer pool.
    pub fn member_counters(&self, member: u8) -> super::MemberGroupCounters {
        *locked(&self.shared).structure.member_counters(member)
    }

    /// Counters of the group buffer pool.
    pub fn group_counters(&self) -> super::GroupCounters {
        *locked(&self.shared).structure.counters()
    }
}
