-- Processors of each kind of the reporting system, from a CPU activity report in XML or as text.
with engine as (
    select source_id, record_no, cpu_type,
        max(system) as system,
        max(sysplex) as sysplex,
        max(interval_start) as interval_start,
        max(interval_end) as interval_end,
        max(utc_offset) as utc_offset,
        max(interval_seconds) as interval_seconds,
        sum(online_seconds) as online_seconds,
        sum(wait_seconds) as wait_seconds,
        sum(parked_seconds) as parked_seconds,
        sum(dispatch_seconds) as dispatch_seconds,
        sum(io_interrupts) as io_interrupts,
        sum(tpi_interrupts) as io_interrupts_tpi
    from report
    group by source_id, record_no, cpu_type
)
select e.*,
    e.cpu_type as processor_type,
    c.machine,
    c.partition_name as partition,
    e.online_seconds / nullif(e.interval_seconds, 0) as engines,
    e.online_seconds as engine_seconds,
    case when e.cpu_type = 'CP' then c.image_capacity_msu end as capacity_msu
from engine e
left join cpu_report_control c on c.source_id = e.source_id and c.record_no = e.record_no
