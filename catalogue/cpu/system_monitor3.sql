-- Processors of the reporting system: its partition in the CPC report of Monitor III, and what z/OS saw of them in the
-- SYSINFO report of the same interval, where there is one.
with seen as (
    select system, interval_start, interval_end, 'CP' as processor_type,
        cp_online as online, cp_parked as parked, cp_mvs_busy_percent as mvs_busy_percent
    from rmf_xml_m3_system
    union all
    select system, interval_start, interval_end, 'AAP', aap_online, aap_parked, aap_mvs_busy_percent
    from rmf_xml_m3_system
    union all
    select system, interval_start, interval_end, 'IIP', iip_online, iip_parked, iip_mvs_busy_percent
    from rmf_xml_m3_system
),
own as (
    select * from monitor3_partition where partition = own_partition_name
)
select o.system, o.sysplex, o.interval_start, o.interval_end, o.utc_offset,
    o.processor_type,
    o.machine,
    o.partition,
    o.interval_seconds,
    s.online as engines,
    s.online * o.interval_seconds as engine_seconds,
    coalesce(s.parked, 0) * o.interval_seconds as parked_seconds,
    (s.online - coalesce(s.parked, 0)) * o.interval_seconds * (1 - s.mvs_busy_percent / 100) as wait_seconds,
    o.dispatch_seconds,
    o.effective_seconds,
    o.online_seconds,
    case when o.processor_type = 'CP' then o.image_capacity_msu end as capacity_msu,
    case when o.processor_type = 'CP' then o.four_hour_average_msu end as rolling_msu_recorded
from own o
left join seen s on s.system = o.system and s.processor_type = o.processor_type
    and s.interval_start = o.interval_start and s.interval_end = o.interval_end
