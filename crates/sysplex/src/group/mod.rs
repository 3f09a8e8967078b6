//! A data-sharing group at work.
//!
//! [`simulation`] takes a scenario and gives what each interval measured ([`measured`]). Transactions are tasks that
//! take steps ([`task`]); what happens to pages, locks and requests is decided when a step begins, and the time that it
//! takes passes afterwards.

pub mod account;
mod admission;
mod building;
mod data_sets;
mod disturbances;
mod engines;
pub mod in_pool;
pub mod interest;
mod intervals;
pub mod lines;
mod lock_steps;
pub mod locks;
pub mod logs;
pub mod measured;
mod members;
pub mod page_locks;
mod page_writes;
pub mod plex;
pub mod pools;
pub mod processors;
mod profile;
mod requests;
pub mod simulation;
mod steps;
mod structures;
pub mod task;
mod utilisations;
pub mod watch;
mod work;
