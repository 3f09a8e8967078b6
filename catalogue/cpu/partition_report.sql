-- Partitions as the partition data of a CPU activity report lists them, in XML or as text: of the reports of several
-- systems of a machine those of one for each interval.
with listed as (
    select r.*,
        c.machine,
        c.capacity_model as model,
        c.partition_name as own_partition,
        c.group_limit_msu, c.cpc_capacity_msu,
        case r.processor_type
            when 'CP' then c.physical_cp
            when 'AAP' then c.physical_aap
            when 'IIP' then c.physical_iip
            when 'ICF' then c.physical_icf
            when 'IFL' then c.physical_ifl
        end as physical_processors,
        case when r.is_dedicated::boolean then 0 else r.weight end as shared_weight
    from report r
    left join cpu_report_control c on c.source_id = r.source_id and c.record_no = r.record_no
    qualify r.system is null or r.system = min(r.system) over (
        partition by c.machine,
            moment_of_interval(r.interval_start, r.interval_start, r.interval_end),
            moment_of_interval(r.interval_end, r.interval_start, r.interval_end)
    )
)
select
    -- Only the reporting system's own partition is known to run it.
    case when partition_name = own_partition then system end as system,
    sysplex, interval_start, interval_end, utc_offset,
    machine,
    partition_name as partition,
    processor_type,
    model,
    interval_seconds,
    physical_processors,
    logical_processors,
    dispatch_seconds,
    effective_dispatch_seconds as effective_seconds,
    logical_processors * interval_seconds as online_seconds,
    shared_weight as weight,
    sum(shared_weight) over (partition by machine, system, interval_start, processor_type) as machine_weight,
    -- The hypervisor's own line is no consumer that capacity is charged to.
    case when processor_type = 'CP' and partition_name <> 'PHYSICAL' then actual_msu end as msu,
    nullif(defined_msu, 0) as defined_msu,
    group_limit_msu as group_msu,
    cpc_capacity_msu as machine_msu
from listed
