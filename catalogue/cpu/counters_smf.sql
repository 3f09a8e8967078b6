-- Processors with the counters of an interval, whichever subtype they are from. Lines into the level-1 cache by where they
-- came from are known only of machines whose counters are known.
with known as (
    select r.* exclude (counted), case when not r.lost then r.counted end as counted, l.* exclude (generation),
        coalesce(l.generation, 'unknown: machine type ' || coalesce(nullif(r.machine_type, ''), '?')
            || ', counter version ' || coalesce(r.second_version::bigint::varchar, '?')) as generation
    from {counters} r
    left join counter_levels l
        on list_contains(l.machine_types, r.machine_type) and r.second_version between l.first_csvn and l.last_csvn
),
levels as (
    select *, events_of(0) as cycles, events_of(2) + events_of(4) as misses,
        sum_of_counters(level_2) as from_level_2,
        sum_of_counters(level_3) as from_level_3,
        sum_of_counters(level_4_local) as from_level_4_local,
        sum_of_counters(level_4_remote) as from_level_4_remote,
        sum_of_counters(memory) as from_memory
    from known
)
select system, sysplex, interval_start, interval_end, utc_offset, processor_type, cpu, generation, model,
    seconds_between(interval_start, interval_end) as interval_seconds,
    cycles, events_of(1) as instructions, cycles / nullif(cycles_per_microsecond::double, 0) / 1e6 as cpu_seconds,
    misses, events_of(3) + events_of(5) as penalty_cycles,
    events_of(32) as problem_cycles, events_of(33) as problem_instructions,
    case when miss_cycles is not null then events_of(miss_cycles) end as finite_cycles,
    sum_of_counters(tlb_cycles) as tlb_miss_cycles,
    from_level_2, from_level_3, from_level_4_local, from_level_4_remote, from_memory,
    -- z10 has no level 3.
    weight_3 * coalesce(from_level_3, 0) + weight_4_local * from_level_4_local
        + weight_4_remote * from_level_4_remote + weight_memory * from_memory as nest_work,
    sum_of_counters(list_value(64, 68, 72, 76, 80)) as crypto_functions,
    sum_of_counters(list_value(65, 69, 73, 77, 81)) as crypto_cycles,
    sum_of_counters(list_value(67, 71, 75, 79, 83)) as crypto_blocked_cycles,
    1 as records, lost::bigint as lost_records
from levels
