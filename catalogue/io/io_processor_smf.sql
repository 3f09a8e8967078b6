-- I/O processors that are installed; utilization and what follows it where the global flags say that it is measured.
select i.system, i.sysplex, i.interval_start, i.interval_end, i.utc_offset,
    printf('%02X', i.r783iqid::bigint) as io_processor,
    seconds_between(i.interval_start, i.interval_end) as interval_seconds,
    i.r783iqct as queued_requests, i.r783iqsm as queue_lengths,
    case when measured then i.r783iipb::double end as busy_samples,
    case when measured then i.r783iipi::double end as idle_samples,
    case when measured then i.r783iifs::double end as starts,
    case when measured then i.r783ipii::double end as interrupts,
    case when measured then i.r783icpb::double end as path_retries,
    case when measured then i.r783idpb::double end as port_retries,
    case when measured then i.r783icub::double end as unit_retries,
    case when measured then i.r783idvb::double end as device_retries,
    case when bit_of_byte(g.r783gflx, 2) then i.r783iscb::double end as memory_samples,
    case when bit_of_byte(g.r783gflx, 1) then i.r783iecb::double end as compression_samples
from smf78_3_iop i
left join (
    select *, bit_of_byte(r783gflg, 5) as measured from (only_section(smf78_3_global))
) g on g.source_id = i.source_id and g.record_no = i.record_no
where bit_of_byte(i.r783iflg, 0)
