//! Which pool a data set's references go to, when it is not the one that the trace records.

use crate::page_table::PageTable;
use crate::trace::{References, TraceError};

/// Data sets and the pools that they are placed in; all others stay where the trace has them.
pub struct Placement {
    pools: PageTable,
    /// The data sets seen last, by a hash, with their pools or [`STAYS`].
    recent: Vec<(u64, u32)>,
    /// Pools of the rows placed last.
    placed: Vec<u16>,
}

const RECENT: usize = 1024;
const STAYS: u32 = u32::MAX;

impl Placement {
    /// Pools by data set (object and partition).
    pub fn new(pools: impl IntoIterator<Item = ((u32, u16), u16)>) -> Self {
        let mut table = PageTable::new();
        for ((object, partition), pool) in pools {
            table.replace(id(object, partition), u32::from(pool));
        }
        Self { pools: table, recent: vec![(u64::MAX, STAYS); RECENT], placed: Vec::new() }
    }

    /// The rows as they are when their data sets are where this places them.
    pub fn apply<'a>(&'a mut self, rows: &References<'a>) -> Result<References<'a>, TraceError> {
        rows.check()?;
        self.placed.clear();
        self.placed.extend_from_slice(rows.pool);
        for ((placed, &object), &partition) in self.placed.iter_mut().zip(rows.object).zip(rows.partition) {
            let id = id(object, partition);
            let recent = &mut self.recent[(id.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize % RECENT];
            if recent.0 != id {
                *recent = (id, self.pools.get(id).unwrap_or(STAYS));
            }
            if recent.1 != STAYS {
                *placed = recent.1 as u16;
            }
        }
        Ok(References { pool: &self.placed, ..*rows })
    }
}

/// The same by the numbers of data sets, for the rows of a trace whose data sets are numbered.
#[derive(Default)]
pub(crate) struct Moved {
    pools: Option<PageTable>,
    /// Pool of each data set, or [`STAYS`].
    by_number: Vec<u32>,
}

impl Moved {
    pub fn new(placement: Option<Placement>) -> Self {
        Self { pools: placement.map(|placement| placement.pools), by_number: Vec::new() }
    }

    /// Data sets by number, of which some may be new.
    pub fn know(&mut self, data_sets: &[(u32, u16)]) {
        let Some(pools) = &self.pools else { return };
        for &(object, partition) in &data_sets[self.by_number.len()..] {
            self.by_number.push(pools.get(id(object, partition)).unwrap_or(STAYS));
        }
    }

    /// Pool of a row of a data set that is known, which the trace has in the pool `stays`.
    #[inline(always)]
    pub fn pool(&self, data_set: u32, stays: u16) -> u16 {
        match self.by_number.get(data_set as usize) {
            Some(&pool) if pool != STAYS => pool as u16,
            _ => stays,
        }
    }
}

#[inline(always)]
fn id(object: u32, partition: u16) -> u64 {
    u64::from(object) << 16 | u64::from(partition)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placed_data_sets_move_and_others_stay() {
        let object = [1u32, 1, 2, 1 << 31, 1];
        let partition = [0u16, 7, 0, 7, 0];
        let rows = References {
            time: &[0; 5],
            member: &[0; 5],
            pool: &[2, 2, 2, 3, 4],
            object: &object,
            partition: &partition,
            page: &[0; 5],
            function: &[0; 5],
            access: &[0; 5],
            ..References::default()
        };
        let mut placement = Placement::new([((1, 0), 10), ((1 << 31, 7), 0), ((99, 0), 5)]);
        for _ in 0..2 {
            let placed = placement.apply(&rows).unwrap();
            assert_eq!(placed.pool, [10, 2, 2, 0, 10]);
            assert_eq!((placed.object, placed.partition), (&object[..], &partition[..]));
        }
    }
}
