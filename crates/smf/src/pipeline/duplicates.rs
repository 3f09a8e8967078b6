//! Keeping each record once, though dumps overlap.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use crate::decode::{RecordView, record_hash};
use crate::stream::FrameBatch;

/// Record hashes are uniform already; hashing them again would only cost time.
#[derive(Debug, Default)]
pub(super) struct AsIs(u64);

impl Hasher for AsIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

pub(super) type Hashes = HashSet<u64, BuildHasherDefault<AsIs>>;

/// Hashes of the records held, day by day.
///
/// A record belongs to the day in its header. The days used last stay in memory, at most as many as the limit; a
/// day that comes back after it was put away is asked for again, but what this file itself brought for it before
/// is no longer known: [`Duplicates::forgotten_days`] counts that.
#[derive(Debug)]
pub struct Duplicates {
    /// Days in memory, the one used last at the end. `None` is for records without a readable date.
    days: Vec<(Option<i32>, Hashes)>,
    limit: usize,
    /// Hashes held already, of whatever day.
    came_before: Vec<u64>,
    put_away: HashSet<Option<i32>>,
    dropped: u64,
    forgotten: u64,
}

impl Duplicates {
    /// Keeps at most `limit` days in memory.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            days: Vec::new(),
            limit: limit.max(1),
            came_before: Vec::new(),
            put_away: HashSet::new(),
            dropped: 0,
            forgotten: 0,
        }
    }

    /// The same, where these came before: in a part of the file, or a file, that others read.
    #[must_use]
    pub fn after(self, came_before: Vec<u64>) -> Self {
        Self { came_before, ..self }
    }

    /// Records dropped so far.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// How often a day was put away and came back, so that duplicates within the file may have been missed.
    #[must_use]
    pub fn forgotten_days(&self) -> u64 {
        self.forgotten
    }

    /// A flag for each record of the batch: whether it comes for the first time. `seen` gives the hashes already
    /// held for a day (days since 1970) and is called once for each day. Dump headers and trailers are always kept.
    ///
    /// # Errors
    /// Whatever `seen` returns.
    pub fn keep<E>(
        &mut self,
        batch: &FrameBatch,
        seen: &mut dyn FnMut(i32) -> Result<Vec<u64>, E>,
    ) -> Result<Vec<bool>, E> {
        let mut keep = Vec::with_capacity(batch.frames.len());
        for frame in &batch.frames {
            let record = batch.record(frame);
            let view = RecordView(record);
            let new = view.is_dump_marker() || self.day(view.day(), seen)?.insert(record_hash(record));
            self.dropped += u64::from(!new);
            keep.push(new);
        }
        Ok(keep)
    }

    fn day<E>(&mut self, day: Option<i32>, seen: &mut dyn FnMut(i32) -> Result<Vec<u64>, E>) -> Result<&mut Hashes, E> {
        let at = match self.days.iter().rposition(|(known, _)| *known == day) {
            Some(at) => at,
            None => {
                let held = day.map_or_else(|| Ok(Vec::new()), &mut *seen)?;
                if self.days.len() == self.limit {
                    let (old, _) = self.days.remove(0);
                    self.put_away.insert(old);
                }
                self.forgotten += u64::from(self.put_away.remove(&day));
                self.days.push((day, held.into_iter().chain(self.came_before.iter().copied()).collect()));
                self.days.len() - 1
            }
        };
        if at + 1 != self.days.len() {
            let used = self.days.remove(at);
            self.days.push(used);
        }
        let last = self.days.len() - 1;
        Ok(&mut self.days[last].1)
    }
}
