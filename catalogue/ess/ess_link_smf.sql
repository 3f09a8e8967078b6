-- Links of disk systems. Bytes and times are left out where the disk system does not know their units.
select l.system, l.sysplex, l.interval_start, l.interval_end, l.utc_offset,
    nullif(c.r748cser, '') as control_unit, nullif(c.r748ctyp, '') as control_unit_type,
    printf('%04X', l.r748laid::bigint) as adapter,
    case l.r748ltyp::bigint
        when 1 then 'ESCON'
        when 2 then 'Fibre 1 Gb/s'
        when 3 then 'Fibre 2 Gb/s'
        when 4 then 'Fibre 4 Gb/s'
        when 5 then 'Fibre 8 Gb/s'
        when 6 then 'Fibre 16 Gb/s'
        when 10 then 'Ethernet 10 Gb/s'
        else 'type ' || l.r748ltyp::bigint::varchar
    end as link_type,
    seconds_between(l.interval_start, l.interval_end) as interval_seconds,
    l.r748lero as eckd_reads, case when knows_bytes then l.r748lerb * 131072.0::double end as eckd_read_bytes,
    case when knows_times then l.r748lert / 1000.0::double end as eckd_read_seconds,
    l.r748lewo as eckd_writes, case when knows_bytes then l.r748lewb * 131072.0::double end as eckd_write_bytes,
    case when knows_times then l.r748lewt / 1000.0::double end as eckd_write_seconds,
    l.r748lpso as mirror_sends, case when knows_bytes then l.r748lpsb * 131072.0::double end as mirror_send_bytes,
    case when knows_times then l.r748lpst / 1000.0::double end as mirror_send_seconds,
    l.r748lpro as mirror_receives, case when knows_bytes then l.r748lprb * 131072.0::double end as mirror_receive_bytes,
    case when knows_times then l.r748lprt / 1000.0::double end as mirror_receive_seconds,
    l.r748lsro as scsi_reads, case when knows_bytes then l.r748lsrb * 131072.0::double end as scsi_read_bytes,
    case when knows_times then l.r748lsrt / 1000.0::double end as scsi_read_seconds,
    l.r748lswo as scsi_writes, case when knows_bytes then l.r748lswb * 131072.0::double end as scsi_write_bytes,
    case when knows_times then l.r748lswt / 1000.0::double end as scsi_write_seconds,
    l.r748lflf as link_failures, l.r748lfly as synchronization_losses, l.r748lfls as signal_losses,
    l.r748lfit as transmission_errors, l.r748lfcr as crc_errors,
    l.r748lfpq + l.r748lftc as sequence_errors,
    l.r748lfif + l.r748lfod + l.r748lfoa + l.r748lfdf + l.r748lfio as frame_errors
from (
    select *, not bit_of_byte(r748lflg, 0) as knows_bytes, not bit_of_byte(r748lflg, 1) as knows_times
    from smf74_8_link
) l
left join (only_section(smf74_8_control)) c on c.source_id = l.source_id and c.record_no = l.record_no
