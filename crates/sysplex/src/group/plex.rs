//! The parts of a sysplex as the simulation keeps them, made from a scenario.

use std::collections::VecDeque;

use rand_distr::{Distribution, Zipf};

use super::lines::{Line, Log};
use super::locks::{LockTable, Locks};
use super::measured::{LockUse, PageLockUse, SpaceUse, StructureUse};
use super::pools::Pools;
use super::processors::Processors;
use crate::kernel::measure::Level;
use crate::kernel::random::{Length, Stream};
use crate::kernel::{Time, nanoseconds};
use crate::scenario::db2::Places;
use crate::scenario::regions::PRIORITIES;
use crate::scenario::{Access, Class, LockSize, Scenario, System, Think};

/// Seconds of light in a kilometre of fibre.
const FIBRE: f64 = 0.000_005;

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
    /// Whether general engines help zIIPs, and after what wait.
    pub helps: Option<Time>,
    /// Subchannels to each coupling facility; none: it is not connected.
    pub subchannels: Vec<Line>,
    /// Of these, lost by failures that are not over.
    pub lost: Vec<u32>,
}

impl Image {
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
    chosen: Option<Zipf<f64>>,
    stride: u64,
    /// Next page of inserts, of which all below `made` have been used.
    pub end: u64,
    /// The first page at the end that nobody has used.
    pub made: u64,
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
    /// Transactions inside.
    pub inside: u32,
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
    /// Regions chosen so far.
    pub chosen: usize,
    /// Regions.
    pub regions: Vec<u16>,
    /// References.
    pub references: Vec<Refers>,
    /// Started classes.
    pub starts: Vec<(u16, f64)>,
    /// Thought of its users.
    pub think: Option<Length>,
    /// Chance of its own.
    pub stream: Stream,
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
    down: u32,
}

/// Position of a name; the scenario was checked, so it is there.
pub(super) fn position<'a>(names: impl Iterator<Item = &'a str>, name: &str) -> u16 {
    names.enumerate().find(|(_, one)| *one == name).map_or(0, |(at, _)| at as u16)
}

impl Plex {
    /// The parts of a checked scenario.
    pub fn new(scenario: &Scenario) -> Self {
        let system = |name: &str| position(scenario.system.iter().map(|one| one.name.as_str()), name);
        let facility = |name: &str| position(scenario.coupling_facility.iter().map(|one| one.name.as_str()), name);
        let mut structures = Vec::new();
        let mut new_structure = |of: (u16, Option<usize>), name: String, places: Places<'_>, service_us| {
            let (at, duplex) = (places.first, places.duplex);
            let uses = scenario.system.iter().map(|system| StructureUse {
                name: name.clone(),
                facility: at.to_owned(),
                system: system.name.clone(),
                lock: of.1.is_none(),
                ..StructureUse::default()
            });
            let mut preference: Vec<u16> = places.preference.iter().map(|name| facility(name)).collect();
            if preference.is_empty() {
                preference = (0..scenario.coupling_facility.len() as u16).collect();
            }
            structures.push(Structure {
                group: of.0,
                pool: of.1,
                standing: Standing::Up,
                parked: Vec::new(),
                rebuild: 0,
                rebuilders: 0,
                pair: duplex.map(|other| [facility(at), facility(other)]),
                preference,
                rebuild_percent: places.rebuild_percent,
                facility: facility(at),
                duplex: duplex.map(facility),
                uses: uses.collect(),
                expected: vec![0.0; scenario.system.len()],
                service_us,
            });
            structures.len() as u16 - 1
        };
        let groups: Vec<Group> = scenario
            .db2
            .iter()
            .enumerate()
            .map(|(number, group)| {
                let table = group.lock.as_ref().map(|lock| {
                    let name = format!("{}_LOCK1", group.group);
                    let structure = new_structure((number as u16, None), name, Places::of_lock(lock), lock.service_us);
                    (LockTable::new(lock.entries), structure)
                });
                let shared = group.pool.iter().enumerate().map(|(at, pool)| {
                    pool.group.as_ref().map(|shared| {
                        let name = format!("{}_GBP{}", group.group, pool.number);
                        new_structure((number as u16, Some(at)), name, Places::of_pool(shared), shared.service_us)
                    })
                });
                let structures = shared.collect();
                let members = group.member.iter().map(|member| Member {
                    system: system(&member.system),
                    threads: member.threads,
                    used_threads: Level::default(),
                    thread_queue: VecDeque::new(),
                    log: Log::new(nanoseconds(group.log_write)),
                    log_writes: 0,
                    locking: LockUse::default(),
                    page_locks: vec![PageLockUse::default(); group.pool.len()],
                    commits: 0,
                    rollbacks: 0,
                    spaces: ["DBM1", "MSTR", "IRLM"]
                        .map(|name| SpaceUse { name: format!("{}{name}", member.name), ..SpaceUse::default() }),
                    presence: Presence::Up,
                    is_due: false,
                    undo: 0,
                    redo: 0,
                    retains: false,
                    cut_off: 0,
                });
                let page_sets = group.page_set.iter().map(|one| PageSet {
                    pool: group.pool.iter().position(|pool| pool.number == one.pool).unwrap_or(0),
                    pages: one.pages,
                    index: one.index,
                    by_row: one.lock_size == LockSize::Row,
                    rows: one.rows,
                    chosen: (one.skew > 0.0).then(|| Zipf::new(one.pages as f64, one.skew).ok()).flatten(),
                    stride: stride(one.pages),
                    end: 0,
                    made: 0,
                });
                Group {
                    members: members.collect(),
                    pools: Pools::new(group),
                    page_sets: page_sets.collect(),
                    locks: Locks::default(),
                    table,
                    structures,
                    retained: Vec::new(),
                    recovery: vec![None; group.page_set.len()],
                    is_impaired: false,
                }
            })
            .collect();
        let regions: Vec<Region> =
            scenario.region.iter().map(|one| region(scenario, one, system(&one.system))).collect();
        let kinds = scenario.class.iter().map(|class| kind(scenario, class, &regions)).collect();
        Self {
            machines: scenario.cec.iter().map(|cec| machine(scenario, cec)).collect(),
            systems: scenario.system.iter().map(|one| image(scenario, one)).collect(),
            facilities: scenario
                .coupling_facility
                .iter()
                .map(|one| Facility {
                    line: Line::new(one.engines),
                    slowness: 1.0 / one.speed,
                    latency: nanoseconds(one.link + one.distance_km * FIBRE),
                    is_up: true,
                })
                .collect(),
            structures,
            groups,
            regions,
            kinds,
            volumes: vec![Line::new(scenario.dasd.parallel); scenario.dasd.volumes as usize],
            guests: guests(scenario),
            down: 0,
        }
    }

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

/// Members in restart light, one for each member and system where the scenario has such a restart.
fn guests(scenario: &Scenario) -> Vec<Guest> {
    let mut made: Vec<Guest> = Vec::new();
    for failure in &scenario.failure {
        let (Some(name), Some(light)) = (&failure.member, &failure.restart_light) else { continue };
        let system = position(scenario.system.iter().map(|one| one.name.as_str()), &light.system);
        let Some((group, member)) = member_named(scenario, name) else { continue };
        if !made.iter().any(|one| (one.group, one.member, one.system) == (group, member, system)) {
            let space = SpaceUse { name: format!("{name}DBM1"), ..SpaceUse::default() };
            made.push(Guest { group, member, system, space });
        }
    }
    made
}

/// Group and number of a member.
pub(super) fn member_named(scenario: &Scenario, name: &str) -> Option<(u16, u8)> {
    scenario.db2.iter().enumerate().find_map(|(group, about)| {
        let member = about.member.iter().position(|member| member.name == name)?;
        Some((group as u16, member as u8))
    })
}

/// A number of pages without a common divisor with all of them, near the golden section.
fn stride(pages: u64) -> u64 {
    let divisor = |mut a: u64, mut b: u64| {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let mut stride = ((pages as f64 * 0.618_033_988_749_895) as u64).max(1);
    while divisor(stride, pages) != 1 {
        stride += 1;
    }
    stride
}

fn machine(scenario: &Scenario, cec: &crate::scenario::Cec) -> Machine {
    let images = || scenario.system.iter().filter(|one| one.cec == cec.name);
    let general: Vec<(f64, u32)> =
        images().map(|one| (one.weight, one.engines.unwrap_or(cec.engines).min(cec.engines))).collect();
    let ziip: Vec<(f64, u32)> =
        images().map(|one| (one.weight, one.ziips.unwrap_or(cec.ziips).min(cec.ziips))).collect();
    Machine {
        general: Processors::new(cec.engines, &general, PRIORITIES),
        ziip: (cec.ziips > 0).then(|| Processors::new(cec.ziips, &ziip, PRIORITIES)),
    }
}

fn image(scenario: &Scenario, one: &System) -> Image {
    let machine = position(scenario.cec.iter().map(|cec| cec.name.as_str()), &one.cec);
    let cec = &scenario.cec[usize::from(machine)];
    let before = scenario.system.iter().take_while(|other| other.name != one.name);
    Image {
        machine,
        partition: before.filter(|other| other.cec == one.cec).count() as u16,
        slowness: (1.0 + one.lpar_overhead) / cec.speed,
        ziip_slowness: (1.0 + one.lpar_overhead) / cec.ziip_speed,
        helps: one.honor_priority.then(|| nanoseconds(one.ziip_wait)),
        subchannels: scenario.coupling_facility.iter().map(|facility| Line::new(facility.subchannels)).collect(),
        lost: vec![0; scenario.coupling_facility.len()],
    }
}

fn region(scenario: &Scenario, one: &crate::scenario::Region, system: u16) -> Region {
    let db2 = one.db2.as_ref().map(|name| {
        let group = position(scenario.db2.iter().map(|group| group.group.as_str()), name);
        let members = scenario.db2[usize::from(group)].member.iter().map(|member| member.system.as_str());
        (group, position(members, &one.system) as u8)
    });
    Region {
        system,
        db2,
        priority: one.priority,
        qr: Level::default(),
        queue: VecDeque::new(),
        threads: one.threads,
        used_threads: Level::default(),
        thread_queue: VecDeque::new(),
        inside: 0,
        space: SpaceUse { name: one.name.clone(), ..SpaceUse::default() },
    }
}

fn kind(scenario: &Scenario, class: &Class, regions: &[Region]) -> Kind {
    let region = |name: &String| position(scenario.region.iter().map(|one| one.name.as_str()), name);
    let targets: Vec<u16> = class.regions.iter().map(region).collect();
    let group = targets.iter().find_map(|&number| regions[usize::from(number)].db2).map(|(group, _)| group);
    let references = class.references.iter().map(|one| Refers {
        page_set: group.map_or(0, |group| {
            let page_sets = &scenario.db2[usize::from(group)].page_set;
            u32::from(position(page_sets.iter().map(|page_set| page_set.name.as_str()), &one.page_set))
        }),
        getpages: one.getpages,
        update: one.update,
        access: one.access,
    });
    Kind {
        terminals: class.terminal_regions.iter().map(region).collect(),
        turn: 0,
        chosen: 0,
        regions: targets,
        references: references.collect(),
        starts: class
            .starts
            .iter()
            .map(|one| (position(scenario.class.iter().map(|class| class.name.as_str()), &one.class), one.number))
            .collect(),
        think: class.think.map(|think| match think {
            Think::Mean(mean) => Length::Exponential { mean },
            Think::Humps { short, long, short_share } => Length::Humps { short, long, short_share },
        }),
        stream: Stream::new(scenario.run.seed, &class.name),
        class: class.clone(),
    }
}
