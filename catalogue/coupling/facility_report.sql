-- Facilities as the usage summary of the coupling facility activity report tells them, in XML or as text.
with facility as (
    -- Reports exist that print a utilization but no effective processors: the defined ones stand in for them. Where
    -- 0.000 effective processors are printed, a share of them says nothing.
    select *, coalesce(processor_seconds, processors_defined * interval_seconds) as available_seconds
    from report
)
select system, sysplex, interval_start, interval_end, utc_offset,
    cf_name as facility,
    cf_type as model,
    interval_seconds,
    available_seconds * busy_percent / 100 as busy_seconds,
    available_seconds - available_seconds * busy_percent / 100 as wait_seconds,
    processor_seconds as effective_seconds,
    processors_defined as logical_processors,
    storage_bytes,
    storage_free_bytes
from facility
