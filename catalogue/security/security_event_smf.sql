-- Events of RACF by quarter of an hour. Records have local time alone.
with class_of as (
    select source_id, record_no, min(nullif(smf80dta, '')) as resource_class
    from smf80_class
    group by source_id, record_no
),
happened as (
    select e.*, epoch(r.written_at) as local_at, floor(epoch(r.written_at) / 900) * 900 as local_quarter, c.resource_class
    from smf80_event e
    join smf_record r on r.source_id = e.source_id and r.record_no = e.record_no
    left join class_of c on c.source_id = e.source_id and c.record_no = e.record_no
    where r.written_at is not null
),
offset_of as (
    offset_of_quarters(happened, rmf_product_section)
),
placed as (
    select h.*, o.utc_offset as local_offset, quarter_of(moment(h.local_at - coalesce(o.utc_offset, 0))) as quarter
    from happened h
    left join offset_of o on o.system = h.system and o.local_quarter = h.local_quarter
)
select system, max(sysplex) as sysplex, max(local_offset) as utc_offset, bool_or(local_offset is null) as local_time,
    quarter as interval_start, quarter_end(quarter) as interval_end,
    racf_event(smf80evt) as security_event, smf80evq::bigint::varchar as event_qualifier, resource_class,
    seconds_between(quarter, quarter_end(quarter)) as interval_seconds,
    count(*)::double as events,
    count(*) filter (where bit_of_halfword(smf80des, 0))::double as violations,
    count(*) filter (where bit_of_halfword(smf80des, 3))::double as warnings,
    count(*) filter (where smf80evt = 1 and bit_of_halfword(smf80des, 0))::double as logons_refused,
    count(*) filter (where smf80evt = 2 and bit_of_halfword(smf80des, 0))::double as accesses_refused,
    count(*) filter (where bit_of_halfword(smf80des, 1))::double as undefined_users,
    sum(coalesce(smf80cnt::double, 0) + coalesce(smf80ct2::double, 0)) as relocate_sections
from placed
group by system, quarter, smf80evt, smf80evq, resource_class
