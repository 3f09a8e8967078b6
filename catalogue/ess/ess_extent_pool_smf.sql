-- Extent pools of disk systems. What R748CFLG does not vouch for is left out.
select x.system, x.sysplex, x.interval_start, x.interval_end, x.utc_offset,
    nullif(c.r748cser, '') as control_unit, nullif(c.r748ctyp, '') as control_unit_type,
    printf('%04X', x.r748xpid::bigint) as extent_pool,
    case x.r748xplt::bigint when 4 then 'fixed block' when 132 then 'CKD' end as pool_type,
    seconds_between(x.interval_start, x.interval_end) as interval_seconds,
    x.r748xrcp::double * 1e9 as capacity_bytes, x.r748xrns as extents, x.r748xrna as allocated_extents,
    case when bit_of_byte(c.r748cflg, 0) then x.r748xvns::double end as virtual_extents,
    case when bit_of_byte(c.r748cflg, 0) then x.r748xrsc::double end as conversions,
    case when bit_of_byte(c.r748cflg, 0) then x.r748xsdy::double end as relocations_out,
    case when bit_of_byte(c.r748cflg, 0) then x.r748xtdy::double end as relocations_in
from smf74_8_extent_pool x
left join (only_section(smf74_8_control)) c on c.source_id = x.source_id and c.record_no = x.record_no
