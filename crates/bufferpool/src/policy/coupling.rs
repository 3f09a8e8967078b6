//! What a pool asks of the group that its member belongs to.

use super::writes::WriteIo;

/// The group buffer pool as one member's pool sees it.
pub trait Coupling {
    /// Whether pages of a data set are kept coherent through the group buffer pool.
    fn is_dependent(&self, data_set: u32) -> bool;
    /// Registers a page that is being read; whether the group buffer pool has it.
    fn read(&mut self, key: u64, data_set: u32) -> bool;
    /// The same for a page that is read before it is asked for: one request registers all pages of a prefetch, of which
    /// this is the `first` or another.
    fn read_ahead(&mut self, key: u64, data_set: u32, first: bool) -> bool;
    /// Whether a registered page is still the current one.
    fn is_valid(&self, key: u64) -> bool;
    /// The same as [`Coupling::read`] for a page that is in the pool but not valid.
    fn reread(&mut self, key: u64, data_set: u32) -> bool;
    /// The page is no longer in the pool; `renamed`: the request that registers the page which takes its buffer ends
    /// its registration too (OLDNAME of IXLCACHE), so that none of its own is needed.
    fn forget(&mut self, key: u64, renamed: bool);
    /// Begins to load what is known of the page that will probably leave the pool next, and of the one after it.
    fn approach(&self, _next: u64, _later: u64) {}
    /// Writes a changed page to the group buffer pool.
    fn write(&mut self, key: u64, data_set: u32, synchronous: bool);
    /// Pages were written to disk by an I/O.
    fn wrote(&mut self, _io: WriteIo) {}
}

/// A pool of a subsystem that shares with nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alone;

impl Coupling for Alone {
    #[inline(always)]
    fn is_dependent(&self, _: u32) -> bool {
        false
    }

    fn read(&mut self, _: u64, _: u32) -> bool {
        false
    }

    fn read_ahead(&mut self, _: u64, _: u32, _: bool) -> bool {
        false
    }

    fn is_valid(&self, _: u64) -> bool {
        true
    }

    fn reread(&mut self, _: u64, _: u32) -> bool {
        false
    }

    fn forget(&mut self, _: u64, _: bool) {}

    fn write(&mut self, _: u64, _: u32, _: bool) {}
}
