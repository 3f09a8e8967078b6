//! Curves against a list that moves the referenced page to its front, and against closed forms.

mod classes;

use std::collections::HashSet;

use plexlens_bufferpool::curve::{LruCurve, ShareSizes};
use plexlens_bufferpool::synthetic::{Random, Yardstick, Zipf};
use proptest::prelude::*;

/// Misses of an LRU pool, in all and of each object, by the list itself.
fn pool(pages: &[u64], objects: &[u32], size: usize) -> (u64, Vec<u64>) {
    let (mut list, mut misses) = (Vec::new(), vec![0; 8]);
    for (page, object) in pages.iter().zip(objects) {
        match list.iter().position(|held| held == page) {
            Some(at) => {
                list.remove(at);
            }
            None => misses[*object as usize] += 1,
        }
        list.insert(0, *page);
        list.truncate(size);
    }
    (misses.iter().sum(), misses)
}

fn check(pages: &[u64], batch: usize, sizes: &[usize]) {
    let objects: Vec<u32> = pages.iter().map(|page| (page % 8) as u32).collect();
    let mut curve = LruCurve::default();
    for (pages, objects) in pages.chunks(batch).zip(objects.chunks(batch)) {
        curve.add(pages, objects);
    }
    let misses = curve.misses();
    assert_eq!(misses.references(), pages.len() as u64);
    let distinct = pages.iter().collect::<HashSet<_>>().len();
    assert_eq!(curve.distinct_pages(), distinct as u64);
    assert!(misses.enough() <= distinct);
    assert_eq!(misses.of(misses.enough()), distinct as u64);
    for &size in sizes {
        let (all, each) = pool(pages, &objects, size);
        assert_eq!(misses.of(size), all, "size {size}");
        for (object, &expected) in each.iter().enumerate() {
            if let Some(found) = curve.share_misses(object as u32, size as u32) {
                assert_eq!(found, expected, "object {object}, size {size}");
            } else {
                assert!(size > 64 || object >= curve.shares().len(), "size {size} is kept");
            }
        }
    }
}

/// Every size there is, and one more.
fn every_size(trace: &[u64], batch: usize) {
    check(trace, batch, &(0..=121).collect::<Vec<_>>());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn random_traces_miss_as_the_list_at_every_size(trace in classes::random(), batch in 1usize..700) {
        every_size(&trace, batch);
    }

    #[test]
    fn cyclic_traces_miss_as_the_list_at_every_size(trace in classes::cyclic(), batch in 1usize..700) {
        every_size(&trace, batch);
    }

    #[test]
    fn zipf_traces_miss_as_the_list_at_every_size(trace in classes::zipf(), batch in 1usize..700) {
        every_size(&trace, batch);
    }

    #[test]
    fn scan_mixed_traces_miss_as_the_list_at_every_size(trace in classes::scan_mixed(), batch in 1usize..700) {
        every_size(&trace, batch);
    }

    #[test]
    fn adversarial_traces_miss_as_the_list_at_every_size(trace in classes::adversarial(), batch in 1usize..700) {
        every_size(&trace, batch);
        every_size(&classes::colliding(&trace), batch);
    }
}

#[test]
fn colliding_pages_do_collide() {
    // The test above would show nothing if they did not: their hashes differ in the lowest bits alone.
    let pages = classes::colliding(&[0, 1, 119]);
    let hashes: Vec<u64> = pages.iter().map(|&page| plexlens_bufferpool::page_table::scramble(page)).collect();
    assert_eq!(hashes, [1 << 40, 1 << 40 | 1, 1 << 40 | 119]);
}

#[test]
fn long_traces_are_renumbered_many_times() {
    let mut random = Random::new(7);
    let zipf = Zipf::new(600, 0.9);
    let pages: Vec<u64> = (0..250_000).map(|_| zipf.rank(&mut random)).collect();
    check(&pages, 1000, &[1, 2, 17, 100, 333, 599, 600]);
}

#[test]
fn a_cyclic_scan_larger_than_the_pool_misses_always() {
    // n pages in a ring: every distance is n. Smaller pools hit never, larger ones after the first round.
    let (pages, rounds) = (5000u64, 4);
    let ring: Vec<u64> = (0..rounds).flat_map(|_| 0..pages).collect();
    let mut curve = LruCurve::default();
    curve.add(&ring, &[]);
    let misses = curve.misses();
    for size in [0, 1, 100, 4999] {
        assert_eq!(misses.of(size), rounds * pages);
    }
    assert_eq!(misses.of(5000), pages);
    assert_eq!(misses.of(1 << 40), pages);
}

#[test]
fn independent_zipf_references_follow_ches_approximation() {
    // Che, Tung, Wang 2002: T solves sum(1 - exp(-p T)) = C; the miss ratio is sum(p exp(-p T)).
    let (count, references) = (5000u64, 600_000);
    let zipf = Zipf::new(count, 0.8);
    let mut random = Random::new(11);
    let pages: Vec<u64> = (0..references).map(|_| zipf.rank(&mut random)).collect();
    let mut curve = LruCurve::default();
    curve.add(&pages, &[]);
    let norm: f64 = (1..=count).map(|rank| (rank as f64).powf(-0.8)).sum();
    let chance: Vec<f64> = (1..=count).map(|rank| (rank as f64).powf(-0.8) / norm).collect();
    for size in [50usize, 200, 1000, 3000] {
        let held = |time: f64| chance.iter().map(|p| 1.0 - (-p * time).exp()).sum::<f64>();
        let (mut low, mut high) = (0.0, 1e7);
        for _ in 0..100 {
            let middle = (low + high) / 2.0;
            if held(middle) < size as f64 { low = middle } else { high = middle }
        }
        let expected: f64 = chance.iter().map(|p| p * (-p * low).exp()).sum();
        // The first references to pages are few beside the rest: they are the slack of the bound.
        let found = curve.misses().of(size) as f64 / references as f64;
        assert!((found - expected).abs() < 0.01, "size {size}: {found:.4}, Che {expected:.4}");
    }
}

#[test]
fn shares_at_chosen_sizes_are_kept_at_those_only() {
    let pages: Vec<u64> = (0..100).chain(0..100).collect();
    let objects = vec![0; 200];
    let mut curve = LruCurve::new(ShareSizes::These(vec![10, 99, 100]));
    curve.add(&pages, &objects);
    let misses = |size| curve.share_misses(0, size);
    assert_eq!((misses(0), misses(10), misses(99), misses(100)), (Some(200), Some(200), Some(200), Some(100)));
    assert_eq!((misses(50), misses(101), curve.share_misses(1, 10)), (None, None, None));
}

#[test]
fn priced_misses_are_those_of_the_list_at_the_price_of_each_object() {
    let mut random = Random::new(11);
    let pages: Vec<u64> = (0..2000).map(|_| random.below(60)).collect();
    let objects: Vec<u32> = pages.iter().map(|page| (page % 3) as u32 * 2).collect();
    let mut curve = LruCurve::default();
    curve.add(&pages, &objects);
    // Object 1 and 3 have no reference: their price counts for nothing.
    let prices = [0.5, 1e9, 2.0, 1e9, 0.25];
    let priced = curve.priced_misses(&prices);
    assert_eq!(
        priced.iter().map(|&(size, _)| size as usize).collect::<Vec<_>>(),
        (1..=priced.len()).collect::<Vec<_>>()
    );
    for (size, cost) in priced {
        let (_, each) = pool(&pages, &objects, size as usize);
        // Halves and quarters of whole numbers add up without rounding.
        assert_eq!(cost, each.iter().zip(&prices).map(|(&misses, price)| misses as f64 * price).sum(), "size {size}");
    }
    assert_eq!(LruCurve::default().priced_misses(&[]), [(1, 0.0)]);
}

#[test]
fn misses_between_kept_sizes_lie_on_the_line_between_their_neighbours() {
    // Ten pages, gone through twice: all 20 miss in a pool of up to nine buffers, ten in a larger one.
    let pages: Vec<u64> = (0..10).chain(0..10).collect();
    let mut curve = LruCurve::new(ShareSizes::These(vec![4, 8, 12]));
    curve.add(&pages, &[0; 20]);
    let sizes = [0.0, 2.0, 8.0, 9.0, 11.0, 12.0, 100.0];
    assert_eq!(curve.interpolated_misses(0, &sizes, 1.0), [20.0, 20.0, 20.0, 17.5, 12.5, 10.0, 10.0]);
    // Half of the pages: each stands for two, and so does a buffer.
    assert_eq!(curve.interpolated_misses(0, &[16.0, 18.0, 24.0], 0.5), [40.0, 35.0, 20.0]);
    assert_eq!(curve.interpolated_misses(7, &[1.0], 1.0), [0.0]);
}

#[test]
fn steps_are_no_more_than_a_sixty_fourth_apart() {
    let steps: Vec<u64> = (0..1600).map(|index| u64::from(ShareSizes::Steps.size(index).unwrap())).collect();
    assert_eq!(steps[..66], (1..=64).chain([65, 66]).collect::<Vec<_>>());
    for pair in steps.windows(2) {
        assert!(pair[0] < pair[1] && (pair[1] - pair[0]) * 64 <= pair[0].max(64), "{pair:?}");
    }
}

#[test]
fn an_empty_trace_and_one_page_have_curves() {
    let empty = LruCurve::default().misses();
    assert_eq!((empty.references(), empty.of(0), empty.of(9), empty.enough()), (0, 0, 0, 0));
    let mut one = LruCurve::default();
    one.add(&[5; 10], &[0; 10]);
    assert_eq!((one.misses().of(0), one.misses().of(1), one.misses().enough()), (10, 1, 1));
}

#[test]
fn memory_stays_below_48_bytes_a_page() {
    let mut curve = LruCurve::default();
    let yardstick = Yardstick { pages: 400_000, pages_an_object: 4000, ..Yardstick::z50() };
    let made: Vec<u64> =
        yardstick.references().take(1_500_000).map(|one| u64::from(one.object) << 40 | one.page).collect();
    for batch in made.chunks(5000) {
        curve.add(batch, &[]);
        if curve.distinct_pages() > 20_000 {
            let each = curve.bytes() as f64 / curve.distinct_pages() as f64;
            // Held now; while the table grows the old one stands beside it (1 / 0.72 * 12.8 bytes).
            assert!(each + 12.8 / 0.72 < 48.0, "{each} bytes a page");
        }
    }
}
