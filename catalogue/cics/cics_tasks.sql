-- Performance records of CICS monitoring, with the end of what each tells of, and the quarter of an hour that lies in.
--
-- A record is one task, or a part of a long one: its kind (RTYPE) says which. The times of a part count, the task does
-- not before it ends.
select *,
    start::timestamptz as task_start,
    coalesce(stop::timestamptz, interval_end) as task_stop,
    quarter_of(coalesce(stop::timestamptz, interval_end)) as quarter,
    coalesce(rtype, '') in ('', 'T') as is_ended
from smf110_1_performance
