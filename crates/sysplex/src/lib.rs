//! A data-sharing group: discrete-event simulation and queueing networks.
//!
//! [`queueing`] answers at once, from service demands; [`network_run`] asks the same of a run, event by event;
//! [`kernel`] is what simulations run on.

pub mod group;
pub mod kernel;
pub mod network_run;
pub mod queueing;
pub mod scenario;
