//! Which data sets several members share.

use std::collections::{BTreeMap, BTreeSet};

use crate::trace::{Function, References, TraceError};

/// The members that use each data set of a pool, found in a pass over the trace.
#[derive(Clone, Debug, Default)]
pub struct Interest {
    /// By object and partition: members that refer to it, and members that change it, as bits.
    members: BTreeMap<(u32, u16), ([u64; 4], bool)>,
}

impl Interest {
    /// Nothing seen yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a stretch of the trace; rows of other pools are passed over.
    pub fn add(&mut self, pool: u16, rows: &References<'_>) -> Result<(), TraceError> {
        rows.check()?;
        for row in (0..rows.len()).filter(|&row| rows.pool[row] == pool) {
            let (members, changed) = self.members.entry((rows.object[row], rows.partition[row])).or_default();
            if rows.function[row] != Function::Commit as u8 {
                let member = rows.member[row];
                members[usize::from(member / 64)] |= 1 << (member % 64);
            }
            *changed |= rows.function[row] == Function::SetWrite as u8;
        }
        Ok(())
    }

    /// Data sets (object and partition) that more than one member uses and one at least changes.
    pub fn dependent(&self) -> BTreeSet<(u32, u16)> {
        let shared = self.members.iter().filter(|(_, (members, changed))| {
            *changed && members.iter().map(|bits| bits.count_ones()).sum::<u32>() > 1
        });
        shared.map(|(&data_set, _)| data_set).collect()
    }
}
