-- Counters of SMF 113 subtype 2, by number: they run since the start of the collection, so that an interval's are those
-- of a record less those of the record before. The first record of a run is only the base of the next.
with sets as (
    select source_id, record_no, smf113_2_cst as counter_set,
        (sum(smf113_2_csn::bigint) over sections) - smf113_2_csn as before, smf113_2_csn as many
    from smf113_2_counter_set
    window sections as (partition by source_id, record_no order by section_no)
),
numbered as (
    select c.source_id, c.record_no, counter_set_base(s.counter_set) + c.section_no - s.before - 1 as counter,
        if(count(*) = 1, max(c.smf113_2_cr), null) as count_until_now
    from smf113_2_counter c
    join sets s
        on s.source_id = c.source_id and s.record_no = c.record_no
        and c.section_no > s.before and c.section_no <= s.before + s.many
        and counter_set_base(s.counter_set) is not null
    group by all
),
by_record as (
    select source_id, record_no, map_from_entries(list((counter, count_until_now))) as counters
    from numbered
    group by source_id, record_no
),
successive as (
    select d.*, coalesce(d.smf113_2_cpuid, d.smf113_2_cpu)::bigint as cpu, n.counters,
        coalesce(d.interval_end, d.smf113_2_ctm) as ends
    from smf113_2_data d
    left join by_record n on n.source_id = d.source_id and n.record_no = d.record_no
)
select system, sysplex, utc_offset, lag(ends) over run as interval_start, ends as interval_end, cpu,
    counter_processor(smf113_2_cpuprocclass, bit_of_halfword(smf113_2_cf, 5)) as processor_type,
    smf113_2_cpsp as cycles_per_microsecond, smf113_2_machtype as machine_type, smf113_2_machmodel as model,
    smf113_2_ctrvn1 as first_version, smf113_2_ctrvn2 as second_version,
    bit_of_halfword(smf113_2_cf, 4) as lost,
    map_from_entries(list_transform(map_entries(counters), lambda one: (
        one.key, one.value::double - map_extract_value(lag(counters) over run, one.key)::double
    ))) as counted
from successive
window run as (partition by system, cpu, smf113_2_cts order by smf113_2_ctm)
qualify lag(ends) over run is not null
