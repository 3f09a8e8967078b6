-- Ranks with what their arrays say. Times count in 16 ms, sizes in 128 KiB, capacities in GB (10^9 bytes).
with arrays as (
    select source_id, record_no, r748arid,
        sum(r748aacp::double) * 1e9 as capacity_bytes,
        sum(if(bit_of_byte(r748aast, 2), 1, 0)) as degraded_arrays,
        sum(if(bit_of_byte(r748aast, 3), 1, 0)) as throttled_arrays,
        -- An array of another kind than the others of its rank leaves the rank without a kind.
        if(min(r748atyp) = max(r748atyp), min(r748atyp), null)::bigint as raid,
        if(min(r748aast::bigint >> 6) = max(r748aast::bigint >> 6), min(r748aast::bigint >> 6), null) as device_class
    from smf74_8_array
    group by source_id, record_no, r748arid
)
select r.system, r.sysplex, r.interval_start, r.interval_end, r.utc_offset,
    nullif(c.r748cser, '') as control_unit, nullif(c.r748ctyp, '') as control_unit_type,
    printf('%04X', r.r748rrid::bigint) as rank, printf('%04X', r.r748rpnm::bigint) as extent_pool,
    case a.raid when 1 then 'RAID-5' when 2 then 'RAID-10' when 3 then 'RAID-6' end as raid,
    case a.device_class
        when 0 then 'enterprise' when 1 then 'near-line' when 2 then 'SATA' when 3 then 'solid state'
    end as device_class,
    seconds_between(r.interval_start, r.interval_end) as interval_seconds,
    r.r748rrop as reads, r.r748rwop as writes,
    r.r748rbyr * 131072.0::double as read_bytes, r.r748rbyw * 131072.0::double as write_bytes,
    r.r748rkrt * 0.016::double as read_seconds, r.r748rkwt * 0.016::double as write_seconds,
    r.r748rcnt as arrays, a.capacity_bytes, a.degraded_arrays, a.throttled_arrays
from smf74_8_rank r
left join (only_section(smf74_8_control)) c on c.source_id = r.source_id and c.record_no = r.record_no
left join arrays a on a.source_id = r.source_id and a.record_no = r.record_no and a.r748arid = r.r748rrid
