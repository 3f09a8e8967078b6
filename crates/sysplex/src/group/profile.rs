//! Rates that change over the day, constant in each part of it.

use crate::kernel::random::Stream;
use crate::kernel::{Time, nanoseconds, seconds};
use crate::scenario::{Class, DAY, Run};

/// Seconds after which nobody looks for an arrival any more: longer than any run.
const LONGEST: f64 = 2e8;

/// Factors of a class's rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// When the warm-up ends, which has the factor of the beginning.
    warm: Time,
    /// Length of a day, after which it repeats.
    day: Time,
    /// Where parts of the day begin, and their factors; the first begins at 0.
    parts: Vec<(Time, f64)>,
}

impl Profile {
    /// Of a class; none where its rate is always the same. A day is shorter where only a part of it is simulated.
    pub fn new(class: &Class, run: &Run) -> Option<Self> {
        let pace = run.pace();
        let parts: Vec<_> = class.profile.iter().map(|part| (nanoseconds(part.from * pace), part.factor)).collect();
        (!parts.is_empty()).then_some(Self { warm: nanoseconds(run.warm_up), day: nanoseconds(DAY * pace), parts })
    }

    /// Factor at the beginning.
    pub fn first(&self) -> f64 {
        self.parts[0].1
    }

    /// Factor at a moment, and until when it holds.
    fn part(&self, now: Time) -> (f64, Time) {
        let day = self.day;
        let Some(measured) = now.checked_sub(self.warm) else {
            return (self.first(), self.warm);
        };
        let (midnight, time) = (now - measured % day, measured % day);
        let at = self.parts.partition_point(|&(from, _)| from <= time);
        (self.parts[at - 1].1, midnight + self.parts.get(at).map_or(day, |&(from, _)| from))
    }

    /// Time until the next arrival of a class with a rate at factor 1: of a Poisson process whose rate is constant in each
    /// part, the integral of the rate up to the next arrival is exponentially distributed with mean 1.
    pub fn next_arrival(&self, stream: &mut Stream, now: Time, rate: f64) -> Time {
        let mut left = seconds(stream.exponential(1.0));
        let mut at = now;
        while at < nanoseconds(LONGEST) {
            let (factor, end) = self.part(at);
            let whole = rate * factor * seconds(end - at);
            if left < whole {
                return at + nanoseconds(left / (rate * factor)) - now;
            }
            left -= whole;
            at = end;
        }
        at - now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_come_by_the_factor_of_their_part_of_the_day() {
        let warm = nanoseconds(100.0);
        let parts = vec![(0, 0.5), (nanoseconds(1000.0), 0.0), (nanoseconds(3000.0), 2.0)];
        let profile = Profile { warm, day: nanoseconds(DAY), parts };
        let mut stream = Stream::new(3, "profile");
        let (mut now, mut counts) = (0, [0u32; 4]);
        let ends = [100.0, 1100.0, 3100.0, 5100.0].map(nanoseconds);
        loop {
            now += profile.next_arrival(&mut stream, now, 10.0);
            let Some(part) = ends.iter().position(|&end| now < end) else { break };
            counts[part] += 1;
        }
        // Poisson counts with means 10 * 0.5 * 100 in the warm-up, 10 * 0.5 * 1000, 0, and 10 * 2 * 2000.
        for (count, mean) in counts.into_iter().zip([500.0, 5000.0, 0.0, 40_000.0]) {
            assert!((f64::from(count) - mean).abs() <= 5.0 * f64::sqrt(mean), "{counts:?}");
        }
        // The next day is as the first.
        let tomorrow = warm + nanoseconds(DAY) + nanoseconds(3500.0);
        assert_eq!(profile.part(tomorrow), (2.0, warm + 2 * nanoseconds(DAY)));
    }
}
