-- Requests to APIs by server, API, method and system of record, and the quarter of an hour in which they ended. A quarter is as
-- long as the records of the system reach: those of its day (UTC) and of the days next to it. A service called without API, and an
-- administration request, has its own name in place of the API's.
with answered as not materialized (
    select r.* exclude (utc_offset), coalesce(nullif(s.smf123_server_sysplex, ''), r.sysplex) as plex,
        nullif(s.smf123_server_jobname, '') as web_server, epoch(w.written_at) as local_at,
        r.smf123s1_time_zc_entry::timestamptz as begins,
        coalesce(r.smf123s1_time_zc_exit::timestamptz, r.smf123s1_time_zc_entry::timestamptz) as ends,
        r.smf123s1_time_sor_sent::timestamptz as sent, r.smf123s1_time_sor_recv::timestamptz as received
    from smf123_1_request r
    left join (only_section(smf123_server)) s on s.source_id = r.source_id and s.record_no = r.record_no
    left join smf_record w on w.source_id = r.source_id and w.record_no = r.record_no
),
clock as (
    -- A record has local time, and is written some time after its last request: the least difference is the clock's.
    select system, utc_day(ends) as day, min(round((local_at - epoch(ends)) / 900) * 900) as utc_offset
    from answered
    where ends is not null
    group by system, utc_day(ends)
),
placed as (
    select a.*, c.utc_offset, quarter_of(a.ends) as quarter, cast(null as varchar) as part,
        case
            when a.smf123s1_time_zc_exit is not null and a.begins <= a.ends then seconds_between(a.begins, a.ends)
        end as lasted,
        case when a.sent <= a.received then seconds_between(a.sent, a.received) end as away,
        coalesce(
            nullif(a.smf123s1_api_name, ''), nullif(a.smf123s1_service_name, ''),
            case a.smf123s1_req_type when 3 then 'administration' end
        ) as api
    from answered a
    join clock c on c.system = a.system and c.day = utc_day(a.ends)
),
reach as (
    reach_of_days(placed)
),
sums as (
    select system, max(plex) as sysplex, max(utc_offset) as utc_offset, quarter, web_server, api,
        nullif(smf123s1_req_method, '') as http_method, nullif(smf123s1_sor_reference, '') as backend,
        count(*)::double as requests,
        count(lasted)::double as timed_requests, sum(lasted) as response_seconds, max(lasted) as longest_seconds,
        {response_within},
        sum(lasted - coalesce(away, 0)) as own_seconds,
        count(away)::double as backend_requests, coalesce(sum(away), 0) as backend_seconds,
        max(away) as longest_backend_seconds,
        sum(if(smf123s1_http_resp_code between 400 and 499, 1, 0))::double as client_errors,
        sum(if(smf123s1_http_resp_code between 500 and 599, 1, 0))::double as server_errors,
        sum(smf123s1_req_payload_len::double) as request_bytes,
        sum(smf123s1_resp_payload_len::double) as response_bytes
    from placed
    group by system, quarter, web_server, api, smf123s1_req_method, smf123s1_sor_reference
)
intervals_of_quarters(sums, reach)
