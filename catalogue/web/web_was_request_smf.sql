-- Requests of WebSphere Application Server by server, kind and path, and the quarter of an hour in which they ended. A path is the
-- first two parts of the URI by which WLM classifies, else the application. A quarter is as long as the records of the system reach.
with named as (
    select source_id, record_no,
        max(case when sm1209_class_type = 6 then sm1209_class_text end) as uri,
        max(case when sm1209_class_type = 1 then sm1209_class_text end) as application
    from smf120_9_class
    group by source_id, record_no
),
answered as not materialized (
    select r.*, coalesce(nullif(s.sm1209_sysplex, ''), r.sysplex) as plex, nullif(s.sm1209_jobname, '') as web_server,
        s.sm1209_gmt_offset as gmt_offset, n.sm1209_bytes_sent as answer_bytes,
        coalesce(web_path(c.uri), nullif(c.application, '')) as web_path,
        case
            when t.sm1209_request_type = 1 then 'IIOP'
            when t.sm1209_request_type = 2 then 'HTTP'
            when t.sm1209_request_type = 3 then 'HTTPS'
            when t.sm1209_request_type in (4, 5, 6) then 'MDB'
            when t.sm1209_request_type in (7, 8) then 'SIP'
            when t.sm1209_request_type = 12 then 'local adapter'
            else 'internal'
        end as request_kind,
        hex(t.sm1209_minor_code) <> '00000000' as failed,
        case when t.sm1209_tcb_cpu >= 0 and r.sm1209_tcb_offload >= 0 then t.sm1209_tcb_cpu end as tcb_seconds,
        case when t.sm1209_tcb_cpu >= 0 and r.sm1209_tcb_offload >= 0 then r.sm1209_tcb_offload end as off_seconds,
        coalesce(r.sm1209_complete::timestamptz, r.sm1209_dispatch_end::timestamptz) as ends
    from smf120_9_request r
    left join (only_section(smf120_9_server)) s on s.source_id = r.source_id and s.record_no = r.record_no
    left join (only_section(smf120_9_task)) t on t.source_id = r.source_id and t.record_no = r.record_no
    left join (only_section(smf120_9_network)) n on n.source_id = r.source_id and n.record_no = r.record_no
    left join named c on c.source_id = r.source_id and c.record_no = r.record_no
),
placed as (
    select *, quarter_of(ends) as quarter, cast(null as varchar) as part,
        coalesce(
            sm1209_queued::timestamptz <= sm1209_dispatched::timestamptz
            and sm1209_dispatched::timestamptz <= sm1209_dispatch_end::timestamptz
            and sm1209_dispatch_end::timestamptz <= sm1209_complete::timestamptz,
            false
        ) as timed
    from answered
    where ends is not null
),
reach as (
    reach_of_days(placed)
),
sums as (
    select system, max(plex) as sysplex, max(gmt_offset) as utc_offset, quarter, web_server, request_kind, web_path,
        count(*)::double as requests,
        sum(case when timed then 1.0::double else 0.0::double end) as timed_requests,
        sum(case when timed then seconds_between(sm1209_queued::timestamptz, ends) end) as response_seconds,
        sum(case when timed then seconds_between(sm1209_queued::timestamptz, sm1209_dispatched::timestamptz) end)
            as queue_seconds,
        sum(case when timed then seconds_between(sm1209_dispatched::timestamptz, sm1209_dispatch_end::timestamptz) end)
            as dispatch_seconds,
        max(case when timed then seconds_between(sm1209_queued::timestamptz, ends) end) as longest_seconds,
        {response_within},
        sum(case when failed then 1.0::double else 0.0::double end) as failed_requests,
        count(tcb_seconds)::double as cpu_requests, sum(tcb_seconds) as cpu_seconds,
        sum(off_seconds) as offload_seconds, sum(answer_bytes::double) as response_bytes
    from placed
    group by system, quarter, web_server, request_kind, web_path
)
intervals_of_quarters(sums, reach)
