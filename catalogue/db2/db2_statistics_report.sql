-- Rows of statistics reports; displays of pools stand in the same tables. A report without a heading names no Db2: then
-- the report itself stands for it.
select * replace (named(coalesce(subsystem, member), source_id, record_no) as subsystem)
from printed
where not coalesce(starts_with(report, 'db2_display'), false)
