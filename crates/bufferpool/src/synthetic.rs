//! Made traces with known properties: for benchmarks and for tests against closed forms.

/// A small generator with a stated sequence (SplitMix64), so that a seed gives the same trace everywhere.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator with a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is not zero.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// A number in `[0, 1)`.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Ranks `1..=count` with probability proportional to `rank^-exponent`, by rejection-inversion (Hörmann and Derflinger,
/// "Rejection-inversion to generate variates from monotone discrete distributions", 1996). Exponents other than 1.
#[derive(Clone, Debug)]
pub struct Zipf {
    count: f64,
    exponent: f64,
    low: f64,
    high: f64,
    squeeze: f64,
}

impl Zipf {
    /// Ranks up to `count` with an exponent above zero and other than one.
    pub fn new(count: u64, exponent: f64) -> Self {
        let mut made = Self { count: count as f64, exponent, low: 0.0, high: 0.0, squeeze: 0.0 };
        made.low = made.integral(1.5) - 1.0;
        made.high = made.integral(made.count + 0.5);
        made.squeeze = 2.0 - made.inverse(made.integral(2.5) - 2f64.powf(-exponent));
        made
    }

    fn integral(&self, x: f64) -> f64 {
        x.powf(1.0 - self.exponent) / (1.0 - self.exponent)
    }

    fn inverse(&self, y: f64) -> f64 {
        (y * (1.0 - self.exponent)).powf(1.0 / (1.0 - self.exponent))
    }

    /// The next rank.
    pub fn rank(&self, random: &mut Random) -> u64 {
        loop {
            let u = self.high + random.unit() * (self.low - self.high);
            let x = self.inverse(u);
            let rank = x.round().clamp(1.0, self.count);
            if rank - x <= self.squeeze || u >= self.integral(rank + 0.5) - rank.powf(-self.exponent) {
                return rank as u64;
            }
        }
    }
}

/// The yardstick trace: Zipf references over all pages, a share of sequential scans among them.
///
/// Pages are numbered over all objects; an object holds `pages_an_object` of them. Popular pages are spread over the
/// whole by a multiplication modulo the number of pages. Scans run through consecutive pages from a random start, four
/// at a time, interleaved with the rest, each of 64 to 1,087 pages.
#[derive(Clone, Debug)]
pub struct Yardstick {
    /// Distinct pages; a multiple of `pages_an_object`.
    pub pages: u64,
    /// Pages of each object.
    pub pages_an_object: u64,
    /// Exponent of the Zipf part.
    pub exponent: f64,
    /// Share of references that belong to scans.
    pub scans: f64,
    /// Seed.
    pub seed: u64,
}

/// One made reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Made {
    /// Object ordinal.
    pub object: u32,
    /// Page in the object.
    pub page: u64,
    /// Whether it belongs to a scan.
    pub sequential: bool,
}

impl Yardstick {
    /// Z50 but for its length: five million pages, Zipf(0.9), 20 % scans.
    pub fn z50() -> Self {
        Self { pages: 5_000_000, pages_an_object: 100_000, exponent: 0.9, scans: 0.2, seed: 50 }
    }

    /// The references, without end.
    pub fn references(&self) -> impl Iterator<Item = Made> + use<> {
        let (pages, each, scans) = (self.pages, self.pages_an_object, self.scans);
        let zipf = Zipf::new(pages, self.exponent);
        let mut random = Random::new(self.seed);
        let mut running = [(0u64, 0u64); 4];
        std::iter::from_fn(move || {
            let sequential = random.unit() < scans;
            let page = if sequential {
                let scan = &mut running[random.below(4) as usize];
                if scan.1 == 0 {
                    *scan = (random.below(pages), 64 + random.below(1024));
                }
                let page = scan.0;
                *scan = ((page + 1) % pages, scan.1 - 1);
                page
            } else {
                // A prime that divides no number of pages below it: a bijection.
                (zipf.rank(&mut random) - 1) * 2_654_435_761 % pages
            };
            Some(Made { object: (page / each) as u32, page: page % each, sequential })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_follow_their_law() {
        let (count, exponent, draws) = (1000u64, 0.9, 400_000);
        let zipf = Zipf::new(count, exponent);
        let mut random = Random::new(1);
        let mut seen = vec![0u32; count as usize + 1];
        for _ in 0..draws {
            seen[zipf.rank(&mut random) as usize] += 1;
        }
        let norm: f64 = (1..=count).map(|k| (k as f64).powf(-exponent)).sum();
        for rank in [1u64, 2, 3, 10, 100, 1000] {
            let expected = f64::from(draws) * (rank as f64).powf(-exponent) / norm;
            let found = f64::from(seen[rank as usize]);
            assert!((found - expected).abs() < 5.0 * expected.sqrt(), "rank {rank}: {found} of {expected}");
        }
    }

    #[test]
    fn a_yardstick_is_repeatable_and_has_its_share_of_scans() {
        let small = Yardstick { pages: 10_000, pages_an_object: 1000, ..Yardstick::z50() };
        let made: Vec<_> = small.references().take(100_000).collect();
        assert_eq!(made, small.references().take(100_000).collect::<Vec<_>>());
        let scans = made.iter().filter(|one| one.sequential).count();
        assert!((19_000..21_000).contains(&scans), "{scans}");
        assert!(made.iter().all(|one| one.object < 10 && one.page < 1000));
    }
}
