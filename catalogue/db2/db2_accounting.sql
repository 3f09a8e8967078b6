-- Threads by keys and the quarter of an hour in which their accounting records were written.
--
-- A dump holds a record for each thread or transaction, millions of them: they are added up before anything else.
with thread as (
    select a.*, c.* exclude (source_id, record_no), p.* exclude (source_id, record_no),
        x.qwaxocse, x.qwaxocne, x.qwaxslse, x.qwaxslne, x.qwaxdsse, x.qwaxdsne, x.qwaxotse, x.qwaxotne, x.qwaxalog,
        x.qwaxalct, x.qwaxawar, x.qwaxanar, x.qwaxawdr, x.qwaxarnd, x.qwaxawcl, x.qwaxarnc, x.qwaxawfc, x.qwaxfcct,
        x.qwaxixlt, x.qwaxixle,
        s.qxselect, s.qxinsrt, s.qxupdte, s.qxdelet, s.qxopen, s.qxfetch, s.qxprep, s.qxdesc, s.qxstfnd, s.qxstnfnd,
        s.qxstnprp,
        l.qtxadea, l.qtxatim, l.qtxasloc, l.qtxalock, l.qtxaunlk, l.qtxales, l.qtxalex, l.qtxanpl,
        class_1_seconds(a.qwacbsc, a.qwacesc) as class_1,
        coalesce(a.qwacasc, 0) + coalesce(a.qwacspeb, 0) + coalesce(a.qwacudeb, 0) + coalesce(a.qwactret, 0)
            + coalesce(a.qwactree, 0) as class_2,
        -- Older releases count archive log quiesce in QWAC; where QWAX has it, it is not counted twice.
        coalesce(a.qwacawtl, 0) + coalesce(a.qwacawlh, 0) + coalesce(a.qwacawti, 0) + coalesce(a.qwacawlg, 0)
            + coalesce(a.qwacawtr, 0) + coalesce(a.qwacawtw, 0) + coalesce(a.qwacawte, 0) + coalesce(x.qwaxocse, 0)
            + coalesce(x.qwaxslse, 0) + coalesce(x.qwaxdsse, 0) + coalesce(x.qwaxotse, 0) + coalesce(x.qwaxalog, 0)
            + coalesce(x.qwaxawar, 0) + coalesce(x.qwaxawdr, 0) + coalesce(x.qwaxawcl, 0) + coalesce(a.qwacawtp, 0)
            + coalesce(a.qwacawtg, 0) + coalesce(a.qwacawtj, 0) + coalesce(a.qwacawtk, 0) + coalesce(a.qwacawtm, 0)
            + coalesce(a.qwacawtn, 0) + coalesce(a.qwacawto, 0) + coalesce(a.qwacawtq, 0) + coalesce(x.qwaxawfc, 0)
            + coalesce(x.qwaxixlt, 0) + coalesce(a.qwacalbw, 0) + coalesce(a.qwacaacw, 0)
            + coalesce(a.qwac_pipe_wait, 0)
            + case when x.qwaxalog is null then coalesce(a.qwacalog, 0) else 0 end as suspended
    from smf101_ifcid3_qwac a
    left join db2_correlation c on c.source_id = a.source_id and c.record_no = a.record_no
    left join smf101_ifcid3_qwax x on x.source_id = a.source_id and x.record_no = a.record_no and x.section_no = 1
    left join smf101_ifcid3_qxst s on s.source_id = a.source_id and s.record_no = a.record_no and s.section_no = 1
    left join smf101_ifcid3_qtxa l on l.source_id = a.source_id and l.record_no = a.record_no and l.section_no = 1
    left join db2_thread_pools p on p.source_id = a.source_id and p.record_no = a.record_no
),
gathered as (
    select system, {keys}, quarter_of(interval_end) as quarter,
        max(sysplex) as sysplex, max(utc_offset) as utc_offset,
        -- A record without the start of its thread tells at least of the quarter in which it was written.
        min(coalesce(qwacbsc, quarter_of(interval_end))) as first_start, max(interval_end) as last_end,
        count(*)::double as occurrences,
        sum(qwaccomm::double) as commits,
        sum(qwacabrt::double) as rollbacks,
        sum(class_1) as class1_elapsed_seconds,
        max(class_1) as class1_longest_seconds,
        {class1_elapsed_within},
        total3(
            sum(qwacejst::double - coalesce(qwacbjst, 0)::double), sum(qwacspcp::double), sum(qwacudcp::double)
        ) as class1_cp_cpu_seconds,
        sum(qwaccls1_ziip::double) as class1_se_cpu_seconds,
        sum(qwacziip_eligible::double) as class1_secp_cpu_seconds,
        list_sum([
            sum(qwacasc::double), sum(qwacspeb::double), sum(qwacudeb::double), sum(qwactret::double),
            sum(qwactree::double)
        ]) as class2_elapsed_seconds,
        list_sum([
            sum(qwacajst::double), sum(qwacsptt::double), sum(qwacudtt::double), sum(qwactrtt::double),
            sum(qwactrte::double)
        ]) as class2_cp_cpu_seconds,
        sum(qwaccls2_ziip::double) as class2_se_cpu_seconds,
        sum(qwacarna::double) as class2_entries,
        sum(qwaclrn::double) as log_records,
        sum(qwaclrab::double) as log_bytes,
        -- Class 2 elapsed longer than class 1, or class 3 longer than class 2. What is not a number compares as greater
        -- than everything.
        sum(case
            when qwacbsc is not null and qwacasc > 0 and not (isnan(class_2) or isnan(suspended))
                and (class_2 > class_1 + 0.001 or suspended > class_2 + 0.001)
            then 1::double else 0::double
        end) as inconsistent,
        sum(qwacawtl::double) as class3_irlm_lock_latch_seconds,
        sum(qwacarnl::double) as class3_irlm_lock_latch_events,
        sum(qwacawlh::double) as class3_db2_latch_seconds,
        sum(qwacarlh::double) as class3_db2_latch_events,
        sum(qwacawti::double) as class3_database_io_seconds,
        sum(qwacarne::double) as class3_database_io_events,
        sum(qwacawlg::double) as class3_log_write_io_seconds,
        sum(qwacarlg::double) as class3_log_write_io_events,
        sum(qwacawtr::double) as class3_other_read_io_seconds,
        sum(qwacarnr::double) as class3_other_read_io_events,
        sum(qwacawtw::double) as class3_other_write_io_seconds,
        sum(qwacarnw::double) as class3_other_write_io_events,
        sum(qwacawte::double) as class3_update_commit_seconds,
        sum(qwacarns::double) as class3_update_commit_events,
        sum(qwaxocse::double) as class3_open_close_seconds,
        sum(qwaxocne::double) as class3_open_close_events,
        sum(qwaxslse::double) as class3_syslgrng_seconds,
        sum(qwaxslne::double) as class3_syslgrng_events,
        sum(qwaxdsse::double) as class3_extend_delete_define_seconds,
        sum(qwaxdsne::double) as class3_extend_delete_define_events,
        sum(qwaxotse::double) as class3_other_service_seconds,
        sum(qwaxotne::double) as class3_other_service_events,
        total2(
            sum(qwaxalog::double), sum(qwacalog::double) filter (where qwaxalog is null)
        ) as class3_archive_log_quiesce_seconds,
        total2(
            sum(qwaxalct::double), sum(qwacalct::double) filter (where qwaxalct is null)
        ) as class3_archive_log_quiesce_events,
        sum(qwaxawar::double) as class3_archive_log_read_seconds,
        sum(qwaxanar::double) as class3_archive_log_read_events,
        sum(qwaxawdr::double) as class3_drain_lock_seconds,
        sum(qwaxarnd::double) as class3_drain_lock_events,
        sum(qwaxawcl::double) as class3_claim_release_seconds,
        sum(qwaxarnc::double) as class3_claim_release_events,
        sum(qwacawtp::double) as class3_page_latch_seconds,
        sum(qwacarnh::double) as class3_page_latch_events,
        sum(qwacawtg::double) as class3_notify_seconds,
        sum(qwacarng::double) as class3_notify_events,
        list_sum([
            sum(qwacawtj::double), sum(qwacawtk::double), sum(qwacawtm::double), sum(qwacawtn::double),
            sum(qwacawto::double), sum(qwacawtq::double)
        ]) as class3_global_contention_seconds,
        list_sum([
            sum(qwacarnj::double), sum(qwacarnk::double), sum(qwacarnm::double), sum(qwacarnn::double),
            sum(qwacarno::double), sum(qwacarnq::double)
        ]) as class3_global_contention_events,
        sum(qwaxawfc::double) as class3_commit_phase_1_write_seconds,
        sum(qwaxfcct::double) as class3_commit_phase_1_write_events,
        sum(qwaxixlt::double) as class3_async_cf_seconds,
        sum(qwaxixle::double) as class3_async_cf_events,
        sum(qwacalbw::double) as class3_lob_xml_seconds,
        sum(qwacalbc::double) as class3_lob_xml_events,
        sum(qwacaacw::double) as class3_accelerator_seconds,
        sum(qwacaacc::double) as class3_accelerator_events,
        sum(qwac_pipe_wait::double) as class3_fast_insert_pipe_seconds,
        sum(qwac_pipewait_count::double) as class3_fast_insert_pipe_events,
        sum(qxselect::double) as selects,
        sum(qxinsrt::double) as inserts,
        sum(qxupdte::double) as updates,
        sum(qxdelet::double) as deletes,
        sum(qxopen::double) as opens,
        sum(qxfetch::double) as fetches,
        sum(qxprep::double) as prepares,
        sum(qxstfnd::double) as short_prepares,
        sum(qxstnfnd::double) as full_prepares,
        sum(qxstnprp::double) as prepares_avoided,
        sum(qxdesc::double) as describes,
        sum(qtxadea::double) as deadlocks,
        sum(qtxatim::double) as timeouts,
        sum(qtxasloc::double) as lock_suspensions,
        sum(qtxalock::double) as lock_requests,
        sum(qtxaunlk::double) as unlock_requests,
        sum(qtxales::double) as escalations_shared,
        sum(qtxalex::double) as escalations_exclusive,
        max(qtxanpl::double) as most_locks_held,
        sum(qbacget::double) as getpages,
        sum(qbacrio::double) as sync_reads,
        sum(qbacsws::double) as buffer_updates,
        sum(qbacimw::double) as sync_writes,
        sum(qbacseq::double) as sequential_prefetch_requests,
        sum(qbaclpf::double) as list_prefetch_requests,
        sum(qbacdpf::double) as dynamic_prefetch_requests,
        sum(qbacsio::double) as async_pages_read
    from thread
    group by system, {keys}, quarter
)
select * exclude (first_start, last_end),
    quarter as interval,
    -- The records of the day (UTC) and of the days next to it tell of the time from the first thread's start to the last
    -- one's end, not of whole quarters.
    greatest(quarter, min(first_start) over (days range between 1 preceding and current row)) as interval_start,
    least(quarter_end(quarter), max(last_end) over (days range between current row and 1 following)) as interval_end,
    list_sum([selects, inserts, updates, deletes, opens, fetches, prepares, describes]) as sql_statements,
    total2(class3_irlm_lock_latch_seconds, class3_db2_latch_seconds) as class3_lock_latch_seconds,
    total2(class3_irlm_lock_latch_events, class3_db2_latch_events) as class3_lock_latch_events,
    total2(class3_database_io_seconds, class3_log_write_io_seconds) as class3_sync_io_seconds,
    total2(class3_database_io_events, class3_log_write_io_events) as class3_sync_io_events,
    list_sum([
        class3_update_commit_seconds, class3_open_close_seconds, class3_syslgrng_seconds,
        class3_extend_delete_define_seconds, class3_other_service_seconds
    ]) as class3_service_task_seconds,
    list_sum([
        class3_update_commit_events, class3_open_close_events, class3_syslgrng_events,
        class3_extend_delete_define_events, class3_other_service_events
    ]) as class3_service_task_events,
    list_sum([
        class3_lock_latch_seconds, class3_sync_io_seconds, class3_other_read_io_seconds,
        class3_other_write_io_seconds, class3_service_task_seconds, class3_archive_log_quiesce_seconds,
        class3_archive_log_read_seconds, class3_drain_lock_seconds, class3_claim_release_seconds,
        class3_page_latch_seconds, class3_notify_seconds, class3_global_contention_seconds,
        class3_commit_phase_1_write_seconds, class3_async_cf_seconds, class3_lob_xml_seconds,
        class3_accelerator_seconds, class3_fast_insert_pipe_seconds
    ]) as class3_total_seconds,
    list_sum([
        class3_lock_latch_events, class3_sync_io_events, class3_other_read_io_events, class3_other_write_io_events,
        class3_service_task_events, class3_archive_log_quiesce_events, class3_archive_log_read_events,
        class3_drain_lock_events, class3_claim_release_events, class3_page_latch_events, class3_notify_events,
        class3_global_contention_events, class3_commit_phase_1_write_events, class3_async_cf_events,
        class3_lob_xml_events, class3_accelerator_events, class3_fast_insert_pipe_events
    ]) as class3_total_events
from gathered
left join db2_group using (system, subsystem)
window days as (partition by system, subsystem order by utc_day(quarter))
