-- Buffer pools as statistics reports or displays print them. A pool may be misprinted as BF20; what begins otherwise
-- is a total over pools, which would count everything twice.
select * replace (
        -- Displays tell the parts alone.
        coalesce(getpages, total2(getpages_random, getpages_sequential)) as getpages,
        coalesce(sync_reads, total2(sync_reads_random, sync_reads_sequential)) as sync_reads
    ),
    regexp_replace(pool_name, '^BF', 'BP') as pool,
    buffers * case
        when regexp_matches(pool_name, '^B[PF]8K') then 8192
        when regexp_matches(pool_name, '^B[PF]16K') then 16384
        when regexp_matches(pool_name, '^B[PF]32K') then 32768
        else 4096
    end as pool_bytes,
    vpseqt_percent / 100 as vpseqt,
    dwqt_percent / 100 as dwqt,
    vdwqt_percent / 100 as vdwqt
from {rows}
where regexp_matches(pool_name, '^B[PF]')
