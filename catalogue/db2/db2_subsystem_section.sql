-- Entries of the sections of statistics records (IFCID 1 and 2) that tell of a Db2 as a whole; its pools are entries
-- each. Counters of the sections of IFCID 1 and of QISE have four bytes in all releases.
with entry as (
    select *, 'q3st' as section, false as is_wide from smf100_ifcid1_q3st
    union all by name
    select *, 'qwsd' as section, false as is_wide from smf100_ifcid1_qwsd
    union all by name
    select *, 'qvls' as section, false as is_wide from smf100_ifcid1_qvls
    union all by name
    select *, 'qdst' as section, false as is_wide from smf100_ifcid1_qdst
    union all by name
    select *, 'qxst' as section, true as is_wide from smf100_ifcid2_qxst
    union all by name
    select *, 'qise' as section, false as is_wide from smf100_ifcid2_qise
    union all by name
    select *, 'qbst' as section, true as is_wide from smf100_ifcid2_qbst
)
select e.*, h.* exclude (source_id, record_no) replace (case when e.is_wide then h.wide else 32 end as wide)
from entry e
left join db2_header h on h.source_id = e.source_id and h.record_no = e.record_no
