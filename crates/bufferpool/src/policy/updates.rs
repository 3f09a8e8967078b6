//! Changed pages: when they are written, and at which thresholds.

use std::cmp::Reverse;
use std::collections::VecDeque;

use super::config::WRITE_BATCH;
use super::coupling::Coupling;
use super::frames::{CHANGED, Place};
use super::pool::{BufferPool, Reference};
use super::writes::write_ios;
use crate::page_table::PageTable;

/// How many pages before its turn one is asked for.
const AHEAD: usize = 16;

/// Takes one entry of a page that was written early out of the account; whether there was one.
#[inline(always)]
fn was_written(written_early: &mut PageTable, key: u64) -> bool {
    if written_early.is_empty() {
        return false;
    }
    match written_early.get(key) {
        None => return false,
        Some(1) => drop(written_early.remove(key)),
        Some(more) => drop(written_early.replace(key, more - 1)),
    }
    true
}

/// Drops the entries of pages that were written early.
#[cold]
fn sweep(order: &mut VecDeque<u64>, written_early: &mut PageTable) {
    order.retain(|&key| !was_written(written_early, key));
}

impl<C: Coupling> BufferPool<C> {
    /// A page is about to be changed.
    pub fn set_write(&mut self, reference: &Reference) {
        self.pass_time(reference.time);
        self.know(reference.data_set).counters.updates += 1;
        self.counters.updates += 1;
        if let Some(after) = self.pseudo_close {
            self.expect_close(reference, after);
        }
        let place = match self.frames.find(reference.key) {
            Some(place) => {
                self.validate(reference, false);
                Some(place)
            }
            None => {
                self.counters.updates_reread += 1;
                if !self.is_in_group(reference.key, reference.data_set) {
                    self.count_sync_read(reference.data_set, false);
                }
                self.load(reference.key, reference.data_set, reference.time, false, 0);
                self.frames.find(reference.key)
            }
        };
        let Some(place) = place else {
            // No buffer for it: changed in a buffer of no pool and written at once.
            self.write_out(reference.data_set, &[reference.key], true);
            return;
        };
        self.change(reference, place);
        if self.unavailable >= self.limits.iwth {
            self.write_synchronously(reference.key);
            return;
        }
        if self.data_sets[reference.data_set as usize].changed.count > self.limits.vertical {
            self.counters.vertical_threshold += 1;
            self.write_oldest(reference.data_set, self.limits.vertical_batch, false);
        }
        if self.unavailable > self.limits.horizontal {
            self.counters.horizontal_threshold += 1;
            self.write_down();
        }
    }

    fn change(&mut self, reference: &Reference, place: Place) {
        // Also where pages of it were changed before it was coupled: they go with the next commit.
        let number = reference.data_set;
        if self.coupling.is_dependent(number)
            && !std::mem::replace(&mut self.data_sets[number as usize].changed.uncommitted, true)
        {
            self.uncommitted.push(number);
        }
        let state = self.frames.state_mut(place);
        if state.is(CHANGED) {
            return;
        }
        let was_available = state.is_available();
        state.add(CHANGED);
        let changed = &mut self.data_sets[number as usize].changed;
        changed.order.push_back(reference.key);
        changed.count += 1;
        if changed.order.len() > 2 * changed.count as usize + 64 {
            sweep(&mut changed.order, &mut self.written_early);
        }
        if changed.ticket == 0 {
            self.take_ticket(number);
        }
        self.now_unavailable(was_available);
    }

    /// Puts a data set at the end of the queue of those with changed pages.
    fn take_ticket(&mut self, number: u32) {
        self.last_ticket += 1;
        self.data_sets[number as usize].changed.ticket = self.last_ticket;
        self.to_write.push_back((self.last_ticket, number));
        if self.to_write.len() > 2 * self.data_sets.len() + 64 {
            let data_sets = &self.data_sets;
            self.to_write.retain(|&(ticket, number)| data_sets[number as usize].changed.ticket == ticket);
        }
    }

    /// The data set whose turn it is to be written.
    fn next_to_write(&mut self) -> Option<u32> {
        while let Some((ticket, number)) = self.to_write.pop_front() {
            let changed = &mut self.data_sets[number as usize].changed;
            if changed.ticket == ticket {
                changed.ticket = 0;
                return Some(number);
            }
        }
        None
    }

    /// Marks a changed page as written.
    fn clean(&mut self, key: u64, number: u32) {
        if let Some(place) = self.frames.find(key) {
            self.clean_at(key, place, number);
        }
    }

    fn clean_at(&mut self, key: u64, place: Place, number: u32) {
        let state = self.frames.state_mut(place);
        state.drop(CHANGED);
        let available = state.is_available();
        let changed = &mut self.data_sets[number as usize].changed;
        changed.count -= 1;
        if changed.count == 0 {
            changed.ticket = 0;
        }
        if available {
            self.now_available(key, place);
        }
    }

    /// Pages of a data set, no longer changed here, go to disk, or to the group buffer pool if it is coupled.
    fn write_out(&mut self, data_set: u32, keys: &[u64], synchronous: bool) {
        if self.coupling.is_dependent(data_set) {
            for &key in keys {
                self.coupling.write(key, data_set, synchronous);
            }
            return;
        }
        let mut ios = 0;
        for io in write_ios(keys, self.limits.write_quantity) {
            ios += 1;
            self.coupling.wrote(io);
        }
        self.counters.pages_written += keys.len() as u64;
        if synchronous {
            self.counters.sync_writes += ios;
        } else {
            self.counters.async_writes += ios;
        }
        let counters = &mut self.data_sets[data_set as usize].counters;
        counters.pages_written += keys.len() as u64;
        counters.writes += ios;
    }

    /// Writes one page out of the order of changes.
    pub(super) fn write_synchronously(&mut self, key: u64) {
        let number = self.owner(key);
        self.clean(key, number);
        self.leave_order(key, number);
        self.write_out(number, &[key], true);
    }

    /// Takes a page out of the order of changes, in which it stands as the last or somewhere.
    fn leave_order(&mut self, key: u64, number: u32) {
        let order = &mut self.data_sets[number as usize].changed.order;
        if order.back() == Some(&key) {
            order.pop_back();
        } else {
            *self.written_early.slot(key, 0).0 += 1;
        }
    }

    /// Writes the pages of a data set that were changed first, so many at most.
    fn write_oldest(&mut self, data_set: u32, most: usize, synchronous: bool) {
        let mut keys = Vec::new();
        while keys.len() < most {
            let order = &mut self.data_sets[data_set as usize].changed.order;
            if let Some(&later) = order.get(AHEAD) {
                self.frames.fetch(later);
            }
            let Some(key) = order.pop_front() else { break };
            if !was_written(&mut self.written_early, key) {
                keys.push(key);
                self.clean(key, data_set);
            }
        }
        keys.sort_unstable();
        self.write_out(data_set, &keys, synchronous);
    }

    /// The end of one unit of work among others: the pages that it changed (`keys`, in the order of the changes) go to the
    /// group buffer pool where their data sets are coupled, unless they were written since. What other units of work have
    /// changed stays.
    pub fn commit_pages(&mut self, keys: &[u64]) {
        let mut written = Vec::with_capacity(keys.len());
        // Backwards: the page that was changed last is likely to be the last in the order of its data set.
        for &key in keys.iter().rev() {
            let Some(place) = self.frames.find(key).filter(|&place| self.frames.state(place).is(CHANGED)) else {
                continue;
            };
            let number = self.owner(key);
            if self.coupling.is_dependent(number) {
                self.clean_at(key, place, number);
                self.leave_order(key, number);
                written.push((number, key));
            }
        }
        written.sort_unstable();
        for (number, key) in written {
            self.write_out(number, &[key], true);
        }
    }

    /// A data set begins to be coupled: what was changed of it before goes to the group buffer pool.
    pub fn begin_coupling(&mut self, data_set: u32) {
        if (data_set as usize) < self.data_sets.len() && self.coupling.is_dependent(data_set) {
            self.write_oldest(data_set, usize::MAX, false);
        }
    }

    /// A commit of all units of work: changed pages of coupled data sets go to the group buffer pool.
    pub fn commit(&mut self) {
        for number in std::mem::take(&mut self.uncommitted) {
            self.data_sets[number as usize].changed.uncommitted = false;
            self.write_oldest(number, usize::MAX, true);
        }
    }

    /// Another member wants the page: if it is changed here it goes to the group buffer pool first.
    pub fn give_up(&mut self, key: u64) {
        if let Some(place) = self.frames.find(key)
            && self.frames.state(place).is(CHANGED)
        {
            self.write_synchronously(key);
        }
    }

    /// Writes data set by data set, a batch each in turn, until few enough buffers are unavailable.
    fn write_down(&mut self) {
        while self.unavailable > self.limits.horizontal_floor {
            let Some(number) = self.next_to_write() else { break };
            self.write_oldest(number, WRITE_BATCH, false);
            if self.data_sets[number as usize].changed.count > 0 {
                self.take_ticket(number);
            }
        }
    }

    /// An update puts the pseudo close of its data set off.
    fn expect_close(&mut self, reference: &Reference, after: i64) {
        let changed = &mut self.data_sets[reference.data_set as usize].changed;
        changed.last = reference.time;
        if !std::mem::replace(&mut changed.closing, true) {
            let due = reference.time.saturating_add(after);
            self.closes.push(Reverse((due, reference.data_set)));
            self.due = self.due.min(due);
        }
    }

    /// Checkpoints and pseudo closes that are due.
    #[inline(always)]
    pub(super) fn pass_time(&mut self, now: i64) {
        if now >= self.due {
            self.pass_due(now);
        }
    }

    #[cold]
    fn pass_due(&mut self, now: i64) {
        if let Some(every) = self.checkpoint {
            let next = *self.next_checkpoint.get_or_insert(now.saturating_add(every));
            if now >= next {
                // Between two events nothing changes: of several checkpoints that are due only the first writes.
                let passed = (now - next) / every + 1;
                self.next_checkpoint = Some(next.saturating_add(passed.saturating_mul(every)));
                self.counters.checkpoints += passed as u64;
                while let Some(number) = self.next_to_write() {
                    self.write_oldest(number, usize::MAX, false);
                }
            }
        }
        while let Some(&Reverse((due, number))) = self.closes.peek()
            && due <= now
        {
            self.closes.pop();
            self.close(number, now);
        }
        let next_close = self.closes.peek().map_or(i64::MAX, |&Reverse((due, _))| due);
        self.due = self.next_checkpoint.unwrap_or(i64::MAX).min(next_close);
    }

    /// Writes the changed pages of a data set if it was not updated for long enough, else puts its pseudo close off.
    fn close(&mut self, number: u32, now: i64) {
        let Some(after) = self.pseudo_close else { return };
        let changed = &mut self.data_sets[number as usize].changed;
        let due = changed.last.saturating_add(after);
        if due > now {
            self.closes.push(Reverse((due, number)));
            return;
        }
        changed.closing = false;
        if changed.count > 0 {
            self.counters.pseudo_closes += 1;
            self.write_oldest(number, usize::MAX, false);
        }
    }
}
