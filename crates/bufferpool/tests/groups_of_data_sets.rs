//! Curves of data sets alone and in any grouping against a list that moves the referenced page to its front.

use plexlens_bufferpool::curve::ShareSizes;
use plexlens_bufferpool::data_set_curves::DataSetCurves;
use plexlens_bufferpool::placement::Placement;
use plexlens_bufferpool::pool_curves::PoolCurves;
use plexlens_bufferpool::synthetic::Random;
use plexlens_bufferpool::trace::References;
use plexlens_bufferpool::trace_sample::TraceSample;

/// Objects 0 to 4, each with partitions 0 and 1, of 60 pages each; object 4 is scanned from end to end.
struct Columns {
    time: Vec<i64>,
    zero: Vec<u8>,
    pool: Vec<u16>,
    object: Vec<u32>,
    partition: Vec<u16>,
    page: Vec<u64>,
    function: Vec<u8>,
}

impl Columns {
    fn made(rows: usize) -> Self {
        let mut random = Random::new(17);
        let mut made = Self {
            time: (0..rows as i64).collect(),
            zero: vec![0; rows],
            pool: Vec::new(),
            object: Vec::new(),
            partition: Vec::new(),
            page: Vec::new(),
            function: Vec::new(),
        };
        for row in 0..rows as u64 {
            let object = random.below(5) as u32;
            made.object.push(object);
            made.partition.push(random.below(2) as u16);
            made.pool.push(u16::from(object > 2));
            made.page.push(if object == 4 { row / 10 % 60 } else { random.below(60) * random.below(60) / 60 });
            made.function.push(u8::from(random.below(10) == 0));
        }
        made
    }

    fn cut(&self, from: usize, to: usize) -> References<'_> {
        References {
            time: &self.time[from..to],
            member: &self.zero[from..to],
            pool: &self.pool[from..to],
            object: &self.object[from..to],
            partition: &self.partition[from..to],
            page: &self.page[from..to],
            function: &self.function[from..to],
            access: &self.zero[from..to],
            ..References::default()
        }
    }

    /// Reads of a pool of these data sets, by the list itself.
    fn misses(&self, size: usize, member: impl Fn(u32, u16) -> bool) -> u64 {
        let (mut list, mut misses) = (Vec::new(), 0);
        for row in (0..self.time.len()).filter(|&row| self.function[row] == 0) {
            let page = (self.object[row], self.partition[row], self.page[row]);
            if !member(page.0, page.1) {
                continue;
            }
            match list.iter().position(|held| *held == page) {
                Some(at) => drop(list.remove(at)),
                None => misses += 1,
            }
            list.insert(0, page);
            list.truncate(size);
        }
        misses
    }
}

const SIZES: [usize; 7] = [1, 2, 10, 33, 60, 100, 300];

#[test]
fn each_data_set_alone() {
    let columns = Columns::made(9000);
    let mut curves = DataSetCurves::new(None).unwrap();
    for at in (0..9000).step_by(1234) {
        curves.add(&columns.cut(at, (at + 1234).min(9000))).unwrap();
    }
    curves.settle();
    assert_eq!(curves.data_sets().known().len(), 10);
    for (number, &(object, partition)) in curves.data_sets().known().iter().enumerate() {
        let estimate = curves.estimate(number as u32);
        for size in SIZES {
            let expected = columns.misses(size, |one, other| (one, other) == (object, partition));
            assert_eq!(estimate.of(size as u64), expected as f64, "{object}.{partition} at {size}");
            assert_eq!(estimate.error(size as u64), 0.0);
        }
        assert_eq!(estimate.of(0), curves.getpages(number as u32) as f64);
        assert_eq!(curves.distinct_pages(number as u32), estimate.of(1000));
    }
}

#[test]
fn any_group_from_a_whole_sample() {
    let columns = Columns::made(9000);
    let mut sample = TraceSample::new(1.0).unwrap();
    for at in (0..9000).step_by(777) {
        sample.add(&columns.cut(at, (at + 777).min(9000))).unwrap();
    }
    let wanted: Vec<Vec<(u32, u16)>> = vec![vec![(0, 0), (4, 1)], vec![(2, 1)], (0..5).map(|one| (one, 0)).collect()];
    let numbered = |group: &Vec<(u32, u16)>| group.iter().map(|one| sample.number(one.0, one.1).unwrap()).collect();
    let numbered: Vec<Vec<u32>> = wanted.iter().map(numbered).collect();
    let found = sample.groups(&numbered, true, |number, group| {
        (number, SIZES.map(|size| (group.estimate().of(size as u64), group.estimate().error(size as u64))))
    });
    for (at, (group, (number, points))) in wanted.iter().zip(found).enumerate() {
        assert_eq!(number, at);
        for (size, point) in SIZES.into_iter().zip(points) {
            let expected = columns.misses(size, |one, other| group.contains(&(one, other)));
            assert_eq!(point, (expected as f64, 0.0), "{group:?} at {size}");
        }
    }
    assert_eq!(sample.number(5, 0), None);
    let none = sample.group(&[], false);
    assert_eq!((none.estimate().of(0), none.estimate().of(10)), (0.0, 0.0));
}

#[test]
fn a_sample_is_the_same_whichever_way_it_is_taken() {
    // All data sets in one pool, sampled by SampledPools and by TraceSample: the same pages, so the same numbers.
    use plexlens_bufferpool::sampled::SampledPools;
    let columns = Columns::made(9000);
    let mut sample = TraceSample::new(0.3).unwrap();
    sample.add(&columns.cut(0, 9000)).unwrap();
    let mut pools = SampledPools::new(0.3, ShareSizes::Steps).unwrap();
    let everywhere = (0..5).flat_map(|object| [((object, 0), 9), ((object, 1), 9)]);
    pools.add(&Placement::new(everywhere).apply(&columns.cut(0, 9000)).unwrap()).unwrap();
    let all: Vec<u32> = (0..sample.data_sets().known().len() as u32).collect();
    let (one, other) = (sample.group(&all, true), pools.pools()[&9].estimate());
    for size in 0..600 {
        assert_eq!(one.estimate().of(size), other.of(size), "size {size}");
        assert_eq!(one.estimate().error(size), other.error(size), "size {size}");
    }
    let mut alone = DataSetCurves::new(Some(0.3)).unwrap();
    alone.add(&columns.cut(0, 9000)).unwrap();
    alone.settle();
    for number in all {
        let group = sample.group(&[number], true);
        let number = alone
            .data_sets()
            .find(sample.data_sets().known()[number as usize].0, sample.data_sets().known()[number as usize].1);
        let estimate = alone.estimate(number.unwrap());
        for size in 0..100 {
            assert_eq!(group.estimate().of(size), estimate.of(size));
            assert_eq!(group.estimate().error(size), estimate.error(size));
        }
    }
}

#[test]
fn placed_data_sets_have_the_curve_of_their_new_pool() {
    let columns = Columns::made(9000);
    let mut placement = Placement::new([((0, 0), 7), ((4, 1), 7), ((1, 0), 1)]);
    let mut curves = PoolCurves::new(ShareSizes::Steps);
    for at in (0..9000).step_by(500) {
        curves.add(&placement.apply(&columns.cut(at, at + 500)).unwrap()).unwrap();
    }
    assert_eq!(curves.pools().keys().copied().collect::<Vec<_>>(), [0, 1, 7]);
    for size in SIZES {
        let of = |pool: u16| curves.pools()[&pool].curve().misses().of(size);
        let moved = |one: u32, other: u16| (one, other) == (0, 0) || (one, other) == (4, 1);
        assert_eq!(of(7), columns.misses(size, moved), "size {size}");
        let first = |one: u32, other: u16| one > 2 || (one, other) == (1, 0);
        assert_eq!(of(1), columns.misses(size, |one, other| first(one, other) && !moved(one, other)), "size {size}");
    }
}
