-- Collections of CICS statistics (SMF 110-2), one row a record: kind, generic applid, and when it was by the local
-- times of its product section, for records of whose clock the decoder did not know how far it is from UTC.
--
-- Other records of the system tell that distance, or the dispatcher, which writes in both times when it started. Where
-- nothing tells, local time stands.
with shown as (
    select system, max(utc_offset) as utc_offset
    from (
        select system, utc_offset from smf110_2_product
        union all
        select system, utc_offset from smf110_1_product
        union all
        select system, utc_offset from smf30_identification
        union all
        select system, utc_offset from smf72_3_wlm_control
        union all
        select system, utc_offset from smf70_1_cpu_control
    )
    group by system
),
dispatcher as (
    select system, subsystem, max(round((epoch(dsglstrt) - epoch(dsgstart)) / 900) * 900) as utc_offset
    from smf110_2_dispatcher
    group by system, subsystem
),
collection as (
    select p.source_id, p.record_no,
        p.smfstrqt as kind,
        p.smfstprn as generic_applid,
        coalesce(dispatcher.utc_offset, shown.utc_offset) as utc_offset,
        -- MMDDYYYY and HHMMSS; null where they are none.
        epoch(try_strptime(substr(p.smfstdat, 1, 8), '%m%d%Y')) as date_seconds,
        seconds_of_day(p.smfstclt) as ends,
        seconds_of_day(p.smfstlrt) as begins
    from smf110_2_product p
    left join shown on shown.system = p.system
    left join dispatcher on dispatcher.system = p.system and dispatcher.subsystem = p.subsystem
)
select source_id, record_no, kind, generic_applid, utc_offset,
    -- A reset at a time of day after that of the collection was on the day before.
    to_timestamp(date_seconds + begins - case when begins > ends then 86400 else 0 end - coalesce(utc_offset, 0))
        as interval_start,
    to_timestamp(date_seconds + ends - coalesce(utc_offset, 0)) as interval_end
from collection
