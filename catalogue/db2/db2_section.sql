-- Entries of a section of the statistics records, with what their record tells of the Db2.
select *
from section
left join db2_header using (source_id, record_no)
