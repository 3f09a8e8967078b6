-- PCIE functions with the sections of their type: a function says how many sections there are before its own, and how many it has.
-- Releases without the type of a function know only functions that read and write by DMA.
with functions as (
    select *,
        case when r749flag is null then 0 when bit_of_byte(r749flag, 1) then r749pft::bigint end as function_type
    from smf74_9_function
),
done as (
    select f.source_id, f.record_no, f.section_no,
        sum(t.r749dmar::double) as at_0, sum(t.r749dmaw::double) as at_8, sum(t.r749dpkr::double) as at_24,
        sum(t.r749dpkt::double) as at_32, sum(t.r749srrf::double) as at_40, sum(t.r749stpf) as at_48
    from functions f
    join smf74_9_function_type t
        on t.source_id = f.source_id and t.record_no = f.record_no
        and t.section_no > f.r749dmao::bigint and t.section_no <= f.r749dmao::bigint + f.r749dman::bigint
    group by f.source_id, f.record_no, f.section_no
)
select f.system, f.sysplex, f.interval_start, f.interval_end, f.utc_offset,
    printf('%04X', f.r749pfid::bigint) as function, nullif(f.r749devn, '') as device, nullif(f.r749jobn, '') as job,
    printf('%04X', f.r749pcid::bigint) as channel,
    case when bit_of_byte(f.r749flag, 0) then nullif(f.r749net1, '') end as network,
    nullif(l.r749snds, '') as control_unit,
    seconds_between(f.interval_start, f.interval_end) as interval_seconds,
    f.r749allt as allocated_seconds, f.r749errt as invalid_seconds,
    if(bit_of_halfword(f.r749pffl, 2), 1, 0) as error_intervals,
    case when not bit_of_byte(f.r749flag, 2) then f.r749loop::double end as loads,
    case when not bit_of_byte(f.r749flag, 2) then f.r749stop::double end as stores,
    case when not bit_of_byte(f.r749flag, 2) then f.r749sbop::double end as block_stores,
    case when not bit_of_byte(f.r749flag, 2) then f.r749rfop::double end as refreshes,
    case f.function_type when 0 then d.at_0 end as dma_read_bytes,
    case f.function_type when 0 then d.at_8 end as dma_write_bytes,
    case f.function_type when 1 then d.at_0 end as received_bytes,
    case f.function_type when 1 then d.at_8 when 3 then d.at_8 end as transmitted_bytes,
    case f.function_type when 1 then d.at_24 end as received_packets,
    case f.function_type when 1 then d.at_32 end as transmitted_packets,
    case f.function_type when 2 then d.at_0 end as work_units,
    case f.function_type when 4 then d.at_24 end as sync_requests,
    case f.function_type when 4 then d.at_32 end as local_rejects,
    case f.function_type when 4 then d.at_40 end as remote_rejects,
    case f.function_type when 4 then d.at_48 end as sync_seconds,
    case f.function_type when 4 then d.at_0 end as sync_read_bytes,
    case f.function_type when 4 then d.at_8 end as sync_write_bytes
from functions f
left join done d on d.source_id = f.source_id and d.record_no = f.record_no and d.section_no = f.section_no
left join smf74_9_sync_link l
    on l.source_id = f.source_id and l.record_no = f.record_no
    and f.r749sion::bigint > 0 and l.section_no = f.r749sioo::bigint + 1
