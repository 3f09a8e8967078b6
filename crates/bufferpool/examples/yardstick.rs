//! Speed and memory on the yardstick trace, answers checked: `cargo run --release --example yardstick
//! [MILLIONS [curves|policy]]`.
//!
//! The trace is made in stretches outside the clock. Processor time is that of the thread that works (one core); on a
//! busy machine it, not wall time, can be compared. What is measured includes numbering data sets and building page keys.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use plexlens_bufferpool::curve::ShareSizes;
use plexlens_bufferpool::policy::{PoolConfig, Simulation};
use plexlens_bufferpool::pool_curves::PoolCurves;
use plexlens_bufferpool::sampled::SampledPools;
use plexlens_bufferpool::synthetic::Yardstick;
use plexlens_bufferpool::trace::{Access, Function, References};

/// Rows added together, as many as readers of files hand over.
const STRETCH: usize = 1 << 16;

/// Columns of one stretch.
#[derive(Default)]
struct Columns {
    time: Vec<i64>,
    zero8: Vec<u8>,
    zero16: Vec<u16>,
    object: Vec<u32>,
    page: Vec<u64>,
    access: Vec<u8>,
}

impl Columns {
    fn fill(&mut self, yardstick: &mut impl Iterator<Item = plexlens_bufferpool::synthetic::Made>, rows: usize) {
        let from = self.time.last().map_or(0, |last| last + 1);
        self.time.clear();
        self.object.clear();
        self.page.clear();
        self.access.clear();
        for (row, one) in yardstick.take(rows).enumerate() {
            self.time.push(from + row as i64);
            self.object.push(one.object);
            self.page.push(one.page);
            self.access.push(if one.sequential { Access::Sequential } else { Access::Random } as u8);
        }
        self.zero8.resize(rows, 0);
        self.zero16.resize(rows, 0);
    }

    fn references(&self) -> References<'_> {
        References {
            time: &self.time,
            member: &self.zero8,
            pool: &self.zero16,
            object: &self.object,
            partition: &self.zero16,
            page: &self.page,
            function: &self.zero8,
            access: &self.access,
            ..References::default()
        }
    }
}

/// Processor time of this thread; wall time where the system does not tell it.
fn processor_time(since: Instant) -> Duration {
    std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|text| text.split_whitespace().next()?.parse().ok())
        .map_or_else(|| since.elapsed(), Duration::from_nanos)
}

/// Runs over the trace and returns wall and processor time of the work alone.
fn over(yardstick: &Yardstick, rows: usize, mut work: impl FnMut(&Columns)) -> (f64, f64) {
    let (mut references, mut columns, origin) = (yardstick.references(), Columns::default(), Instant::now());
    let (mut wall, mut processor) = (Duration::ZERO, Duration::ZERO);
    let mut left = rows;
    while left > 0 {
        let here = left.min(STRETCH);
        columns.fill(&mut references, here);
        let (started, used) = (Instant::now(), processor_time(origin));
        work(&columns);
        processor += processor_time(origin) - used;
        wall += started.elapsed();
        left -= here;
    }
    (wall.as_secs_f64(), processor.as_secs_f64())
}

fn line(what: &str, rows: usize, (wall, processor): (f64, f64), more: &str) {
    let million = rows as f64 / 1e6;
    println!(
        "{what}: {:.1} million/s by processor time, {:.1} by wall time; {more}",
        million / processor,
        million / wall
    );
}

fn curves(yardstick: &Yardstick, rows: usize) -> Vec<(u64, f64)> {
    let mut pools = PoolCurves::new(ShareSizes::Steps);
    let took = over(yardstick, rows, |columns| pools.add(&columns.references()).expect("a made trace is sound"));
    let curve = pools.pools()[&0].curve();
    assert_eq!(curve.references(), rows as u64);
    let pages = curve.distinct_pages();
    let bytes = curve.bytes() as f64 / pages as f64;
    line("exact curve and shares", rows, took, &format!("{pages} pages, {bytes:.1} bytes a page held at the end"));
    let misses = curve.misses();
    compared(yardstick.pages).iter().map(|&size| (size, misses.of(size as usize) as f64)).collect()
}

fn sampled(yardstick: &Yardstick, rows: usize, exact: &[(u64, f64)]) {
    let mut pools = SampledPools::new(0.01, ShareSizes::Steps).expect("one per cent is a rate");
    let took = over(yardstick, rows, |columns| pools.add(&columns.references()).expect("a made trace is sound"));
    let estimate = pools.pools()[&0].estimate();
    let off = |&(size, misses): &(u64, f64)| (estimate.of(size) - misses).abs() / rows as f64;
    let mean = exact.iter().map(off).sum::<f64>() / exact.len() as f64;
    let stated = exact.iter().map(|&(size, _)| estimate.error(size)).sum::<f64>() / exact.len() as f64 / rows as f64;
    let most = exact.iter().map(off).fold(0.0, f64::max);
    line("1 % sample", rows, took, &format!("mean absolute error {mean:.4}, stated {stated:.4}, largest {most:.4}"));
}

/// Sizes at which samples are compared: forty evenly spaced, forty by equal factors.
fn compared(pages: u64) -> Vec<u64> {
    let even = (1..=40).map(|step| pages * step / 40);
    let factors = (1..=40).map(|step| (pages as f64).powf(0.5 + f64::from(step) / 80.0) as u64);
    even.chain(factors).collect()
}

/// A tenth of the pages are changed; 500,000 buffers, every rule on.
fn policy(yardstick: &Yardstick, rows: usize) {
    let config = PoolConfig { size: 500_000, checkpoint: Some(5_000_000), ..PoolConfig::default() };
    let mut simulation = Simulation::new(&BTreeMap::from([(0, config)]), None).expect("a possible configuration");
    let mut changing = ChangedColumns::default();
    let took = over(yardstick, rows, |columns| {
        changing.fill(columns);
        let rows = References {
            function: &changing.function,
            page: &changing.page,
            object: &changing.object,
            ..columns.references()
        };
        simulation.add(&rows).expect("a made trace is sound");
    });
    let counters = simulation.pools()[&0].pool().counters();
    assert_eq!(counters.getpages + counters.updates, rows as u64);
    let more = format!(
        "{} getpages, {} updates, {} pages read in {} I/Os, {} written in {}",
        counters.getpages,
        counters.updates,
        counters.pages_read(),
        counters.read_ios(),
        counters.pages_written,
        counters.async_writes + counters.sync_writes
    );
    line("policy, 500,000 buffers", rows, took, &more);
}

/// The references with every tenth replaced by a change of the page before it.
#[derive(Default)]
struct ChangedColumns {
    object: Vec<u32>,
    page: Vec<u64>,
    function: Vec<u8>,
}

impl ChangedColumns {
    fn fill(&mut self, columns: &Columns) {
        self.object.clone_from(&columns.object);
        self.page.clone_from(&columns.page);
        self.function.clone_from(&columns.zero8);
        for row in (9..self.page.len()).step_by(10) {
            self.object[row] = self.object[row - 1];
            self.page[row] = self.page[row - 1];
            self.function[row] = Function::SetWrite as u8;
        }
    }
}

fn main() {
    // One worker, the main thread: its processor time is all of it.
    rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global().expect("set once");
    let mut words = std::env::args().skip(1);
    let millions = words.next().map_or(50, |word| word.parse().expect("a number of million references"));
    let which = words.next();
    let wanted = |what: &str| which.as_deref().is_none_or(|which| which == what);
    let rows = millions * 1_000_000;
    let z50 = Yardstick::z50();
    let small = Yardstick { pages: 900_000, pages_an_object: 18_000, ..z50 };
    for yardstick in [z50, small] {
        let scans = yardstick.scans * 100.0;
        let (pages, exponent) = (yardstick.pages, yardstick.exponent);
        println!("{millions} million references over {pages} pages, Zipf({exponent}), {scans:.0} % scans");
        if wanted("curves") {
            let exact = curves(&yardstick, rows);
            sampled(&yardstick, rows, &exact);
        }
        if wanted("policy") {
            policy(&yardstick, rows);
        }
    }
}
