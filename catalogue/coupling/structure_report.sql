-- Structures as the coupling facility activity report lists them, in XML or as text: by system and in total. The total
-- counts every request a second time, so it stands only where no system is named.
select system, sysplex, interval_start, interval_end, utc_offset,
    cf_name as facility,
    named(structure_name, source_id, record_no) as structure,
    -- The usage summary alone tells these; they are the structure's own, the same whichever system asks.
    lower(coalesce(structure_type, max(structure_type) over same)) as structure_type,
    coalesce(size_bytes, max(size_bytes) over same) as structure_bytes,
    coalesce(lock_entries, max(lock_entries) over same) as lock_entries,
    coalesce(lock_entries_used, max(lock_entries_used) over same) as lock_entries_used,
    coalesce(directory_reclaims, max(directory_reclaims) over same) as directory_reclaims,
    coalesce(directory_reclaim_invalidations, max(directory_reclaim_invalidations) over same) as xi_directory_reclaim,
    interval_seconds,
    sync_requests,
    sync_total_seconds as sync_seconds,
    sync_square_seconds as sync_squares,
    async_requests,
    async_total_seconds as async_seconds,
    async_square_seconds as async_squares,
    -- The usage summary does not say how requests were made.
    case when sync_requests is null and async_requests is null then requests end as unsplit_requests,
    changed_requests,
    lock_requests as external_requests,
    deferred_requests,
    contended_requests as contention_requests,
    false_contended_requests as false_contention_requests,
    delayed_no_subchannel_requests as queued_requests,
    delayed_no_subchannel_total_seconds as queued_seconds,
    delayed_dump_requests as dump_delayed_requests,
    delayed_dump_total_seconds as dump_delayed_seconds,
    delayed_peer_wait_requests as peer_wait_requests,
    delayed_peer_wait_total_seconds as peer_wait_seconds,
    delayed_peer_completion_requests as peer_completion_requests,
    delayed_peer_completion_total_seconds as peer_completion_seconds,
    cache_reads as read_hits,
    cache_writes as writes_changed,
    castouts
from report
window same as (partition by source_id, record_no, cf_name, structure_name)
qualify system is not null or count(system) over same = 0
