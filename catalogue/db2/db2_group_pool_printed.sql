-- Group buffer pools as statistics reports or displays print them. A panel without its caption names no pool.
select * replace (
        -- Older panels tell apart whether others have an interest in the page.
        coalesce(
            reads_invalid_no_data, total2(reads_invalid_no_data_interest, reads_invalid_no_data_no_interest)
        ) as reads_invalid_no_data,
        coalesce(
            reads_absent_no_data, total2(reads_absent_no_data_interest, reads_absent_no_data_no_interest)
        ) as reads_absent_no_data
    ),
    named(pool_name, source_id, record_no) as group_pool
from {rows}
where pool_name is null or starts_with(pool_name, 'GBP')
