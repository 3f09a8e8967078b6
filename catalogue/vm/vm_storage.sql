-- States of the frames, one row per record, with the users of the same sample: CP writes D0R8 right after D0R3. Either
-- record has a single section.
with samples as (
    select source_id, record_no, system, interval_end, 3 as record_kind, null::double as users
    from vm_sytrsg
    where section_no = 1
    union all
    select source_id, record_no, system, interval_end, 8 as record_kind, sytusr_sysusrs::double as users
    from vm_sytusr
    where section_no = 1
),
followed as (
    select source_id, record_no, record_kind, interval_end,
        lead(users) over (
            partition by system, source_id order by interval_end, record_kind, record_no
        ) as users_then,
        lead(interval_end) over (
            partition by system, source_id order by interval_end, record_kind, record_no
        ) as ends_then
    from samples
)
select s.*, case when epoch_us(f.ends_then) - epoch_us(f.interval_end) < 3000000 then f.users_then end as users
from vm_sytrsg s
left join followed f on f.source_id = s.source_id and f.record_no = s.record_no and f.record_kind = 3
where s.section_no = 1
