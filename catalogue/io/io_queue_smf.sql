-- Logical control units with their channel paths and aliases. Path sections and those of HyperPAV belong to a unit of the
-- same record; a unit without them has nulls.
with configuration as (
    select source_id, record_no, section_no, r783id1, r783amgs, r783cpdn,
        sum(coalesce(r783cpdn, 0)::bigint) over (partition by source_id, record_no order by section_no)
            - coalesce(r783cpdn, 0) as before
    from smf78_3_configuration
),
paths as (
    select c.source_id, c.record_no, c.r783id1, any_value(c.r783amgs) as alias_group, count(*) as path_count,
        any_value(printf('%04X', p.r783cu1::bigint)) as control_unit,
        -- Measurements of a path that are marked as incorrect (bit 5), and extended ones that are not there, do not count.
        sum(case when not bit_of_byte(p.r783cpst, 5) then p.r783pt::double end) as path_requests,
        sum(case when not bit_of_byte(p.r783cpst, 5) then p.r783cub::double end) as busy_unit_requests,
        sum(case when not bit_of_byte(p.r783cpst, 5) then p.r783dpb::double end) as busy_port_requests,
        sum(case when not bit_of_byte(p.r783cpst, 5) and bit_of_byte(p.r783cpxf, 0) then p.r783pt::double end) as timed,
        sum(case when not bit_of_byte(p.r783cpst, 5) and bit_of_byte(p.r783cpxf, 0) then p.r783cbt::double end) as busy_seconds,
        sum(case when not bit_of_byte(p.r783cpst, 5) and bit_of_byte(p.r783cpxf, 0) then p.r783cmr::double end)
            as response_seconds,
        sum(case when bit_of_byte(p.r783cpst, 5) then 1 else 0 end) as incorrect_paths
    from configuration c
    join smf78_3_path p
        on p.source_id = c.source_id and p.record_no = c.record_no
        and p.section_no > c.before and p.section_no <= c.before + c.r783cpdn
    group by c.source_id, c.record_no, c.r783id1
)
select l.system, l.sysplex, l.interval_start, l.interval_end, l.utc_offset,
    printf('%04X', l.r783id2::bigint) as lcu,
    coalesce(p.control_unit, printf('%04X', h.r783hcu::bigint)) as control_unit,
    case when bit_of_byte(l.r783dst, 7) then 'SuperPAV' when bit_of_byte(l.r783dst, 6) then 'HyperPAV' end as alias_mode,
    -- Alias management groups are there from SuperPAV on.
    case when bit_of_byte(l.r783dst, 7) then p.alias_group::bigint end as alias_group,
    seconds_between(l.interval_start, l.interval_end) as interval_seconds,
    p.path_count as paths, p.incorrect_paths,
    p.path_requests, p.busy_unit_requests, p.busy_port_requests,
    p.timed as timed_requests, p.busy_seconds as busy_unit_seconds,
    case when bit_of_byte(g.r783gflg, 6) then p.response_seconds end as command_response_seconds,
    case when not bit_of_byte(l.r783dst, 0) then l.r783qct::double end as queued_requests,
    case when not bit_of_byte(l.r783dst, 0) then l.r783qsm::double end as queue_lengths,
    case when not bit_of_byte(l.r783dst, 0) and p.timed is not null then l.r783csst::double end as channel_wait_seconds,
    h.r783htio as alias_ios, h.r783hnai as alias_waits,
    h.r783haiu::double + coalesce(h.r783xhbc, 0)::double as most_aliases, h.r783hcad as most_aliases_of_device,
    h.r783hioq as most_queued,
    h.r783xanc as alias_needs, h.r783xauc as alias_uses, h.r783xnhc as away_needs,
    h.r783xabc as borrowed_aliases, h.r783xalc as loaned_aliases, h.r783xnag as failed_borrows,
    h.r783xcqd as queued_at_need, h.r783xciu as aliases_at_need
from smf78_3_lcu l
left join (only_section(smf78_3_global)) g on g.source_id = l.source_id and g.record_no = l.record_no
left join paths p on p.source_id = l.source_id and p.record_no = l.record_no and p.r783id1 = l.r783id2
left join smf78_3_hyperpav h
    on h.source_id = l.source_id and h.record_no = l.record_no and h.r783hlcu = l.r783id2
    and (bit_of_byte(l.r783dst, 6) or bit_of_byte(l.r783dst, 7))
