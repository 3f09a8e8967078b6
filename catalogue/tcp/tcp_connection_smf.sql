-- TCP connections by address space and port, and the quarter of an hour in which they ended. Records are far too many
-- to be kept one by one. A quarter is as long as the records of the stack reach: those of its day (UTC) and of the days next
-- to it, so that the first and the last are shorter.
with ended as not materialized (
    select c.*, coalesce(nullif(t.smf119ti_sysplexname, ''), c.sysplex) as plex,
        nullif(t.smf119ti_stack, '') as part,
        c.smf119ap_ttestck_d::timestamptz as ends, c.smf119ap_ttsstck_d::timestamptz as begins
    from smf119_2_connection c
    left join (only_section(smf119_identification)) t on t.source_id = c.source_id and t.record_no = c.record_no
),
placed as (
    select *, quarter_of(ends) as quarter,
        -- The local clock less the TOD clock, to the quarter of an hour.
        round((local_clock(smf119ap_ttedate, smf119ap_ttetime) - epoch(ends)) / 900) * 900 as offset_seconds,
        case when begins <= ends then seconds_between(begins, ends) end as lasted
    from ended
    where ends is not null
),
reach as (
    reach_of_days(placed)
),
sums as (
    select system, max(plex) as sysplex, max(offset_seconds) as utc_offset, part, part as stack, quarter,
        smf119ap_ttrname as resource,
        if(smf119ap_ttstatus = 1, 'client', 'server') as connection_role,
        if(smf119ap_ttstatus = 1, smf119ap_ttrport, smf119ap_ttlport)::bigint as port,
        count(*)::double as connections,
        sum(lasted) as connection_seconds, max(lasted) as longest_seconds, count(lasted)::double as timed_connections,
        sum(smf119ap_ttinbytes::double) as in_bytes, sum(smf119ap_ttoutbytes::double) as out_bytes,
        sum(smf119ap_ttinseg::double) as in_segments, sum(smf119ap_ttoutseg::double) as out_segments,
        sum(smf119ap_ttxrt::double) as retransmissions,
        sum(smf119ap_ttdupacksrcvd::double) as duplicate_acknowledgements,
        sum(smf119ap_ttrtt::double) as round_trip_seconds,
        max(smf119ap_ttrtt::double) as longest_round_trip_seconds,
        sum(if(smf119ap_ttttlscs = 3, 1, 0))::double as secure_connections
    from placed
    group by system, part, quarter, resource, connection_role, port
)
select s.* exclude (part),
    reached_from(s.quarter, r.covered_from) as interval_start,
    reached_to(s.quarter, r.covered_to) as interval_end,
    s.quarter as "interval",
    seconds_between(reached_from(s.quarter, r.covered_from), reached_to(s.quarter, r.covered_to)) as interval_seconds
from sums s
left join reach r
    on r.system = s.system and r.part is not distinct from s.part and r.day = utc_day(s.quarter)
