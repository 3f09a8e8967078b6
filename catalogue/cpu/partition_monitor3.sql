-- Partitions of a CPC report of Monitor III: of the reports of several systems of a machine those of one.
with listed as (
    select * from monitor3_partition
    qualify system is null or system = min(system) over (
        partition by machine,
            moment_of_interval(interval_start, interval_start, interval_end),
            moment_of_interval(interval_end, interval_start, interval_end)
    )
)
select
    -- Only the reporting system's own partition is known to run it.
    case when partition = own_partition_name then system end as system,
    sysplex, interval_start, interval_end, utc_offset,
    machine,
    partition,
    processor_type,
    capacity_model as model,
    cluster,
    group_name as capacity_group,
    interval_seconds,
    physical_processors,
    logical_processors,
    dispatch_seconds,
    effective_seconds,
    online_seconds,
    shared_weight as weight,
    sum(shared_weight) over (partition by machine, system, interval_start, processor_type) as machine_weight,
    -- WLM caps general purpose processors, and the report says how long only of the partition that it comes from.
    case when processor_type = 'CP' and partition = own_partition_name
        then wlm_capping_percent / 100 * interval_seconds
    end as capped_samples,
    case when processor_type = 'CP' and partition = own_partition_name and wlm_capping_percent is not null
        then interval_seconds
    end as diagnose_samples,
    case when processor_type = 'CP' then actual_msu end as msu,
    case when processor_type = 'CP' then nullif(defined_msu, 0) end as defined_msu,
    group_limit_msu as group_msu,
    cpc_capacity_msu as machine_msu,
    storage_megabytes * 1048576 as storage_bytes
from listed
