//! Random streams: each source of chance has its own, so that a change of one leaves the others as they were.

use rand::{Rng, RngExt, SeedableRng};
use rand_distr::{Distribution, Exp1, Gamma};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Time, nanoseconds};

/// A stream of random numbers (xoshiro256++), the same everywhere for a seed and a name.
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream of a name under a seed.
    pub fn new(seed: u64, name: &str) -> Self {
        // FNV-1a: a name's hash that will never change.
        let hash = name
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
        Self(Xoshiro256PlusPlus::seed_from_u64(seed ^ hash))
    }

    /// A number in `[0, 1)`.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        self.0.random()
    }

    /// A whole number below `bound`, which is not zero.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0.random_range(0..bound)
    }

    /// The generator itself, for distributions of other crates.
    pub fn generator(&mut self) -> &mut Xoshiro256PlusPlus {
        &mut self.0
    }

    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// An exponentially distributed length of time, its mean in seconds.
    #[inline]
    pub fn exponential(&mut self, mean: f64) -> Time {
        let one: f64 = Exp1.sample(&mut self.0);
        nanoseconds(one * mean)
    }

    /// A length of time, as distributed.
    #[inline]
    pub fn time(&mut self, length: &Length) -> Time {
        match *length {
            Length::Constant { mean } => nanoseconds(mean),
            Length::Exponential { mean } => self.exponential(mean),
            Length::Erlang { mean, stages } => {
                let sum: f64 = (0..stages).map(|_| Distribution::<f64>::sample(&Exp1, &mut self.0)).sum();
                nanoseconds(sum * mean / f64::from(stages))
            }
            Length::Humps { short, long, short_share } => {
                let hump = if self.unit() < short_share { short } else { long };
                // Gamma with shape 4: a hump around its mean with half of it as standard deviation.
                Gamma::new(4.0, hump / 4.0).map_or(0, |gamma| nanoseconds(gamma.sample(&mut self.0)))
            }
        }
    }
}

/// How a length of time is distributed; means in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Length {
    /// Always the same.
    Constant {
        /// Mean.
        mean: f64,
    },
    /// Exponential.
    Exponential {
        /// Mean.
        mean: f64,
    },
    /// Sum of exponential stages: less variable than one.
    Erlang {
        /// Mean.
        mean: f64,
        /// Stages.
        stages: u32,
    },
    /// Two humps, short and long: the Bactrian think time of the VM/ESA measurements of 1992, in which users either go
    /// on at once or stop to think.
    Humps {
        /// Mean of the first hump.
        short: f64,
        /// Mean of the second hump.
        long: f64,
        /// Share of the first.
        short_share: f64,
    },
}

impl Length {
    /// Mean in seconds.
    pub fn mean(&self) -> f64 {
        match *self {
            Self::Constant { mean } | Self::Exponential { mean } | Self::Erlang { mean, .. } => mean,
            Self::Humps { short, long, short_share } => short * short_share + long * (1.0 - short_share),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_and_variances_are_those_of_the_distribution() {
        let cases = [
            (Length::Constant { mean: 0.5 }, 0.0),
            (Length::Exponential { mean: 0.5 }, 0.25),
            (Length::Erlang { mean: 0.5, stages: 4 }, 0.0625),
            // Variance of a mixture: second moments (1.25 m^2 each), less the squared mean.
            (Length::Humps { short: 0.2, long: 1.0, short_share: 0.75 }, 1.25 * (0.75 * 0.04 + 0.25) - 0.16),
        ];
        for (length, variance) in cases {
            let mut stream = Stream::new(7, "test");
            let values: Vec<f64> = (0..200_000).map(|_| stream.time(&length) as f64 / 1e9).collect();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let found = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64;
            // Five standard errors of the mean; the variance within 4 %.
            let error = 5.0 * (variance / values.len() as f64).sqrt() + 1e-9;
            assert!((mean - length.mean()).abs() < error, "{length:?}: mean {mean}");
            assert!((found - variance).abs() <= 0.04 * variance, "{length:?}: variance {found}");
        }
    }

    #[test]
    fn a_stream_is_its_seed_and_its_name() {
        let first = |seed, name| Stream::new(seed, name).bits();
        assert_eq!(first(1, "arrivals"), first(1, "arrivals"));
        assert_ne!(first(1, "arrivals"), first(2, "arrivals"));
        assert_ne!(first(1, "arrivals"), first(1, "services"));
    }
}
