//! Engines of one kind of a machine, shared by its partitions: who runs, who waits, who spins.
//!
//! Within a partition the lower priority number goes first and interrupts the higher. Between partitions that want more
//! engines than there are, the one that has used least for its weight goes first, when an engine becomes free.
//! A burst that ended leaves its task on the engine: it goes on with the next burst, spins (for the answer of a
//! coupling facility; nobody interrupts that), or gives the engine up.

use std::collections::VecDeque;

use crate::kernel::Time;
use crate::kernel::measure::Level;

/// A burst as it began; it comes back when it should end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// The engine.
    pub engine: u32,
    generation: u32,
}

/// A burst that begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// When it will end unless interrupted.
    pub end: Time,
    /// What to give to [`Processors::ended`] then.
    pub ticket: Ticket,
}

/// A burst of a task.
#[derive(Clone, Copy, Debug)]
struct Burst {
    task: u32,
    left: Time,
    priority: u8,
}

#[derive(Clone, Copy, Debug)]
enum Engine {
    Idle,
    Running {
        partition: u16,
        burst: Burst,
        since: Time,
    },
    /// The task decides what comes next, or spins.
    Held {
        partition: u16,
        task: u32,
        since: Time,
    },
}

#[derive(Clone, Debug)]
struct Partition {
    weight: f64,
    /// Logical engines, and how many are dispatched.
    logical: u32,
    using: u32,
    queues: Vec<VecDeque<Burst>>,
    waiting: u32,
    /// Nanoseconds used.
    used: u64,
    busy: Level,
    /// Dispatchable work: running, held or waiting.
    inside: Level,
}

/// Engines of one kind.
#[derive(Clone, Debug)]
pub struct Processors {
    engines: Vec<(Engine, u32)>,
    idle: Vec<u32>,
    partitions: Vec<Partition>,
}

impl Processors {
    /// So many engines; weight and logical engines of each partition; priorities below `priorities`.
    pub fn new(engines: u32, partitions: &[(f64, u32)], priorities: u8) -> Self {
        let made = partitions.iter().map(|&(weight, logical)| Partition {
            weight,
            logical,
            using: 0,
            queues: vec![VecDeque::new(); usize::from(priorities)],
            waiting: 0,
            used: 0,
            busy: Level::default(),
            inside: Level::default(),
        });
        Self {
            engines: vec![(Engine::Idle, 0); engines as usize],
            idle: (0..engines).rev().collect(),
            partitions: made.collect(),
        }
    }

    /// Engines of the machine.
    pub fn engines(&self) -> usize {
        self.engines.len()
    }

    /// Engines that a partition can use at the same time.
    pub fn logical(&self, partition: u16) -> u32 {
        self.partitions[usize::from(partition)].logical
    }

    /// Whether a partition could run a burst at once.
    pub fn has_idle(&self, partition: u16) -> bool {
        let about = &self.partitions[usize::from(partition)];
        !self.idle.is_empty() && about.using < about.logical
    }

    /// A task without an engine wants to run so long; the start if it does so at once.
    pub fn run(&mut self, now: Time, partition: u16, task: u32, work: Time, priority: u8) -> Option<Start> {
        let burst = Burst { task, left: work, priority };
        let about = &mut self.partitions[usize::from(partition)];
        about.inside.set(now, about.inside.value() + 1);
        if about.using < about.logical
            && let Some(engine) = self.idle.pop()
        {
            return Some(self.begin(now, engine, partition, burst));
        }
        if let Some(engine) = self.lower(partition, priority) {
            self.interrupt(now, engine);
            return Some(self.begin(now, engine, partition, burst));
        }
        let about = &mut self.partitions[usize::from(partition)];
        about.queues[usize::from(priority)].push_back(burst);
        about.waiting += 1;
        None
    }

    /// An engine with a burst of the partition that this priority interrupts: of the lowest, the one begun last.
    fn lower(&self, partition: u16, priority: u8) -> Option<u32> {
        let running = self.engines.iter().enumerate().filter_map(|(number, (engine, _))| match engine {
            Engine::Running { partition: other, burst, since } if *other == partition && burst.priority > priority => {
                Some((burst.priority, *since, number as u32))
            }
            _ => None,
        });
        running.max().map(|(_, _, number)| number)
    }

    fn interrupt(&mut self, now: Time, number: u32) {
        let (engine, generation) = &mut self.engines[number as usize];
        if let Engine::Running { partition, mut burst, since } = *engine {
            *generation = generation.wrapping_add(1);
            *engine = Engine::Idle;
            burst.left -= now - since;
            let about = &mut self.partitions[usize::from(partition)];
            about.used += now - since;
            about.using -= 1;
            about.busy.set(now, about.using.into());
            about.queues[usize::from(burst.priority)].push_front(burst);
            about.waiting += 1;
        }
    }

    fn begin(&mut self, now: Time, number: u32, partition: u16, burst: Burst) -> Start {
        let about = &mut self.partitions[usize::from(partition)];
        about.using += 1;
        about.busy.set(now, about.using.into());
        let (engine, generation) = &mut self.engines[number as usize];
        *engine = Engine::Running { partition, burst, since: now };
        Start { end: now + burst.left, ticket: Ticket { engine: number, generation: *generation } }
    }

    /// A ticket has come back: the task whose burst ends, which now holds the engine; none when it was interrupted.
    pub fn ended(&mut self, now: Time, ticket: Ticket) -> Option<u32> {
        let (engine, generation) = &mut self.engines[ticket.engine as usize];
        if *generation != ticket.generation {
            return None;
        }
        let Engine::Running { partition, burst, since } = *engine else { return None };
        *generation = generation.wrapping_add(1);
        *engine = Engine::Held { partition, task: burst.task, since: now };
        self.partitions[usize::from(partition)].used += now - since;
        Some(burst.task)
    }

    /// The task that holds an engine runs on.
    pub fn go_on(&mut self, now: Time, number: u32, work: Time, priority: u8) -> Option<Start> {
        let (engine, generation) = &mut self.engines[number as usize];
        let Engine::Held { partition, task, since } = *engine else { return None };
        *engine = Engine::Running { partition, burst: Burst { task, left: work, priority }, since: now };
        self.partitions[usize::from(partition)].used += now - since;
        Some(Start { end: now + work, ticket: Ticket { engine: number, generation: *generation } })
    }

    /// The task that holds an engine gives it up; whose burst begins there, if any waits.
    pub fn release(&mut self, now: Time, number: u32) -> Option<(u32, Start)> {
        let (engine, _) = &mut self.engines[number as usize];
        let Engine::Held { partition, since, .. } = *engine else { return None };
        *engine = Engine::Idle;
        let about = &mut self.partitions[usize::from(partition)];
        about.used += now - since;
        about.using -= 1;
        about.inside.set(now, about.inside.value() - 1);
        let next = self.next_partition();
        // The busy level is set once, when the same partition goes on.
        if next != Some(partition) {
            let about = &mut self.partitions[usize::from(partition)];
            about.busy.set(now, about.using.into());
        }
        let Some(next) = next else {
            self.idle.push(number);
            return None;
        };
        let about = &mut self.partitions[usize::from(next)];
        let burst = about.queues.iter_mut().find_map(VecDeque::pop_front)?;
        about.waiting -= 1;
        Some((burst.task, self.begin(now, number, next, burst)))
    }

    /// The partition that has used least for its weight, of those that wait and may have another engine.
    fn next_partition(&self) -> Option<u16> {
        let wanting = self.partitions.iter().enumerate().filter(|(_, one)| one.waiting > 0 && one.using < one.logical);
        let ranked = wanting.map(|(number, one)| (one.used as f64 / one.weight, number as u16));
        ranked.min_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, number)| number)
    }

    /// Takes a waiting burst of a task away: what is left of it; none when it does not wait.
    pub fn withdraw(&mut self, now: Time, partition: u16, task: u32) -> Option<Time> {
        let about = &mut self.partitions[usize::from(partition)];
        for queue in &mut about.queues {
            if let Some(at) = queue.iter().position(|burst| burst.task == task) {
                let burst = queue.remove(at)?;
                about.waiting -= 1;
                about.inside.set(now, about.inside.value() - 1);
                return Some(burst.left);
            }
        }
        None
    }

    /// Tasks whose bursts run or wait, and what is left of each.
    pub fn left(&self, now: Time) -> impl Iterator<Item = (u32, Time)> {
        let running = self.engines.iter().filter_map(move |(engine, _)| match engine {
            Engine::Running { burst, since, .. } => Some((burst.task, burst.left - (now - since))),
            Engine::Idle | Engine::Held { .. } => None,
        });
        let waiting = self.partitions.iter().flat_map(|one| one.queues.iter().flatten());
        running.chain(waiting.map(|burst| (burst.task, burst.left)))
    }

    /// Engines in use.
    pub fn using(&self) -> u64 {
        self.partitions.iter().map(|one| u64::from(one.using)).sum()
    }

    /// Work that is running or waiting in a partition.
    pub fn inside(&self, partition: u16) -> u64 {
        self.partitions[usize::from(partition)].inside.value()
    }

    /// Busy engine-seconds of a partition, and average of dispatchable work, since measuring began.
    pub fn measured(&self, now: Time, partition: u16) -> (f64, f64) {
        let about = &self.partitions[usize::from(partition)];
        (about.busy.integral(now), about.inside.average(now).unwrap_or(0.0))
    }

    /// Begins to measure anew.
    pub fn measure(&mut self, now: Time) {
        for about in &mut self.partitions {
            about.busy.begin(now);
            about.inside.begin(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs everything that was begun to its end, as the owner of the calendar would; task and time of each end.
    fn play(processors: &mut Processors, mut begun: Vec<Start>) -> Vec<(u32, Time)> {
        let mut ends = Vec::new();
        while let Some(at) = (0..begun.len()).min_by_key(|&at| begun[at].end) {
            let start = begun.swap_remove(at);
            if let Some(task) = processors.ended(start.end, start.ticket) {
                ends.push((task, start.end));
                begun.extend(processors.release(start.end, start.ticket.engine).map(|(_, start)| start));
            }
        }
        ends
    }

    #[test]
    fn work_of_higher_priority_interrupts_and_the_rest_goes_on_later() {
        let mut one = Processors::new(1, &[(1.0, 1)], 4);
        let first = one.run(0, 0, 10, 100, 2).unwrap();
        let second = one.run(30, 0, 11, 50, 1).unwrap();
        assert!(one.run(40, 0, 12, 5, 2).is_none());
        // 11 from 30 to 80; 10 has 70 left and goes before 12.
        assert_eq!(play(&mut one, vec![first, second]), vec![(11, 80), (10, 150), (12, 155)]);
        assert_eq!(one.measured(155, 0).0, 155e-9);
    }

    #[test]
    fn nobody_interrupts_a_spin() {
        let mut one = Processors::new(1, &[(1.0, 1)], 4);
        let first = one.run(0, 0, 10, 100, 3).unwrap();
        assert_eq!(one.ended(100, first.ticket), Some(10));
        assert!(one.run(110, 0, 11, 5, 0).is_none());
        let on = one.go_on(150, 0, 20, 3).unwrap();
        // Running again it can be interrupted: by the next arrival.
        assert_eq!(on.end, 170);
        assert_eq!(one.run(160, 0, 12, 1, 1).unwrap().end, 161);
        assert_eq!(one.measured(160, 0).0, 160e-9);
    }

    #[test]
    fn a_partition_gets_what_its_weight_says() {
        // Two partitions of weight 3 and 1 keep one engine busy with work of 10 at a time.
        let mut machine = Processors::new(1, &[(3.0, 1), (1.0, 1)], 1);
        let mut begun: Vec<Start> =
            (0..200).filter_map(|task| machine.run(0, (task % 2) as u16, task, 10, 0)).collect();
        let mut ended = [0u32; 2];
        while let Some(start) = begun.pop() {
            if start.end > 800 {
                break;
            }
            let task = machine.ended(start.end, start.ticket).unwrap();
            ended[task as usize % 2] += 1;
            begun.extend(machine.release(start.end, start.ticket.engine).map(|(_, start)| start));
        }
        assert_eq!(ended, [60, 20]);
    }

    #[test]
    fn a_partition_has_no_more_engines_than_it_may() {
        let mut machine = Processors::new(4, &[(1.0, 2), (1.0, 4)], 1);
        let begun: Vec<bool> = (0..3).map(|task| machine.run(0, 0, task, 10, 0).is_some()).collect();
        assert_eq!((begun, machine.has_idle(0), machine.has_idle(1)), (vec![true, true, false], false, true));
        assert_eq!(machine.withdraw(5, 0, 2), Some(10));
        assert_eq!(machine.withdraw(5, 0, 2), None);
    }
}
