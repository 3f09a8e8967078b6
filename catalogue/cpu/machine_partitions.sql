-- Partitions of a machine as each record of SMF 70-1 tells them, whoever wrote it: one row a partition and kind of
-- processor.
with control as (
    select *,
        -- Older records name the machine by its model alone.
        coalesce(
            nullif(smf70cpc_type, '') || '-' || nullif(smf70csc, ''), nullif(smf70csc, ''), nullif(smf70mdl, ''),
            nullif(smf70cpc_type, '')
        ) as machine,
        coalesce(
            nullif(smf70cpa_actual::double / nullif(smf70cpa_scaling_factor::double, 0), 0),
            nullif(smf70cpa::double, 0)
        ) as adjustment
    from smf70_1_cpu_control
),
logical as (
    -- The logical processors of a partition are SMF70BDN sections behind the first SMF70BDS.
    select l.*,
        p.smf70lpm as partition,
        p.smf70lpn::bigint as partition_no,
        nullif(p.smf70stn, '') as partition_system,
        nullif(p.smf70spn, '') as cluster,
        nullif(p.smf70gnm, '') as capacity_group,
        p.smf70csf, p.smf70msu, p.smf70gmu,
        k.smf70cin as processor_type,
        k.smf70ctn,
        coalesce(l.smf70ont::double > 0, true) as is_online
    from smf70_1_logical_processor l
    join smf70_1_partition p on p.source_id = l.source_id and p.record_no = l.record_no
        and l.section_no > p.smf70bds::bigint and l.section_no <= p.smf70bds::bigint + p.smf70bdn::bigint
    left join smf70_1_cpu_identification k on k.source_id = l.source_id and k.record_no = l.record_no
        and k.section_no = l.smf70cix::bigint
),
partition_sums as (
    select source_id, record_no, partition, partition_no, processor_type, cluster, capacity_group, partition_system,
        max(system) as system,
        max(sysplex) as sysplex,
        max(interval_start) as interval_start,
        max(interval_end) as interval_end,
        max(utc_offset) as utc_offset,
        max(smf70ctn::double) as physical_processors,
        sum(is_online::double) as logical_processors,
        sum(smf70pdt::double) as dispatch_seconds,
        sum(smf70edt::double) as effective_seconds,
        sum(smf70ont::double) as online_seconds,
        -- 65535 marks a dedicated processor.
        sum(case when is_online and smf70bps::bigint <> 65535 then smf70bps::double else 0 end) as weight,
        max(smf70nsw::double) as capped_samples,
        max(smf70nca::double) as limited_samples,
        max(smf70csf::double) as storage_bytes,
        max(nullif(smf70msu::double, 0)) as defined_msu,
        max(nullif(smf70gmu::double, 0)) as group_msu
    from logical
    group by source_id, record_no, partition, partition_no, processor_type, cluster, capacity_group, partition_system
)
select s.*,
    seconds_between(s.interval_start, s.interval_end) as interval_seconds,
    c.machine,
    c.smf70mdl as model,
    -- Service units per second of one processor = 16,000,000 / adjustment; a million of them an hour is one MSU.
    16e6 / c.adjustment * 3600 / 1e6 as msu_per_processor,
    c.smf70wla as capacity_msu,
    c.smf70lac as rolling_msu_recorded,
    c.smf70mcr as machine_msu,
    nullif(c.smf70dsa::double, 0) as diagnose_samples
from partition_sums s
left join control c on c.source_id = s.source_id and c.record_no = s.record_no
