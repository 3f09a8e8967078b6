//! Sampled curves against the exact ones.

use plexlens_bufferpool::curve::ShareSizes;
use plexlens_bufferpool::pool_curves::PoolCurves;
use plexlens_bufferpool::sampled::{RateError, SampledPools};
use plexlens_bufferpool::synthetic::Yardstick;
use plexlens_bufferpool::trace::{Function, References};

struct Columns {
    time: Vec<i64>,
    zero8: Vec<u8>,
    zero16: Vec<u16>,
    object: Vec<u32>,
    page: Vec<u64>,
}

impl Columns {
    fn of(yardstick: &Yardstick, rows: usize) -> Self {
        let made: Vec<_> = yardstick.references().take(rows).collect();
        Self {
            time: (0..rows as i64).collect(),
            zero8: vec![0; rows],
            zero16: vec![0; rows],
            object: made.iter().map(|one| one.object).collect(),
            page: made.iter().map(|one| one.page).collect(),
        }
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
            access: &self.zero8,
            ..References::default()
        }
    }
}

fn yardstick(pages: u64, seed: u64) -> Yardstick {
    Yardstick { pages, pages_an_object: pages / 20, seed, ..Yardstick::z50() }
}

#[test]
fn a_sample_of_everything_is_the_exact_curve() {
    let columns = Columns::of(&yardstick(2000, 1), 30_000);
    let mut exact = PoolCurves::new(ShareSizes::Steps);
    exact.add(&columns.references()).unwrap();
    let mut sampled = SampledPools::new(1.0, ShareSizes::Steps).unwrap();
    sampled.add(&columns.references()).unwrap();
    let (exact, sampled) = (exact.pools()[&0].curve(), &sampled.pools()[&0]);
    assert_eq!(sampled.sample().misses(), exact.misses());
    let estimate = sampled.estimate();
    for size in 0..2100 {
        assert_eq!(estimate.of(size), exact.misses().of(size as usize) as f64, "size {size}");
        assert_eq!(estimate.error(size), 0.0);
    }
    for object in 0..20 {
        assert_eq!(sampled.sample().share_curve(object), exact.share_curve(object));
    }
}

#[test]
fn a_trace_of_one_data_set_has_the_sample_that_it_has_between_other_events() {
    // Stretches with getpages of one data set alone are read in a way of their own; an event in each of them forbids it.
    let columns = Columns::of(&Yardstick { pages_an_object: 5000, ..yardstick(5000, 7) }, 20_000);
    let apart = Columns { object: vec![3; 20_000], ..columns };
    let mut between = Columns { time: vec![], zero8: vec![], zero16: vec![], object: vec![], page: vec![] };
    let mut function = vec![];
    for (row, &page) in apart.page.iter().enumerate() {
        for event in (row % 100 == 0).then_some(true).into_iter().chain([false]) {
            between.page.push(if event { 1 << 30 } else { page });
            function.push(if event { Function::SetWrite as u8 } else { Function::Getpage as u8 });
        }
    }
    let rows = between.page.len();
    between.time = (0..rows as i64).collect();
    (between.zero8, between.zero16, between.object) = (vec![0; rows], vec![0; rows], vec![3; rows]);
    let mut samples = [0.1, 0.1].map(|rate| SampledPools::new(rate, ShareSizes::Steps).unwrap());
    samples[0].add(&apart.references()).unwrap();
    samples[1].add(&References { function: &function, ..between.references() }).unwrap();
    let [apart, between] = samples.each_ref().map(|sampled| &sampled.pools()[&0]);
    assert!(apart.sample().distinct_pages() > 100);
    assert_eq!(apart.sample().misses(), between.sample().misses());
    assert_eq!(apart.references(), between.references());
}

#[test]
fn estimates_lie_within_the_errors_they_state() {
    // The true curve must be inside 1.96 standard errors in about 95 % of the points, and the stated errors must not be
    // so wide that this says nothing. Points of one seed depend on each other, so 90 % of them are asked for.
    let (rows, mut inside, mut all, mut stated) = (400_000, 0, 0, 0.0);
    for seed in 0..12 {
        let columns = Columns::of(&yardstick(100_000, seed), rows);
        let mut exact = PoolCurves::new(ShareSizes::Steps);
        exact.add(&columns.references()).unwrap();
        let mut sampled = SampledPools::new(0.05, ShareSizes::Steps).unwrap();
        sampled.add(&columns.references()).unwrap();
        let (exact, estimate) = (exact.pools()[&0].curve().misses(), sampled.pools()[&0].estimate());
        for size in (1000..=90_000).step_by(4450) {
            let off = (estimate.of(size) - exact.of(size as usize) as f64).abs();
            inside += u32::from(off <= 1.96 * estimate.error(size));
            all += 1;
            stated += estimate.error(size) / rows as f64;
        }
    }
    assert!(inside * 100 >= all * 90, "{inside} of {all} inside 1.96 standard errors");
    assert!(stated / f64::from(all) < 0.02, "mean stated error {}", stated / f64::from(all));
}

#[test]
fn impossible_rates_are_refused() {
    for rate in [0.0, -0.5, 1.01, f64::NAN, f64::INFINITY, 1e-12] {
        let refused = SampledPools::new(rate, ShareSizes::Steps).err().expect("refused");
        assert!(refused.0 == rate || rate.is_nan(), "{refused}");
    }
    assert!(RateError(2.0).to_string().contains("above 0 and at most 1"));
}
