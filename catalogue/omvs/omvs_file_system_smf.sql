-- File systems with statistics (bit 0 of R746FSFL: none; bit 1: mounted at another time than in the interval before).
select system, sysplex, interval_start, interval_end, utc_offset, nullif(r746fsnm, '') as file_system,
    seconds_between(interval_start, interval_end) as interval_seconds,
    r746fsf::double as size_bytes, r746fpd::double as directory_bytes, r746fpc::double as cached_bytes,
    case when stayed then r746fsfi end as sequential_ios, case when stayed then r746frfi end as random_ios,
    case when stayed then r746fmc end as metadata_hits, case when stayed then r746fmnc end as metadata_misses,
    case when stayed then r746f1c end as first_page_hits, case when stayed then r746f1nc end as first_page_misses,
    case when stayed then r746firh end as index_read_hits, case when stayed then r746firm end as index_read_misses,
    case when stayed then r746fiwh end as index_write_hits, case when stayed then r746fiwm end as index_write_misses,
    case when stayed then r746fis end as index_splits
from (select *, not bit_of_byte(r746fsfl, 1) as stayed from smf74_6_file_system) f
where not bit_of_byte(r746fsfl, 0)
