//! Buffer pools from page-reference traces.
//!
//! The crate takes columns and returns counts. [`trace`] says what a reference is; [`curve`] gives the misses of every
//! pool size from one pass, with each object's share, and [`pool_curves`] does so for all pools of a trace at once; [`sampled`]
//! estimates both from a sample of the pages, and [`trace_sample`] keeps the sample for the curves of any grouping of data
//! sets. [`data_set_curves`] has the curve of each data set by itself, [`ages`] how long the pages of each rest between
//! references. [`placement`] moves data sets to other pools.
//! [`policy`] simulates one configuration of a pool event by event, [`group`] the pools of several members with a group
//! buffer pool between them. [`page_table`] and [`recency`] are the two structures below the curves, [`synthetic`] makes
//! traces with known properties.

pub mod ages;
pub mod curve;
pub mod data_set_curves;
pub mod group;
pub mod page_table;
pub mod placement;
pub mod policy;
pub mod pool_curves;
pub mod recency;
pub mod sampled;
pub mod synthetic;
pub mod trace;
pub mod trace_sample;
