//! Classes of traces that tests are made over: pages 0 to 119, up to 900 references.

// Each test binary uses some of it.
#![allow(dead_code)]

use plexlens_bufferpool::synthetic::{Random, Yardstick, Zipf};
use proptest::prelude::*;

/// Pages that a class uses at most.
const PAGES: u64 = 120;
/// References at most.
const REFERENCES: usize = 900;

/// Every page as likely as every other.
pub fn random() -> impl Strategy<Value = Vec<u64>> {
    (1..=PAGES).prop_flat_map(|pages| prop::collection::vec(0..pages, 1..REFERENCES))
}

/// Round and round through the same pages.
pub fn cyclic() -> impl Strategy<Value = Vec<u64>> {
    (1..=PAGES, 1..REFERENCES).prop_map(|(pages, length)| (0..pages).cycle().take(length).collect())
}

/// Few pages often, most pages hardly ever.
pub fn zipf() -> impl Strategy<Value = Vec<u64>> {
    (2..=PAGES, 0.3f64..1.8, any::<u64>(), 1..REFERENCES).prop_map(|(pages, exponent, seed, length)| {
        let (zipf, mut random) = (Zipf::new(pages, exponent), Random::new(seed));
        (0..length).map(|_| zipf.rank(&mut random) - 1).collect()
    })
}

/// Scans of consecutive pages among Zipf references.
pub fn scan_mixed() -> impl Strategy<Value = Vec<u64>> {
    (1..=PAGES, 0.05f64..0.95, any::<u64>(), 1..REFERENCES).prop_map(|(pages, scans, seed, length)| {
        let yardstick = Yardstick { pages, pages_an_object: 8, exponent: 0.9, scans, seed };
        yardstick.references().take(length).map(|one| u64::from(one.object) * 8 + one.page).collect()
    })
}

/// What LRU and the structures below it like least: every distance once in each direction; always the page that is next
/// to go; a new page before each reference to an old one.
pub fn adversarial() -> impl Strategy<Value = Vec<u64>> {
    let forth_and_back = (1..=PAGES, 1..REFERENCES)
        .prop_map(|(pages, length)| (0..pages).chain((0..pages).rev()).cycle().take(length).collect());
    let next_to_go = (1..PAGES, 1..REFERENCES).prop_map(|(size, length)| {
        let mut list: Vec<u64> = (0..=size).collect();
        let mut trace = Vec::new();
        for _ in 0..length {
            let page = list.remove(0);
            trace.push(page);
            list.push(page);
            // Two change places now and then, so that it is not a plain ring.
            if page % 7 == 3 {
                list.swap(0, size as usize / 2);
            }
        }
        trace
    });
    let always_new = (1..=PAGES / 2, any::<u64>()).prop_map(|(old, seed)| {
        let mut random = Random::new(seed);
        (old..PAGES).flat_map(|new| [new, random.below(old)]).collect()
    });
    prop_oneof![forth_and_back, next_to_go, always_new]
}

/// Pages for which the hash tables begin their search in one and the same bucket: the inverse of their hash function at
/// consecutive values.
pub fn colliding(trace: &[u64]) -> Vec<u64> {
    // The inverse of an odd number modulo 2^64 by Newton's iteration.
    let inverse = |odd: u64| (0..6).fold(odd, |x, _| x.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(x))));
    let (first, second) = (inverse(0x9E37_79B9_7F4A_7C15), inverse(0xD6E8_FEB8_6659_FD93));
    let page_of = |hash: u64| {
        let x = (hash ^ hash >> 32).wrapping_mul(second);
        (x ^ x >> 32).wrapping_mul(first)
    };
    trace.iter().map(|&page| page_of(1 << 40 | page)).collect()
}
