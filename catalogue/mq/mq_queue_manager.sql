-- Messages (QMST), data manager (QIST), locks (QLST), topics (QTST) and Db2 (Q5ST) of one record side by side.
select m.*,
    d.qistmget, d.qistmput, d.qistmblr, d.qistdcre, d.qistdput, d.qistddel, d.qistdget, d.qistdloc, d.qistalst,
    d.qistenum, d.qistgetd, d.qistgetb,
    l.qlstgetl, l.qlsthldl, l.qlstrell,
    t.qtststot, t.qtstsdur, t.qtstsexp, t.qtstshig_1, t.qtstptot_1, t.qtstptot_2, t.qtstptot_3, t.qtsttmsg, t.qtstpnos,
    t.qtstetto, t.qtstethw,
    b.numtask, b.dhigmax, b.abndcnt, b.requcnt, b.deadcnt
from smf115_2_qmst m
left join smf115_2_qist d on d.source_id = m.source_id and d.record_no = m.record_no
left join smf115_2_qlst l on l.source_id = m.source_id and l.record_no = m.record_no
left join smf115_2_qtst t on t.source_id = m.source_id and t.record_no = m.record_no
left join smf115_2_q5st b on b.source_id = m.source_id and b.record_no = m.record_no
