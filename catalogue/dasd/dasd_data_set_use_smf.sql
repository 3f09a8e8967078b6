-- Non-VSAM data sets as DDs of jobs used them, by the quarter of an hour in which they were closed. Records have local time
-- alone. EXCPs of a data set add up over its closes in a step, so that each record counts the difference from the one before.
-- Records do not name their step: a new one begins where SMF 30 says that a step of the job ended, or where the count falls.
with used as (
    select a.source_id, a.record_no, a.system, a.sysplex, a.smf14jbn as job, nullif(a.smf14tioe5, '') as dd,
        nullif(a.jfcbdsnm, '') as data_set, a.jfcbvols, a.jfcblksi,
        case r.record_type::bigint when 14 then 'read' else 'written' end as access,
        local_clock(a.smf14rsd, a.smf14rst) as read_in,
        epoch(r.written_at) as local_at, floor(epoch(r.written_at) / 900) * 900 as local_quarter,
        local_clock(a.smf14opd, a.smf14ope) as opened
    from smf14_activity a
    join smf_record r on r.source_id = a.source_id and r.record_no = a.record_no
    where r.written_at is not null and coalesce(a.section_no, 1) = 1
),
moments as (
    select source_id, record_no, system, job, read_in, local_at, 0 as step_end
    from used
    union all
    select cast(null as varchar) as source_id, null as record_no, i.system, i.smf30jbn, local_clock(i.smf30rsd, i.smf30rst),
        epoch(r.written_at), 1 as step_end
    from smf30_identification i
    join smf_record r on r.source_id = i.source_id and r.record_no = i.record_no
    where r.record_type = 30 and r.subtype = 4 and r.written_at is not null
),
numbered as (
    select source_id, record_no,
        sum(step_end) over (
            partition by system, job, read_in order by local_at, step_end
            rows between unbounded preceding and current row
        ) as steps_ended
    from moments
),
begun as (
    select system, min(epoch(written_at)) as begins from smf_record where written_at is not null group by system
),
devices as (
    select u.*, n.steps_ended, coalesce(u.read_in >= b.begins, false) or n.steps_ended > 0 as from_zero,
        coalesce(nullif(d.smf14fsrtev, ''), nullif(u.jfcbvols, '')) as volume,
        d.smf14ucbdv, d.smf14excp::double as excp, d.smf14nta::double as tracks, d.smf14nex::double as extents,
        row_number() over (partition by u.source_id, u.record_no order by d.section_no) as place,
        row_number() over (partition by u.source_id, u.record_no, d.smf14ucbdv order by d.section_no) as place_on_device
    from used u
    join numbered n on n.source_id = u.source_id and n.record_no = u.record_no
    left join begun b on b.system = u.system
    left join smf14_device d on d.source_id = u.source_id and d.record_no = u.record_no
),
compared as (
    select *,
        lag(excp) over (
            partition by system, job, read_in, steps_ended, dd, data_set, volume, smf14ucbdv, place_on_device
            order by local_at, source_id, record_no
        ) as excp_before
    from devices
),
counted as (
    select *,
        case
            when excp_before is null then if(from_zero, excp, null)
            when excp < excp_before then excp
            else excp - excp_before end as excps,
        if(excp_before is null and not from_zero, excp, null) as uncertain_excps
    from compared
),
judged as (
    select *, min(if(excps is null, 0, 1)) over (partition by source_id, record_no) as known
    from counted
),
offset_of as (
    offset_of_quarters(used, rmf_product_section)
),
placed as (
    select j.*, o.utc_offset as local_offset,
        quarter_of(moment(j.local_at - coalesce(o.utc_offset, 0))) as quarter
    from judged j
    left join offset_of o on o.system = j.system and o.local_quarter = j.local_quarter
)
select system, max(sysplex) as sysplex, max(local_offset) as utc_offset, bool_or(local_offset is null) as local_time,
    quarter as interval_start, quarter_end(quarter) as interval_end,
    job, dd, data_set, volume, access,
    seconds_between(quarter, quarter_end(quarter)) as interval_seconds,
    count(*) filter (where place = 1)::double as records,
    count(*) filter (where place = 1 and known = 1)::double as counted_records,
    sum(excps) as excps, sum(uncertain_excps) as uncertain_excps,
    sum(local_at - opened) filter (where place = 1 and local_at >= opened) as open_seconds,
    max(tracks) as most_tracks, max(extents) as most_extents,
    max(nullif(jfcblksi::double, 0)) as block_bytes
from placed
group by system, quarter, job, dd, data_set, volume, access
