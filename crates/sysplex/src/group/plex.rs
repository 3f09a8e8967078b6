//! The parts of a sysplex as the simulation keeps them, made from a scenario.

use std::collections::VecDeque;

use rand_distr::{Distribution, Zipf};

use super::lines::{Line, Log};
use super::locks::{LockTable, Locks};
use super::measured::{LockUse, PageLockUse, SpaceUse, StructureUse};
use super::pools::Pools;
use super::processors::Processors;
use crate::kernel::random::{Length, Stream};
use crate::kernel::{Time, nanoseconds};
use crate::scenario::{Access, Class, LockSize, Scenario, System, Think};

/// Dispatching priorities: 0 to 7.
const PRIORITIES: u8 = 8;
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
    /// Subchannels to each coupling facility.
    pub subchannels: Vec<Line>,
}

/// A coupling facility.
pub struct Facility {
    /// Engines.
    pub line: Line,
    /// Service times are multiplied by this.
    pub slowness: f64,
    /// One way.
    pub latency: Time,
    /// When it is there again after a failure.
    pub back: Time,
}

/// A structure as the systems use it.
pub struct Structure {
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

/// A member.
pub struct Member {
    /// System.
    pub system: u16,
    /// Threads that are free, and who waits for one.
    pub free_threads: u32,
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
    /// When it is there again after a failure.
    pub back: Time,
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
    /// Locks retained for lost members.
    pub retained: Vec<(u8, u64)>,
}

/// A CICS region.
pub struct Region {
    /// System.
    pub system: u16,
    /// Group and member that it is connected to.
    pub db2: Option<(u16, u8)>,
    /// Priority.
    pub priority: u8,
    /// Whether the QR TCB is taken, and who waits for it.
    pub busy: bool,
    /// Who waits.
    pub queue: VecDeque<u32>,
    /// Threads that are free, and who waits for one.
    pub free_threads: u32,
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
    /// When the last of the members lost so far is there again.
    all_back: Time,
}

/// Position of a name; the scenario was checked, so it is there.
fn position<'a>(names: impl Iterator<Item = &'a str>, name: &str) -> u16 {
    names.enumerate().find(|(_, one)| *one == name).map_or(0, |(at, _)| at as u16)
}

impl Plex {
    /// The parts of a checked scenario.
    pub fn new(scenario: &Scenario) -> Self {
        let system = |name: &str| position(scenario.system.iter().map(|one| one.name.as_str()), name);
        let facility = |name: &str| position(scenario.coupling_facility.iter().map(|one| one.name.as_str()), name);
        let mut structures = Vec::new();
        let mut new_structure = |name: String, at: &str, duplex: Option<&String>, service_us, lock: bool| {
            let uses = scenario.system.iter().map(|system| StructureUse {
                name: name.clone(),
                facility: at.to_owned(),
                system: system.name.clone(),
                lock,
                ..StructureUse::default()
            });
            structures.push(Structure {
                facility: facility(at),
                duplex: duplex.map(|name| facility(name)),
                uses: uses.collect(),
                expected: vec![0.0; scenario.system.len()],
                service_us,
            });
            structures.len() as u16 - 1
        };
        let groups: Vec<Group> = scenario
            .db2
            .iter()
            .map(|group| {
                let table = group.lock.as_ref().map(|lock| {
                    let name = format!("{}_LOCK1", group.group);
                    let structure =
                        new_structure(name, &lock.coupling_facility, lock.duplex.as_ref(), lock.service_us, true);
                    (LockTable::new(lock.entries), structure)
                });
                let shared = group.pool.iter().map(|pool| {
                    pool.group.as_ref().map(|shared| {
                        let name = format!("{}_GBP{}", group.group, pool.number);
                        new_structure(name, &shared.coupling_facility, shared.duplex.as_ref(), shared.service_us, false)
                    })
                });
                let structures = shared.collect();
                let members = group.member.iter().map(|member| Member {
                    system: system(&member.system),
                    free_threads: member.threads,
                    thread_queue: VecDeque::new(),
                    log: Log::new(nanoseconds(group.log_write)),
                    log_writes: 0,
                    locking: LockUse::default(),
                    page_locks: vec![PageLockUse::default(); group.pool.len()],
                    commits: 0,
                    rollbacks: 0,
                    spaces: ["DBM1", "MSTR", "IRLM"]
                        .map(|name| SpaceUse { name: format!("{}{name}", member.name), ..SpaceUse::default() }),
                    back: 0,
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
                    back: 0,
                })
                .collect(),
            structures,
            groups,
            regions,
            kinds,
            volumes: vec![Line::new(scenario.dasd.parallel); scenario.dasd.volumes as usize],
            all_back: 0,
        }
    }

    /// A member is away until a moment.
    pub fn away(&mut self, group: u16, member: u8, until: Time) {
        self.groups[usize::from(group)].members[usize::from(member)].back = until;
        self.all_back = self.all_back.max(until);
    }

    /// Whether no member of any group is away.
    #[inline]
    pub fn all_members_are_up(&self, now: Time) -> bool {
        self.all_back <= now
    }
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
        priority: one.priority.min(PRIORITIES - 1),
        busy: false,
        queue: VecDeque::new(),
        free_threads: one.threads,
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
