-- Accounting interval of every class 3 record: of the task, or from its start where it began within the interval.
-- A subtype 2 record continues a subtype 1 record and holds no times: its rows end when the record was built.
select h.source_id, h.record_no,
    coalesce(t.wtasints, t.wtasstrt) as task_start, coalesce(t.wtasinte, h.qwhsstck) as task_end
from smf115_qwhs h
left join smf116_1_wtas t on t.source_id = h.source_id and t.record_no = h.record_no
