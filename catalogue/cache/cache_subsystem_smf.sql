-- Control units (logical subsystems) with the state of their cache. One that could not be read has its return codes and
-- no state.
select c.system, c.sysplex, c.interval_start, c.interval_end, c.utc_offset,
    nullif(c.nedseqn, '') as control_unit, nullif(c.nedtypen, '') as control_unit_type,
    coalesce(printf('%04X', s.r745ssid::bigint), '') as subsystem_id,
    seconds_between(c.interval_start, c.interval_end) as interval_seconds,
    1 as collections, if(c.r745csc = 0, 0, 1) as failed_collections,
    -- Sizes are bytes in format 0, KiB in 1 and 2.
    s.r745scnf::double * if(s.r745sft::bigint & 15 = 0, 1, 1024) as cache_bytes,
    s.r745savl::double * if(s.r745sft::bigint & 15 = 0, 1, 1024) as available_bytes,
    s.r745spin::double * if(s.r745sft::bigint & 15 = 0, 1, 1024) as pinned_bytes,
    s.r745soff::double * if(s.r745sft::bigint & 15 = 0, 1, 1024) as offline_bytes,
    s.r745scnv::double * if(s.r745sft::bigint & 15 = 0, 1, 1024) as write_storage_bytes,
    s.r745spnd::double * if(s.r745sft::bigint & 15 = 0, 1, 1024) as write_storage_pinned_bytes,
    if(s.r745scs is null, null, if(s.r745scs::bigint >> 5 = 0, 0, 1)) as caching_inactive,
    if(s.r745svss is null, null, if(s.r745svss::bigint >> 3 = 0, 0, 1)) as fast_write_inactive
from smf74_5_control c
left join (only_section(smf74_5_status)) s on s.source_id = c.source_id and s.record_no = c.record_no
