//! Means with confidence intervals, and averages over time.

use super::{Time, seconds};

/// Count, mean and variance of values as they come (Welford's recurrence).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    count: u64,
    mean: f64,
    squares: f64,
    highest: f64,
}

impl Tally {
    /// Adds a value.
    #[inline]
    pub fn add(&mut self, value: f64) {
        self.count += 1;
        let step = value - self.mean;
        self.mean += step / self.count as f64;
        self.squares += step * (value - self.mean);
        self.highest = self.highest.max(value);
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Mean; none of no values.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then_some(self.mean)
    }

    /// Sum.
    pub fn sum(&self) -> f64 {
        self.mean * self.count as f64
    }

    /// Largest value, or zero if that is larger.
    pub fn highest(&self) -> f64 {
        self.highest
    }

    /// Variance of the values as a sample; none of fewer than two.
    pub fn variance(&self) -> Option<f64> {
        (self.count > 1).then(|| self.squares / (self.count - 1) as f64)
    }
}

/// A mean of values that depend on their neighbours: values in batches of equal number, whose means hardly depend on each
/// other any more. When there are too many batches, neighbours are joined, so that memory does not grow.
#[derive(Clone, Debug)]
pub struct BatchMeans {
    size: u64,
    open: Tally,
    done: Vec<f64>,
}

/// Batches at which neighbours are joined; between half of it and all of it count for the interval.
const BATCHES: usize = 40;

impl Default for BatchMeans {
    fn default() -> Self {
        Self { size: 1, open: Tally::default(), done: Vec::with_capacity(BATCHES) }
    }
}

impl BatchMeans {
    /// No values yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a value.
    #[inline]
    pub fn add(&mut self, value: f64) {
        self.open.add(value);
        if self.open.count() < self.size {
            return;
        }
        self.done.push(self.open.mean);
        self.open = Tally::default();
        if self.done.len() == BATCHES {
            self.done = self.done.chunks_exact(2).map(|pair| (pair[0] + pair[1]) / 2.0).collect();
            self.size *= 2;
        }
    }

    /// Values added.
    pub fn count(&self) -> u64 {
        self.done.len() as u64 * self.size + self.open.count()
    }

    /// Mean of all values; none of no values.
    pub fn mean(&self) -> Option<f64> {
        let sum = self.done.iter().sum::<f64>() * self.size as f64 + self.open.sum();
        (self.count() > 0).then(|| sum / self.count() as f64)
    }

    /// Half the length of the 95 % confidence interval of the mean; none of fewer than ten batches.
    pub fn half_width(&self) -> Option<f64> {
        let mut batches = Tally::default();
        self.done.iter().for_each(|&mean| batches.add(mean));
        if batches.count() < 10 {
            return None;
        }
        let count = batches.count() as f64;
        Some(student_95(count - 1.0) * (batches.variance()? / count).sqrt())
    }
}

/// The 97.5 % point of Student's distribution (Cornish and Fisher's expansion in the inverse of the degrees of freedom,
/// Abramowitz and Stegun 26.7.5), good to three digits from five degrees on.
pub fn student_95(degrees: f64) -> f64 {
    let z: f64 = 1.959_963_985;
    let first = (z.powi(3) + z) / 4.0;
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    let third = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0;
    z + first / degrees + second / degrees.powi(2) + third / degrees.powi(3)
}

/// A whole number that changes over time: its average, and its integral since measuring began.
#[derive(Clone, Copy, Debug, Default)]
pub struct Level {
    value: u64,
    changed: Time,
    begun: Time,
    /// Value times nanoseconds.
    integral: u128,
    highest: u64,
}

impl Level {
    /// The value now.
    #[inline]
    pub fn value(&self) -> u64 {
        self.value
    }

    /// Largest value since measuring began.
    pub fn highest(&self) -> u64 {
        self.highest
    }

    /// Changes the value.
    #[inline]
    pub fn set(&mut self, now: Time, value: u64) {
        self.integral += u128::from(self.value) * u128::from(now - self.changed);
        self.changed = now;
        self.value = value;
        self.highest = self.highest.max(value);
    }

    /// Forgets what was, and measures from now on.
    pub fn begin(&mut self, now: Time) {
        *self = Self { value: self.value, changed: now, begun: now, integral: 0, highest: self.value };
    }

    /// Value times seconds up to a moment.
    pub fn integral(&self, now: Time) -> f64 {
        self.nanosecond_integral(now) as f64 / 1e9
    }

    pub(super) fn nanosecond_integral(&self, now: Time) -> u128 {
        self.integral + u128::from(self.value) * u128::from(now - self.changed)
    }

    /// Average up to a moment; none before any time has passed.
    pub fn average(&self, now: Time) -> Option<f64> {
        (now > self.begun).then(|| self.integral(now) / seconds(now - self.begun))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn tallies_are_means_and_variances(values in prop::collection::vec(-1e3..1e3, 2..100)) {
            let (mut tally, mut batches) = (Tally::default(), BatchMeans::new());
            values.iter().for_each(|&value| { tally.add(value); batches.add(value) });
            let count = values.len() as f64;
            let mean = values.iter().sum::<f64>() / count;
            let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
            prop_assert!((tally.mean().unwrap() - mean).abs() < 1e-9);
            prop_assert!((batches.mean().unwrap() - mean).abs() < 1e-9);
            prop_assert!((tally.variance().unwrap() - variance).abs() < 1e-6);
            prop_assert_eq!(batches.count(), values.len() as u64);
        }
    }

    #[test]
    fn student_s_points_are_those_of_the_tables() {
        for (degrees, printed) in [(9.0, 2.262), (19.0, 2.093), (29.0, 2.045), (120.0, 1.980)] {
            assert!((student_95(degrees) - printed).abs() < 1e-3);
        }
    }

    #[test]
    fn the_interval_of_independent_values_holds_the_mean_as_often_as_it_says() {
        use crate::kernel::random::Stream;
        let mut held = 0;
        for seed in 0..400 {
            let (mut stream, mut batches) = (Stream::new(seed, "values"), BatchMeans::new());
            (0..1_000).for_each(|_| batches.add(stream.unit()));
            held += usize::from((batches.mean().unwrap() - 0.5).abs() < batches.half_width().unwrap());
        }
        // 380 expected; five standard deviations (sqrt(400 x 0.95 x 0.05) = 4.4) to either side.
        assert!((358..=400).contains(&held), "{held} of 400");
    }

    #[test]
    fn a_level_is_averaged_over_time() {
        let mut level = Level::default();
        level.set(10, 4);
        level.begin(20);
        level.set(30, 1);
        // 4 for 10 ns, 1 for 30 ns.
        assert_eq!(level.average(60), Some(70.0 / 40.0));
        assert_eq!((level.highest(), level.value()), (4, 1));
    }
}
