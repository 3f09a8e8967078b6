-- Status records of SMF (type 23), and the records that say that data was lost (type 7). Both have local time alone: the
-- offset is that of the RMF interval at that time, else of the nearest one within a day.
with offsets as (
    local_offsets(rmf_product_section)
),
losses as (
    select system, epoch(written_at) as lost_at, count(*) as losses
    from smf_record
    where record_type = 7 and written_at is not null
    group by system, lost_at
),
status as (
    select s.system, epoch(r.written_at) as ends,
        sum(s.smf23rcw::double) as smf23rcw, sum(s.smf23bfw::double) as smf23bfw, max(s.smf23bfq::double) as smf23bfq,
        max(s.smf23bft::double) as smf23bft, max(s.smf23bfh::double) as smf23bfh, max(s.smf23bfm::double) as smf23bfm,
        max(s.smf23bfl::double) as smf23bfl
    from smf23_statistics s
    join smf_record r on r.source_id = s.source_id and r.record_no = s.record_no
    where r.written_at is not null
    group by s.system, ends
),
spaced as (
    select *, ends - lag(ends) over (partition by system order by ends) as gap from status
),
usual as (
    select system, median(gap) as gap from spaced group by system
),
timed as (
    -- After a pause (an IPL, records that are not in the data) and at the first record an interval is as long as usual.
    select s.*, least(s.gap, u.gap) as lasted
    from spaced s
    join usual u on u.system = s.system
),
placed as (
    select t.system, t.ends, t.lasted, max(t.smf23rcw) as smf23rcw, max(t.smf23bfw) as smf23bfw,
        max(t.smf23bfq) as smf23bfq, max(t.smf23bft) as smf23bft, max(t.smf23bfh) as smf23bfh,
        max(t.smf23bfm) as smf23bfm, max(t.smf23bfl) as smf23bfl, sum(coalesce(l.losses, 0)) as losses
    from timed t
    left join losses l on l.system = t.system and l.lost_at <= t.ends and l.lost_at > t.ends - coalesce(t.lasted, 0)
    group by t.system, t.ends, t.lasted
    union all
    select l.system, l.lost_at, null, null, null, null, null, null, null, null, l.losses
    from losses l
    left join timed t on l.system = t.system and l.lost_at <= t.ends and l.lost_at > t.ends - coalesce(t.lasted, 0)
    where t.system is null
),
offset_of as (
    select p.system, p.ends,
        coalesce(
            max(o.utc_offset) filter (where o.local_begin < p.ends and p.ends <= o.local_end),
            max_by(o.utc_offset, o.begins) filter (where o.local_begin < p.ends),
            min_by(o.utc_offset, o.begins)
        ) as utc_offset
    from placed p
    join offsets o on o.system = p.system and abs(o.local_begin - p.ends) <= 86400
    group by p.system, p.ends
)
select p.system, o.utc_offset, o.utc_offset is null as local_time,
    moment(p.ends - coalesce(p.lasted, 0) - coalesce(o.utc_offset, 0)) as interval_start,
    moment(p.ends - coalesce(o.utc_offset, 0)) as interval_end,
    p.lasted as interval_seconds, p.losses::double as losses, p.smf23rcw as records, p.smf23bfw as buffers,
    p.smf23bfq as most_buffers, p.smf23bft as storage_bytes, p.smf23bfh as most_storage_bytes,
    nullif(p.smf23bfm, 0) as storage_limit_bytes, p.smf23bfl / 100 as warning_level
from placed p
left join offset_of o on o.system = p.system and o.ends = p.ends
