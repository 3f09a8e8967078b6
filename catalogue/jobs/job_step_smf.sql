-- Steps that ended (subtype 4), from their initiation to the time the record was written.
select * exclude (interval_start, interval_end),
    moment(initiated - coalesce(local_offset, 0)) as interval_start,
    moment(written - coalesce(local_offset, 0)) as interval_end,
    local_offset as utc_offset,
    local_offset is null as local_time,
    written - initiated as elapsed_seconds,
    1 as ended
from smf30_usage
where subtype = 4
