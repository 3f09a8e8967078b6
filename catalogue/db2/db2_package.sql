-- Packages that threads ran, by the quarter of an hour in which their accounting records were written.
with gathered as (
    select system, subsystem, connection_type, plan, qpaccoln as collection, qpacpkid as package,
        quarter_of(interval_end) as quarter,
        max(sysplex) as sysplex, max(utc_offset) as utc_offset, max(interval_end) as last_end,
        count(*)::double as occurrences,
        sum(qpacsqlc::double) as sql_statements,
        sum(qpacsct::double) as class7_elapsed_seconds,
        sum(qpactjst::double) as class7_cp_cpu_seconds,
        sum(qpaczitm::double) as class7_se_cpu_seconds,
        sum(qpacarna::double) as class7_entries,
        sum(qpacawtl::double) as class3_irlm_lock_latch_seconds,
        sum(qpacarnl::double) as class3_irlm_lock_latch_events,
        sum(qpacawlh::double) as class3_db2_latch_seconds,
        sum(qpacarlh::double) as class3_db2_latch_events,
        sum(qpacawti::double) as class3_sync_io_seconds,
        sum(qpacarne::double) as class3_sync_io_events,
        sum(qpacawtr::double) as class3_other_read_io_seconds,
        sum(qpacarnr::double) as class3_other_read_io_events,
        sum(qpacawtw::double) as class3_other_write_io_seconds,
        sum(qpacarnw::double) as class3_other_write_io_events,
        sum(qpacawte::double) as class3_service_task_seconds,
        sum(qpacarns::double) as class3_service_task_events,
        sum(qpacalog::double) as class3_archive_log_quiesce_seconds,
        sum(qpacalct::double) as class3_archive_log_quiesce_events,
        sum(qpacawar::double) as class3_archive_log_read_seconds,
        sum(qpacanar::double) as class3_archive_log_read_events,
        sum(qpacawdr::double) as class3_drain_lock_seconds,
        sum(qpacarnd::double) as class3_drain_lock_events,
        sum(qpacawcl::double) as class3_claim_release_seconds,
        sum(qpacarnc::double) as class3_claim_release_events,
        sum(qpacawtp::double) as class3_page_latch_seconds,
        sum(qpacarnh::double) as class3_page_latch_events,
        sum(qpacawtg::double) as class3_notify_seconds,
        sum(qpacarng::double) as class3_notify_events,
        sum(qpacawtj::double) as class3_global_contention_seconds,
        sum(qpacarnj::double) as class3_global_contention_events,
        sum(qpacalbw::double) as class3_lob_xml_seconds,
        sum(qpacalbc::double) as class3_lob_xml_events
    from smf101_ifcid239_qpac
    left join db2_correlation using (source_id, record_no)
    group by system, subsystem, connection_type, plan, collection, package, quarter
)
select * exclude (last_end),
    quarter as interval,
    -- The records of the day (UTC) and the next tell of the time up to the last one, not of whole quarters.
    quarter as interval_start,
    least(quarter_end(quarter), max(last_end) over (days range between current row and 1 following)) as interval_end,
    total2(class3_irlm_lock_latch_seconds, class3_db2_latch_seconds) as class3_lock_latch_seconds,
    total2(class3_irlm_lock_latch_events, class3_db2_latch_events) as class3_lock_latch_events,
    list_sum([
        class3_lock_latch_seconds, class3_sync_io_seconds, class3_other_read_io_seconds,
        class3_other_write_io_seconds, class3_service_task_seconds, class3_archive_log_quiesce_seconds,
        class3_archive_log_read_seconds, class3_drain_lock_seconds, class3_claim_release_seconds,
        class3_page_latch_seconds, class3_notify_seconds, class3_global_contention_seconds, class3_lob_xml_seconds
    ]) as class3_total_seconds,
    list_sum([
        class3_lock_latch_events, class3_sync_io_events, class3_other_read_io_events, class3_other_write_io_events,
        class3_service_task_events, class3_archive_log_quiesce_events, class3_archive_log_read_events,
        class3_drain_lock_events, class3_claim_release_events, class3_page_latch_events, class3_notify_events,
        class3_global_contention_events, class3_lob_xml_events
    ]) as class3_total_events
from gathered
left join db2_group using (system, subsystem)
window days as (partition by system, subsystem order by utc_day(quarter))
