//! Events in the order of their time.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::Time;

struct Entry<E> {
    /// Time above, number in the order of entry below: one comparison orders both.
    key: u128,
    event: E,
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<E> Eq for Entry<E> {}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Entry<E> {
    /// The earliest entry is the greatest, since the heap gives that first.
    fn cmp(&self, other: &Self) -> Ordering {
        other.key.cmp(&self.key)
    }
}

/// What is to happen, and the time it is now.
pub struct Calendar<E> {
    heap: BinaryHeap<Entry<E>>,
    now: Time,
    entered: u64,
}

impl<E> Default for Calendar<E> {
    fn default() -> Self {
        Self { heap: BinaryHeap::new(), now: 0, entered: 0 }
    }
}

impl<E> Calendar<E> {
    /// Nothing to happen, at time zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// The time of the event that was taken last.
    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Events that were put in so far.
    pub fn entered(&self) -> u64 {
        self.entered
    }

    /// Lets an event happen at a time; one that has passed counts as now.
    #[inline]
    pub fn at(&mut self, time: Time, event: E) {
        let key = u128::from(time.max(self.now)) << 64 | u128::from(self.entered);
        self.entered += 1;
        self.heap.push(Entry { key, event });
    }

    /// Lets an event happen after a length of time.
    #[inline]
    pub fn after(&mut self, delay: Time, event: E) {
        self.at(self.now.saturating_add(delay), event);
    }

    /// Takes the next event up to a time and moves the clock to it; none when there is none, and the clock stands at
    /// that time.
    #[inline]
    pub fn next_until(&mut self, end: Time) -> Option<E> {
        if self.heap.peek().is_none_or(|entry| (entry.key >> 64) as Time > end) {
            self.now = self.now.max(end);
            return None;
        }
        let entry = self.heap.pop()?;
        self.now = (entry.key >> 64) as Time;
        Some(entry.event)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn events_come_in_the_order_of_time_and_then_of_entry(times in prop::collection::vec(0u64..50, 0..200)) {
            let mut calendar = Calendar::new();
            for (number, &time) in times.iter().enumerate() {
                calendar.at(time, number);
            }
            let mut expected: Vec<usize> = (0..times.len()).collect();
            expected.sort_by_key(|&number| times[number]);
            let mut found = Vec::new();
            while let Some(number) = calendar.next_until(u64::MAX) {
                prop_assert_eq!(calendar.now(), times[number]);
                found.push(number);
            }
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn the_clock_stops_where_it_is_told() {
        let mut calendar = Calendar::new();
        calendar.after(10, 'a');
        calendar.after(30, 'b');
        assert_eq!(calendar.next_until(20), Some('a'));
        assert_eq!((calendar.next_until(20), calendar.now()), (None, 20));
        // The past is now.
        calendar.at(5, 'c');
        assert_eq!((calendar.next_until(20), calendar.now()), (Some('c'), 20));
        assert_eq!((calendar.next_until(40), calendar.now()), (Some('b'), 30));
    }
}
