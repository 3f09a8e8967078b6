-- Jobs, sessions and started tasks: from the record of their end (subtype 5); a job that has none, because it still
-- runs or the record is not in the data, from its intervals (2 and 3).
with usage as (
    select * from smf30_usage where subtype in (2, 3, 5)
),
ended as (
    select * exclude (interval_start, interval_end),
        moment(initiated - coalesce(local_offset, 0)) as interval_start,
        moment(written - coalesce(local_offset, 0)) as interval_end,
        local_offset as utc_offset,
        local_offset is null as local_time,
        written - initiated as elapsed_seconds,
        'job end' as counted_from,
        1 as ended
    from usage
    where subtype = 5
),
going as (
    select u.*
    from usage u
    anti join ended e on u.system is not distinct from e.system and u.job is not distinct from e.job
        and u.job_id is not distinct from e.job_id and u.read_in is not distinct from e.read_in
    where u.subtype in (2, 3)
),
added_up as (
    select system, job, job_id, read_in,
        max(sysplex) as sysplex, min(interval_start) as interval_start, max(interval_end) as interval_end,
        max(local_offset) as utc_offset,
        -- The intervals of these records are clock values, which are UTC.
        false as local_time,
        -- The class of a job can be changed while it runs: the last one stands.
        arg_max(job_class, interval_end) as job_class, arg_max(work_type, interval_end) as work_type,
        arg_max(service_class, interval_end) as service_class, arg_max(report_class, interval_end) as report_class,
        arg_max(workload, interval_end) as workload, arg_max("user", interval_end) as "user",
        'intervals' as counted_from,
        0 as ended,
        sum(seconds_between(interval_start, interval_end)) as elapsed_seconds,
        -- Every interval record repeats how long the job waited before it ran.
        max(conversion_seconds) as conversion_seconds, max(affinity_seconds) as affinity_seconds,
        max(held_seconds) as held_seconds, max(queue_seconds) as queue_seconds,
        sum(tcb_seconds) as tcb_seconds, sum(srb_seconds) as srb_seconds,
        sum(initiator_tcb_seconds) as initiator_tcb_seconds, sum(initiator_srb_seconds) as initiator_srb_seconds,
        sum(io_interrupt_seconds) as io_interrupt_seconds, sum(region_control_seconds) as region_control_seconds,
        sum(hiperspace_seconds) as hiperspace_seconds, sum(preemptable_srb_seconds) as preemptable_srb_seconds,
        sum(enclave_seconds) as enclave_seconds, sum(dependent_enclave_seconds) as dependent_enclave_seconds,
        sum(enqueue_promoted_seconds) as enqueue_promoted_seconds,
        sum(contention_promoted_seconds) as contention_promoted_seconds,
        sum(ziip_engine_seconds) as ziip_engine_seconds, sum(ziip_enclave_seconds) as ziip_enclave_seconds,
        sum(ziip_on_cp_seconds) as ziip_on_cp_seconds, sum(zaap_engine_seconds) as zaap_engine_seconds,
        sum(java_ziip_seconds) as java_ziip_seconds, sum(java_on_cp_seconds) as java_on_cp_seconds,
        sum(ziip_seconds) as ziip_seconds, sum(zaap_seconds) as zaap_seconds,
        sum(crypto_services) as crypto_services, sum(excps) as excps, sum(connect_seconds) as connect_seconds,
        sum(dasd_ios) as dasd_ios, sum(dasd_connect_seconds) as dasd_connect_seconds,
        sum(dasd_disconnect_seconds) as dasd_disconnect_seconds, sum(dasd_pending_seconds) as dasd_pending_seconds,
        sum(enclave_dasd_ios) as enclave_dasd_ios, sum(enclave_dasd_connect_seconds) as enclave_dasd_connect_seconds,
        sum(enclave_dasd_disconnect_seconds) as enclave_dasd_disconnect_seconds,
        sum(enclave_dasd_pending_seconds) as enclave_dasd_pending_seconds, sum(terminal_writes) as terminal_writes,
        sum(terminal_reads) as terminal_reads, sum(page_ins) as page_ins, sum(page_outs) as page_outs,
        sum(blocked_page_ins) as blocked_page_ins, sum(vio_page_ins) as vio_page_ins,
        sum(vio_page_outs) as vio_page_outs, sum(common_page_ins) as common_page_ins,
        sum(lpa_page_ins) as lpa_page_ins, sum(hiperspace_page_ins) as hiperspace_page_ins,
        sum(shared_page_ins) as shared_page_ins, sum(transactions) as transactions,
        sum(active_seconds) as active_seconds, sum(resident_seconds) as resident_seconds,
        sum(enclave_transactions) as enclave_transactions, sum(enclave_active_seconds) as enclave_active_seconds,
        sum(service_units) as service_units, sum(incomplete) as incomplete,
        max(highest_task_fraction) as highest_task_fraction, max(user_below_bytes) as user_below_bytes,
        max(user_above_bytes) as user_above_bytes, max(system_below_bytes) as system_below_bytes,
        max(system_above_bytes) as system_above_bytes, max(data_space_bytes) as data_space_bytes,
        max(above_bar_bytes) as above_bar_bytes, max(shared_above_bar_bytes) as shared_above_bar_bytes,
        max(above_bar_frames) as above_bar_frames, max(above_bar_slots) as above_bar_slots,
        max(region_below_bytes) as region_below_bytes, max(memory_limit_bytes) as memory_limit_bytes
    from going
    group by system, job, job_id, read_in
)
select *, 1 as jobs
from (
    select * from ended
    union all by name
    select * from added_up
)
