//! The parts of a sysplex made from a checked scenario: names become numbers, times nanoseconds.

use std::collections::VecDeque;

use rand_distr::Zipf;

use super::lines::{Line, Log};
use super::locks::{LockTable, Locks};
use super::measured::{LockUse, PageLockUse, RegionUse, SpaceUse, StructureUse};
use super::plex::{
    Facility, Group, Guest, Image, Kind, Machine, Member, PageSet, Plex, Presence, Refers, Region, Standing, Structure,
    member_named, position,
};
use super::pools::Pools;
use super::processors::Processors;
use super::profile::Profile;
use crate::kernel::measure::Level;
use crate::kernel::nanoseconds;
use crate::kernel::random::{Length, Stream};
use crate::scenario::db2::Places;
use crate::scenario::regions::PRIORITIES;
use crate::scenario::{Class, Distribution, LockSize, Scenario, System, Think};

/// Seconds of light in a kilometre of fibre.
const FIBRE: f64 = 0.000_005;

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
                    log: Log::default(),
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
                    volumes: one.volumes.clone(),
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
        dispatch_refill: nanoseconds(one.dispatch_refill_us * 1e-6),
        request_refill: one.request_refill_us * 1e3,
        cold: 0.0,
        refill_time: one.refill_time_us * 1e3,
        gross: (1.0 + one.uncaptured) * (1.0 + one.lpar_management),
        management: one.lpar_management,
        used_besides: Default::default(),
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
        open_tcbs: one.open_tcbs,
        used_open_tcbs: Level::default(),
        working_open_tcbs: Level::default(),
        open_tcb_queue: VecDeque::new(),
        inside: 0,
        fronting: 0,
        used: RegionUse::default(),
        integrals: [0.0; 4],
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
        sent: 0,
        last_sent: vec![0; regions.len()],
        regions: targets,
        references: references.collect(),
        files: class
            .files
            .iter()
            .map(|one| (position(scenario.data_set.iter().map(|set| set.name.as_str()), &one.data_set), one.ios))
            .collect(),
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
        burst: Distribution::shape(class.cpu_distribution.as_ref()),
        profile: Profile::new(class, &scenario.run),
        class: class.clone(),
    }
}
