//! Which data sets several members share.

use std::collections::{BTreeMap, BTreeSet};

use crate::trace::{Function, References, TraceError};

/// A data set in a pool: pool, object, partition.
type Place = (u16, u32, u16);

/// Members that refer to a data set, as bits, and whether one changes it.
#[derive(Clone, Copy, Debug, Default)]
struct Use {
    members: [u64; 4],
    changed: bool,
}

/// The members that use each data set of each pool, found in a pass over the trace.
#[derive(Clone, Debug, Default)]
pub struct Interest {
    uses: BTreeMap<Place, Use>,
}

impl Interest {
    /// Nothing seen yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a stretch of the trace.
    pub fn add(&mut self, rows: &References<'_>) -> Result<(), TraceError> {
        rows.check()?;
        // Rows of one data set often follow each other.
        let mut last: Option<(Place, Use)> = None;
        for row in 0..rows.len() {
            let place = (rows.pool[row], rows.object[row], rows.partition[row]);
            if last.is_none_or(|(before, _)| before != place) {
                self.uses.extend(last);
                last = Some((place, self.uses.get(&place).copied().unwrap_or_default()));
            }
            if let Some((_, of)) = &mut last {
                if rows.function[row] != Function::Commit as u8 {
                    let member = rows.member[row];
                    of.members[usize::from(member / 64)] |= 1 << (member % 64);
                }
                of.changed |= rows.function[row] == Function::SetWrite as u8;
            }
        }
        self.uses.extend(last);
        Ok(())
    }

    /// Pools of the trace.
    pub fn pools(&self) -> BTreeSet<u16> {
        self.uses.keys().map(|&(pool, _, _)| pool).collect()
    }

    /// Data sets of a pool (object and partition) that more than one member uses and one at least changes.
    pub fn dependent(&self, pool: u16) -> BTreeSet<(u32, u16)> {
        let of_pool = self.uses.range((pool, 0, 0)..=(pool, u32::MAX, u16::MAX));
        let shared =
            of_pool.filter(|(_, of)| of.changed && of.members.iter().map(|bits| bits.count_ones()).sum::<u32>() > 1);
        shared.map(|(&(_, object, partition), _)| (object, partition)).collect()
    }
}
