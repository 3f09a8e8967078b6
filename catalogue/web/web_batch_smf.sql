-- Java batch of Liberty by server, job and step, and the quarter of an hour in which it ended. A record tells of a job, a step, a
-- partition, a flow or a decider; those of a job contain its steps. A quarter is as long as the records of the system reach.
with ended as not materialized (
    select j.*, coalesce(nullif(s.sm120c_sysplex, ''), j.sysplex) as plex, nullif(s.sm120c_jobname, '') as web_server,
        s.sm120c_gmt_offset as gmt_offset,
        case
            when s.sm120c_unit = 1 then 'step'
            when s.sm120c_unit = 2 then 'job'
            when s.sm120c_unit = 3 then 'partition'
            when s.sm120c_unit = 4 then 'flow'
            when s.sm120c_unit = 5 then 'decider'
        end as batch_unit,
        c.sm120c_batch_status as batch_status, c.sm120c_reads::double as item_reads, c.sm120c_writes::double as item_writes,
        c.sm120c_commits::double as chunk_commits, c.sm120c_rollbacks::double as chunk_rollbacks,
        c.sm120c_read_skips::double + c.sm120c_process_skips::double + c.sm120c_write_skips::double as item_skips,
        c.sm120c_read_skips::double as item_read_skips, c.sm120c_filtered::double as item_filters,
        p.sm120c_cpu_end >= p.sm120c_cpu_start and p.sm120c_offload_end >= p.sm120c_offload_start as with_cpu,
        p.sm120c_cpu_end - p.sm120c_cpu_start as tcb_seconds, p.sm120c_offload_end - p.sm120c_offload_start as ziip_seconds,
        case when j.sm120c_started > 0 then moment(j.sm120c_started) end as begins,
        case when j.sm120c_ended > 0 then moment(j.sm120c_ended) end as ends
    from smf120_12_job j
    left join (only_section(smf120_12_server)) s on s.source_id = j.source_id and s.record_no = j.record_no
    left join (only_section(smf120_12_completion)) c on c.source_id = j.source_id and c.record_no = j.record_no
    left join (only_section(smf120_12_cpu)) p on p.source_id = j.source_id and p.record_no = j.record_no
),
placed as (
    select *, quarter_of(ends) as quarter, cast(null as varchar) as part,
        case when begins <= ends then seconds_between(begins, ends) end as lasted
    from ended
    where ends is not null
),
reach as (
    reach_of_days(placed)
),
sums as (
    select system, max(plex) as sysplex, max(gmt_offset) as utc_offset, quarter, web_server, batch_unit,
        nullif(sm120c_batch_job, '') as batch_job, nullif(sm120c_batch_step, '') as batch_step,
        count(*)::double as units_ended,
        sum(case when batch_status in (4, 6) then 1.0::double else 0.0::double end) as failed,
        sum(case when batch_status in (2, 3) then 1.0::double else 0.0::double end) as stopped,
        count(lasted)::double as timed_units, sum(lasted) as elapsed_seconds, max(lasted) as longest_seconds,
        count(*) filter (where with_cpu)::double as cpu_units, sum(tcb_seconds) filter (where with_cpu) as cpu_seconds,
        sum(ziip_seconds) filter (where with_cpu) as ziip_seconds, sum(item_reads) filter (where with_cpu) as cpu_items,
        sum(item_reads) as items_read, sum(item_read_skips) as items_not_read,
        sum(item_writes) as items_written, sum(item_skips) as items_skipped,
        sum(item_filters) as items_filtered, sum(chunk_commits) as commits, sum(chunk_rollbacks) as rollbacks
    from placed
    group by system, quarter, web_server, batch_unit, sm120c_batch_job, sm120c_batch_step
)
intervals_of_quarters(sums, reach)
