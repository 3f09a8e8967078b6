-- Address spaces by interval (subtypes 2 and 3), and system address spaces without full function start (6). Each row
-- stands in the SMF interval of its system in which its own ended.
with usage as (
    select * from smf30_usage where subtype in (2, 3, 6)
),
cumulative as (
    -- Values of subtype 6 are those since the address space started. A record that lacks the end of its interval
    -- speaks of the time it was written.
    select * replace (coalesce(interval_end, moment(written - coalesce(local_offset, 0))) as interval_end)
    from usage
    where subtype = 6
),
successive as (
    -- A value below the one before: the address space started anew, and counts from nothing. The first record of one
    -- is only the base of the next.
    select * replace (lag(interval_end) over records as interval_start),
        coalesce(tcb_seconds < lag(tcb_seconds) over records, false)
        or coalesce(srb_seconds < lag(srb_seconds) over records, false)
        or coalesce(excps < lag(excps) over records, false) as anew
    from cumulative
    window records as (partition by system, job, asid order by interval_end, record_no)
),
differences as (
    select * exclude (anew) replace (
        since_record_before(tcb_seconds) as tcb_seconds, since_record_before(srb_seconds) as srb_seconds,
        since_record_before(initiator_tcb_seconds) as initiator_tcb_seconds,
        since_record_before(initiator_srb_seconds) as initiator_srb_seconds,
        since_record_before(io_interrupt_seconds) as io_interrupt_seconds,
        since_record_before(region_control_seconds) as region_control_seconds,
        since_record_before(hiperspace_seconds) as hiperspace_seconds,
        since_record_before(preemptable_srb_seconds) as preemptable_srb_seconds,
        since_record_before(enclave_seconds) as enclave_seconds,
        since_record_before(dependent_enclave_seconds) as dependent_enclave_seconds,
        since_record_before(enqueue_promoted_seconds) as enqueue_promoted_seconds,
        since_record_before(contention_promoted_seconds) as contention_promoted_seconds,
        since_record_before(ziip_engine_seconds) as ziip_engine_seconds,
        since_record_before(ziip_enclave_seconds) as ziip_enclave_seconds,
        since_record_before(ziip_on_cp_seconds) as ziip_on_cp_seconds,
        since_record_before(zaap_engine_seconds) as zaap_engine_seconds,
        since_record_before(java_ziip_seconds) as java_ziip_seconds,
        since_record_before(java_on_cp_seconds) as java_on_cp_seconds,
        since_record_before(ziip_seconds) as ziip_seconds, since_record_before(zaap_seconds) as zaap_seconds,
        since_record_before(crypto_services) as crypto_services, since_record_before(excps) as excps,
        since_record_before(connect_seconds) as connect_seconds, since_record_before(dasd_ios) as dasd_ios,
        since_record_before(dasd_connect_seconds) as dasd_connect_seconds,
        since_record_before(dasd_disconnect_seconds) as dasd_disconnect_seconds,
        since_record_before(dasd_pending_seconds) as dasd_pending_seconds,
        since_record_before(enclave_dasd_ios) as enclave_dasd_ios,
        since_record_before(enclave_dasd_connect_seconds) as enclave_dasd_connect_seconds,
        since_record_before(enclave_dasd_disconnect_seconds) as enclave_dasd_disconnect_seconds,
        since_record_before(enclave_dasd_pending_seconds) as enclave_dasd_pending_seconds,
        since_record_before(terminal_writes) as terminal_writes,
        since_record_before(terminal_reads) as terminal_reads, since_record_before(page_ins) as page_ins,
        since_record_before(page_outs) as page_outs, since_record_before(blocked_page_ins) as blocked_page_ins,
        since_record_before(vio_page_ins) as vio_page_ins, since_record_before(vio_page_outs) as vio_page_outs,
        since_record_before(common_page_ins) as common_page_ins, since_record_before(lpa_page_ins) as lpa_page_ins,
        since_record_before(hiperspace_page_ins) as hiperspace_page_ins,
        since_record_before(shared_page_ins) as shared_page_ins, since_record_before(transactions) as transactions,
        since_record_before(active_seconds) as active_seconds,
        since_record_before(resident_seconds) as resident_seconds,
        since_record_before(enclave_transactions) as enclave_transactions,
        since_record_before(enclave_active_seconds) as enclave_active_seconds,
        since_record_before(service_units) as service_units
    )
    from successive
    window records as (partition by system, job, asid order by interval_end, record_no)
),
spaces as (
    select *, seconds_between(interval_start, interval_end) as address_space_seconds
    from (
        select * from usage where subtype in (2, 3)
        union all by name
        select * from differences where interval_start is not null and interval_end > interval_start
    )
),
-- How long SMF intervals are and when they end is what most interval records of the system (subtype 2) show, to the
-- minute. Where no record shows it, rows keep their own intervals.
lengths as (
    select *, subtype = 2 and address_space_seconds >= 60 as is_whole,
        mode(round(address_space_seconds / 60) * 60) filter (where subtype = 2 and address_space_seconds >= 60)
            over (partition by system) as smf_length
    from spaces
),
phases as (
    select *,
        mode((round(epoch(interval_end) / 60) * 60) % smf_length) filter (where is_whole)
            over (partition by system) as smf_phase
    from lengths
),
-- An interval can end up to 30 seconds later than the moment it is set to.
placed as (
    select *, ceil((epoch(interval_end) - smf_phase - 30) / smf_length) * smf_length + smf_phase as smf_end
    from phases
),
named as (
    select * replace (
        if(smf_length is not null, moment(smf_end - smf_length), interval_start) as interval_start,
        if(smf_length is not null, moment(smf_end), interval_end) as interval_end
    )
    from placed
)
select *, local_offset as utc_offset, seconds_between(interval_start, interval_end) as interval_seconds
from named
