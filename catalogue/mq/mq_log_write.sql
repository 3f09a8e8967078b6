-- Elements of the array QJSTIO: log copy, and one or several control intervals per write.
with elements as (
    select system, sysplex, subsystem, interval_start, interval_end, utc_offset,
        unnest(['1', '1', '2', '2']) as log_copy,
        unnest(['single', 'multiple', 'single', 'multiple']) as kind,
        unnest([qjstiocount_1_1, qjstiocount_1_2, qjstiocount_2_1, qjstiocount_2_2]) as writes,
        unnest([qjstioci_1_1, qjstioci_1_2, qjstioci_2_1, qjstioci_2_2]) as control_intervals,
        unnest([qjstiototio_1_1, qjstiototio_1_2, qjstiototio_2_1, qjstiototio_2_2]) as io_seconds,
        unnest([qjstiototsus_1_1, qjstiototsus_1_2, qjstiototsus_2_1, qjstiototsus_2_2]) as suspend_seconds,
        unnest([qjstiomaxio_1_1, qjstiomaxio_1_2, qjstiomaxio_2_1, qjstiomaxio_2_2]) as longest_io_seconds,
        unnest([qjstiomaxsus_1_1, qjstiomaxsus_1_2, qjstiomaxsus_2_1, qjstiomaxsus_2_2]) as longest_suspend_seconds
    from smf115_1_qjst
)
select *, subsystem as queue_manager, seconds_between(interval_start, interval_end) as interval_seconds
from elements
-- A record of a release before the fields, and a copy that is not kept, give no row.
where writes is not null and (writes > 0 or log_copy = '1')
