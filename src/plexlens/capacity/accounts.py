"""Facts about service classes from records of single transactions: SMF 110-1 (CICS monitoring), 101 (Db2 accounting).

SMF 72-3 charges the processor time of CICS transactions to their regions. These records have it by transaction, with
the service class that it ran in, and so tell how the time of the regions is divided. They also tell what transactions
wait for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from plexlens.metrics.inputs import Inputs
from plexlens.pdb.engine import quoted, rows_of

#: Clocks and counts of Db2 accounting: what ended less what had begun where a record is of one thread.
_DB2_CLOCKS = ("qwacejst", "qwacbjst", "qwaccls1_ziip", "qwacziip_eligible", "qwacasc")
_DB2_BURSTS = ("qwacarne", "qwacarnl", "qwacarnr", "qwacarnw", "qwacarns", "qwacarlg", "qwaccomm")

#: Waits in Db2 by kind: seconds and counts (accounting class 3).
_DB2_WAITS = {
    "I/O": (("qwacawti", "qwacawtr", "qwacawtw"), ("qwacarne", "qwacarnr", "qwacarnw")),
    "log": (("qwacawlg",), ("qwacarlg",)),
    "locks": (("qwacawtl",), ("qwacarnl",)),
    "contention": (("qwacawtj", "qwacawtk", "qwacawtm"), ("qwacarnj", "qwacarnk", "qwacarnm")),
    "page P-locks": (("qwacawto",), ("qwacarno",)),
}

#: Waits in Db2 that no queue of a plan explains, by what is waited for (accounting class 3).
_DB2_UNQUEUED = {
    "page latches": ("qwacawtp",),
    "notify messages": ("qwacawtg",),
    "global contention: page set P-locks": ("qwacawtn",),
    "global contention: other P-locks": ("qwacawtq",),
    "Db2 latches": ("qwacawlh",),
}
_QWAX_UNQUEUED = {
    "archive log": ("qwaxalog", "qwaxawar"),
    "drain locks": ("qwaxawdr",),
    "claims": ("qwaxawcl",),
    "service tasks of Db2": ("qwaxocse", "qwaxslse", "qwaxdsse", "qwaxotse"),
    "writes forced at commit": ("qwaxawfc",),
}

#: The same in CICS (SMF 110-1). Waits for another region or system are not among them: what passes there is its time.
_CICS_UNQUEUED = {
    "MXT": ("mxtdelay_seconds",),
    "transaction class limit": ("tcldelay_seconds",),
    "enqueues of CICS": ("enqdelay_seconds", "gnqdelay_seconds"),
    "CICS lock manager": ("lmdelay_seconds",),
    "TCB mismatch": ("dstcbmwt_seconds",),
    "files by VSAM RLS": ("rlswait_seconds",),
    "coupling facility data tables": ("cfdtwait_seconds",),
    "journals": ("jciowtt_seconds",),
    "temporary storage": ("tsiowtt_seconds", "tsshwait_seconds"),
    "transient data": ("tdiowtt_seconds", "tdilwtt_seconds"),
    "MQ": ("wmqgetwt_seconds",),
}

#: Waits in a CICS region by kind: seconds that count, seconds of them that are another wait, and counts.
_CICS_WAITS = {
    "QR TCB": (("dspdelay_seconds", "qrmoddly_seconds"), ("tcldelay_seconds", "mxtdelay_seconds"), ("qrdispt_count",)),
    "threads": (("db2rdyqw_seconds",), (), ("db2reqct",)),
    "open TCBs": (("maxotdly_seconds",), (), ("db2reqct",)),
    "files": (("fciowtt_seconds",), (), ("fciowtt_count",)),
}

_CICS = (
    "usrcput_seconds", "usrdispt_count", "qrdispt_seconds", "qrdispt_count", "qrcput_seconds", "rmidb2_seconds",
    *dict.fromkeys(name for parts in _CICS_WAITS.values() for names in parts for name in names),
    *dict.fromkeys(name for names in _CICS_UNQUEUED.values() for name in names),
)  # fmt: skip


@dataclass(frozen=True)
class Waited:
    """Waits of a kind: seconds, and the number of waits or of requests that could have waited."""

    seconds: float
    count: float


@dataclass(frozen=True)
class Account:
    """Processor time of a service class on a system, its interruptions, and its waits.

    Attributes
    ----------
    general, ziip, ziip_on_cp
        Seconds on general engines, on zIIPs, and of eligible work on general engines; None where it is not recorded.
    cpu
        Seconds on all engines.
    bursts
        Times that an engine was taken.
    waits
        By kind: ``I/O``, ``log``, ``locks``, ``contention`` (L-locks of all kinds), ``page P-locks``, ``coupling``,
        ``commit`` (with the pages that it writes to group buffer pools); of CICS by kind and region (``QR TCB AOR1``).
    in_db2, with_thread
        Seconds that transactions spent in Db2, and with a thread to it.
    unqueued
        Waits that no queue of a plan explains, by what is waited for.
    members
        Waits for I/O by the Db2 that did it.
    """

    kind: str
    cpu: float
    general: float | None
    ziip: float | None
    ziip_on_cp: float | None
    bursts: float
    waits: Mapping[str, Waited] = field(default_factory=dict)
    in_db2: float = 0.0
    with_thread: float = 0.0
    unqueued: Mapping[str, Waited] = field(default_factory=dict)
    members: Mapping[str, Waited] = field(default_factory=dict)

    def waited(self, kind: str) -> Waited:
        """Waits of a kind in all regions."""
        results = [entry for name, entry in self.waits.items() if name == kind or name.startswith(f"{kind} ")]
        return Waited(sum(entry.seconds for entry in results), sum(entry.count for entry in results))


@dataclass(frozen=True)
class RegionUse:
    """Use of a CICS region by its transactions: seconds on its QR TCB and dispatches, by class.

    Attributes
    ----------
    held
        Seconds on the QR TCB by service class.
    in_db2
        Seconds in Db2, where a thread is held, by service class.
    with_open_tcb
        Seconds from the first call to Db2, or the wait for an open TCB there, to the end of the task, by service class:
        an estimate, in which the work before the first call is as long as that between two.
    open_tcb_waits
        Waits for an open TCB at the limit.
    """

    visits: float
    waited: float
    held: Mapping[str, float]
    in_db2: Mapping[str, float]
    thread_waits: Waited
    tasks: float
    with_open_tcb: Mapping[str, float] = field(default_factory=dict)
    open_tcb_waits: Waited = Waited(0.0, 0.0)


@dataclass(frozen=True)
class Records:
    """Sums of transaction records by the interval in which the transactions ended, by system, region and service
    class.
    """

    monitoring: tuple[dict[str, Any], ...] = ()
    accounting: tuple[dict[str, Any], ...] = ()

    def part(self, keep: Callable[[datetime], bool]) -> Records:
        """The records that ended in the given intervals."""
        return Records(
            tuple(row for row in self.monitoring if keep(row["time"])),
            tuple(row for row in self.accounting if keep(row["time"])),
        )


def read_records(inputs: Inputs, start: datetime, seconds: float) -> Records:
    """Sums over periods of ``seconds`` from a start; a record counts in the period in which it ended."""
    return Records(tuple(_monitoring(inputs, start, seconds)), tuple(_accounting(inputs, start, seconds)))


def accounts(records: Records) -> dict[str, dict[tuple[str, str], Account]]:
    """Accounts by kind of record (``SMF 110-1``, ``SMF 101``), then by system and service class."""
    results = {"SMF 110-1": _of_monitoring(records.monitoring), "SMF 101": _of_accounting(records.accounting)}
    return {kind: rows for kind, rows in results.items() if rows}


def regions(records: Records) -> dict[tuple[str, str], RegionUse]:
    """Use of CICS regions, by system and region."""
    results = {}
    for key, rows in _grouped(records.monitoring, "system", "subsystem").items():
        visits = _sum(rows, "qrdispt_count")
        if not visits or not key[1]:
            continue
        results[key[0], key[1]] = RegionUse(
            visits,
            _waited(rows, "QR TCB").seconds,
            {row: _sum(of, "qrdispt_seconds") for (row,), of in _grouped(rows, "service_class").items()},
            {row: _sum(of, "rmidb2_seconds") for (row,), of in _grouped(rows, "service_class").items()},
            _waited(rows, "threads"),
            _sum(rows, "tasks"),
            {row: _sum(of, "with_open_tcb") for (row,), of in _grouped(rows, "service_class").items()},
            _waited(rows, "open TCBs"),
        )
    return results


def _grouped(rows: Iterable[dict[str, Any]], *names: str) -> dict[tuple[str, ...], list[dict[str, Any]]]:
    results: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in rows:
        results.setdefault(tuple(row[name] or "" for name in names), []).append(row)
    return results


def _sum(rows: Iterable[dict[str, Any]], *names: str) -> float:
    return float(sum(row.get(name) or 0.0 for row in rows for name in names))


def _waited(rows: list[dict[str, Any]], kind: str) -> Waited:
    seconds, less, counts = _CICS_WAITS[kind]
    return Waited(max(0.0, _sum(rows, *seconds) - _sum(rows, *less)), _sum(rows, *counts))


def _named(rows: list[dict[str, Any]], kinds: Mapping[str, tuple[str, ...]]) -> dict[str, Waited]:
    """Waits by resource, without the resources that nobody waited for."""
    results = {kind: Waited(_sum(rows, *names), 0.0) for kind, names in kinds.items()}
    return {kind: waited for kind, waited in results.items() if waited.seconds > 0.0}


def _rows(
    inputs: Inputs, rows: str, name: str, sums: dict[str, str], *, start: datetime, seconds: float, end: str
) -> list[dict[str, Any]]:
    """Sums by system, region or member, service class and period.

    ``end`` is SQL of the moment at which a task ended.
    """
    moment = f"coalesce(({end})::timestamptz, interval_end)"
    # What ended at the end of a stretch is part of it.
    place = f"floor((epoch({moment})::bigint - 1 - {int(start.timestamp())}) / {seconds!r})::bigint"
    sums = {"tasks": "count(*)"} | sums
    listed = ", ".join(f"{sql} as {quoted(column)}" for column, sql in sums.items())
    sql = (
        f"select system, subsystem, nullif({name}, '') as service_class, {place} as place, {listed} from {rows} "
        f"where nullif({name}, '') is not null and system is not null group by 1, 2, 3, 4"
    )
    return [
        {key: 0 if value is None and key in sums else value for key, value in row.items()}
        | {"time": start + timedelta(seconds=(row["place"] or 0) * seconds)}
        for row in rows_of(inputs.connection, sql)
    ]


#: Of tasks that call Db2: all their time but the waits for a first dispatch and for an open TCB, and what they do on
#: the QR TCB before the first call.
_WITH_OPEN_TCB = """
sum(case when db2reqct > 0 then greatest(0,
    (epoch_us("stop"::timestamptz) - epoch_us("start"::timestamptz))::double / 1e6 - coalesce(dspdelay_seconds, 0)
    - coalesce(maxotdly_seconds, 0) - coalesce(qrdispt_seconds + qrmoddly_seconds, 0) / (db2reqct + 1)
) end)"""


def _monitoring(inputs: Inputs, start: datetime, seconds: float) -> list[dict[str, Any]]:
    if not inputs.has("smf110_1_performance"):
        return []
    table = inputs.selected("smf110_1_performance", *_CICS, "start", "stop", "srvclsnm")
    sums = {name: f"sum({name}::double)" for name in _CICS} | {"with_open_tcb": _WITH_OPEN_TCB}
    return _rows(inputs, table.source, "srvclsnm", sums, start=start, seconds=seconds, end='"stop"')


def _of_monitoring(rows: Iterable[dict[str, Any]]) -> dict[tuple[str, str], Account]:
    results = {}
    for (system, name), of_class in _grouped(rows, "system", "service_class").items():
        cpu = _sum(of_class, "usrcput_seconds")
        waits = {
            f"{kind} {region}": _waited(of_region, kind)
            for (region,), of_region in _grouped(of_class, "subsystem").items()
            for kind in _CICS_WAITS
        }
        if cpu > 0:
            results[system, name] = Account(
                "SMF 110-1", cpu, None, None, None, _sum(of_class, "usrdispt_count"), waits,
                _sum(of_class, "rmidb2_seconds"), unqueued=_named(of_class, _CICS_UNQUEUED),
            )  # fmt: skip
    return results


def _accounting(inputs: Inputs, start: datetime, seconds: float) -> list[dict[str, Any]]:
    if not inputs.has("smf101_ifcid3_qwac"):
        return []
    waits = dict.fromkeys(name for parts in _DB2_WAITS.values() for names in parts for name in names)
    unqueued = [name for names in _DB2_UNQUEUED.values() for name in names]
    own = [name for names in _QWAX_UNQUEUED.values() for name in names]
    columns = tuple(dict.fromkeys((*_DB2_CLOCKS, *_DB2_BURSTS, *waits, "qwacawte", *unqueued)))
    table = inputs.selected("smf101_ifcid3_qwac", *columns, "qwacbsc", "qwacesc", "qwacwlme")
    coupling = inputs.raw("smf101_ifcid3_qwax", ("qwaxixlt", "qwaxixle", *own))
    pools = inputs.raw("smf101_ifcid3_qbga", ("qbgasw",))
    of_thread = ", ".join(f"x.{name}" for name in ("qwaxixlt", "qwaxixle", *own))
    rows = (
        f"(select r.*, {of_thread}, g.qbgasw from {table.source} r left join ({coupling}) x "
        "on r.source_id = x.source_id and r.record_no = x.record_no "
        f"left join (select source_id, record_no, sum(qbgasw::double) as qbgasw from ({pools}) group by all) g "
        "on r.source_id = g.source_id and r.record_no = g.record_no)"
    )
    sums = {name: f"sum({name}::double)" for name in (*columns, "qwaxixlt", "qwaxixle", "qbgasw", *own)}
    # Of records that are rolled up the end is a clock that began with the epoch of all clocks.
    began = "coalesce(qwacbsc::timestamptz, timestamptz '1900-01-01 00:00:00+00')"
    elapsed = f"(epoch_us(qwacesc::timestamptz) - epoch_us({began}))::double / 1e6"
    return _rows(
        inputs,
        rows,
        "qwacwlme",
        sums | {"with_thread": f"sum({elapsed})"},
        start=start,
        seconds=seconds,
        end="interval_end",
    )


def _of_accounting(rows: Iterable[dict[str, Any]]) -> dict[tuple[str, str], Account]:
    results = {}
    for (system, name), of_class in _grouped(rows, "system", "service_class").items():
        general = max(0.0, _sum(of_class, "qwacejst") - _sum(of_class, "qwacbjst"))
        ziip = _sum(of_class, "qwaccls1_ziip")
        if general + ziip <= 0:
            continue
        waits = {kind: Waited(_sum(of_class, *of), _sum(of_class, *count)) for kind, (of, count) in _DB2_WAITS.items()}
        waits["coupling"] = Waited(_sum(of_class, "qwaxixlt"), _sum(of_class, "qwaxixle"))
        waits["commit"] = Waited(_sum(of_class, "qwacawte"), _sum(of_class, "qbgasw"))
        results[system, name] = Account(
            "SMF 101", general + ziip, general, ziip, _sum(of_class, "qwacziip_eligible"),
            _sum(of_class, *_DB2_BURSTS), waits, _sum(of_class, "qwacasc"),
            _sum(of_class, "with_thread"), _named(of_class, _DB2_UNQUEUED | _QWAX_UNQUEUED),
            {
                member: Waited(*(_sum(rows, *part) for part in _DB2_WAITS["I/O"]))
                for (member,), rows in _grouped(of_class, "subsystem").items()
            },
        )  # fmt: skip
    return results
