-- What an SMF 100 record tells of the Db2 that wrote it: by its header (QWHS) and its data sharing section (QWHA).
select h.source_id, h.record_no,
    h.qwhsiseq::double as sequence,
    version_of_db2(h.qwhsrn) as db2_version,
    -- Bits of the counters that grew with Db2 11 (QWHSRN hexadecimal B1).
    case when h.qwhsrn::bigint < 177 then 32 else 64 end as wide,
    nullif(a.qwhadsgn, '') as group_name,
    nullif(a.qwhamemn, '') as member
from smf100_qwhs h
left join smf100_qwha a on a.source_id = h.source_id and a.record_no = h.record_no
