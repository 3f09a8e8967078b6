-- Buffer pools, with the status of the global section of their record.
select b.system, b.sysplex, b.interval_start, b.interval_end, b.utc_offset, b.r746gsb::bigint as buffer_pages,
    seconds_between(b.interval_start, b.interval_end) as interval_seconds,
    b.r746gnds::double as data_spaces, b.r746gsbp::double as pool_bytes, b.r746gsbf::double as fixed_bytes,
    case when not bit_of_byte(g.r746gsfl, 3) then b.r746gbf end as fixed_ios,
    case when not bit_of_byte(g.r746gsfl, 3) then b.r746gbnf end as unfixed_ios
from smf74_6_buffer b
left join (only_section(smf74_6_global)) g on g.source_id = b.source_id and g.record_no = b.record_no
where not bit_of_byte(g.r746gsfl, 0) and not bit_of_byte(g.r746gsfl, 2)
