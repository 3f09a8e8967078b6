//! Requests to coupling facilities and disks: when they are done.

use super::account::Wait;
use super::measured::VolumeUse;
use super::simulation::{Event, Simulation};
use super::task::{Burst, Extent, Request, Space};
use crate::kernel::{Time, nanoseconds, seconds};

impl Simulation<'_> {
    /// A request to a structure goes out; the task waits for the answer.
    pub(super) fn send(&mut self, number: u32, structure: u16, request: Request, space: Space) {
        let now = self.calendar.now();
        let system = usize::from(self.tasks[number as usize].system);
        let costs = &self.scenario.coupling;
        let about = &self.plex.structures[usize::from(structure)];
        let service = about.service_us.unwrap_or(match request {
            Request::Lock => costs.lock_us,
            Request::Read => costs.read_us,
            Request::List(pages) => costs.list_us + costs.list_page_us * f64::from(pages),
            Request::Page | Request::Write => costs.page_us,
        });
        let converted = self.is_converted(structure, system);
        let (first, second) =
            (about.facility, about.duplex.filter(|_| matches!(request, Request::Lock | Request::Write)));
        let (begin, mut end) = self.ask(system, first, now, service);
        if let Some(second) = second.filter(|&second| self.plex.systems[system].reaches(second)) {
            // Both instances work. Those of a lock structure tell each other before they answer (duplexing by the system);
            // Db2 writes into both group buffer pools itself.
            let (begin, other) = self.ask(system, second, now, service);
            end = end.max(other);
            let used = &mut self.plex.structures[usize::from(structure)].uses[system];
            used.second.add(seconds(other - now));
            if begin > now {
                used.second_waits.add(seconds(begin - now));
            }
            if request == Request::Lock {
                end += self.plex.facilities[usize::from(second)].latency;
            }
        }
        let about = &mut self.plex.structures[usize::from(structure)];
        let (waited, taken) = (seconds(begin - now), seconds(end - now));
        let used = &mut about.uses[system];
        if waited > 0.0 {
            used.subchannel_waits.add(waited);
        }
        if converted {
            used.asynchronous.add(taken);
            used.converted += 1;
        } else {
            used.synchronous.add(taken);
        }
        about.expected[system] += (taken - about.expected[system]) / 64.0;
        if converted {
            self.wait_until(number, end + nanoseconds(costs.async_delay), Wait::Coupling);
            return;
        }
        let task = &mut self.tasks[number as usize];
        let (length, charged) = (end - now, end - now);
        task.burst = Some(Burst { since: now, length, charged, space, eligible: false });
        let turn = task.turn;
        self.calendar.at(end, Event::Done { task: number, turn });
    }

    /// Whether a request of a system to a structure goes asynchronously: the processor would wait for its answer longer
    /// than the threshold. That is a path length of the host, so that faster engines convert earlier.
    pub(super) fn is_converted(&self, structure: u16, system: usize) -> bool {
        let limit = self.scenario.coupling.convert_above_us / 1e6 * self.plex.systems[system].slowness;
        limit > 0.0 && self.plex.structures[usize::from(structure)].expected[system] > limit
    }

    /// One request: when its subchannel takes it, and when the answer is there.
    fn ask(&mut self, system: usize, facility: u16, at: Time, service_us: f64) -> (Time, Time) {
        let about = &mut self.plex.facilities[usize::from(facility)];
        let subchannel = &mut self.plex.systems[system].subchannels[usize::from(facility)];
        let (free_one, free) = subchannel.first_free();
        let begin = free.max(at);
        let services = &mut self.services;
        let length = services.coupling.time(&mut services.stream, service_us * 1e-6 * about.slowness);
        let (_, served) = about.line.serve(begin + about.latency, length);
        let end = served + about.latency;
        subchannel.occupy(free_one, begin, end);
        (begin, end)
    }

    /// A read or write of pages: when it is done.
    pub(super) fn disk(&mut self, number: u32, volume: u32, pages: u32, of: Extent) -> Time {
        let system = self.tasks[number as usize].system;
        let dasd = &self.scenario.dasd;
        let hit = self.chance.unit() < dasd.cache_hits;
        let first = if hit { dasd.hit_time } else { dasd.miss_time };
        let mean = first + dasd.page_time * f64::from(pages.saturating_sub(1));
        let services = &mut self.services;
        let service = services.dasd.time(&mut services.stream, mean);
        // The control unit disconnects while it reads from the disk what its cache does not hold.
        let scale = if mean > 0.0 { seconds(service) / mean } else { 0.0 };
        let disconnected = if hit { 0.0 } else { (dasd.miss_time - dasd.hit_time).max(0.0) * scale };
        let pending = dasd.pending_time.min(dasd.hit_time) * scale;
        let now = self.calendar.now();
        let (begin, end) = self.plex.volumes[volume as usize].serve(now, service);
        let queued = seconds(begin - now);
        let one = VolumeUse { requests: 1, queued, service: seconds(service), pending, disconnected };
        self.volumes[usize::from(system)][volume as usize].add(&one);
        self.count_data_set(number, volume, of, &one);
        end
    }
}
