//! Page-reference traces as columns.
//!
//! A row is one event at one page: a getpage, a page marked for writing, its release, or a read or prefetch that the
//! system did. The crate takes columns and returns counts; files and record formats are the business of the layers
//! that call it.

use thiserror::Error;

use crate::page_table::PageTable;

/// What happened to a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Function {
    /// A request for the page: the reference that hits or misses.
    Getpage = 0,
    /// The page is about to be changed.
    SetWrite = 1,
    /// The requester is done with the page.
    Release = 2,
    /// The system read the page synchronously.
    Read = 3,
    /// The system read the page by prefetch.
    Prefetch = 4,
    /// The member committed; its changed pages of this object go to the group buffer pool.
    Commit = 5,
}

impl Function {
    /// All functions in the order of their codes, with their names.
    pub const ALL: [(Self, &'static str); 6] = [
        (Self::Getpage, "getpage"),
        (Self::SetWrite, "set_write"),
        (Self::Release, "release"),
        (Self::Read, "read"),
        (Self::Prefetch, "prefetch"),
        (Self::Commit, "commit"),
    ];
}

/// How a getpage came about, as the trace records it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Access {
    /// One page by itself.
    Random = 0,
    /// A scan that was planned as one.
    Sequential = 1,
    /// A page of a sorted list of row identifiers.
    List = 2,
    /// A scan that the system noticed while it ran.
    Dynamic = 3,
}

impl Access {
    /// All kinds of access in the order of their codes, with their names.
    pub const ALL: [(Self, &'static str); 4] =
        [(Self::Random, "random"), (Self::Sequential, "sequential"), (Self::List, "list"), (Self::Dynamic, "dynamic")];
}

/// What became of a getpage, as the trace records it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Status {
    /// The trace does not say.
    #[default]
    Unknown = 0,
    /// The page was in the pool.
    Hit = 1,
    /// It was not.
    Miss = 2,
    /// It was not, and was not read either: its contents are made anew.
    NoRead = 3,
}

impl Status {
    /// All statuses in the order of their codes, with their names.
    pub const ALL: [(Self, &'static str); 4] =
        [(Self::Unknown, "unknown"), (Self::Hit, "hit"), (Self::Miss, "miss"), (Self::NoRead, "no_read")];
}

/// Columns of a stretch of a trace, all of one length, in the order in which things happened. The last two may be empty:
/// then the trace does not tell agents apart, or does not say what became of getpages.
#[derive(Clone, Copy, Debug, Default)]
pub struct References<'a> {
    /// Microseconds since any fixed moment.
    pub time: &'a [i64],
    /// Member of the data-sharing group; 0 where there is one.
    pub member: &'a [u8],
    /// Buffer pool id.
    pub pool: &'a [u16],
    /// Object: database id and object id in one number, or any other number that tells objects apart.
    pub object: &'a [u32],
    /// Partition; 0 where there is none.
    pub partition: &'a [u16],
    /// Page number in the partition.
    pub page: &'a [u64],
    /// A [`Function`] code.
    pub function: &'a [u8],
    /// An [`Access`] code.
    pub access: &'a [u8],
    /// The thread; 0 where it is not known.
    pub agent: &'a [u32],
    /// A [`Status`] code.
    pub status: &'a [u8],
}

/// Columns that are no trace.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum TraceError {
    /// Columns of different lengths.
    #[error("column {column} has {found} rows and column time {expected}; a trace needs all columns of one length")]
    Length {
        /// The column.
        column: &'static str,
        /// Its rows.
        found: usize,
        /// Rows of the first column.
        expected: usize,
    },
    /// A code without meaning.
    #[error("row {row}: {column} is {found}, which is none of the codes 0 to {highest}")]
    Code {
        /// The column.
        column: &'static str,
        /// Row of the batch, from 0.
        row: usize,
        /// What stands there.
        found: u8,
        /// The highest code.
        highest: u8,
    },
    /// More data sets than page keys can tell apart.
    #[error("row {row}: more than {MOST_EXTENTS} data sets; split the trace by pool or object")]
    DataSets {
        /// Row of the batch, from 0.
        row: usize,
    },
}

impl References<'_> {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.time.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.time.is_empty()
    }

    /// Checks lengths and codes.
    pub fn check(&self) -> Result<(), TraceError> {
        let expected = self.len();
        let lengths = [
            ("member", self.member.len()),
            ("pool", self.pool.len()),
            ("object", self.object.len()),
            ("partition", self.partition.len()),
            ("page", self.page.len()),
            ("function", self.function.len()),
            ("access", self.access.len()),
        ];
        let optional = [("agent", self.agent.len()), ("status", self.status.len())];
        for (column, found) in lengths.into_iter().chain(optional.into_iter().filter(|&(_, found)| found > 0)) {
            if found != expected {
                return Err(TraceError::Length { column, found, expected });
            }
        }
        let columns = [
            ("function", self.function, Function::ALL.len()),
            ("access", self.access, Access::ALL.len()),
            ("status", self.status, Status::ALL.len()),
        ];
        for (column, codes, count) in columns {
            // The highest code is found with vector instructions, its row only where it is wrong.
            if usize::from(codes.iter().copied().max().unwrap_or(0)) >= count {
                let row = codes.iter().position(|&code| usize::from(code) >= count).unwrap_or(0);
                return Err(TraceError::Code { column, row, found: codes[row], highest: count as u8 - 1 });
            }
        }
        Ok(())
    }

    /// Agent of a row; 0 where it is not known.
    #[inline(always)]
    pub fn agent_of(&self, row: usize) -> u32 {
        self.agent.get(row).copied().unwrap_or(0)
    }

    /// Status of a row.
    #[inline(always)]
    pub fn status_of(&self, row: usize) -> Status {
        self.status.get(row).map_or(Status::Unknown, |&code| Status::ALL[usize::from(code)].0)
    }

    /// Pool of a row, and how many rows from there on, up to another, are of the same.
    pub(crate) fn pool_run(&self, from: usize, until: usize) -> (u16, usize) {
        let (id, mut at) = (self.pool[from], from);
        for strip in self.pool[from..until].chunks(256) {
            if strip.iter().fold(0, |sum, &pool| sum | (pool ^ id)) != 0 {
                at += strip.iter().take_while(|&&pool| pool == id).count();
                break;
            }
            at += strip.len();
        }
        (id, at - from)
    }

    /// Adds the rows of a run to counts by [`Function`].
    pub(crate) fn count_functions(&self, from: usize, run: usize, counts: &mut [u64; Function::ALL.len()]) {
        let functions = &self.function[from..from + run];
        let mut left = run as u64;
        for (count, (function, _)) in counts.iter_mut().zip(Function::ALL) {
            if left == 0 {
                break;
            }
            let here = functions.iter().filter(|&&code| code == function as u8).count() as u64;
            *count += here;
            left -= here;
        }
    }
}

/// Bits of a key that are the page in its extent.
pub(crate) const PAGE_BITS: u32 = 40;
/// The part of a key that is the page.
pub(crate) const PAGE_MASK: u64 = (1 << PAGE_BITS) - 1;
const MOST_EXTENTS: usize = 1 << (64 - PAGE_BITS);

/// Numbers data sets (object and partition) in the order of their first appearance, and turns their pages into keys.
///
/// A key is exact, not a hash: the upper 24 bits number the stretch of 2^40 pages of a data set, the lower 40 are the
/// page in it. Traces whose page ids fill all 64 bits have many such stretches, which are numbered alike.
pub struct DataSets {
    numbers: PageTable,
    known: Vec<(u32, u16)>,
    /// The data sets seen last, by a hash: most rows are found here without a search.
    recent: Vec<(u64, u32)>,
    extents: PageTable,
    /// Extent of the first 2^40 pages of each data set; there are hardly ever others.
    first_extent: Vec<u32>,
    extent_count: u32,
}

const RECENT: usize = 1024;

impl Default for DataSets {
    fn default() -> Self {
        Self::new()
    }
}

impl DataSets {
    /// None known yet.
    pub fn new() -> Self {
        Self {
            numbers: PageTable::new(),
            known: Vec::new(),
            recent: vec![(u64::MAX, 0); RECENT],
            extents: PageTable::new(),
            first_extent: Vec::new(),
            extent_count: 0,
        }
    }

    /// Object and partition of each number.
    pub fn known(&self) -> &[(u32, u16)] {
        &self.known
    }

    /// Number of a known data set.
    pub fn find(&self, object: u32, partition: u16) -> Option<u32> {
        self.numbers.get(u64::from(object) << 16 | u64::from(partition))
    }

    /// Number of a data set; new ones get the next.
    #[inline(always)]
    pub fn number(&mut self, object: u32, partition: u16) -> u32 {
        let id = u64::from(object) << 16 | u64::from(partition);
        let at = (id.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize % RECENT;
        let (recent, number) = self.recent[at];
        if recent == id {
            return number;
        }
        let number = self.search(id);
        self.recent[at] = (id, number);
        number
    }

    fn search(&mut self, id: u64) -> u32 {
        let (&mut number, new) = self.numbers.slot(id, self.known.len() as u32);
        if new {
            self.known.push(((id >> 16) as u32, id as u16));
            self.first_extent.push(u32::MAX);
        }
        number
    }

    /// Key of a page of a numbered data set; none when there are more stretches of pages than keys have room for.
    #[inline(always)]
    pub fn key(&mut self, number: u32, page: u64) -> Option<u64> {
        let mut extent = if page <= PAGE_MASK { self.first_extent[number as usize] } else { u32::MAX };
        if extent == u32::MAX {
            extent = self.extent(number, page >> PAGE_BITS)?;
        }
        Some(u64::from(extent) << PAGE_BITS | page & PAGE_MASK)
    }

    fn extent(&mut self, number: u32, high: u64) -> Option<u32> {
        let id = u64::from(number) << (64 - PAGE_BITS) | high;
        let extent = match self.extents.get(id) {
            Some(extent) => extent,
            None if self.extent_count as usize == MOST_EXTENTS => return None,
            None => {
                self.extents.replace(id, self.extent_count);
                self.extent_count += 1;
                self.extent_count - 1
            }
        };
        if high == 0 {
            self.first_extent[number as usize] = extent;
        }
        Some(extent)
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.numbers.bytes()
            + self.extents.bytes()
            + self.known.capacity() * size_of::<(u32, u16)>()
            + self.first_extent.capacity() * 4
            + RECENT * size_of::<(u64, u32)>()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn keys_tell_pages_apart_and_nothing_else(
            rows in prop::collection::vec((0u32..4, 0u16..3, prop_oneof![0u64..5, any::<u64>()]), 0..300)
        ) {
            let (mut sets, mut seen, mut taken) = (DataSets::new(), HashMap::new(), HashMap::new());
            for row in rows.iter().chain(&rows) {
                let number = sets.number(row.0, row.1);
                prop_assert_eq!(sets.known()[number as usize], (row.0, row.1));
                let key = sets.key(number, row.2).unwrap();
                prop_assert_eq!(*seen.entry(*row).or_insert(key), key);
                prop_assert_eq!(*taken.entry(key).or_insert(*row), *row);
            }
        }
    }

    #[test]
    fn columns_of_different_lengths_and_unknown_codes_are_refused() {
        let (time, bytes, pool, object) = ([0i64; 2], [0u8; 2], [0u16; 2], [0u32; 2]);
        let good = References {
            time: &time,
            member: &bytes,
            pool: &pool,
            object: &object,
            partition: &pool,
            page: &[1, 2],
            function: &bytes,
            access: &bytes,
            ..References::default()
        };
        assert_eq!(good.check(), Ok(()));
        let short = References { page: &[1], ..good };
        assert_eq!(
            short.check().unwrap_err().to_string(),
            "column page has 1 rows and column time 2; a trace needs all columns of one length"
        );
        let odd = References { access: &[3, 4], ..good };
        assert_eq!(odd.check().unwrap_err(), TraceError::Code { column: "access", row: 1, found: 4, highest: 3 });
        let odd = References { status: &[4, 0], ..good };
        assert_eq!(odd.check().unwrap_err(), TraceError::Code { column: "status", row: 0, found: 4, highest: 3 });
        let short = References { agent: &[1], ..good };
        assert!(short.check().unwrap_err().to_string().starts_with("column agent has 1 rows"));
        assert_eq!((good.agent_of(1), good.status_of(1)), (0, Status::Unknown));
    }
}
