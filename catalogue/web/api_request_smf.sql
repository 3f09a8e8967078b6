-- Requests to APIs by server, API, method and system of record, and the quarter of an hour in which they ended. A quarter is as
-- long as the records of the system reach: those of its day (UTC) and of the days next to it. A service called without API, and an
-- administration request, has its own name in place of the API's.
with answered as not materialized (
    select r.*, coalesce(nullif(s.smf123_server_sysplex, ''), r.sysplex) as plex,
        nullif(s.smf123_server_jobname, '') as web_server, epoch(w.written_at) as local_at,
        r.smf123s1_time_zc_entry::timestamptz as begins,
        coalesce(r.smf123s1_time_zc_exit::timestamptz, r.smf123s1_time_zc_entry::timestamptz) as ends,
        r.smf123s1_time_sor_sent::timestamptz as sent, r.smf123s1_time_sor_recv::timestamptz as received
    from smf123_1_request r
    left join (only_section(smf123_server)) s on s.source_id = r.source_id and s.record_no = r.record_no
    left join smf_record w on w.source_id = r.source_id and w.record_no = r.record_no
),
placed as (
    select *, quarter_of(ends) as quarter,
        case when smf123s1_time_zc_exit is not null and begins <= ends then seconds_between(begins, ends) end as lasted,
        case when sent <= received then seconds_between(sent, received) end as away,
        coalesce(
            nullif(smf123s1_api_name, ''), nullif(smf123s1_service_name, ''),
            case smf123s1_req_type when 3 then 'administration' end
        ) as api
    from answered
    where ends is not null
),
system_day as (
    select system, utc_day(ends) as day, min(ends) as first_end, max(ends) as last_end,
        -- A record has local time, and is written some time after its last request: the least difference is the clock's.
        min(round((local_at - epoch(ends)) / 900) * 900) as clock_offset
    from placed
    group by system, day
),
reach as (
    select system, day, clock_offset,
        min(first_end) over (days range between 1 preceding and current row) as covered_from,
        max(last_end) over (days range between current row and 1 following) as covered_to
    from system_day
    window days as (partition by system order by day)
),
sums as (
    select system, max(plex) as sysplex, quarter, web_server, api,
        nullif(smf123s1_req_method, '') as http_method, nullif(smf123s1_sor_reference, '') as backend,
        count(*)::double as requests,
        count(lasted)::double as timed_requests, sum(lasted) as response_seconds, max(lasted) as longest_seconds,
        count(away)::double as backend_requests, coalesce(sum(away), 0) as backend_seconds,
        max(away) as longest_backend_seconds,
        sum(if(smf123s1_http_resp_code between 400 and 499, 1, 0))::double as client_errors,
        sum(if(smf123s1_http_resp_code between 500 and 599, 1, 0))::double as server_errors,
        sum(smf123s1_req_payload_len::double) as request_bytes,
        sum(smf123s1_resp_payload_len::double) as response_bytes
    from placed
    group by system, quarter, web_server, api, smf123s1_req_method, smf123s1_sor_reference
)
select s.*, r.clock_offset as utc_offset,
    greatest(s.quarter, coalesce(r.covered_from, s.quarter)) as interval_start,
    least(quarter_end(s.quarter), coalesce(r.covered_to, quarter_end(s.quarter))) as interval_end,
    s.quarter as "interval",
    seconds_between(
        greatest(s.quarter, coalesce(r.covered_from, s.quarter)),
        least(quarter_end(s.quarter), coalesce(r.covered_to, quarter_end(s.quarter)))
    ) as interval_seconds
from sums s
left join reach r on r.system = s.system and r.day = utc_day(s.quarter)
