-- Direct access devices with the samples of their interval.
with control as (
    -- A record is of one class of devices, 32 (X'20') for direct access; should it ever be of two, its devices cannot
    -- be told apart by it.
    select source_id, record_no,
        if(min(smf74sub) = max(smf74sub), min(smf74sub), 32) as device_class, max(smf74enf) as smf74enf
    from smf74_1_device_control
    group by source_id, record_no
)
select d.*, p.smf7xsam as samples,
    seconds_between(d.interval_start, d.interval_end) as seconds,
    -- Whether SMF74CNF vouches for the times, and SMF74ENF for those that a record can lack.
    not bit_of_byte(d.smf74cnf, 2) and not bit_of_byte(d.smf74cnf, 6) as is_correct,
    c.smf74enf is null or bit_of_byte(c.smf74enf, 2) as has_command_response,
    c.smf74enf is null or bit_of_byte(c.smf74enf, 3) as has_interrupt_delay,
    -- Taken offline at the end it still did what it did.
    (bit_of_byte(d.smf74cnf, 7) or coalesce(d.smf74ssc > 0, false))::double as online,
    -- UCBs: of a HyperPAV base the aliases it had on average, of another base those bound to it.
    coalesce(
        case
            when bit_of_byte(d.smf74cnx, 6) then 1 + d.smf74nux::double / nullif(d.smf74psm::double, 0)
            when bit_of_byte(d.smf74cnx, 2) then greatest(d.smf74nux::double, 1)
        end,
        1
    ) as ucbs,
    case when not bit_of_byte(d.smf74cnf, 0) then d.smf74que::double / nullif(p.smf7xsam::double, 0) end as queued
from smf74_1_device d
left join rmf_product_section p on p.source_id = d.source_id and p.record_no = d.record_no
left join control c on c.source_id = d.source_id and c.record_no = d.record_no
where coalesce(c.device_class, 32) = 32
