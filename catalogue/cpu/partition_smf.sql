-- Partitions as one system of their machine tells them. Every system writes the whole partition table, so the rows of
-- the others would count each figure again. Of systems that close their intervals at other times all rows are here;
-- the roll-up counts each fact of a partition once at every moment.
with used as (
    select *, system as reporter,
        -- The hypervisor's own line is no consumer that capacity is charged to.
        case when processor_type = 'CP' and partition <> 'PHYSICAL'
            then dispatch_seconds / nullif(interval_seconds, 0) * msu_per_processor
        end as msu
    from machine_partitions
    qualify system = min(system) over (
        partition by machine,
            moment_of_interval(interval_start, interval_start, interval_end),
            moment_of_interval(interval_end, interval_start, interval_end)
    )
),
-- Software is charged by the mean of the MSU rate over four hours: of those up to the end of each interval, as far as
-- intervals are held.
rolling as (
    select *,
        sum(msu * interval_seconds) over four_hours as consumed,
        sum(case when msu is null then 0 else interval_seconds end) over four_hours as covered,
        -- Intervals follow each other, so only the earliest one can begin before the four hours do.
        greatest(
            epoch(interval_end) - 14400
                - first_value(epoch(interval_end) - interval_seconds) over four_hours,
            0
        ) as seconds_before,
        first_value(msu) over four_hours as msu_before
    from used
    window four_hours as (
        partition by machine, partition, processor_type
        order by interval_end
        -- An interval that ended exactly four hours ago lies outside.
        range between interval 14399 second preceding and current row
    )
)
select partition_system as system, sysplex, interval_start, interval_end, utc_offset,
    machine, partition, processor_type, model, cluster, capacity_group,
    interval_seconds, physical_processors, logical_processors, dispatch_seconds, effective_seconds, online_seconds,
    weight, capped_samples, limited_samples, diagnose_samples, msu, defined_msu, group_msu, machine_msu, storage_bytes,
    (consumed - seconds_before * coalesce(msu_before, 0))
        / nullif(covered - seconds_before * (msu_before is not null)::double, 0) as rolling_msu,
    sum(weight) over (partition by machine, reporter, interval_start, processor_type) as machine_weight
from rolling
