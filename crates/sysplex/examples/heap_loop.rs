//! Yardstick of the simulator's speed: `cargo run --release --package plexlens-sysplex --example heap_loop [MILLIONS]`.
//!
//! M/M/1 at 80 % with nothing around it: a binary heap of events, a counter, two streams of random numbers. It gives
//! events, seconds of the loop, and the average number inside as JSON, for who compares to check it: 0.8 / 0.2 = 4.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;

use plexlens_sysplex::kernel::random::Stream;
use plexlens_sysplex::kernel::seconds;

/// Seconds between arrivals, and of service.
const BETWEEN: f64 = 1.0;
const SERVICE: f64 = 0.8;

/// Kinds of events.
const ARRIVAL: u8 = 0;
const DEPARTURE: u8 = 1;

fn main() {
    let millions = std::env::args().nth(1).map_or(20, |word| word.parse().expect("a number of million events"));
    let (mut arrivals, mut services) = (Stream::new(1, "arrivals"), Stream::new(1, "services"));
    let (mut heap, mut entered) = (BinaryHeap::new(), 0u64);
    let mut enter = |heap: &mut BinaryHeap<_>, time: u64, kind: u8| {
        entered += 1;
        heap.push(Reverse((time, entered, kind)));
    };
    let begun = Instant::now();
    enter(&mut heap, arrivals.exponential(BETWEEN), ARRIVAL);
    let (mut now, mut inside, mut area) = (0u64, 0u64, 0f64);
    for _ in 0..millions * 1_000_000u64 {
        let Some(Reverse((time, _, kind))) = heap.pop() else { break };
        area += inside as f64 * seconds(time - now);
        now = time;
        if kind == ARRIVAL {
            enter(&mut heap, now + arrivals.exponential(BETWEEN), ARRIVAL);
            inside += 1;
        } else {
            inside -= 1;
        }
        // Service begins when the station was empty, and after each that ended while others wait.
        if inside > 0 && (kind == DEPARTURE || inside == 1) {
            enter(&mut heap, now + services.exponential(SERVICE), DEPARTURE);
        }
    }
    let took = begun.elapsed().as_secs_f64();
    println!("{{\"events\": {}, \"seconds\": {took}, \"inside\": {}}}", millions * 1_000_000u64, area / seconds(now));
}
