-- Every class in a workload activity report, in XML or as text.
--
-- A report gives a class's work for the class as a whole, and its goals and achievement period by period. A class with
-- one period is that period; of a class with more, the work stands in a row without a period, and its periods have rows
-- with goal and achievement only, so that nothing is counted twice.
with bucket as (
    -- Counts and bounds of each period's distribution of response times.
    select source_id, record_no, class_kind, class_name, period,
        max(transactions) filter (bucket_no = 1) as bucket_1, max(bound_percent) filter (bucket_no = 1) as bound_1,
        max(transactions) filter (bucket_no = 2) as bucket_2, max(bound_percent) filter (bucket_no = 2) as bound_2,
        max(transactions) filter (bucket_no = 3) as bucket_3, max(bound_percent) filter (bucket_no = 3) as bound_3,
        max(transactions) filter (bucket_no = 4) as bucket_4, max(bound_percent) filter (bucket_no = 4) as bound_4,
        max(transactions) filter (bucket_no = 5) as bucket_5, max(bound_percent) filter (bucket_no = 5) as bound_5,
        max(transactions) filter (bucket_no = 6) as bucket_6, max(bound_percent) filter (bucket_no = 6) as bound_6,
        max(transactions) filter (bucket_no = 7) as bucket_7, max(bound_percent) filter (bucket_no = 7) as bound_7,
        max(transactions) filter (bucket_no = 8) as bucket_8, max(bound_percent) filter (bucket_no = 8) as bound_8,
        max(transactions) filter (bucket_no = 9) as bucket_9, max(bound_percent) filter (bucket_no = 9) as bound_9,
        max(transactions) filter (bucket_no = 10) as bucket_10, max(bound_percent) filter (bucket_no = 10) as bound_10,
        max(transactions) filter (bucket_no = 11) as bucket_11, max(bound_percent) filter (bucket_no = 11) as bound_11,
        max(transactions) filter (bucket_no = 12) as bucket_12, max(bound_percent) filter (bucket_no = 12) as bound_12,
        max(transactions) filter (bucket_no = 13) as bucket_13, max(bound_percent) filter (bucket_no = 13) as bound_13,
        max(transactions) filter (bucket_no = 14) as bucket_14
    from bucket_report
    group by source_id, record_no, class_kind, class_name, period
),
listed as (
    select *,
        count(period) over class as periods,
        -- A report of periods tells the work with each period; then there is no row for the class as a whole.
        count(*) filter (
            period is not null and coalesce(cpu_service, ended_transactions, cpu_seconds) is not null
        ) over class > 0 as has_work_by_period
    from report
    where class_kind in ('service class', 'report class') or class_kind is null
    window class as (partition by source_id, record_no, class_kind, class_name)
)
select c.system, c.sysplex, c.interval_start, c.interval_end, c.utc_offset,
    c.class_kind,
    c.workload,
    -- Excerpts of text reports leave their class unnamed, and nothing tells whether two are of one class.
    named_by_row(c.class_name, c.source_id, c.record_no, c.section_no) as class_name,
    p.period::bigint as period,
    c.description,
    c.policy,
    c.interval_seconds,
    p.goal_type as goal,
    p.importance,
    p.goal_percentile,
    p.goal_response_seconds as goal_seconds,
    p.goal_velocity / 100 as goal_velocity,
    -- Samples are printed as whole percents of all samples and mostly vanish; the velocity made of them is printed to a
    -- tenth. A hundred samples an interval, split by it, stand for them.
    p.actual_velocity as using_samples,
    100 - p.actual_velocity as delay_samples,
    c.ended_transactions as transactions,
    c.executed_transactions,
    c.response_total_seconds as elapsed_seconds,
    c.response_square_seconds as elapsed_squares,
    c.execution_total_seconds as execution_seconds,
    c.queued_total_seconds as queue_seconds,
    c.active_seconds,
    c.resident_seconds,
    c.total_service as service_units,
    c.cpu_service as service_units_cpu,
    c.srb_service as service_units_srb,
    c.io_service as service_units_io,
    c.storage_service as service_units_mso,
    c.cpu_seconds as tcb_seconds,
    c.srb_seconds,
    c.rct_seconds,
    c.io_interrupt_seconds as iit_seconds,
    c.hiperspace_seconds as hst_seconds,
    c.iip_seconds as ziip_seconds,
    c.iip_engine_seconds as ziip_engine_seconds,
    c.iip_on_cp_seconds as ziip_on_cp_seconds,
    c.aap_seconds as zaap_seconds,
    c.aap_engine_seconds as zaap_engine_seconds,
    c.aap_on_cp_seconds as zaap_on_cp_seconds,
    c.io_operations as dasd_requests,
    c.io_connect_total_seconds as dasd_connect_seconds,
    c.io_disconnect_total_seconds as dasd_disconnect_seconds,
    c.io_queue_pending_total_seconds as dasd_wait_seconds,
    c.io_ios_queue_total_seconds as dasd_ios_queue_seconds,
    c.storage_frame_seconds as page_residency_seconds,
    b.bucket_1, b.bucket_2, b.bucket_3, b.bucket_4, b.bucket_5, b.bucket_6, b.bucket_7,
    b.bucket_8, b.bucket_9, b.bucket_10, b.bucket_11, b.bucket_12, b.bucket_13, b.bucket_14,
    b.bound_1 / 100 as bound_1, b.bound_2 / 100 as bound_2, b.bound_3 / 100 as bound_3, b.bound_4 / 100 as bound_4,
    b.bound_5 / 100 as bound_5, b.bound_6 / 100 as bound_6, b.bound_7 / 100 as bound_7, b.bound_8 / 100 as bound_8,
    b.bound_9 / 100 as bound_9, b.bound_10 / 100 as bound_10, b.bound_11 / 100 as bound_11,
    b.bound_12 / 100 as bound_12, b.bound_13 / 100 as bound_13
from listed c
-- The goal and achievement of a class with one period are those of its period, whose own row is left out then.
join listed p on p.source_id = c.source_id and p.record_no = c.record_no
    and p.class_kind is not distinct from c.class_kind and p.class_name is not distinct from c.class_name
    and case when c.periods = 1 then p.period is not null else p.section_no = c.section_no end
left join bucket b on b.source_id = p.source_id and b.record_no = p.record_no
    and b.class_kind = p.class_kind and b.class_name = p.class_name and b.period = p.period
where not (c.periods = 1 and c.period is not null and not c.has_work_by_period)
