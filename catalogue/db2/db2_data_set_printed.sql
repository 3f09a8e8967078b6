-- Data sets as a display with LSTATS prints them: counts since the last display, up to a moment that it does not print.
-- A synchronous I/O is of one page, so its pages are its I/Os.
select p.* replace (named(coalesce(p.subsystem, p.member), p.source_id, p.record_no) as subsystem),
    regexp_replace(p.pool_name, '^BF', 'BP') as pool,
    p.database_name as database,
    round(p.data_set)::bigint::varchar as partition,
    p.object_type as kind,
    p.sync_pages as sync_ios,
    p.sync_pages * p.sync_delay_average_seconds as sync_delay_seconds,
    p.async_ios * p.async_delay_average_seconds as async_delay_seconds
from printed p
