-- Bits of R746GSFL: 0 the kernel was not ready, 1 no limits, 2 no global data, 3 a part of them.
select system, sysplex, interval_start, interval_end, utc_offset,
    seconds_between(interval_start, interval_end) as interval_seconds,
    case when limits then r746gmxv::double end as limit_bytes, case when there then r746gusv::double end as virtual_bytes,
    case when limits then r746gmnf::double end as fixed_minimum_bytes,
    case when there then r746gusf::double end as fixed_bytes,
    case when complete then r746gmc end as metadata_hits, case when complete then r746gmnc end as metadata_misses,
    case when complete then r746g1c end as first_page_hits, case when complete then r746g1nc end as first_page_misses
from (
    select *,
        not bit_of_byte(r746gsfl, 0) and not bit_of_byte(r746gsfl, 1) as limits,
        not bit_of_byte(r746gsfl, 0) and not bit_of_byte(r746gsfl, 2) as there,
        not bit_of_byte(r746gsfl, 0) and not bit_of_byte(r746gsfl, 2) and not bit_of_byte(r746gsfl, 3) as complete
    from smf74_6_global
) g
