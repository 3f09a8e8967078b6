//! What a group buffer pool is set to.

use crate::policy::ConfigError;

/// A group buffer pool as `-ALTER GROUPBUFFERPOOL` and the structure's size describe it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupConfig {
    /// Data entries: pages that it holds.
    pub data_entries: u32,
    /// Directory entries: pages that it knows of.
    pub directory_entries: u32,
    /// Bytes of a page: 4096, 8192, 16384 or 32768.
    pub page_bytes: u32,
    /// Percentage of the data entries that one class's changed pages may hold (CLASST).
    pub class_threshold: u32,
    /// The same as a number of pages; counts when the percentage is 0.
    pub class_pages: u32,
    /// Percentage of the data entries that changed pages may hold in all (GBPOOLT).
    pub pool_threshold: u32,
    /// Updates after which a member commits, for traces that record no commits; none: only recorded commits count.
    pub updates_a_commit: Option<u32>,
}

impl Default for GroupConfig {
    /// 4,000 data and 20,000 directory entries (five to one), CLASST 5,0, GBPOOLT 30, every update committed at once.
    fn default() -> Self {
        Self {
            data_entries: 4000,
            directory_entries: 20_000,
            page_bytes: 4096,
            class_threshold: 5,
            class_pages: 0,
            pool_threshold: 30,
            updates_a_commit: Some(1),
        }
    }
}

impl GroupConfig {
    /// Checks the settings.
    pub fn check(&self) -> Result<(), ConfigError> {
        let refused = |setting, found: u32, allowed| Err(ConfigError { setting, found: found.into(), allowed });
        if self.data_entries == 0 {
            return refused("data entries", 0, "at least 1");
        }
        if self.directory_entries < self.data_entries {
            return refused("directory entries", self.directory_entries, "at least as many as data entries");
        }
        if ![4096, 8192, 16384, 32768].contains(&self.page_bytes) {
            return refused("page size", self.page_bytes, "4096, 8192, 16384 or 32768 bytes");
        }
        if self.class_threshold > 90 {
            return refused("CLASST", self.class_threshold, "0 to 90 per cent");
        }
        if self.pool_threshold > 90 {
            return refused("GBPOOLT", self.pool_threshold, "0 to 90 per cent");
        }
        if self.updates_a_commit == Some(0) {
            return refused("updates a commit", 0, "at least 1");
        }
        Ok(())
    }
}
