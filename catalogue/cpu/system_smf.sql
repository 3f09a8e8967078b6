-- Processors of each kind as z/OS sees them, beside the line of its own partition and the CPU time charged to work.
with engine as (
    select source_id, record_no,
        case smf70typ::bigint when 0 then 'CP' when 1 then 'AAP' when 2 then 'IIP' else 'other' end as processor_type,
        max(system) as system,
        max(sysplex) as sysplex,
        max(interval_start) as interval_start,
        max(interval_end) as interval_end,
        max(utc_offset) as utc_offset,
        count(*)::double as engines,
        sum(smf70wat::double) as wait_seconds,
        sum(smf70pat::double) as parked_seconds,
        sum(total2(smf70slh, smf70tpi)) as io_interrupts,
        sum(smf70tpi::double) as io_interrupts_tpi
    from smf70_1_cpu_data
    -- Those that were online.
    where bit_of_byte(smf70cnf, 7)
    group by source_id, record_no, processor_type
),
own as (
    -- The writer's own line of the partition table.
    select p.*
    from machine_partitions p
    join rmf_product_section s on s.source_id = p.source_id and s.record_no = p.record_no
        and s.smf7xptn::bigint = p.partition_no
),
class as (
    select *,
        total5(tcb_seconds, srb_seconds, rct_seconds, iit_seconds, hst_seconds) as all_engines,
        coalesce(total2(ziip_seconds, zaap_seconds), 0) as specialty
    from workload_periods_smf
    where class_kind = 'service class'
),
captured as (
    select system, interval_start,
        sum(all_engines - specialty) as general_seconds,
        sum(ziip_engine_seconds) as ziip_seconds,
        sum(zaap_engine_seconds) as zaap_seconds
    from class
    group by system, interval_start
)
select e.system, e.sysplex, e.interval_start, e.interval_end, e.utc_offset,
    e.processor_type, own.machine, own.partition,
    seconds_between(e.interval_start, e.interval_end) as interval_seconds,
    e.engines,
    seconds_between(e.interval_start, e.interval_end) * e.engines as engine_seconds,
    e.wait_seconds,
    coalesce(e.parked_seconds, 0) as parked_seconds,
    own.dispatch_seconds, own.effective_seconds, own.online_seconds,
    e.io_interrupts, e.io_interrupts_tpi,
    -- Capacity is sold in general processors, and recorded once for the image.
    case when e.processor_type = 'CP' then own.capacity_msu end as capacity_msu,
    case when e.processor_type = 'CP' then own.rolling_msu_recorded end as rolling_msu_recorded,
    case e.processor_type
        when 'CP' then captured.general_seconds
        when 'IIP' then captured.ziip_seconds
        when 'AAP' then captured.zaap_seconds
    end as captured_seconds
from engine e
left join own on own.source_id = e.source_id and own.record_no = e.record_no and own.processor_type = e.processor_type
left join captured on captured.system = e.system and captured.interval_start = e.interval_start
