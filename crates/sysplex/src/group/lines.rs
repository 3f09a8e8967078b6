//! Things that serve in the order of asking, whose answer is known when they are asked: coupling facilities with their
//! subchannels, volumes, logs. They need no events of their own.

use crate::kernel::Time;

/// Servers that each know when they are free again.
#[derive(Clone, Debug)]
pub struct Line {
    free: Vec<Time>,
    /// Nanoseconds of service asked for.
    busy: u64,
}

impl Line {
    /// So many servers.
    pub fn new(servers: u32) -> Self {
        Self { free: vec![0; servers as usize], busy: 0 }
    }

    /// From now on there are so many servers; what others have begun they end.
    pub fn set_servers(&mut self, now: Time, servers: u32) {
        self.free.resize(servers as usize, now);
    }

    /// The server that is free first: its number, and when it is.
    #[inline]
    pub fn first_free(&self) -> (usize, Time) {
        let mut first = (0, self.free[0]);
        for (server, &free) in self.free.iter().enumerate().skip(1) {
            if free < first.1 {
                first = (server, free);
            }
        }
        first
    }

    /// A server of which it is known when its service begins and ends, as [`Line::first_free`] said.
    #[inline]
    pub fn occupy(&mut self, server: usize, begin: Time, end: Time) {
        self.busy += end - begin;
        self.free[server] = end;
    }

    /// Serves whoever asks at a moment, not before those who asked earlier: when service begins and when it ends.
    pub fn serve(&mut self, now: Time, service: Time) -> (Time, Time) {
        let (server, free) = self.first_free();
        let begin = now.max(free);
        self.occupy(server, begin, begin + service);
        (begin, begin + service)
    }

    /// Nanoseconds of service since the last time of asking.
    pub fn take_busy(&mut self) -> u64 {
        std::mem::take(&mut self.busy)
    }

    /// Number of servers.
    pub fn servers(&self) -> usize {
        self.free.len()
    }
}

/// A log: one write at a time; whoever asks meanwhile is in the next.
#[derive(Clone, Copy, Debug, Default)]
pub struct Log {
    /// End of the write under way, and of the one that will follow it; zero: none.
    current: Time,
    following: Time,
    /// Writes begun or waiting to begin.
    pub writes: u64,
}

impl Log {
    /// When what is in the buffer now will be on disk; how long a write takes is asked for each.
    pub fn force(&mut self, now: Time, length: impl FnOnce() -> Time) -> Time {
        if now >= self.following && now >= self.current {
            self.current = now + length();
            self.following = 0;
            self.writes += 1;
            return self.current;
        }
        if now >= self.current {
            // The following write is under way.
            self.current = self.following;
            self.following = 0;
        }
        if self.following == 0 {
            self.following = self.current + length();
            self.writes += 1;
        }
        self.following
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::kernel::servers::{Discipline, Servers};

    proptest! {
        #[test]
        fn a_line_is_a_queue_without_events(
            jobs in prop::collection::vec((0u64..20, 1u64..30), 1..60), servers in 1u32..4
        ) {
            let (mut line, mut queue) = (Line::new(servers), Servers::new(servers, 1, Discipline::Patient));
            let (mut now, mut begun, mut ends, mut expected) = (0, Vec::new(), Vec::new(), vec![0; jobs.len()]);
            let mut work = |begun: &mut Vec<crate::kernel::servers::Start>, queue: &mut Servers<usize>, until: u64| {
                while let Some(at) = (0..begun.len()).filter(|&at| begun[at].end <= until).min_by_key(|&at| begun[at].end) {
                    let start = begun.swap_remove(at);
                    if let Some(ended) = queue.end(start.end, start.ticket) {
                        expected[ended.job] = start.end;
                        begun.extend(ended.next);
                    }
                }
            };
            for (job, &(gap, service)) in jobs.iter().enumerate() {
                now += gap;
                ends.push(line.serve(now, service).1);
                work(&mut begun, &mut queue, now);
                begun.extend(queue.arrive(now, job, service, 0));
            }
            work(&mut begun, &mut queue, u64::MAX);
            prop_assert_eq!(ends, expected);
        }
    }

    #[test]
    fn those_who_ask_during_a_write_share_the_next() {
        let mut log = Log::default();
        let mut force = |now| (log.force(now, || 10), log.writes);
        assert_eq!(force(0).0, 10);
        assert_eq!((force(3).0, force(9).0), (20, 20));
        // The second write is under way from 10 to 20.
        assert_eq!((force(12).0, force(19).0), (30, 30));
        assert_eq!(force(31), (41, 4));
    }
}
