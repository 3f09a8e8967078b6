//! The parts of a sysplex as the simulation keeps them.

use std::collections::VecDeque;

use rand_distr::{Distribution, Zipf};

use super::lines::{Line, Log};
use super::locks::{LockTable, Locks};
use super::measured::{LockUse, PageLockUse, RegionUse, SpaceUse, StructureUse};
use super::pools::Pools;
use super::processors::Processors;
use super::profile::Profile;
use crate::kernel::measure::Level;
use crate::kernel::random::{Length, Shape, Stream};
use crate::kernel::{Time, seconds};
use crate::scenario::{Access, Class, Scenario};

/// A machine.
pub struct Machine {
    /// General engines.
    pub general: Processors,
    /// zIIPs.
    pub ziip: Option<Processors>,
}

/// A z/OS image.
pub struct Image {
    /// Machine.
    pub machine: u16,
    /// Number among the partitions of the machine.
    pub partition: u16,
    /// Nanoseconds that one of speed 1 takes, on general engines and on zIIPs.
    pub slowness: f64,
    /// On zIIPs.
    pub ziip_slowness: f64,
    /// Nanoseconds of work at speed 1 that refill caches: after each dispatch, and of the image after each request to a
    /// coupling facility.
    pub dispatch_refill: Time,
    /// After each request to a coupling facility.
    pub request_refill: f64,
    /// What is still to be paid of these, and over how much work.
    pub cold: f64,
    /// Work after which two thirds are paid, nanoseconds.
    pub refill_time: f64,
    /// Time that engines are busy for each second that address spaces are charged, and of what the partition gets the
    /// share that managing it takes more.
    pub gross: f64,
    /// Managing the partition.
    pub management: f64,
    /// What address spaces were not charged in the interval.
    pub used_besides: UsedBesides,
    /// Whether general engines help zIIPs, and after what wait.
    pub helps: Option<Time>,
    /// Subchannels to each coupling facility; none: it is not connected.
    pub subchannels: Vec<Line>,
    /// Of these, lost by failures that are not over.
    pub lost: Vec<u32>,
}

/// Busy seconds that no address space has: general engines, then zIIPs.
#[derive(Clone, Copy, Debug, Default)]
pub struct UsedBesides {
    /// z/OS: attributed to nobody.
    pub uncaptured: [f64; 2],
    /// PR/SM.
    pub management: [f64; 2],
}

impl Image {
    /// Work with what it pays for cold caches.
    #[inline]
    pub fn with_refill(&mut self, work: Time) -> Time {
        if self.cold < 1.0 {
            return work;
        }
        let paid = self.cold * (1.0 - (-(work as f64) / self.refill_time).exp());
        self.cold -= paid;
        work + paid as Time
    }

    /// Adds what a burst took beyond what its address space is charged.
    #[inline]
    pub fn count_uncaptured(&mut self, length: Time, charged: Time, ziip: bool) {
        if length > charged {
            let length = seconds(length);
            let got = length / (1.0 + self.management);
            self.used_besides.management[usize::from(ziip)] += length - got;
            self.used_besides.uncaptured[usize::from(ziip)] += got - seconds(charged);
        }
    }

    /// Whether it is connected to a coupling facility.
    pub fn reaches(&self, facility: u16) -> bool {
        self.subchannels[usize::from(facility)].servers() > 0
    }
}

/// A coupling facility.
pub struct Facility {
    /// Engines.
    pub line: Line,
    /// Service times are multiplied by this.
    pub slowness: f64,
    /// One way.
    pub latency: Time,
    /// Whether it is there.
    pub is_up: bool,
}

/// Whether a structure can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// By all.
    Up,
    /// By those systems that are connected to its coupling facility.
    Partly,
    /// It is being rebuilt; requests wait for that.
    Rebuilt,
    /// There is none.
    Lost,
}

/// A structure as the systems use it.
pub struct Structure {
    /// Group, and of a group buffer pool the position of the pool.
    pub group: u16,
    /// Position of the pool.
    pub pool: Option<usize>,
    /// Whether it can be used.
    pub standing: Standing,
    /// Tasks that wait for the end of a rebuild.
    pub parked: Vec<u32>,
    /// Number of the last rebuild, and members that have yet to do their part of it.
    pub rebuild: u32,
    /// Members that have yet to do their part.
    pub rebuilders: u32,
    /// Coupling facilities of both instances as the scenario has them.
    pub pair: Option<[u16; 2]>,
    /// Coupling facilities that it may be in.
    pub preference: Vec<u16>,
    /// Percentage of systems without connection from which on it is rebuilt.
    pub rebuild_percent: f64,
    /// Coupling facility, and that of a second instance.
    pub facility: u16,
    /// Second instance.
    pub duplex: Option<u16>,
    /// By system.
    pub uses: Vec<StructureUse>,
    /// Smoothed seconds of a synchronous request, by system.
    pub expected: Vec<f64>,
    /// Microseconds of each request, where they are the structure's own.
    pub service_us: Option<f64>,
}

/// A page set.
pub struct PageSet {
    /// Position of its pool in the group.
    pub pool: usize,
    /// Pages.
    pub pages: u64,
    /// Whether it is an index.
    pub index: bool,
    /// Whether transactions lock rows.
    pub by_row: bool,
    /// Rows of a page.
    pub rows: f64,
    pub(super) chosen: Option<Zipf<f64>>,
    pub(super) stride: u64,
    /// Next page of inserts, of which all below `made` have been used.
    pub end: u64,
    /// The first page at the end that nobody has used.
    pub made: u64,
    /// Volumes; all of them where there is none.
    pub volumes: Vec<u32>,
}

impl PageSet {
    /// Whether members lock a page physically to change it.
    pub fn has_page_locks(&self) -> bool {
        self.index || self.by_row
    }

    /// A page by the page set's skew.
    pub fn random_page(&self, stream: &mut Stream) -> u64 {
        match &self.chosen {
            None => stream.below(self.pages),
            Some(zipf) => {
                let rank = zipf.sample(stream.generator()) as u64 - 1;
                // Popular pages lie all over the page set.
                (u128::from(rank) * u128::from(self.stride) % u128::from(self.pages)) as u64
            }
        }
    }
}

/// Whether a member is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// It works.
    Up,
    /// It is lost.
    Lost,
    /// It restarts on another system, to give its retained locks back.
    Light,
    /// It restarts on its own system.
    Starting,
}

/// A member.
pub struct Member {
    /// Whether it is there.
    pub presence: Presence,
    /// Lost, and to be restarted on its own system as soon as that is possible.
    pub is_due: bool,
    /// Changes of its units of work that a restart has to undo, and changed pages of its pools that were nowhere else.
    pub undo: u64,
    /// Changed pages to bring up to date from the log.
    pub redo: u64,
    /// Whether locks are retained for it.
    pub retains: bool,
    /// Pools, by bit, whose group buffer pool its system is not connected to.
    pub cut_off: u64,
    /// System.
    pub system: u16,
    /// Threads that there are, those in use, and who waits for one.
    pub threads: u32,
    /// Threads in use.
    pub used_threads: Level,
    /// Who waits for a thread.
    pub thread_queue: VecDeque<u32>,
    /// Log.
    pub log: Log,
    /// Log writes at the beginning of the interval.
    pub log_writes: u64,
    /// Locking of the interval.
    pub locking: LockUse,
    /// Physical locks of pages, by pool.
    pub page_locks: Vec<PageLockUse>,
    /// Commits and rollbacks of the interval.
    pub commits: u64,
    /// Rollbacks.
    pub rollbacks: u64,
    /// Processor time of the interval: database services, system services, lock manager.
    pub spaces: [SpaceUse; 3],
}

/// A data-sharing group.
pub struct Group {
    /// Members.
    pub members: Vec<Member>,
    /// Pools of all members.
    pub pools: Pools,
    /// Page sets.
    pub page_sets: Vec<PageSet>,
    /// Locks.
    pub locks: Locks,
    /// Table of the lock structure, and the structure.
    pub table: Option<(LockTable, u16)>,
    /// Structure of each pool's group buffer pool.
    pub structures: Vec<Option<u16>>,
    /// Locks retained for lost members: member, resource, whether the lock structure knows of it.
    pub retained: Vec<(u8, u64, bool)>,
    /// Pages of each page set that are to be recovered from the logs (GRECP).
    pub recovery: Vec<Option<PageRecovery>>,
    /// Whether some page sets may not be available to some member.
    pub is_impaired: bool,
}

/// A page set that is not available until pages lost with a group buffer pool are recovered.
#[derive(Clone, Copy, Debug)]
pub struct PageRecovery {
    /// The pages.
    pub pages: u32,
    /// Whether a member works on it.
    pub is_under_way: bool,
}

/// A member in restart light, on a system that is not its own.
pub struct Guest {
    /// Group.
    pub group: u16,
    /// Member.
    pub member: u8,
    /// System.
    pub system: u16,
    /// Processor time of the interval.
    pub space: SpaceUse,
}

/// A CICS region.
pub struct Region {
    /// System.
    pub system: u16,
    /// Group and member that it is connected to.
    pub db2: Option<(u16, u8)>,
    /// Priority.
    pub priority: u8,
    /// Whether the QR TCB is taken: 0 or 1, and who waits for it.
    pub qr: Level,
    /// Who waits.
    pub queue: VecDeque<u32>,
    /// Threads that there are, those in use, and who waits for one.
    pub threads: u32,
    /// Threads in use.
    pub used_threads: Level,
    /// Who waits for a thread.
    pub thread_queue: VecDeque<u32>,
    /// Open TCBs that there are, those that tasks have, and who waits for one; none: without a limit.
    pub open_tcbs: Option<u32>,
    /// Those that tasks have.
    pub used_open_tcbs: Level,
    /// Who waits for one.
    pub open_tcb_queue: VecDeque<u32>,
    /// Open TCBs that are dispatched, limited or not: their tasks are in Db2, or their programs work.
    pub working_open_tcbs: Level,
    /// Transactions that were sent there and have not ended.
    pub inside: u32,
    /// Transactions that came in there and have not ended, wherever they run.
    pub fronting: u32,
    /// What it did in the interval, and the integrals of `qr`, `used_threads`, `used_open_tcbs` and
    /// `working_open_tcbs` when that began.
    pub used: RegionUse,
    /// Integrals.
    pub integrals: [f64; 4],
    /// Processor time of the interval.
    pub space: SpaceUse,
}

/// A class, with what it names resolved.
pub struct Kind {
    /// The class.
    pub class: Class,
    /// Terminal regions, and whose turn it is.
    pub terminals: Vec<u16>,
    /// Whose turn it is.
    pub turn: usize,
    /// Transactions sent to regions so far.
    pub sent: u64,
    /// By region, number of the last that it got; 0: none.
    pub last_sent: Vec<u64>,
    /// Regions.
    pub regions: Vec<u16>,
    /// References.
    pub references: Vec<Refers>,
    /// Data sets of programs, and I/Os to them on the average.
    pub files: Vec<(u16, f64)>,
    /// Started classes.
    pub starts: Vec<(u16, f64)>,
    /// Thought of its users.
    pub think: Option<Length>,
    /// Chance of its own.
    pub stream: Stream,
    /// How bursts of processor time are distributed.
    pub burst: Shape,
    /// How its rate changes over the day.
    pub profile: Option<Profile>,
}

/// A reference with its page set resolved.
#[derive(Clone, Copy)]
pub struct Refers {
    /// Page set.
    pub page_set: u32,
    /// Getpages on the average.
    pub getpages: f64,
    /// Share of updates.
    pub update: f64,
    /// How pages are chosen.
    pub access: Access,
}

/// Everything that a scenario defines.
pub struct Plex {
    /// Machines.
    pub machines: Vec<Machine>,
    /// Images.
    pub systems: Vec<Image>,
    /// Coupling facilities.
    pub facilities: Vec<Facility>,
    /// Structures.
    pub structures: Vec<Structure>,
    /// Groups.
    pub groups: Vec<Group>,
    /// Regions.
    pub regions: Vec<Region>,
    /// Classes.
    pub kinds: Vec<Kind>,
    /// Volumes.
    pub volumes: Vec<Line>,
    /// Members in restart light, one for each such restart that the scenario has.
    pub guests: Vec<Guest>,
    /// Members that are not up.
    pub(super) down: u32,
}

/// Position of a name; the scenario was checked, so it is there.
pub(super) fn position<'a>(names: impl Iterator<Item = &'a str>, name: &str) -> u16 {
    names.enumerate().find(|(_, one)| *one == name).map_or(0, |(at, _)| at as u16)
}

impl Plex {
    /// A member comes or goes.
    pub fn set_presence(&mut self, group: u16, member: u8, presence: Presence) {
        let about = &mut self.groups[usize::from(group)].members[usize::from(member)];
        let was_up = std::mem::replace(&mut about.presence, presence) == Presence::Up;
        self.down += u32::from(was_up);
        self.down -= u32::from(presence == Presence::Up);
    }

    /// Whether no member of any group is lost.
    #[inline]
    pub fn all_members_are_up(&self) -> bool {
        self.down == 0
    }
}

/// Group and number of a member.
pub(super) fn member_named(scenario: &Scenario, name: &str) -> Option<(u16, u8)> {
    scenario.db2.iter().enumerate().find_map(|(group, about)| {
        let member = about.member.iter().position(|member| member.name == name)?;
        Some((group as u16, member as u8))
    })
}
