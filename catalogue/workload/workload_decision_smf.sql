-- Service class periods at the end of each policy interval, by quarter of an hour. Records have local time alone. Periods of
-- servers and of the system ($SRM...) are left out.
with decided as (
    select p.*, epoch(r.written_at) as local_at, floor(epoch(r.written_at) / 900) * 900 as local_quarter
    from smf99_6_period p
    join smf_record r on r.source_id = p.source_id and r.record_no = p.record_no
    where r.written_at is not null and not starts_with(p.smf996_eclass_name, '$SRM')
),
offset_of as (
    offset_of_quarters(decided, rmf_product_section)
),
placed as (
    select d.*, o.utc_offset as local_offset, quarter_of(moment(d.local_at - coalesce(o.utc_offset, 0))) as quarter,
        nullif(d.smf996_local_pi::double, 0) as local_index, nullif(d.smf996_sysplex_pi::double, 0) as sysplex_index
    from decided d
    left join offset_of o on o.system = d.system and o.local_quarter = d.local_quarter
)
select system, max(sysplex) as sysplex, max(local_offset) as utc_offset, bool_or(local_offset is null) as local_time,
    quarter as interval_start, quarter_end(quarter) as interval_end,
    smf996_eclass_name as class_name, smf996_per_num::bigint as period,
    seconds_between(quarter, quarter_end(quarter)) as interval_seconds,
    count(*)::double as policy_intervals,
    count(local_index)::double as local_intervals, sum(local_index) as local_index_sum,
    count(*) filter (where local_index > 1)::double as missed_intervals, max(local_index) as highest_local_index,
    count(sysplex_index)::double as sysplex_intervals, sum(sysplex_index) as sysplex_index_sum,
    max(sysplex_index) as highest_sysplex_index,
    sum(smf996_dp::double) as priority_sum, max(smf996_dp::double) as highest_priority,
    min(smf996_dp::double) as lowest_priority, sum(smf996_iodp::double) as io_priority_sum,
    sum(smf996_rua::double / 16) as ready_sum, sum(smf996_pserv::double) as service_units,
    sum(smf996_psserv::double) as ziip_service_units, max(smf996_impor::double) as importance
from placed
group by system, quarter, smf996_eclass_name, smf996_per_num
