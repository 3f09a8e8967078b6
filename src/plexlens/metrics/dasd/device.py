"""Direct access devices (SMF 74-1)."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.dasd.forms import flags, hexadecimal
from plexlens.metrics.dasd.rmf_xml import devices_of_rmf_xml
from plexlens.metrics.definition import Attribute, Fact, Grain, Key, Metric, Rollup, Source
from plexlens.metrics.expressions import interval_seconds, ratio, total
from plexlens.metrics.fields import Field, columns_of, facts_of, names_of, per_event, per_second
from plexlens.metrics.inputs import RECORD, Inputs, identity
from plexlens.metrics.unit import (
    BYTES_PER_SECOND,
    COUNT,
    FRACTION,
    IO_INTENSITY,
    MEAN_COUNT,
    MIB,
    MICROSECONDS,
    MILLISECONDS,
    PER_SECOND,
    PERCENTAGE,
    SECONDS,
)

_OVERVIEW = "z/OS RMF User's Guide, overview conditions for SMF 74-1"
_REPORT = "z/OS RMF Report Analysis, Direct Access Device Activity report"
_RECORD = "z/OS MVS System Management Facilities, SMF 74-1 device data section"
_SYNCHRONOUS = "z/OS RMF Report Analysis, Synchronous I/O Device Activity report"

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


def _component(name: str, title: str, amount: tuple[str, str], source: str, caveat: str = "") -> Metric:
    return per_event(
        name,
        title,
        MILLISECONDS,
        amount,
        ("timed_ios", "SMF74MEC"),
        source=source,
        caveat=caveat,
    )


def _response(f: Any) -> Any:
    device = f.pending_seconds + f.disconnect_seconds + f.connect_seconds
    return ratio(f.ios_queue_seconds, f.ios) + ratio(device, f.timed_ios)


DEVICE = Grain(
    name="dasd_device",
    title="DASD devices",
    row="one direct access device as one system used it in one interval",
    keys=(Key("device", "Device number"), Key("volume", "Volume")),
    attributes=(
        Attribute("lcu", "LCU"),
        Attribute("storage_group", "Storage group"),
        Attribute("model", "Device type"),
        Attribute("control_unit", "Control unit"),
    ),
    facts=(
        Fact("interval_seconds", "Interval", SECONDS, Rollup.SPAN, "SMF 74-1 SMF74INT"),
        Fact("samples", "Samples", COUNT, Rollup.COUNT, "SMF 74-1 SMF74SAM", of=()),
        Fact("devices", "Devices online", COUNT, Rollup.LEVEL, "SMF 74-1 SMF74CNF bit 7, or SMF74SSC > 0"),
        Fact("device_seconds", "Time of devices", SECONDS, Rollup.COUNT, "SMF 74-1 SMF74CNF bit 7, SMF74INT"),
        Fact("exposures", "Device and alias UCBs", MEAN_COUNT, Rollup.LEVEL, "SMF 74-1 SMF74NUX, SMF74PSM, SMF74CNX"),
        Fact("exposure_seconds", "Time of UCBs", SECONDS, Rollup.COUNT, "SMF 74-1 SMF74NUX, SMF74PSM, SMF74INT"),
        Fact("incorrect_devices", "Devices with incorrect times", COUNT, Rollup.COUNT, "SMF 74-1 SMF74CNF bits 2, 6"),
        *facts_of("SMF 74-1", _MEASURED),
        Fact(
            "command_response_seconds",
            "Initial command response time, part of pending",
            SECONDS,
            Rollup.COUNT,
            "SMF 74-1 SMF74CMR",
        ),
        Fact("interrupt_delay_seconds", "Interrupt delay", SECONDS, Rollup.COUNT, "SMF 74-1 SMF74IDT"),
        Fact("queued_requests", "Requests queued in IOS", MEAN_COUNT, Rollup.LEVEL, "SMF 74-1 SMF74QUE / SMF74SAM"),
        Fact(
            "ios_queue_seconds",
            "IOS queue time",
            SECONDS,
            Rollup.COUNT,
            "SMF 74-1 SMF74IOS, else SMF74QUE / SMF74SAM x SMF74INT",
        ),
        *facts_of("SMF 74-1", _FIELDS),
        Fact(
            "sync_failed",
            "Synchronous I/Os that did not succeed",
            COUNT,
            Rollup.COUNT,
            "SMF 74-1 SMF74SLBR, SLBW, SCMR, SNIS, STOR, STOW, SOR, SOW",
        ),
        Fact(
            "capacity_cylinders",
            "Capacity in cylinders",
            COUNT,
            Rollup.AMOUNT,
            "SMF 74-1 SMF74CAP",
            of=("sysplex", "volume"),
        ),
        *(Fact(f.name, f.title, f.unit, f.rollup, f"SMF 74-1 {f.field} / SMF74SAM x SMF74INT") for f in _SAMPLED),
    ),
    sources=(
        Source("SMF 74-1", ("smf74_1_device", "rmf_product_section"), _devices),
        Source("RMF XML DEVICE", ("rmf_xml_device",), devices_of_rmf_xml),
    ),
    metrics=(
        per_second("io_rate", "I/O rate", "ios", "SMF74SSC", _OVERVIEW + " (DART)"),
        Metric(
            "response_time",
            "Response time",
            MILLISECONDS,
            "IOS queue time / SMF74SSC + (SMF74PEN + SMF74DIS + SMF74CNN) / SMF74MEC",
            _REPORT + " (AVG RESP TIME)",
            _response,
        ),
        Metric(
            "ios_queue_time",
            "IOS queue time",
            MILLISECONDS,
            "SMF74IOS / SMF74SSC, else (SMF74QUE / SMF74SAM) / (SMF74SSC / SMF74INT)",
            _OVERVIEW + " (DQTAVG)",
            lambda f: ratio(f.ios_queue_seconds, f.ios),
            "Before SMF74IOS was recorded an estimate from samples of the queue: too few I/Os make it unreliable.",
        ),
        _component(
            "pending_time",
            "Pending time",
            ("pending_seconds", "SMF74PEN"),
            _OVERVIEW + " (DPTAVG)",
            "Overflows of the hardware counter are lost: very long delays of shared devices show too short.",
        ),
        _component("disconnect_time", "Disconnect time", ("disconnect_seconds", "SMF74DIS"), _OVERVIEW + " (DDTAVG)"),
        _component("connect_time", "Connect time", ("connect_seconds", "SMF74CNN"), _OVERVIEW + " (DCTAVG)"),
        _component(
            "command_response_time",
            "Initial command response time",
            ("command_response_seconds", "SMF74CMR"),
            _REPORT + " (AVG CMR DLY)",
            "Part of the pending time.",
        ),
        _component(
            "device_busy_time",
            "Device busy delay",
            ("device_busy_seconds", "SMF74DVB"),
            _REPORT + " (AVG DB DLY)",
            "Part of the pending time.",
        ),
        _component(
            "interrupt_delay_time",
            "Interrupt delay",
            ("interrupt_delay_seconds", "SMF74IDT"),
            _REPORT + " (AVG INT DLY)",
            "From the end of the I/O to its handling by z/OS; not part of the response time.",
        ),
        _component(
            "control_unit_queue_time", "Control unit queuing", ("control_unit_queue_seconds", "SMF74CUQ"), _RECORD
        ),
        Metric(
            "io_intensity",
            "I/O intensity",
            IO_INTENSITY,
            "I/O rate x response time",
            _REPORT + "; z/OS RMF Spreadsheet Reporter, DASD Activity",
            lambda f: ratio(f.ios, f.interval_seconds) * _response(f),
            "Milliseconds of I/O in each second; divided by 1000, the average number of I/Os in progress or waiting.",
        ),
        Metric(
            "connect_fraction",
            "Connected",
            PERCENTAGE,
            "SMF74CNN / SMF74INT",
            _REPORT + " (% DEV CONN)",
            lambda f: ratio(f.connect_seconds, f.device_seconds),
            "Of a base device with aliases all its I/Os together: can exceed 100 %. Several devices: their mean.",
        ),
        Metric(
            "utilization",
            "Device utilization",
            PERCENTAGE,
            "(SMF74CNN + SMF74DIS) / SMF74INT + SMF74UTL / SMF74SAM",
            _OVERVIEW + " (DVUTL)",
            lambda f: ratio(total(f.connect_seconds, f.disconnect_seconds, f.reserved_idle_seconds), f.device_seconds),
            "Of a base device with aliases all its I/Os together: can exceed 100 %. Several devices: their mean.",
        ),
        Metric(
            "exposure_utilization",
            "Utilization per UCB",
            PERCENTAGE,
            "(SMF74CNN + SMF74DIS) / (SMF74INT x UCBs)",
            _REPORT + " (% DEV UTIL, PAV)",
            lambda f: ratio(total(f.connect_seconds, f.disconnect_seconds), f.exposure_seconds),
            "UCBs: one, or SMF74NUX of a static PAV, or 1 + SMF74NUX / SMF74PSM of a HyperPAV base.",
        ),
        Metric(
            "reserved_fraction",
            "Reserved",
            FRACTION,
            "SMF74RSV / SMF74SAM",
            _OVERVIEW + " (DR)",
            lambda f: ratio(f.reserved_seconds, f.device_seconds),
        ),
        Metric(
            "allocated_fraction",
            "Allocated",
            FRACTION,
            "SMF74ALC / SMF74SAM",
            _REPORT + " (% ANY ALLOC)",
            lambda f: ratio(f.allocated_seconds, f.device_seconds),
        ),
        Metric(
            "not_ready_fraction",
            "Not ready",
            FRACTION,
            "SMF74NRD / SMF74SAM",
            _OVERVIEW + " (DNOTRDY)",
            lambda f: ratio(f.not_ready_seconds, f.device_seconds),
        ),
        Metric(
            "mount_pending_fraction",
            "Mount pending",
            FRACTION,
            "SMF74MTP / SMF74SAM",
            _OVERVIEW + " (DMTPEND)",
            lambda f: ratio(f.mount_pending_seconds, f.device_seconds),
        ),
        Metric(
            "sync_io_rate",
            "Synchronous I/O rate",
            PER_SECOND,
            "(SMF74SQR + SMF74SQW) / SMF74INT",
            _SYNCHRONOUS,
            lambda f: ratio(total(f.sync_reads, f.sync_writes), f.interval_seconds),
            "zHyperLink; not part of the I/O rate.",
        ),
        per_event(
            "sync_read_time",
            "Time of a synchronous read",
            MICROSECONDS,
            ("sync_read_seconds", "SMF74SPR"),
            ("sync_reads", "SMF74SQR"),
            source=_SYNCHRONOUS,
        ),
        per_event(
            "sync_write_time",
            "Time of a synchronous write",
            MICROSECONDS,
            ("sync_write_seconds", "SMF74SPW"),
            ("sync_writes", "SMF74SQW"),
            source=_SYNCHRONOUS,
        ),
        Metric(
            "sync_success_fraction",
            "Synchronous I/Os that succeeded",
            FRACTION,
            "(SMF74SQR + SMF74SQW) / (SMF74SQR + SMF74SQW + Σ failed)",
            _SYNCHRONOUS + " (% REQ SUCCESS)",
            lambda f: ratio(total(f.sync_reads, f.sync_writes), total(f.sync_reads, f.sync_writes, f.sync_failed)),
        ),
        Metric(
            "sync_bytes_per_second",
            "Synchronous transfer rate",
            BYTES_PER_SECOND,
            "(SMF74SBR + SMF74SBW) / SMF74INT",
            _SYNCHRONOUS,
            lambda f: ratio(total(f.sync_read_bytes, f.sync_write_bytes), f.interval_seconds),
        ),
    ),
)
