-- Devices of a DEVR report of Monitor III. A device is printed again with each further job that uses or waits for it, so
-- its numbers are taken once.
with listed as (
    select source_id, record_no, volume, device_number,
        max(system) as system,
        max(sysplex) as sysplex,
        max(interval_start) as interval_start,
        max(interval_end) as interval_end,
        max(utc_offset) as utc_offset,
        max(interval_seconds) as interval_seconds,
        max(lcu) as lcu,
        max(device_type) as device_type,
        max(ios) as ios,
        max(connect_percent) as connect_percent,
        max(disconnect_percent) as disconnect_percent,
        max(pending_percent) as pending_percent,
        max(ios_queue_seconds) as ios_queue_seconds
    from rmf_xml_m3_device
    where volume is not null
    group by source_id, record_no, volume, device_number
)
select *,
    -- The print has five digits, of which the first is the subchannel set; the records' form leaves out set 0.
    if(
        length(device_number) = 5 and device_number like '0%', substr(device_number, 2),
        coalesce(device_number, volume)
    ) as device,
    device_type as model,
    1 as devices,
    interval_seconds as device_seconds,
    ios as timed_ios,
    connect_percent / 100 * interval_seconds as connect_seconds,
    disconnect_percent / 100 * interval_seconds as disconnect_seconds,
    pending_percent / 100 * interval_seconds as pending_seconds
from (select * replace (ios_queue_seconds * ios as ios_queue_seconds) from listed)
