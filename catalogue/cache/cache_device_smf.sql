-- Devices of cached control units, with what their physical storage did.
with storage as (
    select *,
        -- Sizes are in 128 KiB and times in 16 ms where R7451INC says so; other units are reserved.
        case when (r7451inc::bigint >> 1) & 3 = 0 then 131072::double end as unit_bytes,
        case when (r7451inc::bigint >> 1) & 3 = 0 then 0.016::double end as unit_seconds,
        -- RAID rank data, of older control units, has other fields in the place of those of physical storage.
        r7451flg = 2 as is_physical
    from smf74_5_storage
)
select d.system, d.sysplex, d.interval_start, d.interval_end, d.utc_offset,
    if((d.r745dfl4::bigint >> 4) & 3 > 0, ((d.r745dfl4::bigint >> 4) & 3)::varchar, '')
        || printf('%04X', d.r745devn::bigint) as device,
    nullif(d.r745dvol, '') as volume,
    nullif(c.nedseqn, '') as control_unit,
    nullif(c.nedtypen, '') as control_unit_type,
    printf('%04X', d.r745dsid::bigint) as subsystem_id,
    if(is_physical, printf('%04X', s.r7452xid::bigint), null) as extent_pool,
    seconds_between(d.interval_start, d.interval_end) as interval_seconds,
    d.r745drcr + d.r745drsr + d.r745drnr as reads,
    d.r745dcrh + d.r745drsh + d.r745dnrh as read_hits,
    d.r745dwrc + d.r745dwsr + d.r745dwnr as writes,
    d.r745dwch + d.r745dwsh + d.r745dwnh as write_hits,
    d.r745dfwc + d.r745dfws + d.r745dwnr as fast_writes,
    d.r745drsr as sequential_reads, d.r745drsh as sequential_read_hits,
    d.r745dicl as inhibited_requests, d.r745dbcr as bypassed_requests,
    d.r745dntd as staged_tracks, d.r745dtc as sequential_staged_tracks, d.r745dctd as destaged_tracks,
    d.r745dfwb as storage_delayed_writes, d.r745dfwr as cache_delayed_requests,
    s.r7451ct1 * s.unit_bytes as read_bytes, s.r7451ct2 * s.unit_bytes as write_bytes,
    s.r7451ct3 * s.unit_seconds as read_seconds, s.r7451ct4 * s.unit_seconds as write_seconds,
    case when is_physical then s.r7452pro::double end as disk_reads,
    case when is_physical then s.r7452pwo::double end as disk_writes,
    case when is_physical then s.r7452pbr * s.unit_bytes end as disk_read_bytes,
    case when is_physical then s.r7452pbw * s.unit_bytes end as disk_write_bytes,
    case when is_physical then s.r7452prt * s.unit_seconds end as disk_read_seconds,
    case when is_physical then s.r7452pwt * s.unit_seconds end as disk_write_seconds,
    case when bit_of_byte(s.r7451inc, 4) then s.r7451ct5::double end as zhpf_reads,
    case when bit_of_byte(s.r7451inc, 4) then s.r7451ct6::double end as zhpf_writes,
    s.r7451zhl as prefetches, s.r7451zhh as prefetch_hits,
    case when bit_of_byte(s.r7451inc, 3) then s.r7451srr::double end as sync_reads,
    case when bit_of_byte(s.r7451inc, 3) then s.r7451srh::double end as sync_read_hits,
    s.r7451tsp as copied_tracks,
    s.r7451gsf + s.r7451gss as mirror_collisions
from smf74_5_device d
left join (only_section(smf74_5_control)) c on c.source_id = d.source_id and c.record_no = d.record_no
left join storage s
    on s.source_id = d.source_id and s.record_no = d.record_no
    and s.r7451dvn = d.r745devn and coalesce(s.r7451scs, 0) = (d.r745dfl4::bigint >> 4) & 3
