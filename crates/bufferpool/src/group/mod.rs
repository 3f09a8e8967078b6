//! Pools of several members with a group buffer pool between them.
//!
//! Only *dependent* data sets go through it: those that more than one member uses and one at least changes
//! ([`Interest`] finds them in a first pass; from then on they are dependent from the beginning to the end).
//!
//! - **Registration.** A member that reads a dependent page is registered in its directory entry, pages of a prefetch
//!   by one request for all of them. A buffer that is stolen ends the registration: by the request that registers the
//!   page that takes it, or by one of its own where that page is not dependent. A page in a local pool is valid as long as its member is registered.
//! - **Cross-invalidation.** A changed page written to the group buffer pool ends all other members' registrations. A
//!   getpage that finds an invalid page reads it again, from the group buffer pool if it is there.
//! - **Directory.** A page that has no entry takes the one used longest ago whose data is not changed; members
//!   registered in it lose their page (cross-invalidation by reclaim). When all entries hold changed data, all is cast out.
//! - **Writes.** Changed pages go to the group buffer pool at commit, or before when local thresholds or another
//!   member ask for them; never around it. A data entry is taken from the unchanged one used longest ago. When there is
//!   none the write has failed for lack of storage: all is cast out, then the page written.
//! - **Castout.** The first member that changes a page of a data set does it (castout owner). A class is a data set. More changed pages than CLASST: all of the class are cast out; more than GBPOOLT in all:
//!   the largest classes (of equal ones the data set seen last), until no more than that are left. Cast out pages stay as unchanged ones. I/Os hold up to 32 pages
//!   of 4 KB within 180.
//!
//! Not simulated: waits, duplexing, group buffer pool checkpoints, GBPCACHE other than CHANGED, loss of interest.
//!
//! Source: Db2 for z/OS documentation, "Group buffer pool thresholds" and "How Db2 writes from the group buffer pool to
//! disk".

mod config;
mod counters;
mod interest;
mod pools;
mod simulation;
mod structure;

pub use config::GroupConfig;
pub use counters::{GroupCounters, MemberGroupCounters};
pub use interest::Interest;
pub use pools::{GroupPool, GroupPools};
pub use simulation::GroupSimulation;
pub use structure::{Castout, GroupBufferPool};
