-- What threads asked of the data sharing group, beside what they used and waited for, by the quarter of an hour in
-- which their accounting records were written. A record has one QTGA, and a QBGA for each group buffer pool.
with locks as (
    select source_id, record_no,
        sum(qtgalplk::double) as qtgalplk, sum(qtgacplk::double) as qtgacplk, sum(qtgauplk::double) as qtgauplk,
        sum(qtgalslm::double) as qtgalslm, sum(qtgacslm::double) as qtgacslm, sum(qtgauslm::double) as qtgauslm,
        sum(qtgaiglo::double) as qtgaiglo, sum(qtgasglo::double) as qtgasglo, sum(qtgaflse::double) as qtgaflse,
        sum(qtgantfy::double) as qtgantfy
    from smf101_ifcid3_qtga
    group by source_id, record_no
),
pages as (
    select source_id, record_no,
        sum(qbgagg::double) as qbgagg, sum(qbgaxd::double) as qbgaxd, sum(qbgaxr::double) as qbgaxr,
        sum(qbgamd::double) as qbgamd, sum(qbgamr::double) as qbgamr, sum(qbgasw::double) as qbgasw,
        sum(qbgaaw::double) as qbgaaw, sum(qbgawc::double) as qbgawc
    from smf101_ifcid3_qbga
    group by source_id, record_no
),
thread as (
    select a.*, c.* exclude (source_id, record_no), p.* exclude (source_id, record_no),
        k.* exclude (source_id, record_no), g.* exclude (source_id, record_no),
        x.qwaxixlt, x.qwaxawfc, l.qtxalock,
        class_1_seconds(a.qwacbsc, a.qwacesc) as class_1
    from smf101_ifcid3_qwac a
    left join db2_correlation c on c.source_id = a.source_id and c.record_no = a.record_no
    left join smf101_ifcid3_qwax x on x.source_id = a.source_id and x.record_no = a.record_no and x.section_no = 1
    left join smf101_ifcid3_qtxa l on l.source_id = a.source_id and l.record_no = a.record_no and l.section_no = 1
    left join db2_thread_pools p on p.source_id = a.source_id and p.record_no = a.record_no
    left join locks k on k.source_id = a.source_id and k.record_no = a.record_no
    left join pages g on g.source_id = a.source_id and g.record_no = a.record_no
),
gathered as (
    select system, subsystem, connection_type, connection, plan, correlation, quarter_of(interval_end) as quarter,
        max(sysplex) as sysplex, max(utc_offset) as utc_offset,
        -- A record without the start of its thread tells at least of the quarter in which it was written.
        min(coalesce(qwacbsc, quarter_of(interval_end))) as first_start, max(interval_end) as last_end,
        count(*)::double as occurrences,
        sum(qwaccomm::double) as commits,
        sum(qwacabrt::double) as rollbacks,
        sum(qtxalock::double) as lock_requests,
        sum(qbacget) as getpages,
        sum(qbacrio) as sync_reads,
        sum(qbacsio) as async_pages_read,
        sum(qbacsws) as buffer_updates,
        sum(class_1) as class1_elapsed_seconds,
        list_sum([
            sum(qwacejst::double - coalesce(qwacbjst, 0)::double), sum(qwacspcp::double), sum(qwacudcp::double),
            sum(qwaccls1_ziip::double)
        ]) as class1_cpu_seconds,
        list_sum([
            sum(qwacasc::double), sum(qwacspeb::double), sum(qwacudeb::double), sum(qwactret::double),
            sum(qwactree::double)
        ]) as class2_elapsed_seconds,
        list_sum([
            sum(qwacajst::double), sum(qwacsptt::double), sum(qwacudtt::double), sum(qwactrtt::double),
            sum(qwactrte::double), sum(qwaccls2_ziip::double)
        ]) as class2_cpu_seconds,
        sum(qwacawti::double) as read_wait_seconds,
        sum(qwacarne::double) as read_waits,
        total3(sum(qwacawtj::double), sum(qwacawtk::double), sum(qwacawtm::double)) as l_lock_wait_seconds,
        sum(qwacawtn::double) as page_set_lock_wait_seconds,
        sum(qwacawto::double) as page_lock_wait_seconds,
        sum(qwacawtq::double) as other_lock_wait_seconds,
        sum(qwacawtg::double) as notify_wait_seconds,
        sum(qwaxixlt::double) as async_cf_wait_seconds,
        sum(qwaxawfc::double) as commit_write_wait_seconds,
        sum(qtgalplk) as plock_lock_requests,
        sum(qtgacplk) as plock_change_requests,
        sum(qtgauplk) as plock_unlock_requests,
        sum(qtgalslm) as xes_lock_requests,
        sum(qtgacslm) as xes_change_requests,
        sum(qtgauslm) as xes_unlock_requests,
        sum(qtgaiglo) as suspends_irlm,
        sum(qtgasglo) as suspends_xes,
        sum(qtgaflse) as suspends_false,
        sum(qtgantfy) as notify_sent,
        sum(qbgagg) as dependent_getpages,
        sum(qbgaxd) as reads_invalid_data,
        sum(qbgaxr) as reads_invalid_no_data,
        sum(qbgamd) as reads_absent_data,
        sum(qbgamr) as reads_absent_no_data,
        sum(qbgasw) as changed_pages_sync,
        sum(qbgaaw) as changed_pages_async,
        sum(qbgawc) as clean_pages_sync
    from thread
    group by system, subsystem, connection_type, connection, plan, correlation, quarter
)
select * exclude (first_start, last_end),
    quarter as interval,
    -- The records of the day (UTC) and of the days next to it tell of the time from the first thread's start to the last
    -- one's end, not of whole quarters.
    greatest(quarter, min(first_start) over (days range between 1 preceding and current row)) as interval_start,
    least(quarter_end(quarter), max(last_end) over (days range between current row and 1 following)) as interval_end
from gathered
left join db2_group using (system, subsystem)
window days as (partition by system, subsystem order by utc_day(quarter))
