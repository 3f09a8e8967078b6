//! A pool in one configuration, simulated event by event.
//!
//! The rules, with the field's names:
//!
//! - **Time.** I/O takes none: a page that is read is there at once, one that is written is clean at once. So a buffer is
//!   *unavailable* when it is changed and not yet written, or (where the trace records releases) in use.
//! - **Chains.** Randomly read pages are on one LRU chain, those of sequential, dynamic and list access on another. A
//!   random getpage moves a page from the second to the first; a sequential one leaves it where it is.
//! - **Steal.** The oldest available buffer of both chains goes, unless the sequential chain holds VPSEQT of the pool:
//!   then its own oldest. `page_steal` names the policies: FIFO counts age from the read instead of the last getpage. NONE steals nothing but in an
//!   overflow area of 10 % of the buffers (at least 50, at most 6,400), which is FIFO; a data set whose size is known is
//!   loaded at its first getpage.
//! - **Nothing to steal.** The oldest changed page is written synchronously; when all buffers are in use the page is read
//!   into none of them.
//! - **Prefetch.** A planned scan asks for a quantity of pages at its first getpage and for the next whenever it
//!   enters the second half of what it has; a scan noticed at run time, forward or backward, does so once five of the
//!   last eight getpages of a thread in a data set were page-sequential. Getpages of a list are grouped by quantity; the
//!   first that misses is the I/O. VPSEQT 0 switches all three off, 90 % unavailable (SPTH) refuses requests.
//! - **Beginning.** A pool begins with unknown pages in all its buffers, older than whatever is referenced. Where the trace
//!   says that a getpage found its page, and buffers with unknown pages are left, it was one of these: it is not read
//!   (`warm`). Until such a buffer is known it is the first to be stolen, as it is under LRU. A getpage recorded as not to
//!   be read reads nothing: the page is made anew, and where it lies behind all others the data set ends with it.
//! - **Writes.** Above VDWQT the 128 pages of the data set that were changed first are written; above DWQT data sets in
//!   turn, 128 pages each, until ten percentage points less are unavailable; at a checkpoint all; at the pseudo close of
//!   a data set (so long after its last update) those of it. With both VDWQT values 0, 32 pages of 4 KB are written when
//!   more than 40 are changed, or more than 1 % of the buffers where that is less; DWQT 0 counts alike. From 97.5 %
//!   unavailable (IWTH) each update is written synchronously. A write I/O takes up to 32 pages of 4 KB that lie within
//!   180.
//!
//! Not simulated: waits for I/O in progress, read and write engines, work files, parallelism (VPPSEQT), frame sizes.
//!
//! Sources: Db2 for z/OS documentation, "Buffer pool thresholds" and "Write operations"; "Storage Management with DB2
//! for OS/390" (SG24-5462), chapter 10; "Db2 12 for z/OS Performance Topics" (SG24-8404) for PGSTEAL(NONE); "DB2 10 for
//! z/OS Managing Performance" (SC19-2978), "Buffer pool thresholds that you can change", for thresholds of 0; Db2 13 for
//! z/OS, "DSNTIPL1: Checkpoint parameters", for checkpoints and the pseudo close (MINUTES/CHECKPOINT, RO SWITCH TIME);
//! [`scan`] and [`threads`] name theirs.

pub(crate) mod chain;
mod config;
pub(crate) mod counters;
mod coupling;
mod data_set;
mod frames;
mod page_steal;
mod pool;
mod prefetch;
mod scan;
mod simulation;
mod steal;
mod threads;
mod updates;
pub(crate) mod writes;

pub use config::{ConfigError, PoolConfig};
pub use counters::{Counters, DataSetCounters};
pub use coupling::{Alone, Coupling};
pub use page_steal::Steal;
pub use pool::{BufferPool, Reference};
pub use simulation::{Configs, SimulatedPool, Simulation, Simulations, Snapshot};
pub use writes::WriteIo;
