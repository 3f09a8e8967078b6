-- Data sets with their I/O, access method and synchronous I/O sections, and the job that used them.
select *
from smf42_6_data_set
left join same_section(smf42_6_io) using (source_id, record_no, section_no)
left join same_section(smf42_6_access_method) using (source_id, record_no, section_no)
left join same_section(smf42_6_sync_1) using (source_id, record_no, section_no)
left join only_section(smf42_6_job) using (source_id, record_no)
where s42dsion is not null or s42amsrb is not null
