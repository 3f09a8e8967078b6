-- One row for each kind of call that a block counted: calls to a queue (WQ), and calls without one (WTAS).
with called as (
    select system, sysplex, subsystem, source_id, record_no,
        coalesce(nullif(basename, ''), nullif(objname, '')) as queue,
        unnest(['MQOPEN', 'MQCLOSE', 'MQGET', 'MQPUT', 'MQPUT1', 'MQINQ', 'MQSET', 'MQCB']) as call,
        unnest([openn, closen, getn, putn, put1n, inqn, setn, cbn]) as calls,
        unnest([openet, closeet, getet, putet, put1et, inqet, setet, cbet]) as elapsed_seconds,
        unnest([openct, closect, getct, putct, put1ct, inqct, setct, cbct]) as cpu_seconds,
        unnest([opensun, closesun, getsusn, putsusn, put1susn]) as suspends,
        unnest([opensuet, closesuet, getsuset, putsuset, put1suset]) as suspend_seconds,
        unnest([null, null, getjcn, putjcn, put1jcn, null, setjcn]) as forced_log_writes,
        unnest([null, null, getjcet, putjcet, put1jcet, null, setjcet]) as forced_log_seconds,
        unnest([null, null, getjwn, putjwn, put1jwn, null, setjwn]) as log_writes,
        unnest([null, null, getjwet, putjwet, put1jwet, null, setjwet]) as log_seconds,
        unnest([null, null, getpsn, putpsn, put1psn]) as page_set_reads,
        unnest([null, null, getpset, putpset, put1pset]) as page_set_seconds
    from smf116_1_wq
    union all by name
    select system, sysplex, subsystem, source_id, record_no,
        unnest(['commit', 'backout', 'prepare', 'MQSUB', 'MQSUBRQ', 'MQCTL', 'MQSTAT', 'other']) as call,
        unnest([wtascmn, wtasban, wtasprn, wtassun, wtassqn, wtasctn, wtasstn, wtasotn]) as calls,
        unnest([wtascmet, wtasbaet, wtaspret, wtassuet, wtassqet, wtasctet, wtasstet, wtasotet]) as elapsed_seconds,
        unnest([wtascmct, wtasbact, wtasprct, wtassuct, wtassqct, wtasctct, wtasstct, wtasotct]) as cpu_seconds
    from smf116_1_wtas
)
select c.* exclude (source_id, record_no, subsystem), c.subsystem as queue_manager,
    t.task_start as interval_start, t.task_end as interval_end,
    a.* exclude (source_id, record_no)
from called c
left join mq_application a on a.source_id = c.source_id and a.record_no = c.record_no
left join mq_task_time t on t.source_id = c.source_id and t.record_no = c.record_no
where c.calls > 0
