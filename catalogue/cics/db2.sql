-- Threads of the pool and for commands, which the connection tells, and those of each entry.
with connection as (
    select *, coalesce(nullif(d2g_db2_id, ''), nullif(d2g_db2_group_id, '')) as db2_subsystem
    from cics_statistics(smf110_2_db2_connection)
)
select system, sysplex, interval_start, interval_end, utc_offset, local_time, subsystem as applid,
    '(pool)' as db2_entry, 'pool' as thread_kind, db2_subsystem,
    seconds_between(interval_start, interval_end) as interval_seconds,
    d2g_pool_calls as calls,
    d2g_pool_signons as signons,
    d2g_pool_partial_signons as partial_signons,
    d2g_pool_commits as commits,
    d2g_pool_single_phase as single_phase_commits,
    d2g_pool_aborts as rollbacks,
    d2g_pool_thread_create as thread_creations,
    d2g_pool_thread_reuse as thread_reuses,
    d2g_pool_thread_term as thread_terminations,
    d2g_pool_thread_waits as thread_waits,
    d2g_pool_thread_limit as thread_limit,
    d2g_pool_thread_current as threads,
    d2g_pool_thread_hwm as peak_threads,
    d2g_pool_task_total as tasks,
    d2g_pool_task_hwm as peak_tasks,
    d2g_pool_readyq_hwm as peak_waiting,
    d2g_pool_reuselimit_count as reuse_limit_hits,
    -- Of the connection as a whole.
    d2g_tcb_limit as tcb_limit,
    d2g_tcb_current as tcbs,
    d2g_tcb_hwm as peak_tcbs,
    d2g_tcb_readyq_hwm as peak_tcb_waiting
from connection
union all by name
select system, sysplex, interval_start, interval_end, utc_offset, local_time, subsystem as applid,
    '(commands)' as db2_entry, 'commands' as thread_kind, db2_subsystem,
    seconds_between(interval_start, interval_end) as interval_seconds,
    d2g_comd_calls as calls,
    d2g_comd_signons as signons,
    d2g_comd_thread_create as thread_creations,
    d2g_comd_thread_term as thread_terminations,
    d2g_comd_thread_overf as thread_waits,
    d2g_comd_thread_limit as thread_limit,
    d2g_comd_thread_current as threads,
    d2g_comd_thread_hwm as peak_threads
from connection
union all by name
select system, sysplex, interval_start, interval_end, utc_offset, local_time, subsystem as applid,
    d2r_db2entry_name as db2_entry, 'entry' as thread_kind,
    seconds_between(interval_start, interval_end) as interval_seconds,
    d2r_calls as calls,
    d2r_signons as signons,
    d2r_partial_signons as partial_signons,
    d2r_commits as commits,
    d2r_single_phase as single_phase_commits,
    d2r_aborts as rollbacks,
    d2r_thread_create as thread_creations,
    d2r_thread_reuse as thread_reuses,
    d2r_thread_term as thread_terminations,
    d2r_thread_wait_or_overfl as thread_waits,
    d2r_thread_limit as thread_limit,
    d2r_thread_current as threads,
    d2r_thread_hwm as peak_threads,
    d2r_pthread_limit as protected_limit,
    d2r_pthread_hwm as peak_protected,
    d2r_task_total as tasks,
    d2r_task_hwm as peak_tasks,
    d2r_readyq_hwm as peak_waiting,
    d2r_reuselimit_count as reuse_limit_hits
from cics_statistics(smf110_2_db2_entry)
