"""Data sets as jobs used them (SMF 42-6)."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.dasd.forms import flags, hexadecimal
from plexlens.metrics.expressions import interval_seconds
from plexlens.metrics.fields import Field, columns_of, names_of
from plexlens.metrics.inputs import RECORD, Inputs
from plexlens.metrics.unit import (
    MIB,
    SECONDS,
)

#: A unit of S42JDGMO: bit 31 of a TOD clock.
_OFFSET_UNIT = 1.048576

_COUNTS = (
    Field("ios", "I/Os", "S42DSION"),
    Field("reads", "Reads", "S42DSRDT"),
    Field("cache_candidates", "Cache candidates", "S42DSCND"),
    Field("cache_hits", "Cache hits", "S42DSSHTS"),
    Field("write_candidates", "Write candidates", "S42DSWCN"),
    Field("write_hits", "Write hits", "S42DSWHI"),
    Field("sequential_ios", "Sequential I/Os", "S42DSSEQ"),
    Field("record_cache_ios", "Record level cache I/Os", "S42DSRLC"),
    Field("inhibit_cache_ios", "Inhibit cache load I/Os", "S42DSICL"),
    Field("zhpf_reads", "zHPF reads", "S42DSHRD"),
    Field("zhpf_writes", "zHPF writes", "S42DSHWR"),
    Field("zhyperwrites", "zHyperWrite requests", "S42DSIOS"),
)

#: Times: fact, title, field in microseconds, field in units of 128 microseconds (empty where there is none).
_TIMES = (
    ("response_seconds", "Response time", "S42DSR1U", "S42DSIOR"),
    ("connect_seconds", "Connect time", "S42DSC1U", "S42DSIOC"),
    ("pending_seconds", "Pending time", "S42DSP1U", "S42DSIOP"),
    ("disconnect_seconds", "Disconnect time", "S42DSD1U", "S42DSIOD"),
    ("queue_seconds", "Control unit queue time", "S42DSQ1U", "S42DSIOQ"),
    ("device_active_seconds", "Device active only time", "S42DSA1U", "S42DSDA0"),
    ("device_busy_seconds", "Device busy time, part of pending", "S42DSB1U", ""),
    ("command_response_seconds", "Initial command response time, part of pending", "S42DSM1U", ""),
)

_ACCESS = (
    Field("sequential_read_blocks", "Blocks read sequentially", "S42AMSRB"),
    Field("sequential_read_seconds", "I/O delay of sequential reads", "S42AMSRR", SECONDS),
    Field("sequential_write_blocks", "Blocks written sequentially", "S42AMSWB"),
    Field("sequential_write_seconds", "I/O delay of sequential writes", "S42AMSWR", SECONDS),
    Field("direct_read_blocks", "Blocks read directly", "S42AMDRB"),
    Field("direct_read_seconds", "I/O delay of direct reads", "S42AMDRR", SECONDS),
    Field("direct_write_blocks", "Blocks written directly", "S42AMDWB"),
    Field("direct_write_seconds", "I/O delay of direct writes", "S42AMDWR", SECONDS),
    Field("read_bytes", "Bytes read", "S42AMRIB", MIB),
    Field("write_bytes", "Bytes written", "S42AMWIB", MIB),
    Field("encrypted_bytes", "Bytes encrypted, or that would be", "S42AMWBE", MIB),
    Field("decrypted_bytes", "Bytes decrypted, or that would be", "S42AMRBD", MIB),
)

_SYNCHRONOUS = (
    Field("sync_read_attempts", "Synchronous reads attempted", "S42SNRDT"),
    Field("sync_reads", "Synchronous reads that succeeded", "S42SNROS"),
    Field("sync_write_attempts", "Synchronous writes attempted", "S42SNWDT"),
    Field("sync_writes", "Synchronous writes that succeeded", "S42SNWOS"),
)

_DATA_SET_TYPES = {
    1: "sequential",
    2: "PDS",
    3: "PDSE",
    4: "direct",
    5: "ISAM",
    6: "EXCP",
    7: "extended sequential",
    10: "HFS",
    16: "KSDS data",
    17: "KSDS index",
    18: "variable RRDS data",
    19: "variable RRDS index",
    20: "fixed RRDS",
    21: "linear",
    22: "ESDS",
}

#: A table space or index of Db2: catalog, database and page set; the last two parts are its instance and partition.
_DB2_NAME = r"^([^.]+)\.DSNDB[CD]\.([^.]+)\.([^.]+)\.[IJ]000[12]\.[A-E][0-9]{3}$"

_BUFFERING = {0xC0: "GSR", 0x80: "LSR", 0x40: "RLS", 0x00: "NSR"}


def _with_section(inputs: Inputs, table: Any, name: str, columns: tuple[str, ...]) -> Any:
    """The table with columns of the section that belongs to the same data set."""
    if not inputs.has(name):
        return table.mutate(**{column: ibis.null("float64") for column in columns})
    section = inputs.table(name, *columns).select(*RECORD, "section_no", *columns)
    joined = table.left_join(section, [*RECORD, "section_no"])
    return joined.drop(*(column for column in joined.columns if column.endswith("_right")))


def _data_sets(inputs: Inputs) -> Any:
    times = tuple(name.lower() for _, _, *names in _TIMES for name in names if name)
    table = inputs.table("smf42_6_data_set", "s42dstyp", "s42dsfl1", "s42dsdev", text=("s42dsn", "s42dsvol", "s42dssc"))
    io = (*names_of(_COUNTS), *times, "s42dsmxr", "s42dsrdd", "s42dst1u")
    table = _with_section(inputs, table, "smf42_6_io", io)
    table = _with_section(inputs, table, "smf42_6_access_method", names_of(_ACCESS))
    table = _with_section(inputs, table, "smf42_6_sync_1", names_of(_SYNCHRONOUS))
    if inputs.has("smf42_6_job"):
        jobs = inputs.table("smf42_6_job", "s42jdgmo", text=("s42jdjnm", "s42jdwsc", "s42jdwld"))
        jobs = jobs.filter(jobs.section_no.fill_null(1) == 1)
        jobs = jobs.select(*RECORD, "s42jdgmo", "s42jdjnm", "s42jdwsc", "s42jdwld")
        table = table.left_join(jobs, list(RECORD)).drop("source_id_right", "record_no_right")
    else:
        nothing = ibis.null("string")
        table = table.mutate(s42jdgmo=ibis.null("float64"), s42jdjnm=nothing, s42jdwsc=nothing, s42jdwld=nothing)
    table = table.filter(table.s42dsion.notnull() | table.s42amsrb.notnull())
    ios = table.s42dsion.cast("float64")
    kind, form = flags(table.s42dstyp), flags(table.s42dsfl1)
    vsam = (kind >= 16) & (kind <= 22)
    return table.select(
        system=table.system,
        sysplex=table.sysplex,
        interval_start=table.interval_start,
        interval_end=table.interval_end,
        utc_offset=ibis.coalesce(table.utc_offset, table.s42jdgmo.cast("float64") * _OFFSET_UNIT),
        job=table.s42jdjnm,
        data_set=table.s42dsn,
        volume=table.s42dsvol.nullif(""),
        device=hexadecimal(table.s42dsdev.cast("int64"), 4),
        storage_class=table.s42dssc.nullif(""),
        service_class=table.s42jdwsc.nullif(""),
        workload=table.s42jdwld.nullif(""),
        db2_catalog=table.s42dsn.re_extract(_DB2_NAME, 1).nullif(""),
        db2_object=(
            table.s42dsn.re_extract(_DB2_NAME, 2).nullif("") + "." + table.s42dsn.re_extract(_DB2_NAME, 3).nullif("")
        ),
        organization=ibis.cases(*((kind == code, name) for code, name in _DATA_SET_TYPES.items()), else_="other"),
        buffering=ibis.ifelse(
            vsam, ibis.cases(*(((form & 0xC0) == bits, name) for bits, name in _BUFFERING.items())), ibis.null("string")
        ),
        open_seconds=interval_seconds(table),
        **columns_of(table, _COUNTS),
        **{name: _mean(table, fine, coarse) * ios for name, _, fine, coarse in _TIMES},
        read_disconnect_seconds=_mean(table, "S42DST1U", "S42DSRDD") * table.s42dsrdt.cast("float64"),
        longest_response_seconds=table.s42dsmxr.cast("float64"),
        **columns_of(table, _ACCESS),
        **columns_of(table, _SYNCHRONOUS),
    )


def _mean(table: Any, fine: str, coarse: str) -> Any:
    """A mean time: in microseconds where it was recorded so, else from the coarser field."""
    exact = table[fine.lower()].cast("float64")
    if not coarse:
        return exact
    rough = table[coarse.lower()].cast("float64")
    return ibis.coalesce(exact.nullif(0.0), rough, exact)
