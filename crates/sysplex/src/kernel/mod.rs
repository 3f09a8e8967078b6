//! What a simulation runs on: a calendar of events, random streams, servers with queues, and measurements that check
//! themselves.
//!
//! Time is in nanoseconds. Events of one moment come in the order in which they were put in, so that a seed gives the
//! same run everywhere.

pub mod calendar;
pub mod measure;
pub mod random;
pub mod servers;
pub mod watch;

/// A moment or a length of time, in nanoseconds.
pub type Time = u64;

/// Nanoseconds of seconds; negative ones count as none.
#[inline]
pub fn nanoseconds(seconds: f64) -> Time {
    // To the nearest: conversion cuts off, and what is below zero becomes zero.
    (seconds * 1e9 + 0.5) as Time
}

/// Seconds of nanoseconds.
#[inline]
pub fn seconds(time: Time) -> f64 {
    time as f64 / 1e9
}
