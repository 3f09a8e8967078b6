-- Rows of displays of buffer pools and group buffer pools. A display counts since a moment that it prints, up to one
-- that it does not: it has counts and settings, and no rates.
select p.* replace (named(coalesce(p.subsystem, p.member), p.source_id, p.record_no) as subsystem)
from printed p
where starts_with(p.report, 'db2_display')
-- Counts since the last display are part of those since the pool was opened: of both, the former.
qualify p.statistics is distinct from 'cumulative'
    or not bool_or(p.statistics is not distinct from 'incremental')
        over (partition by p.source_id, p.subsystem, p.pool_name)
