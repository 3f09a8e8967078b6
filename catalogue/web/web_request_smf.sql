-- HTTP requests of Liberty by server and path, and the quarter of an hour in which they ended. A path is the first two parts of the
-- URI. A quarter is as long as the records of the system reach: those of its day (UTC) and of the days next to it.
with answered as not materialized (
    select r.*, coalesce(nullif(s.sm120b_sysplex, ''), r.sysplex) as plex, nullif(s.sm120b_jobname, '') as web_server,
        n.sm120b_response_bytes as answer_bytes,
        r.sm120b_start::timestamptz as begins,
        coalesce(r.sm120b_end::timestamptz, r.sm120b_start::timestamptz) as ends
    from smf120_11_request r
    left join (only_section(smf120_11_server)) s on s.source_id = r.source_id and s.record_no = r.record_no
    left join (only_section(smf120_11_network)) n on n.source_id = r.source_id and n.record_no = r.record_no
),
placed as (
    select *, quarter_of(ends) as quarter, cast(null as varchar) as part,
        case when sm120b_end is not null and begins <= ends then seconds_between(begins, ends) end as lasted,
        sm120b_cpu_end >= sm120b_cpu_start and sm120b_cp_end >= sm120b_cp_start as with_cpu,
        web_path(sm120b_uri) as web_path
    from answered
    where ends is not null
),
reach as (
    reach_of_days(placed)
),
sums as (
    select system, max(plex) as sysplex, max(sm120b_gmt_offset) as utc_offset, quarter, web_server, web_path,
        count(*)::double as requests,
        count(lasted)::double as timed_requests, sum(lasted) as response_seconds, max(lasted) as longest_seconds,
        {response_within},
        count(*) filter (where with_cpu)::double as cpu_requests,
        sum(sm120b_cpu_end - sm120b_cpu_start) filter (where with_cpu) as cpu_seconds,
        sum(sm120b_cp_end - sm120b_cp_start) filter (where with_cpu) as cp_seconds,
        sum(answer_bytes::double) as response_bytes
    from placed
    group by system, quarter, web_server, web_path
)
intervals_of_quarters(sums, reach)
