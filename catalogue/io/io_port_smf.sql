-- Ports of FICON directors. A port without statistics in the interval has a row without counts.
select p.system, p.sysplex, p.interval_start, p.interval_end, p.utc_offset,
    printf('%02X', s.r747slsn::bigint) as switch, printf('%04X', s.r747sdev::bigint) as switch_device,
    printf('%02X', p.r747padr::bigint) as port,
    case when is_unit then 'control unit' when is_path then 'channel path' when is_switch then 'switch' end as connection,
    case
        when bit_of_byte(p.r747psfl, 1) then null
        when is_unit then printf('%04X', p.r747pcu::bigint)
        when is_path then printf('%02X', p.r747pcu::bigint & 255)
    end as connected_to,
    seconds_between(p.interval_start, p.interval_end) as interval_seconds,
    case when measured then p.r747pnfr end as frames_received,
    case when measured then p.r747pnwr * 4.0::double end as received_bytes,
    case when measured then p.r747pnft end as frames_transmitted,
    case when measured then p.r747pnwt * 4.0::double end as transmitted_bytes,
    case when measured then p.r747pfpt * 2.5e-6::double end as pacing_seconds,
    case when measured then p.r747pner end as port_errors
from (
    select *,
        bit_of_byte(r747ptfl, 0) or bit_of_byte(r747ptfl, 1) as is_unit,
        bit_of_byte(r747ptfl, 2) as is_path, bit_of_byte(r747ptfl, 3) as is_switch,
        bit_of_byte(r747ppfl, 4) and not bit_of_byte(r747psfl, 7) as measured
    from smf74_7_port
) p
left join (only_section(smf74_7_switch)) s on s.source_id = p.source_id and s.record_no = p.record_no
