-- Channel paths with their measurement groups.
with paths as (
    select c.*, k.smf73smp, k.smf73cmi, k.smf73css,
        -- Groups of a path without valid measurements (SMF73VAC, SMF73NVL) do not count.
        case when not bit_of_byte(c.smf73fg2, 6) and not bit_of_byte(c.smf73fg4, 0) then c.section_no end as measured_no
    from smf73_1_channel c
    left join smf73_1_control k on k.source_id = c.source_id and k.record_no = c.record_no
    -- There is a section for each of 256 paths; those that are not there are zeros but for their number.
    where (bit_of_byte(c.smf73fg3, 6) or not bit_of_byte(k.smf73cfl, 4))
        and (nullif(c.smf73acr, '') is not null or c.smf73pti > 0)
)
select p.*, channel_gigabits(p.smf73spd, p.smf73msc) as gigabits,
    a.smf73tut, a.smf73put,
    b.smf73tbc, b.smf73tuc, b.smf73puc, b.smf73twu, b.smf73pwu, b.smf73tru, b.smf73pru,
    -- The most that the channel can do in a second, and bytes of its data unit, where SMF73FG5 says they are valid.
    case when bit_of_byte(p.smf73fg5, 0) then nullif(b.smf73mbc::double, 0) end as most_bus_cycles,
    case when bit_of_byte(p.smf73fg5, 1) then nullif(b.smf73mcu::double, 0) end as most_work_units,
    case when bit_of_byte(p.smf73fg5, 2) then nullif(b.smf73mwu::double, 0) end as most_write_units,
    case when bit_of_byte(p.smf73fg5, 3) then nullif(b.smf73mru::double, 0) end as most_read_units,
    case when bit_of_byte(p.smf73fg5, 4) then nullif(b.smf73us::double, 0) end as unit_bytes,
    d.smf73pdu, d.smf73tdu, d.smf73pum, d.smf73tum, d.smf73pms, d.smf73tms, d.smf73pus, d.smf73pub, d.smf73tub,
    d.smf73pds, d.smf73tds,
    e.smf73eoc, e.smf73eod, e.smf73eos, e.smf73etc, e.smf73etd, e.smf73ets
from paths p
left join smf73_1_group1 a
    on a.source_id = p.source_id and a.record_no = p.record_no and a.section_no = p.measured_no
left join smf73_1_group2 b
    on b.source_id = p.source_id and b.record_no = p.record_no and b.section_no = p.measured_no
left join smf73_1_group3 d
    on d.source_id = p.source_id and d.record_no = p.record_no and d.section_no = p.measured_no
left join smf73_1_extended e
    on e.source_id = p.source_id and e.record_no = p.record_no and e.smf73ecp = p.smf73pid
    and p.measured_no is not null
