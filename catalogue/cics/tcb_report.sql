-- TCB modes of a printed report of CICS statistics: the statistics of one mode are rows of its table.
select system, sysplex, interval_start, interval_end, utc_offset,
    named(subsystem, source_id, record_no) as applid,
    resource as mode,
    seconds_between(interval_start, interval_end) as interval_seconds,
    max(number) filter (statistic = 'tcbs_attached') as tcbs,
    max(number) filter (statistic = 'tcbs_attached_peak') as peak_tcbs,
    max(number) filter (statistic = 'tcb_attaches') as attaches,
    max(number) filter (statistic = 'tcb_attach_failures') as attach_failures,
    max(number) filter (statistic = 'mvs_waits') as waits,
    max(number) filter (statistic = 'mvs_wait_seconds') as wait_seconds,
    max(number) filter (statistic = 'dispatched_seconds') as dispatch_seconds,
    max(number) filter (statistic = 'cpu_seconds') as cpu_seconds,
    max(number) filter (statistic = 'dispatcher_cpu_seconds') as dispatcher_cpu_seconds
from text_cics_statistics
group by system, sysplex, interval_start, interval_end, utc_offset, subsystem, resource, record_no, source_id
-- Dispatcher times tell that a table of TCB modes was printed, and not some other thing with the same heading.
having count(number) filter (statistic in ('dispatched_seconds', 'cpu_seconds')) > 0
