-- Locking within a Db2 (QTXA) and, of a member of a group, in its group (QTGS): each record has one entry of both.
select l.*,
    g.* exclude (system, sysplex, subsystem, interval_start, interval_end, utc_offset, source_id, record_no, section_no)
from db2_section l
left join smf100_ifcid2_qtgs g on g.source_id = l.source_id and g.record_no = l.record_no
