-- A row for each record of SMF 30 that says what was used: its sections side by side, and the time it speaks of.
-- Times of day are local: `written`, `initiated` and `read_in` are seconds since 1970 by the local clock.
with sections as (
    select *
    from (select * from smf30_processor_accounting where coalesce(section_no, 1) = 1)
    left join only_section(smf30_identification) using (source_id, record_no)
    left join only_section(smf30_subsystem) using (source_id, record_no)
    left join only_section(smf30_io_activity) using (source_id, record_no)
    left join only_section(smf30_storage) using (source_id, record_no)
    left join only_section(smf30_performance) using (source_id, record_no)
    left join only_section(smf30_completion) using (source_id, record_no)
),
timed as (
    select s.* replace (coalesce(s.sysplex, nullif(s.smf30syp, '')) as sysplex),
        nullif(h.ssid, '') as work_type,
        coalesce(s.smf30typ::bigint, h.subtype::bigint) as subtype,
        epoch(h.written_at) as written,
        floor(epoch(h.written_at) / 86400) as local_day,
        local_clock(s.smf30std, s.smf30sit) as initiated,
        local_clock(s.smf30rsd, s.smf30rst) as read_in,
        round((local_clock(s.smf30idt, s.smf30ist) - epoch(s.interval_start)) / 900) * 900 as clock_difference
    from sections s
    left join smf_record h on h.source_id = s.source_id and h.record_no = s.record_no and h.record_type = 30
),
shown as (
    -- Off by more than 15 hours it is no time zone but a record whose two clocks do not speak of the same moment.
    select *, case when abs(clock_difference) <= 15 * 3600 then clock_difference end as shown_offset
    from timed
)
-- Local time minus UTC in seconds: as the record shows it, else those of the system and day, else those of the system.
select *,
    coalesce(
        utc_offset,
        shown_offset,
        median(shown_offset) over (partition by system, local_day),
        median(shown_offset) over (partition by system)
    ) as local_offset
from shown
