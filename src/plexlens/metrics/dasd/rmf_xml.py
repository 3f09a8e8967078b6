"""Facts of devices and channel paths from RMF Postprocessor reports in XML (DEVICE, CHAN).

The reports print rates and averages, rounded; the totals here are those times the interval. What a report does not
print is null: the UCBs of a device, control unit queuing, synchronous I/O; bytes of channels too, since the report
does not say which megabyte it means.
"""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.inputs import Inputs, identity

#: Fact <- column of the device table.
_DEVICE = {
    "ios": "ios",
    "timed_ios": "ios",
    "connect_seconds": "connect_total_seconds",
    "disconnect_seconds": "disconnect_total_seconds",
    "pending_seconds": "pending_total_seconds",
    "device_busy_seconds": "device_busy_total_seconds",
    "command_response_seconds": "command_response_total_seconds",
    "interrupt_delay_seconds": "interrupt_delay_total_seconds",
    "ios_queue_seconds": "ios_queue_total_seconds",
    "capacity_cylinders": "cylinders",
}

#: Fact <- column of the channel table.
_CHANNEL = ("ficon_operations", "ficon_deferred", "ficon_active", "zhpf_operations", "zhpf_deferred", "zhpf_active")


def devices_of_rmf_xml(inputs: Inputs) -> Any:
    """Facts of every device that a DEVICE report lists."""
    table = inputs.table(
        "rmf_xml_device",
        *dict.fromkeys(_DEVICE.values()),
        *("interval_seconds", "samples", "utilized_percent", "reserved_percent", "allocated_percent"),
        text=("device_number", "volume", "lcu", "storage_group", "device_type"),
    )
    seconds = table.interval_seconds
    # The print has five digits, of which the first is the subchannel set; the records' form leaves out set 0.
    number = table.device_number
    device = ibis.ifelse((number.length() == 5) & (number.substr(0, 1) == "0"), number.substr(1), number)
    in_use = table.connect_total_seconds.fill_null(0.0) + table.disconnect_total_seconds.fill_null(0.0)
    return table.select(
        **identity(table),
        device=device,
        volume=table.volume,
        lcu=table.lcu,
        storage_group=table.storage_group,
        model=table.device_type,
        interval_seconds=seconds,
        samples=table.samples,
        devices=ibis.literal(1.0, "float64"),
        device_seconds=seconds,
        incorrect_devices=ibis.ifelse(table.ios.isnull(), 1.0, 0.0).cast("float64"),
        reserved_idle_seconds=ibis.greatest(table.utilized_percent / 100.0 * seconds - in_use, 0.0),
        reserved_seconds=table.reserved_percent / 100.0 * seconds,
        allocated_seconds=table.allocated_percent / 100.0 * seconds,
        **{name: table[column] for name, column in _DEVICE.items()},
    )


def channels_of_rmf_xml(inputs: Inputs) -> Any:
    """Facts of every channel path that a CHAN report lists under "Details for all Channels"."""
    table = inputs.table(
        "rmf_xml_channel",
        *_CHANNEL,
        *("interval_seconds", "partition_percent", "total_percent", "bus_percent"),
        text=("channel", "channel_type", "generation", "speed", "shared", "status"),
    )
    seconds = table.interval_seconds
    gigabits = table.speed.re_extract(r"^(\d+(?:\.\d+)?)G$", 1).nullif("")
    online = (table.status.lower() == "online").fill_null(False)
    measured = table.total_percent.notnull()
    return table.select(
        **identity(table),
        channel=table.channel,
        channel_type=table.channel_type,
        generation=table.generation,
        speed=ibis.ifelse(gigabits.notnull(), gigabits + " Gbit/s", table.speed),
        sharing=ibis.ifelse(table.shared.lower() == "yes", "shared", "this partition"),
        interval_seconds=seconds,
        channels=ibis.ifelse(online, 1.0, 0.0).cast("float64"),
        incorrect_channels=ibis.ifelse(online & ~measured, 1.0, 0.0).cast("float64"),
        channel_seconds=ibis.ifelse(measured, seconds, ibis.null("float64")),
        busy_seconds=table.total_percent / 100.0 * seconds,
        partition_busy_seconds=table.partition_percent / 100.0 * seconds,
        bus_busy_seconds=table.bus_percent / 100.0 * seconds,
        **{name: table[name] for name in _CHANNEL},
    )
