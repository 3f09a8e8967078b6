//! Settings by name.

use plexlens_bufferpool::group::GroupConfig;
use plexlens_bufferpool::policy::{PoolConfig, Steal};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::refused;

/// Settings of one pool by name.
pub fn config(settings: &Bound<'_, PyDict>) -> PyResult<PoolConfig> {
    let mut config = PoolConfig::default();
    for (key, value) in settings {
        let name: String = key.extract()?;
        match name.as_str() {
            "size" => config.size = value.extract()?,
            "page_bytes" => config.page_bytes = value.extract()?,
            "steal" => {
                let given = value.extract::<String>()?;
                config.steal = Steal::named(&given).ok_or_else(|| {
                    let [first @ .., last] = Steal::ALL.map(Steal::keyword);
                    refused(format!("PGSTEAL {given} is not possible; give {} or {last}", first.join(", ")))
                })?;
            }
            "vpseqt" => config.vpseqt = value.extract()?,
            "dwqt" => config.dwqt = value.extract()?,
            "vdwqt" => config.vdwqt = value.extract()?,
            "vdwqt_pages" => config.vdwqt_pages = value.extract()?,
            "prefetch" => config.prefetch = value.extract()?,
            "releases" => config.releases = value.extract()?,
            "checkpoint" => config.checkpoint = value.extract()?,
            "pseudo_close" => config.pseudo_close = value.extract()?,
            "warm" => config.warm = value.extract()?,
            _ => {
                return Err(refused(format!(
                    "a pool has no setting {name}; give size, page_bytes, steal, vpseqt, dwqt, vdwqt, vdwqt_pages, \
                     prefetch, releases, checkpoint, pseudo_close, warm"
                )));
            }
        }
    }
    Ok(config)
}

/// Settings of a group buffer pool by name.
pub fn group_config(settings: &Bound<'_, PyDict>) -> PyResult<GroupConfig> {
    let mut config = GroupConfig::default();
    for (key, value) in settings {
        let name: String = key.extract()?;
        match name.as_str() {
            "data_entries" => config.data_entries = value.extract()?,
            "directory_entries" => config.directory_entries = value.extract()?,
            "page_bytes" => config.page_bytes = value.extract()?,
            "class_threshold" => config.class_threshold = value.extract()?,
            "class_pages" => config.class_pages = value.extract()?,
            "pool_threshold" => config.pool_threshold = value.extract()?,
            "updates_a_commit" => config.updates_a_commit = value.extract()?,
            _ => {
                return Err(refused(format!(
                    "a group buffer pool has no setting {name}; give data_entries, directory_entries, page_bytes, \
                     class_threshold, class_pages, pool_threshold, updates_a_commit"
                )));
            }
        }
    }
    Ok(config)
}
