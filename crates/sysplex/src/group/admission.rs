//! QR TCBs of regions, their open TCBs and threads to Db2: who has them, and who waits.

use super::account::Wait;
use super::plex::{Presence, Region};
use super::simulation::Simulation;
use super::task::{Action, Reason, Task};
use crate::kernel::measure::Level;
use crate::kernel::{Time, seconds};

impl Region {
    /// The open TCB of a task is dispatched.
    pub(super) fn enter_open_tcb(&mut self, task: &mut Task, now: Time) {
        if task.on_open_tcb.is_none() {
            task.on_open_tcb = Some(now);
            // From Db2 to its program, or back, it does not wait.
            self.used.open_dispatches += u64::from(task.left_open_tcb != Some(now));
            self.working_open_tcbs.set(now, self.working_open_tcbs.value() + 1);
        }
    }

    /// It waits; how long it was dispatched.
    pub(super) fn leave_open_tcb(&mut self, task: &mut Task, now: Time) -> Time {
        let Some(since) = task.on_open_tcb.take() else { return 0 };
        task.left_open_tcb = Some(now);
        self.working_open_tcbs.set(now, self.working_open_tcbs.value() - 1);
        now - since
    }
}

impl Simulation<'_> {
    pub(super) fn enter_region(&mut self, number: u32) -> bool {
        let now = self.calendar.now();
        let task = &mut self.tasks[number as usize];
        let region = &mut self.plex.regions[usize::from(task.region)];
        region.used.qr_dispatches += 1;
        if region.qr.value() == 0 {
            region.qr.set(now, 1);
            task.has_region = true;
            if let Some(logs) = &mut self.logs {
                logs.gets_region(number, self.calendar.now(), task.begun, false);
            }
            return false;
        }
        region.queue.push_back(number);
        region.used.most_queued = region.used.most_queued.max(region.queue.len() as u64);
        task.waiting = Some((now, Some(Wait::Unseen)));
        if let Some(logs) = &mut self.logs {
            logs.waits_for_region(number, now);
        }
        self.release_engine(number);
        true
    }

    pub(super) fn leave_region(&mut self, number: u32) {
        let task = &mut self.tasks[number as usize];
        if !std::mem::take(&mut task.has_region) {
            return;
        }
        let region = &mut self.plex.regions[usize::from(task.region)];
        let now = self.calendar.now();
        if let Some(logs) = &mut self.logs {
            logs.leaves_region(number, now);
        }
        match region.queue.pop_front() {
            Some(next) => {
                let waited = self.tasks[next as usize].waiting.map_or(0, |(since, _)| now - since);
                region.used.qr_waits.add(seconds(waited));
                self.tasks[next as usize].has_region = true;
                if let Some(logs) = &mut self.logs {
                    logs.gets_region(next, now, self.tasks[next as usize].begun, true);
                }
                self.wake(next);
            }
            None => region.qr.set(self.calendar.now(), 0),
        }
    }

    /// A task gets an open TCB, which it keeps to its end; whether it waits for one.
    pub(super) fn get_open_tcb(&mut self, number: u32) -> bool {
        let now = self.calendar.now();
        let task = &mut self.tasks[number as usize];
        let region = &mut self.plex.regions[usize::from(task.region)];
        let Some(limit) = region.open_tcbs.filter(|_| !task.has_open_tcb) else { return false };
        let used = region.used_open_tcbs.value();
        if used < u64::from(limit) {
            region.used_open_tcbs.set(now, used + 1);
            region.used.open_tcbs += 1;
            region.used.most_open_tcbs = region.used.most_open_tcbs.max(used + 1);
            region.used.open_tcb_limits += u64::from(used + 1 == u64::from(limit));
            task.has_open_tcb = true;
            return false;
        }
        region.open_tcb_queue.push_back(number);
        region.used.most_open_tcb_queue = region.used.most_open_tcb_queue.max(region.open_tcb_queue.len() as u64);
        task.waiting = Some((now, Some(Wait::Unseen)));
        self.release_engine(number);
        true
    }

    /// The task ends: the open TCB goes to whoever waits for one.
    pub(super) fn give_open_tcb_back(&mut self, number: u32) {
        let now = self.calendar.now();
        let task = &mut self.tasks[number as usize];
        if !std::mem::take(&mut task.has_open_tcb) {
            return;
        }
        let region = &mut self.plex.regions[usize::from(task.region)];
        let Some(next) = region.open_tcb_queue.pop_front() else {
            region.used_open_tcbs.set(now, region.used_open_tcbs.value() - 1);
            return;
        };
        let about = &mut self.tasks[next as usize];
        let waited = about.waiting.map_or(0, |(since, _)| now - since);
        about.has_open_tcb = true;
        region.used.open_tcbs += 1;
        region.used.open_tcb_waits.add(seconds(waited));
        if let Some(logs) = &mut self.logs {
            logs.waited_for_open_tcb(next, waited);
        }
        self.wake(next);
    }

    pub(super) fn get_thread(&mut self, number: u32) -> bool {
        let now = self.calendar.now();
        let task = &mut self.tasks[number as usize];
        let region = &mut self.plex.regions[usize::from(task.region)];
        let member = &mut self.plex.groups[usize::from(task.group)].members[usize::from(task.member)];
        let is_free = |used: &Level, all: u32| used.value() < u64::from(all);
        if member.presence != Presence::Up {
            self.abandon(number, Reason::NoMember);
            return false;
        }
        let of_region = is_free(&region.used_threads, region.threads);
        if of_region && is_free(&member.used_threads, member.threads) {
            region.used_threads.set(now, region.used_threads.value() + 1);
            region.used.threads += 1;
            region.used.most_threads = region.used.most_threads.max(region.used_threads.value());
            member.used_threads.set(now, member.used_threads.value() + 1);
            task.has_thread = true;
            if task.thread_since == 0 {
                task.thread_since = self.calendar.now().max(1);
            }
            if let Some(logs) = &mut self.logs {
                logs.asks_thread(number, self.calendar.now(), true);
            }
            return false;
        }
        if let Some(logs) = &mut self.logs {
            logs.asks_thread(number, self.calendar.now(), false);
        }
        // It asks again when a thread of the region, or else of the member, comes back.
        let queue = if of_region { &mut member.thread_queue } else { &mut region.thread_queue };
        queue.push_back(number);
        task.steps.push_front(Action::GetThread);
        task.waiting = Some((now, Some(Wait::Unseen)));
        self.release_engine(number);
        true
    }

    pub(super) fn give_thread_back(&mut self, number: u32) {
        let now = self.calendar.now();
        let task = &mut self.tasks[number as usize];
        if !std::mem::take(&mut task.has_thread) {
            return;
        }
        let region = &mut self.plex.regions[usize::from(task.region)];
        let member = &mut self.plex.groups[usize::from(task.group)].members[usize::from(task.member)];
        region.used_threads.set(now, region.used_threads.value() - 1);
        member.used_threads.set(now, member.used_threads.value() - 1);
        let next = [region.thread_queue.pop_front(), member.thread_queue.pop_front()];
        for next in next.into_iter().flatten() {
            let about = &self.tasks[next as usize];
            let waited = about.waiting.map_or(0, |(since, _)| now - since);
            self.plex.regions[usize::from(about.region)].used.thread_waits.add(seconds(waited));
            self.wake(next);
        }
    }
}
