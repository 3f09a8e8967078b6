//! Random streams: each source of chance has its own, so that a change of one leaves the others as they were.

use std::sync::Arc;

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

/// How a length of time is distributed around a mean that is given with each: a distribution of mean 1, by which the mean
/// is multiplied.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Shape {
    /// Always the mean.
    #[default]
    Constant,
    /// Exponential.
    Exponential,
    /// Sum of so many exponential stages.
    Erlang(u32),
    /// Exponential with one of two means.
    Hyperexponential {
        /// Share of those with the first mean.
        first_share: f64,
        /// First mean.
        first: f64,
        /// Second mean.
        second: f64,
    },
    /// One of some values: each with the share of it and of all before it.
    Empirical(Arc<[(f64, f64)]>),
}

impl Shape {
    /// The hyperexponential distribution with a coefficient of variation of 1 or more whose two means bring equal parts
    /// of the time (balanced means).
    pub fn hyperexponential(variation: f64) -> Self {
        let square = variation * variation;
        let first_share = (1.0 + ((square - 1.0) / (square + 1.0)).max(0.0).sqrt()) / 2.0;
        Self::Hyperexponential { first_share, first: 0.5 / first_share, second: 0.5 / (1.0 - first_share) }
    }

    /// Values in any unit with their shares, which need not add up to 1; their mean is not zero.
    pub fn empirical(values: &[f64], shares: &[f64]) -> Self {
        let all: f64 = shares.iter().sum();
        let mean = values.iter().zip(shares).map(|(value, share)| value * share).sum::<f64>() / all;
        let mut sum = 0.0;
        let parts = values.iter().zip(shares).map(|(value, share)| {
            sum += share / all;
            (sum, value / mean)
        });
        Self::Empirical(parts.collect())
    }

    /// A length of time with a mean in seconds.
    #[inline]
    pub fn time(&self, stream: &mut Stream, mean: f64) -> Time {
        match self {
            Self::Constant => nanoseconds(mean),
            Self::Exponential => stream.exponential(mean),
            Self::Erlang(stages) => stream.time(&Length::Erlang { mean, stages: *stages }),
            &Self::Hyperexponential { first_share, first, second } => {
                let factor = if stream.unit() < first_share { first } else { second };
                stream.exponential(mean * factor)
            }
            Self::Empirical(parts) => {
                let chance = stream.unit();
                let at = parts.partition_point(|&(sum, _)| sum <= chance).min(parts.len() - 1);
                nanoseconds(mean * parts[at].1)
            }
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
    fn shapes_have_the_moments_of_their_closed_forms() {
        // Mean, and squared coefficient of variation: 0, 1, 1/k, what is asked for, and the values' own: a quarter of 1
        // and three quarters of 5 have mean 4 and variance 3.
        let cases = [
            (Shape::Constant, 0.0),
            (Shape::Exponential, 1.0),
            (Shape::Erlang(4), 0.25),
            (Shape::hyperexponential(1.0), 1.0),
            (Shape::hyperexponential(2.0), 4.0),
            (Shape::empirical(&[1.0, 5.0], &[1.0, 3.0]), 3.0 / 16.0),
        ];
        for (shape, square) in cases {
            let mut stream = Stream::new(11, "shapes");
            let count = 400_000;
            let values: Vec<f64> = (0..count).map(|_| shape.time(&mut stream, 0.02) as f64 / 1e9 / 0.02).collect();
            let mean = values.iter().sum::<f64>() / f64::from(count);
            let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / f64::from(count);
            // Five standard errors of the mean; of the variance five by its own fourth moment, measured.
            let fourth = values.iter().map(|value| (value - mean).powi(4)).sum::<f64>() / f64::from(count);
            let of_mean = 5.0 * (square / f64::from(count)).sqrt() + 1e-6;
            let of_variance = 5.0 * ((fourth - variance * variance).max(0.0) / f64::from(count)).sqrt() + 1e-6;
            assert!((mean - 1.0).abs() < of_mean, "{shape:?}: mean {mean}");
            assert!((variance - square).abs() < of_variance, "{shape:?}: variance {variance}");
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
