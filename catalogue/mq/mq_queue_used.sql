-- Queue blocks (WQ) with who called and when.
select q.*, t.task_start, t.task_end, a.* exclude (source_id, record_no)
from smf116_1_wq q
left join mq_application a on a.source_id = q.source_id and a.record_no = q.record_no
left join mq_task_time t on t.source_id = q.source_id and t.record_no = q.record_no
