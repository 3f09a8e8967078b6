-- Class 1 accounting: messages (QMAC), who (QWHC), times and units of work (QWAC) of a thread that ended.
select m.*, w.qwhccn, w.qwhcopid, w.qwhcatyp, w.qwhccv,
    t.qwacbsc, t.qwacesc, t.qwacbjst, t.qwacejst, t.qwacbsrb, t.qwacesrb, t.qwaccomm, t.qwacback
from smf116_0_qmac m
left join smf116_qwhc w on w.source_id = m.source_id and w.record_no = m.record_no
left join smf116_0_qwac t on t.source_id = m.source_id and t.record_no = m.record_no
