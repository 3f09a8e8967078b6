//! The policy engine against its slow twin, against the curves, and against cases worked by hand.

#[path = "../classes/mod.rs"]
mod classes;
mod twin;

use std::collections::BTreeMap;

use plexlens_bufferpool::curve::LruCurve;
use plexlens_bufferpool::placement::Placement;
use plexlens_bufferpool::policy::{
    BufferPool, Configs, Counters, PoolConfig, Reference, Simulation, Simulations, Steal,
};
use plexlens_bufferpool::synthetic::{Random, Yardstick};
use plexlens_bufferpool::trace::{Access, Function, References, Status};
use proptest::prelude::*;
use twin::{Event, Twin};

fn reference(event: &Event) -> Reference {
    Reference {
        time: event.time,
        key: u64::from(event.set) << 40 | event.page,
        data_set: event.set,
        agent: event.agent,
        access: event.access,
        status: event.status,
    }
}

fn run(pool: &mut BufferPool, event: &Event) {
    let one = reference(event);
    match event.function {
        Function::Getpage => pool.getpage(&one),
        Function::SetWrite => pool.set_write(&one),
        Function::Release => pool.release(&one),
        Function::Read | Function::Prefetch => pool.recorded(event.time),
        Function::Commit => {}
    }
}

/// A stretch of references of one kind.
#[derive(Clone, Debug)]
struct Stretch {
    set: u32,
    agents: u32,
    first: u64,
    count: u64,
    step: i64,
    access: Access,
    /// Of ten pages so many are changed, so many released.
    changed: u64,
    released: u64,
    pause: i64,
    seed: u64,
}

fn stretches(pages: u64) -> impl Strategy<Value = Vec<Stretch>> {
    let access = prop::sample::select(vec![
        Access::Random,
        Access::Random,
        Access::Random,
        Access::Sequential,
        Access::Sequential,
        Access::List,
        Access::Dynamic,
    ]);
    let set = (0u32..3, 1u32..4);
    let one = (set, 0..pages, 1u64..60, -6i64..12, access, 0u64..11, 0u64..11, 0i64..30, any::<u64>());
    let one = one.prop_map(|((set, agents), first, count, step, access, changed, released, pause, seed)| Stretch {
        set,
        agents,
        first,
        count,
        step,
        access,
        changed,
        released,
        pause,
        seed,
    });
    prop::collection::vec(one, 1..25)
}

fn events(stretches: &[Stretch], pages: u64) -> Vec<Event> {
    let (mut time, mut events) = (0, Vec::new());
    for stretch in stretches {
        let mut random = Random::new(stretch.seed);
        time += stretch.pause;
        for at in 0..stretch.count {
            // Step 0 means anywhere; otherwise up or down, each thread from a place of its own.
            let agent = random.below(u64::from(stretch.agents)) as u32;
            let from = stretch.first + 70 * u64::from(agent);
            let page = match stretch.step {
                0 => random.below(pages),
                step => from.saturating_add_signed(at as i64 * step),
            };
            let status = match random.below(20) {
                0 => Status::NoRead,
                1..=6 => Status::Hit,
                7..=9 => Status::Miss,
                _ => Status::Unknown,
            };
            let (function, access) = (Function::Getpage, stretch.access);
            let event = Event { time, set: stretch.set, page, function, access, agent, status };
            events.push(event);
            if random.below(10) < stretch.changed {
                events.push(Event { function: Function::SetWrite, ..event });
            }
            if random.below(10) < stretch.released {
                events.push(Event { function: Function::Release, ..event });
            }
            if random.below(40) == 0 {
                events.push(Event { function: Function::Prefetch, ..event });
                // A page marked for writing without a getpage before it.
                events.push(Event { function: Function::SetWrite, page: random.below(pages), ..event });
            }
            time += random.below(3) as i64;
        }
    }
    events
}

fn config() -> impl Strategy<Value = PoolConfig> {
    let percent = prop_oneof![Just(0u32), Just(100), 0u32..=100];
    let threshold = prop_oneof![Just(0u32), Just(90), 0u32..=90];
    (
        (prop_oneof![1u32..60, 60u32..300], prop::sample::select(vec![4096u32, 8192, 16384, 32768])),
        prop_oneof![1 => Just(Steal::Lru), 3 => prop::sample::select(Steal::ALL.to_vec())],
        (percent, threshold.clone(), threshold, 0u32..60),
        (any::<bool>(), any::<bool>(), prop::option::of(1i64..200), prop::option::of(1i64..90), any::<bool>()),
    )
        .prop_map(|((size, page_bytes), steal, (vpseqt, dwqt, vdwqt, vdwqt_pages), rest)| PoolConfig {
            size,
            page_bytes,
            steal,
            vpseqt,
            dwqt,
            vdwqt,
            vdwqt_pages,
            prefetch: rest.0,
            releases: rest.1,
            checkpoint: rest.2,
            pseudo_close: rest.3,
            warm: rest.4,
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]
    #[test]
    fn every_counter_equals_the_twins(
        config in config(),
        stretches in stretches(150),
        sizes in prop::collection::btree_map(0u32..3, 1u64..400, 0..3),
    ) {
        let mut pool = BufferPool::new(&config);
        for (&set, &pages) in &sizes {
            pool.set_pages(set, pages);
        }
        let mut twin = Twin::new(&config, &sizes);
        for (at, event) in events(&stretches, 150).iter().enumerate() {
            run(&mut pool, event);
            twin.run(event);
            prop_assert_eq!(pool.counters(), &twin.counters, "after event {}: {:?}", at, event);
        }
        for set in 0..3 {
            prop_assert_eq!(pool.data_set_counters(set), twin.set(set), "data set {}", set);
        }
        let counters = *pool.counters();
        let held = counters.pages_read() + counters.not_read + counters.warm - counters.stolen;
        prop_assert!(held <= u64::from(config.size) + counters.no_buffer, "{} pages in the pool", held);
    }
}

/// A getpage of page 0 by the only thread there is.
fn getpage(time: i64, access: Access) -> Event {
    Event { time, set: 0, page: 0, function: Function::Getpage, access, agent: 0, status: Status::Unknown }
}

fn getpages(pages: impl IntoIterator<Item = u64>, access: Access) -> Vec<Event> {
    let event = |(time, page)| Event { page, ..getpage(time, access) };
    (0..).zip(pages).map(event).collect()
}

fn simulate(config: &PoolConfig, events: &[Event]) -> Counters {
    config.check().unwrap();
    let mut pool = BufferPool::new(config);
    events.iter().for_each(|event| run(&mut pool, event));
    *pool.counters()
}

#[test]
fn lru_without_prefetch_is_the_curve() {
    let yardstick = Yardstick { pages: 6000, pages_an_object: 1000, ..Yardstick::z50() };
    let made: Vec<_> = yardstick.references().take(60_000).collect();
    let mut curve = LruCurve::default();
    let keys: Vec<u64> = made.iter().map(|one| u64::from(one.object) << 40 | one.page).collect();
    curve.add(&keys, &[]);
    let misses = curve.misses();
    let events: Vec<Event> = (0..)
        .zip(&made)
        .map(|(time, one)| Event {
            set: one.object,
            page: one.page,
            ..getpage(time, if one.sequential { Access::Sequential } else { Access::Random })
        })
        .collect();
    for size in [1, 2, 10, 333, 2000, 5999, 7000] {
        let config = PoolConfig { size, vpseqt: 100, prefetch: false, ..PoolConfig::default() };
        assert_eq!(simulate(&config, &events).pages_read(), misses.of(size as usize), "{size} buffers");
    }
}

/// LRU, no prefetch, VPSEQT 100: the reads of the simulated pool are the misses of the curve, at every size.
fn reads_equal_the_curve(trace: &[u64], ways: u64) {
    let mut curve = LruCurve::default();
    curve.add(trace, &[]);
    let misses = curve.misses();
    let mut random = Random::new(ways);
    let event = |(time, &page)| {
        let access = Access::ALL[random.below(4) as usize].0;
        Event { page, ..getpage(time, access) }
    };
    let events: Vec<Event> = (0..).zip(trace).map(event).collect();
    for size in 1..=121 {
        let config = PoolConfig { size, vpseqt: 100, prefetch: false, ..PoolConfig::default() };
        assert_eq!(simulate(&config, &events).pages_read(), misses.of(size as usize), "{size} buffers");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn lru_without_prefetch_is_the_curve_of_random_traces(trace in classes::random(), ways: u64) {
        reads_equal_the_curve(&trace, ways);
    }

    #[test]
    fn lru_without_prefetch_is_the_curve_of_cyclic_traces(trace in classes::cyclic(), ways: u64) {
        reads_equal_the_curve(&trace, ways);
    }

    #[test]
    fn lru_without_prefetch_is_the_curve_of_zipf_traces(trace in classes::zipf(), ways: u64) {
        reads_equal_the_curve(&trace, ways);
    }

    #[test]
    fn lru_without_prefetch_is_the_curve_of_scan_mixed_traces(trace in classes::scan_mixed(), ways: u64) {
        reads_equal_the_curve(&trace, ways);
    }

    #[test]
    fn lru_without_prefetch_is_the_curve_of_adversarial_traces(trace in classes::adversarial(), ways: u64) {
        reads_equal_the_curve(&trace, ways);
    }
}

#[test]
fn a_cyclic_scan_larger_than_the_pool_reads_every_page_under_lru_and_fifo() {
    let ring = getpages((0..3).flat_map(|_| 0..1000), Access::Random);
    for steal in [Steal::Lru, Steal::Fifo] {
        let config = PoolConfig { size: 999, steal, prefetch: false, ..PoolConfig::default() };
        assert_eq!(simulate(&config, &ring).sync_reads_random, 3000);
    }
    // With prefetch the scan is noticed at its sixth page, and pages come 32 to an I/O.
    let config = PoolConfig { size: 2000, vpseqt: 100, ..PoolConfig::default() };
    let counters = simulate(&config, &ring[..1000]);
    assert_eq!((counters.sync_reads_random, counters.dynamic_pages >= 995), (5, true));
    // First at page 5, then in steps: 21, 37 and every 32 pages to 997: 3 + 30 requests, all with pages to read.
    assert_eq!((counters.dynamic_requests, counters.dynamic_reads), (33, 33));
}

#[test]
fn keeping_part_of_a_ring_beats_lru() {
    // PGSTEAL(NONE) with 900 kept buffers of 1,000: 900 of 1,100 pages are read once, the others every time.
    let ring = getpages((0..5).flat_map(|_| 0..1100), Access::Random);
    let config = PoolConfig { size: 1000, steal: Steal::None, prefetch: false, ..PoolConfig::default() };
    assert_eq!(simulate(&config, &ring).sync_reads_random, 900 + 5 * 200);
}

#[test]
fn a_known_object_is_loaded_when_it_is_opened() {
    let config = PoolConfig { size: 1000, steal: Steal::None, ..PoolConfig::default() };
    let mut pool = BufferPool::new(&config);
    pool.set_pages(0, 500);
    for event in getpages([77, 3, 499], Access::Random) {
        run(&mut pool, &event);
    }
    // 500 pages, 32 a request: 16 requests; nothing is read synchronously.
    let counters = pool.counters();
    assert_eq!((counters.sequential_requests, counters.sequential_pages, counters.sync_reads()), (16, 500, 0));
}

#[test]
fn scans_stay_within_vpseqt() {
    // 1,000 buffers filled by 700 random pages, then a scan of 5,000 pages with VPSEQT 30: 300 buffers are its share.
    let config = PoolConfig { size: 1000, vpseqt: 30, ..PoolConfig::default() };
    let mut events = getpages((0..700).map(|page| 100_000 + page * 100), Access::Random);
    events.extend(getpages(0..5000, Access::Sequential));
    events.extend(getpages((0..700).map(|page| 100_000 + page * 100), Access::Random));
    let counters = simulate(&config, &events);
    assert_eq!(counters.sync_reads_random, 700, "the scan must not have driven random pages out");
    assert_eq!(counters.sync_reads_sequential, 0);
    let greedy = simulate(&PoolConfig { vpseqt: 100, ..config }, &events);
    assert_eq!(greedy.sync_reads_random, 1400, "without the limit it does");
}

#[test]
fn vertical_threshold_writes_full_ios_of_neighbours() {
    // VDWQT 0,40 of 1,000 buffers: the 41st changed page of a data set writes all 41 (at most 128) at once. Pages lie
    // next to each other: I/Os of 32 and 9.
    let config =
        PoolConfig { size: 1000, vdwqt: 0, vdwqt_pages: 40, dwqt: 90, prefetch: false, ..PoolConfig::default() };
    let mut events = Vec::new();
    for event in getpages(0..410, Access::Random) {
        events.push(event);
        events.push(Event { function: Function::SetWrite, ..event });
    }
    let counters = simulate(&config, &events);
    assert_eq!((counters.vertical_threshold, counters.pages_written, counters.async_writes), (10, 410, 20));
    // Every 200th page: no two within 180, so each is an I/O.
    let apart: Vec<Event> = events.iter().map(|event| Event { page: event.page * 200, ..*event }).collect();
    assert_eq!(simulate(&config, &apart).async_writes, 410);
}

#[test]
fn fixed_thresholds_act_in_their_order() {
    // 1,000 buffers, no page is ever released: the 900th in use stops prefetch, the 950th is DMTH, and from the 975th
    // on every update is a synchronous write.
    let config = PoolConfig { size: 1000, releases: true, vpseqt: 100, ..PoolConfig::default() };
    let mut events = getpages((0..899).map(|page| page * 1000), Access::Random);
    let scan = |page| Event { set: 1, page, ..getpage(0, Access::Sequential) };
    events.push(scan(0));
    let counters = simulate(&config, &events);
    assert_eq!((counters.sequential_requests, counters.prefetch_disabled), (1, 0));
    events.push(scan(1_000_000));
    let counters = simulate(&config, &events);
    assert_eq!((counters.sequential_requests, counters.prefetch_disabled), (1, 1));
    events.extend((0..48).map(|page| Event { access: Access::Random, ..scan(2_000_000 + page * 1000) }));
    assert_eq!(simulate(&config, &events).data_management_threshold, 0);
    events.push(Event { access: Access::Random, ..scan(3_000_000) });
    assert_eq!(simulate(&config, &events).data_management_threshold, 1);
    events.extend((0..24).map(|page| Event { access: Access::Random, ..scan(4_000_000 + page * 1000) }));
    let update = Event { function: Function::SetWrite, ..events[0] };
    events.push(update);
    let counters = simulate(&config, &events);
    assert_eq!((counters.sync_writes, counters.horizontal_threshold > 0), (0, true));
    events.insert(events.len() - 1, Event { access: Access::Random, ..scan(5_000_000) });
    events.extend([update, update]);
    assert_eq!(simulate(&config, &events).sync_writes, 3, "three updates, three writes");
}

#[test]
fn checkpoints_write_what_is_changed() {
    let config = PoolConfig { size: 1000, checkpoint: Some(1000), prefetch: false, ..PoolConfig::default() };
    let mut events = Vec::new();
    for event in getpages(0..20, Access::Random) {
        events.extend([event, Event { function: Function::SetWrite, ..event }]);
    }
    events.push(Event { time: 999, ..events[0] });
    assert_eq!(simulate(&config, &events).pages_written, 0);
    events.push(Event { time: 3500, ..events[0] });
    let counters = simulate(&config, &events);
    assert_eq!((counters.checkpoints, counters.pages_written, counters.async_writes), (3, 20, 1));
}

/// Getpages of scans by threads in turn, each with its own 100,000 pages of one data set.
fn scans(threads: u64, pages: u64, access: Access, tells_agents: bool) -> Vec<Event> {
    let mut events = Vec::new();
    for page in 0..pages {
        for thread in 0..threads {
            let agent = if tells_agents { thread as u32 + 1 } else { 0 };
            events.push(Event { page: thread * 100_000 + page, agent, ..getpage(0, access) });
        }
    }
    events
}

#[test]
fn scans_of_several_threads_prefetch_as_each_alone() {
    // 640 pages in requests of 32: at page 0, at 16 and from then on every 32 pages up to 624: 1 + 20 requests. The last
    // reads on to page 671.
    let config = PoolConfig { size: 40_000, ..PoolConfig::default() };
    for threads in [1, 4, 5, 40] {
        for tells_agents in [true, false] {
            let counters = simulate(&config, &scans(threads, 640, Access::Sequential, tells_agents));
            assert_eq!(counters.sync_reads(), 0);
            assert_eq!(counters.sequential_reads, 21 * threads, "{threads} threads");
            assert_eq!(counters.sequential_pages, 672 * threads);
        }
    }
}

#[test]
fn unplanned_scans_of_several_threads_are_noticed_as_each_alone() {
    // Pages 0 to 4 are read one by one; page 5 asks for 5 to 36, page 21 for 37 to 68, then every 32 pages: 53, ..., 629.
    // Of 640 pages: 5 synchronous reads and 1 + 1 + 19 requests.
    let config = PoolConfig { size: 40_000, ..PoolConfig::default() };
    for threads in [1, 2, 5, 40] {
        let counters = simulate(&config, &scans(threads, 640, Access::Random, true));
        assert_eq!(counters.sync_reads_random, 5 * threads, "{threads} threads");
        assert_eq!(counters.dynamic_reads, 21 * threads);
    }
    // A trace that does not tell threads apart shows no scan: pages of two threads in turn are never neighbours.
    let counters = simulate(&config, &scans(2, 640, Access::Random, false));
    assert_eq!((counters.sync_reads_random, counters.dynamic_reads), (1280, 0));
}

#[test]
fn a_backward_scan_is_prefetched_downwards_to_the_first_page() {
    // Pages 999 to 995 one by one; 994 asks for 994 to 963, 978 for 962 to 931, then every 32 pages: 946, ..., 18. The
    // request at 18 asks for 2 to -29: three pages are there.
    let config = PoolConfig { size: 40_000, ..PoolConfig::default() };
    let counters = simulate(&config, &getpages((0..1000).rev(), Access::Random));
    assert_eq!((counters.sync_reads_random, counters.dynamic_reads, counters.dynamic_pages), (5, 32, 995));
}

#[test]
fn pages_that_the_trace_found_were_there() {
    // Three buffers. Pages 1 and 2 were there; 3 is read into the third; then no buffer with an unknown page is left, so 4
    // is read although the trace found it, and takes the place of 1.
    let config = PoolConfig { size: 3, prefetch: false, ..PoolConfig::default() };
    let mut events = getpages([10, 20, 30, 40, 10], Access::Random);
    for (event, status) in events.iter_mut().zip([Status::Hit, Status::Hit, Status::Miss, Status::Hit, Status::Hit]) {
        event.status = status;
    }
    let counters = simulate(&config, &events);
    assert_eq!((counters.warm, counters.sync_reads(), counters.stolen), (2, 3, 2));
    let cold = simulate(&PoolConfig { warm: false, ..config }, &events);
    assert_eq!((cold.warm, cold.sync_reads()), (0, 5));
}

#[test]
fn a_page_that_is_made_anew_is_not_read() {
    let config = PoolConfig { size: 100, ..PoolConfig::default() };
    let mut events = getpages(0..40, Access::Random);
    events.iter_mut().for_each(|event| event.status = Status::NoRead);
    events.push(Event { page: 7, ..getpage(0, Access::Random) });
    let counters = simulate(&config, &events);
    // Nor does it look like a scan: nothing lies ahead of the end.
    assert_eq!((counters.getpages, counters.not_read, counters.pages_read()), (41, 40, 0));
}

#[test]
fn nothing_is_read_ahead_behind_a_page_made_anew() {
    // A thread that inserts pages 100 to 199 at the end, each found once more: page-sequential, but nothing lies ahead.
    let config = PoolConfig { size: 1000, ..PoolConfig::default() };
    let mut events = Vec::new();
    for page in 100..200 {
        events.push(Event { page, status: Status::NoRead, ..getpage(0, Access::Random) });
        events.push(Event { page, ..getpage(0, Access::Random) });
    }
    let counters = simulate(&config, &events);
    assert_eq!((counters.not_read, counters.dynamic_requests > 0, counters.pages_read()), (100, true, 0));
    // A page made anew among others says nothing about the end: pages 5 and 21 ask for 32 pages each.
    let mut events = getpages(0..37, Access::Random);
    events.push(Event { page: 3, status: Status::NoRead, ..getpage(0, Access::Random) });
    let counters = simulate(&config, &events);
    assert_eq!((counters.dynamic_pages, counters.not_read), (32 * 2, 0));
}

#[test]
fn a_data_set_is_written_so_long_after_its_last_update() {
    // 45 minutes after the last update, which was at minute 10.
    let minute = 60_000_000;
    let config = PoolConfig { size: 1000, pseudo_close: Some(45 * minute), ..PoolConfig::default() };
    let update = |page, at| Event { page, function: Function::SetWrite, ..getpage(at, Access::Random) };
    let mut events = Vec::new();
    for (page, at) in [(1, 0), (2, 0), (3, 10 * minute)] {
        events.extend([Event { page, ..getpage(at, Access::Random) }, update(page, at)]);
    }
    events.push(getpage(55 * minute - 1, Access::Random));
    let counters = simulate(&config, &events);
    assert_eq!((counters.pseudo_closes, counters.pages_written), (0, 0));
    events.push(getpage(55 * minute, Access::Random));
    let counters = simulate(&config, &events);
    assert_eq!((counters.pseudo_closes, counters.pages_written, counters.async_writes), (1, 3, 1));
    // A checkpoint every three minutes has written them long before.
    let counters = simulate(&PoolConfig { checkpoint: Some(3 * minute), ..config }, &events);
    assert_eq!((counters.pseudo_closes, counters.pages_written), (0, 3));
}

#[test]
fn thresholds_of_zero_write_from_one_per_cent_of_a_small_pool() {
    // Of 1,000 buffers 1 % is 10: the eleventh changed page writes all eleven (32 at most). Of 10,000 the 41st writes 32,
    // and so does every 32nd after it.
    for (size, pages, writes, written) in [(1000, 110, 10, 110), (10_000, 41 + 64, 3, 96)] {
        let config = PoolConfig { size, vdwqt: 0, dwqt: 90, prefetch: false, ..PoolConfig::default() };
        let mut events = Vec::new();
        for event in getpages(0..pages, Access::Random) {
            events.extend([event, Event { function: Function::SetWrite, ..event }]);
        }
        let counters = simulate(&config, &events);
        assert_eq!((counters.vertical_threshold, counters.pages_written), (writes, written), "{size} buffers");
    }
}

#[test]
fn residency_is_the_time_from_read_to_steal() {
    // Two buffers, a page a second: each stays two seconds, eight of ten are stolen.
    let config = PoolConfig { size: 2, prefetch: false, ..PoolConfig::default() };
    let mut events = getpages(0..10, Access::Random);
    events.iter_mut().for_each(|event| event.time *= 1_000_000);
    let counters = simulate(&config, &events);
    assert_eq!((counters.stolen, counters.residency), (8, 16_000_000));
    assert_eq!((counters.stolen_sequential, counters.residency_sequential), (0, 0));
    // The same pages by a scan: all are on the sequential chain.
    events.iter_mut().for_each(|event| event.access = Access::Sequential);
    let counters = simulate(&config, &events);
    assert_eq!((counters.stolen_sequential, counters.residency_sequential), (8, 16_000_000));
}

#[test]
fn a_trace_is_simulated_pool_by_pool_wherever_it_is_cut() {
    let mut random = Random::new(5);
    let rows = 6000;
    let pool: Vec<u16> = (0..rows).map(|_| [1, 2, 9][random.below(3) as usize]).collect();
    let object: Vec<u32> = pool.iter().map(|&pool| u32::from(pool) + 10 * random.below(2) as u32).collect();
    let page: Vec<u64> = (0..rows).map(|_| random.below(200)).collect();
    let function: Vec<u8> = (0..rows).map(|_| random.below(2) as u8).collect();
    let access: Vec<u8> = (0..rows).map(|_| random.below(4) as u8).collect();
    let agent: Vec<u32> = (0..rows).map(|_| random.below(5) as u32).collect();
    let status: Vec<u8> = (0..rows).map(|_| random.below(4) as u8).collect();
    let (time, member, partition) = ((0..rows as i64).collect::<Vec<_>>(), vec![0; rows], vec![0; rows]);
    let cut = |from: usize, to: usize| References {
        time: &time[from..to],
        member: &member[from..to],
        pool: &pool[from..to],
        object: &object[from..to],
        partition: &partition[from..to],
        page: &page[from..to],
        function: &function[from..to],
        access: &access[from..to],
        agent: &agent[from..to],
        status: &status[from..to],
    };
    let small = |size| PoolConfig { size, ..PoolConfig::default() };
    let configs = BTreeMap::from([(1, small(100)), (2, small(150))]);
    let mut whole = Simulation::new(&configs, Some(1000)).unwrap();
    whole.add(&cut(0, rows)).unwrap();
    let mut pieces = Simulation::new(&configs, Some(1000)).unwrap();
    for at in (0..rows).step_by(97) {
        pieces.add(&cut(at, (at + 97).min(rows))).unwrap();
    }
    let nines = pool.iter().filter(|&&pool| pool == 9).count() as u64;
    assert_eq!(whole.without_configuration(), &BTreeMap::from([(9, nines)]));
    for id in [1, 2] {
        let (one, other) = (&whole.pools()[&id], &pieces.pools()[&id]);
        assert_eq!(one.pool().counters(), other.pool().counters());
        assert_eq!(one.snapshots(), other.snapshots());
        assert_eq!(one.snapshots().len(), 5);
        let sum = one.pool().counters().getpages + one.pool().counters().updates;
        assert_eq!(sum, pool.iter().filter(|&&pool| pool == id).count() as u64);
    }
}

#[test]
fn several_configurations_count_as_each_alone_on_a_trace_that_has_its_data_sets_where_they_go() {
    let mut random = Random::new(6);
    // More than two stretches.
    let rows = 150_000;
    let object: Vec<u32> = (0..rows).map(|_| random.below(40) as u32).collect();
    let partition: Vec<u16> = (0..rows).map(|_| random.below(2) as u16).collect();
    let pool: Vec<u16> = object.iter().map(|&object| [1, 2, 9][object as usize % 3]).collect();
    let page: Vec<u64> = (0..rows).map(|_| random.below(200)).collect();
    let function: Vec<u8> = (0..rows).map(|_| u8::from(random.below(8) == 0)).collect();
    let access: Vec<u8> = (0..rows).map(|_| random.below(4) as u8).collect();
    let agent: Vec<u32> = (0..rows).map(|_| random.below(5) as u32).collect();
    let status: Vec<u8> = (0..rows).map(|_| random.below(4) as u8).collect();
    let (time, member) = ((0..rows as i64).collect::<Vec<_>>(), vec![0; rows]);
    let whole = References {
        time: &time,
        member: &member,
        pool: &pool,
        object: &object,
        partition: &partition,
        page: &page,
        function: &function,
        access: &access,
        agent: &agent,
        status: &status,
    };
    let sized = |sizes: &[(u16, u32)]| -> Configs {
        sizes.iter().map(|&(id, size)| (id, PoolConfig { size, ..PoolConfig::default() })).collect()
    };
    let moves = [((3, 0), 7u16), ((3, 1), 2), ((4, 1), 1), ((5, 0), 8)];
    let runs = [
        (sized(&[(1, 900), (2, 300)]), vec![]),
        (sized(&[(1, 100), (2, 500), (7, 60)]), moves.to_vec()),
        (sized(&[(9, 2000)]), moves[..1].to_vec()),
        (sized(&[]), vec![]),
    ];
    let placed = |moves: &[((u32, u16), u16)]| (!moves.is_empty()).then(|| Placement::new(moves.iter().copied()));
    let several = runs.iter().map(|(configs, moves)| (configs.clone(), placed(moves)));
    let mut together = Simulations::new(several, None).unwrap();
    together.set_pages(3, 0, 150);
    together.add(&whole).unwrap();
    assert_eq!((together.len(), together.is_empty()), (4, false));
    for (run, (configs, moves)) in runs.iter().enumerate() {
        // The rows themselves are changed, one by one.
        let moved: Vec<u16> = (0..rows)
            .map(|row| {
                let own = moves.iter().find(|(data_set, _)| *data_set == (object[row], partition[row]));
                own.map_or(pool[row], |&(_, pool)| pool)
            })
            .collect();
        let mut alone = Simulation::new(configs, None).unwrap();
        alone.set_pages(3, 0, 150);
        alone.add(&References { pool: &moved, ..whole }).unwrap();
        assert_eq!(together.without_configuration(run), alone.without_configuration());
        assert_eq!(together.data_sets().known(), alone.data_sets().known());
        assert_eq!(together.pools(run).len(), configs.len());
        for (id, pool) in together.pools(run) {
            let other = alone.pools()[id].pool();
            assert_eq!(pool.pool().counters(), other.counters());
            assert!(other.counters().getpages > 0);
            for number in 0..together.data_sets().known().len() as u32 {
                assert_eq!(pool.pool().data_set_counters(number), other.data_set_counters(number));
            }
        }
    }
    assert!(Simulations::new([(sized(&[(1, 0)]), None)], None).is_err());
}
