//! How a pool is set up, and the numbers that follow from it.

use thiserror::Error;

use super::page_steal::Steal;

/// A pool as `-ALTER BUFFERPOOL` describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolConfig {
    /// Buffers (VPSIZE).
    pub size: u32,
    /// Bytes of a page: 4096, 8192, 16384 or 32768.
    pub page_bytes: u32,
    /// Page steal.
    pub steal: Steal,
    /// Percentage that sequentially read pages may hold (VPSEQT).
    pub vpseqt: u32,
    /// Percentage of unavailable buffers above which changed pages are written (DWQT).
    pub dwqt: u32,
    /// Percentage of buffers that one data set's changed pages may hold before they are written (VDWQT).
    pub vdwqt: u32,
    /// The same as a number of pages; counts when the percentage is 0.
    pub vdwqt_pages: u32,
    /// Whether prefetch is simulated. Without, every page is read when it is asked for.
    pub prefetch: bool,
    /// Whether a page is in use from its getpage to its release. Only for traces that record releases.
    pub releases: bool,
    /// Microseconds between checkpoints; none: no checkpoints.
    pub checkpoint: Option<i64>,
    /// Microseconds from the last update of a data set to its pseudo close (PCLOSET); none: never.
    pub pseudo_close: Option<i64>,
    /// Whether a page that the trace says was found is taken as there while buffers with unknown pages are left.
    pub warm: bool,
}

impl Default for PoolConfig {
    /// 40,000 buffers of 4 KB with the defaults of Db2: PGSTEAL(LRU), VPSEQT 80, DWQT 30, VDWQT 5,0; no checkpoints, no
    /// pseudo close.
    fn default() -> Self {
        Self {
            size: 40_000,
            page_bytes: 4096,
            steal: Steal::Lru,
            vpseqt: 80,
            dwqt: 30,
            vdwqt: 5,
            vdwqt_pages: 0,
            prefetch: true,
            releases: false,
            checkpoint: None,
            pseudo_close: None,
            warm: true,
        }
    }
}

/// A setting that no pool can have.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{setting} {found} is not possible; give {allowed}")]
pub struct ConfigError {
    /// The setting.
    pub setting: &'static str,
    /// What was given.
    pub found: i64,
    /// What may be.
    pub allowed: &'static str,
}

/// Pages of a data set that one scheduling of deferred writes takes.
pub(crate) const WRITE_BATCH: usize = 128;
/// Pages over which one write I/O may reach.
pub(crate) const WRITE_REACH: u64 = 180;

/// Limits in buffers and quantities in pages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Buffers that sequential pages may hold.
    pub sequential: u32,
    /// Unavailable buffers at which prefetch stops, pages count by row, and writes become synchronous.
    pub spth: u32,
    pub dmth: u32,
    pub iwth: u32,
    /// Changed pages of a data set above which they are written, and how many at once.
    pub vertical: u32,
    pub vertical_batch: usize,
    /// Unavailable buffers above which changed pages are written, and down to which.
    pub horizontal: u32,
    pub horizontal_floor: u32,
    /// Pages of a write I/O.
    pub write_quantity: usize,
    /// Pages of a sequential prefetch request, and of a list or dynamic one.
    pub sequential_quantity: u64,
    pub other_quantity: u64,
    /// Buffers that are never stolen under PGSTEAL(NONE).
    pub kept: u32,
}

impl PoolConfig {
    /// Checks the settings.
    pub fn check(&self) -> Result<(), ConfigError> {
        let refused = |setting, found: i64, allowed| Err(ConfigError { setting, found, allowed });
        if self.size == 0 || self.size > 1_000_000_000 {
            return refused("VPSIZE", self.size.into(), "1 to 1,000,000,000 buffers");
        }
        if ![4096, 8192, 16384, 32768].contains(&self.page_bytes) {
            return refused("page size", self.page_bytes.into(), "4096, 8192, 16384 or 32768 bytes");
        }
        if self.vpseqt > 100 {
            return refused("VPSEQT", self.vpseqt.into(), "0 to 100 per cent");
        }
        if self.dwqt > 90 {
            return refused("DWQT", self.dwqt.into(), "0 to 90 per cent");
        }
        if self.vdwqt > 90 {
            return refused("VDWQT", self.vdwqt.into(), "0 to 90 per cent");
        }
        match self.checkpoint {
            Some(every) if every <= 0 => return refused("checkpoint interval", every, "more than 0 microseconds"),
            _ => {}
        }
        match self.pseudo_close {
            Some(after) if after <= 0 => refused("time to the pseudo close", after, "more than 0 microseconds"),
            _ => Ok(()),
        }
    }

    pub(crate) fn limits(&self) -> Limits {
        let share = |part: u32, of: u64| (u64::from(self.size) * u64::from(part) / of) as u32;
        let at_least = |part: u64, of: u64| (u64::from(self.size) * part).div_ceil(of) as u32;
        let pages_4k = self.page_bytes / 4096;
        // A zero threshold writes a full I/O each time eight pages more than that have changed, or 1 % of the buffers if
        // that is less.
        let write_quantity = (32 / pages_4k) as usize;
        let trickle = (write_quantity as u32 + 8).min(self.size / 100);
        let (vertical, vertical_batch) = match (self.vdwqt, self.vdwqt_pages) {
            (0, 0) => (trickle, write_quantity),
            (0, pages) => (pages, WRITE_BATCH),
            (percent, _) => (share(percent, 100), WRITE_BATCH),
        };
        let overflow = (self.size / 10).clamp(50, 6400).min(self.size);
        let (sequential_quantity, other_quantity) = self.quantities();
        Limits {
            sequential: share(self.vpseqt, 100),
            spth: at_least(90, 100),
            dmth: at_least(95, 100),
            iwth: at_least(975, 1000),
            vertical,
            vertical_batch,
            horizontal: if self.dwqt == 0 { trickle } else { share(self.dwqt, 100) },
            horizontal_floor: share(self.dwqt.saturating_sub(10), 100),
            write_quantity,
            sequential_quantity,
            other_quantity,
            kept: self.size - overflow,
        }
    }

    /// Pages of a prefetch request: sequential, and list or dynamic.
    ///
    /// By page size and number of buffers as "Storage Management with DB2 for OS/390" (SG24-5462), section 10.2.5,
    /// tabulates them. Since Db2 9 a sequential request takes twice as much where VPSIZE times VPSEQT is at least
    /// 40,000 buffers of 4 KB (fewer of larger pages in proportion).
    pub fn quantities(&self) -> (u64, u64) {
        let (few, some): (u32, u32) = match self.page_bytes {
            4096 => (224, 1000),
            8192 => (113, 500),
            16384 => (57, 250),
            _ => (0, 100),
        };
        let full = u64::from(32 * 4096 / self.page_bytes);
        let usual = if self.size < few {
            full / 4
        } else if self.size < some {
            full / 2
        } else {
            full
        };
        let sequential_buffers = u64::from(self.size) * u64::from(self.vpseqt) / 100;
        let doubled = sequential_buffers * u64::from(self.page_bytes / 4096) >= 40_000;
        (if doubled { 2 * usual } else { usual }, usual)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(size: u32, page_bytes: u32, vpseqt: u32) -> PoolConfig {
        PoolConfig { size, page_bytes, vpseqt, ..PoolConfig::default() }
    }

    #[test]
    fn prefetch_quantities_follow_the_published_table() {
        let table = [
            (4096, [(223, 8), (224, 16), (999, 16), (1000, 32), (49_999, 32)]),
            (8192, [(112, 4), (113, 8), (499, 8), (500, 16), (24_999, 16)]),
            (16384, [(56, 2), (57, 4), (249, 4), (250, 8), (12_499, 8)]),
            (32768, [(1, 2), (99, 2), (100, 4), (101, 4), (6249, 4)]),
        ];
        for (page_bytes, rows) in table {
            for (size, pages) in rows {
                assert_eq!(pool(size, page_bytes, 80).quantities(), (pages, pages), "{size} buffers of {page_bytes}");
            }
        }
        // 90,000 buffers at 80 %: the study's BP20 read 63.64 pages a sequential and at most 32 a list or dynamic read.
        assert_eq!(pool(90_000, 4096, 80).quantities(), (64, 32));
        assert_eq!(pool(6250, 32768, 80).quantities(), (8, 4));
        assert_eq!(pool(90_000, 4096, 40).quantities(), (32, 32));
    }

    #[test]
    fn thresholds_are_those_of_the_manuals() {
        let limits = pool(1000, 4096, 80).limits();
        assert_eq!((limits.sequential, limits.spth, limits.dmth, limits.iwth), (800, 900, 950, 975));
        assert_eq!((limits.vertical, limits.horizontal, limits.horizontal_floor), (50, 300, 200));
        let zero = PoolConfig { vdwqt: 0, dwqt: 0, ..pool(1000, 4096, 80) }.limits();
        // 1 % of 1,000 buffers is less than 40; 1 % of 4,000 is as much, of 3,999 one less.
        assert_eq!((zero.vertical, zero.vertical_batch, zero.horizontal, zero.horizontal_floor), (10, 32, 10, 0));
        let least = |size, page_bytes| {
            let zero = PoolConfig { vdwqt: 0, dwqt: 0, ..pool(size, page_bytes, 80) }.limits();
            assert_eq!(zero.vertical, zero.horizontal);
            zero.vertical
        };
        assert_eq!([least(4000, 4096), least(3999, 4096), least(100_000, 4096), least(99, 4096)], [40, 39, 40, 0]);
        assert_eq!([least(9999, 8192), least(9999, 16384), least(9999, 32768), least(1100, 32768)], [24, 16, 12, 11]);
        let counted = PoolConfig { vdwqt: 0, vdwqt_pages: 128, ..pool(1000, 4096, 80) }.limits();
        assert_eq!((counted.vertical, counted.vertical_batch), (128, 128));
        let kept = |size| PoolConfig { steal: Steal::None, ..pool(size, 4096, 80) }.limits().kept;
        assert_eq!([kept(100), kept(1000), kept(20), kept(100_000)], [50, 900, 0, 93_600]);
    }

    #[test]
    fn impossible_settings_are_refused_by_name() {
        let refused = |config: PoolConfig| config.check().unwrap_err().to_string();
        assert_eq!(refused(pool(0, 4096, 80)), "VPSIZE 0 is not possible; give 1 to 1,000,000,000 buffers");
        assert_eq!(
            refused(pool(10, 4095, 80)),
            "page size 4095 is not possible; give 4096, 8192, 16384 or 32768 bytes"
        );
        assert_eq!(refused(pool(10, 4096, 101)), "VPSEQT 101 is not possible; give 0 to 100 per cent");
        assert!(refused(PoolConfig { dwqt: 91, ..pool(10, 4096, 1) }).starts_with("DWQT 91"));
        assert!(refused(PoolConfig { vdwqt: 91, ..pool(10, 4096, 1) }).starts_with("VDWQT 91"));
        assert!(refused(PoolConfig { checkpoint: Some(0), ..pool(10, 4096, 1) }).starts_with("checkpoint interval 0"));
        let never = PoolConfig { pseudo_close: Some(-5), ..pool(10, 4096, 1) };
        assert!(refused(never).starts_with("time to the pseudo close -5"));
    }
}
