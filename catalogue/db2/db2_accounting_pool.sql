-- Which work uses which buffer pool, by the quarter of an hour in which its accounting records were written.
with gathered as (
    select system, subsystem, pool_name('BP', qbacpid) as pool, connection_type, plan,
        quarter_of(interval_end) as quarter,
        max(sysplex) as sysplex, max(utc_offset) as utc_offset, max(interval_end) as last_end,
        sum(qbacget::double) as getpages,
        sum(qbacngt::double) as getpages_failed,
        sum(qbacrio::double) as sync_reads,
        sum(qbacsws::double) as buffer_updates,
        sum(qbacimw::double) as sync_writes,
        sum(qbacseq::double) as sequential_prefetch_requests,
        sum(qbaclpf::double) as list_prefetch_requests,
        sum(qbacdpf::double) as dynamic_prefetch_requests,
        sum(qbacsio::double) as async_pages_read
    from smf101_ifcid3_qbac
    left join db2_correlation using (source_id, record_no)
    group by system, subsystem, pool, connection_type, plan, quarter
)
select * exclude (last_end),
    quarter as interval,
    -- The records of the day (UTC) and the next tell of the time up to the last one, not of whole quarters.
    quarter as interval_start,
    least(quarter_end(quarter), max(last_end) over (days range between current row and 1 following)) as interval_end
from gathered
left join db2_group using (system, subsystem)
window days as (partition by system, subsystem order by utc_day(quarter))
