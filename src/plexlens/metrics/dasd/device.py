"""Direct access devices (SMF 74-1)."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.dasd.forms import flags, hexadecimal
from plexlens.metrics.expressions import interval_seconds, total
from plexlens.metrics.fields import Field, columns_of, names_of
from plexlens.metrics.inputs import RECORD, Inputs, identity
from plexlens.metrics.unit import (
    MIB,
    SECONDS,
)

#: Device class X'20' in SMF74SUB.
_DASD = 0x20

#: Bits of SMF74CNF, SMF74ENF, SMF74CNX: bit 0 is the leftmost.
_QUEUE_INCORRECT = 0x80
_NO_LCU = 0x40
_INCORRECT = 0x20 | 0x02
_ONLINE = 0x01
_CMR_VALID = 0x20
_INTERRUPT_DELAY = 0x10
_PAV_BASE = 0x20
_HYPERPAV_BASE = 0x02

#: Fields whose correctness SMF74CNF vouches for.
_MEASURED = (
    Field("ios", "I/Os started", "SMF74SSC"),
    Field("timed_ios", "I/Os timed", "SMF74MEC"),
    Field("connect_seconds", "Connect time", "SMF74CNN", SECONDS),
    Field("disconnect_seconds", "Disconnect time", "SMF74DIS", SECONDS),
    Field("pending_seconds", "Pending time", "SMF74PEN", SECONDS),
    Field("device_busy_seconds", "Device busy delay, part of pending", "SMF74DVB", SECONDS),
)

_FIELDS = (
    Field("control_unit_queue_seconds", "Control unit queuing time", "SMF74CUQ", SECONDS),
    Field("throttled_ios", "I/Os delayed by alias throttling", "SMF74ATD"),
    Field("sync_reads", "Synchronous reads", "SMF74SQR"),
    Field("sync_writes", "Synchronous writes", "SMF74SQW"),
    Field("sync_read_bytes", "Bytes read synchronously", "SMF74SBR", MIB),
    Field("sync_write_bytes", "Bytes written synchronously", "SMF74SBW", MIB),
    Field("sync_read_seconds", "Time of synchronous reads", "SMF74SPR", SECONDS),
    Field("sync_write_seconds", "Time of synchronous writes", "SMF74SPW", SECONDS),
)

#: Synchronous requests that did not succeed.
_SYNC_FAILED = ("slbr", "slbw", "scmr", "snis", "stor", "stow", "sor", "sow")

#: Times from samples: fact, title, field.
_SAMPLED = (
    Field("reserved_idle_seconds", "Reserved, no I/O started", "SMF74UTL", SECONDS),
    Field("reserved_seconds", "Reserved", "SMF74RSV", SECONDS),
    Field("allocated_seconds", "Allocated", "SMF74ALC", SECONDS),
    Field("mount_pending_seconds", "Mount pending", "SMF74MTP", SECONDS),
    Field("not_ready_seconds", "Not ready", "SMF74NRD", SECONDS),
)


def _devices(inputs: Inputs) -> Any:
    device = inputs.table(
        "smf74_1_device",
        *names_of(_MEASURED),
        *names_of(_FIELDS),
        *names_of(_SAMPLED),
        *(f"smf74{name}" for name in _SYNC_FAILED),
        "smf74num",
        "smf74scs",
        "smf74lcu",
        "smf74cnf",
        "smf74cnx",
        "smf74nux",
        "smf74psm",
        "smf74que",
        "smf74ios",
        "smf74cmr",
        "smf74idt",
        "smf74cap",
        text=("smf74ser", "smf74sgn", "smf74dev", "smf74cu"),
    )
    product = inputs.table("rmf_product_section", "smf7xsam").select(*RECORD, "smf7xsam")
    table = device.left_join(product, list(RECORD)).drop("source_id_right", "record_no_right")
    if inputs.has("smf74_1_device_control"):
        control = inputs.table("smf74_1_device_control", "smf74sub", "smf74enf")
        # A record is of one class; should it ever be of two, its devices cannot be told apart by it.
        control = control.group_by(list(RECORD)).aggregate(
            device_class=ibis.ifelse(
                control.smf74sub.min() == control.smf74sub.max(), control.smf74sub.min().cast("int64"), _DASD
            ),
            facility=control.smf74enf.max().cast("int64"),
        )
        table = table.left_join(control, list(RECORD)).drop("source_id_right", "record_no_right")
        table = table.filter(table.device_class.fill_null(_DASD) == _DASD)
    else:
        table = table.mutate(facility=ibis.null("int64"))

    nothing = ibis.null("float64")
    state, kind, facility = flags(table.smf74cnf), flags(table.smf74cnx), table.facility
    correct = (state & _INCORRECT) == 0
    seconds = interval_seconds(table)
    samples = table.smf7xsam.cast("float64").nullif(0.0)
    # Taken offline at the end it still did what it did.
    online = ibis.ifelse(((state & _ONLINE) != 0) | (table.smf74ssc.cast("float64") > 0).fill_null(False), 1.0, 0.0)
    queued = ibis.ifelse((state & _QUEUE_INCORRECT) == 0, table.smf74que.cast("float64") / samples, nothing)
    # IOS times the queue where the release records it; before, requests queued x interval is the time they spent.
    timed_queue = table.smf74ios.cast("float64").nullif(0.0)
    aliases = table.smf74nux.cast("float64")
    exposures = ibis.cases(
        ((kind & _HYPERPAV_BASE) != 0, 1.0 + aliases / table.smf74psm.cast("float64").nullif(0.0)),
        ((kind & _PAV_BASE) != 0, ibis.greatest(aliases, 1.0)),
        else_=1.0,
    ).fill_null(1.0)
    number = table.smf74num.cast("int64")
    subchannel_set = table.smf74scs.cast("int64").fill_null(0)
    return table.select(
        **identity(table),
        device=ibis.ifelse(subchannel_set > 0, subchannel_set.cast("string"), "") + hexadecimal(number, 4),
        volume=table.smf74ser,
        lcu=ibis.ifelse((state & _NO_LCU) == 0, hexadecimal(table.smf74lcu.cast("int64"), 4), ibis.null("string")),
        storage_group=table.smf74sgn.nullif(""),
        model=table.smf74dev.nullif(""),
        control_unit=table.smf74cu.nullif(""),
        interval_seconds=seconds,
        samples=table.smf7xsam,
        devices=online,
        device_seconds=seconds * online,
        exposures=exposures * online,
        exposure_seconds=exposures * seconds * online,
        incorrect_devices=ibis.ifelse(correct, 0.0, 1.0),
        **{name: ibis.ifelse(correct, value, nothing) for name, value in columns_of(table, _MEASURED).items()},
        command_response_seconds=ibis.ifelse(
            correct & (facility.isnull() | ((facility & _CMR_VALID) != 0)), table.smf74cmr.cast("float64"), nothing
        ),
        interrupt_delay_seconds=ibis.ifelse(
            correct & (facility.isnull() | ((facility & _INTERRUPT_DELAY) != 0)),
            table.smf74idt.cast("float64"),
            nothing,
        ),
        queued_requests=queued,
        ios_queue_seconds=ibis.ifelse(correct, ibis.coalesce(timed_queue, queued * seconds), nothing),
        **columns_of(table, _FIELDS),
        sync_failed=total(*(table[f"smf74{name}"] for name in _SYNC_FAILED)),
        capacity_cylinders=table.smf74cap,
        **{name: value / samples * seconds for name, value in columns_of(table, _SAMPLED).items()},
    )
