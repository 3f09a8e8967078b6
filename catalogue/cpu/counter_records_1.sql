-- Counters of SMF 113 subtype 1, by number: events between the record before and this one. A set's counters follow each
-- other in the order of their numbers, and the sets' in the order of their sections. A record whose counters the
-- hardware lost counts as a record alone.
with sets as (
    select source_id, record_no, smf113_1_cstype as counter_set,
        (sum(smf113_1_cdon::bigint) over sections) - smf113_1_cdon as before, smf113_1_cdon as many
    from smf113_1_counter_set
    window sections as (partition by source_id, record_no order by section_no)
),
numbered as (
    select c.source_id, c.record_no, counter_set_base(s.counter_set) + c.section_no - s.before - 1 as counter,
        if(count(*) = 1, max(c.smf113_1_cr::double), null) as events
    from smf113_1_counter c
    join sets s
        on s.source_id = c.source_id and s.record_no = c.record_no
        and c.section_no > s.before and c.section_no <= s.before + s.many
        and counter_set_base(s.counter_set) is not null
    group by all
)
select d.system, d.sysplex, d.utc_offset,
    coalesce(
        d.interval_start,
        lag(coalesce(d.interval_end, d.smf113_1_ctm)) over earlier,
        d.smf113_1_cts
    ) as interval_start,
    coalesce(d.interval_end, d.smf113_1_ctm) as interval_end,
    d.smf113_1_cpuid::bigint as cpu,
    counter_processor(d.smf113_1_cpuprocclass, bit_of_halfword(d.smf113_1_flags, 3)) as processor_type,
    d.smf113_1_cpuspeed as cycles_per_microsecond,
    d.smf113_1_machtype as machine_type, d.smf113_1_machmodel as model,
    d.smf113_1_ctrversion1 as first_version, d.smf113_1_ctrversion2 as second_version,
    bit_of_halfword(d.smf113_1_flags, 0) as lost,
    c.counted
from smf113_1_data d
left join (
    select source_id, record_no, map_from_entries(list((counter, events))) as counted
    from numbered
    group by source_id, record_no
) c on c.source_id = d.source_id and c.record_no = d.record_no
window earlier as (partition by d.system, d.smf113_1_cpuid, d.smf113_1_cts order by d.smf113_1_ctm)
