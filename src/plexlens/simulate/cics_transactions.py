"""SMF 110-1: a performance row for each transaction in each region that it passed, from the simulator's own log.

What runs on which TCB: Db2 on an open TCB of key 8 (L8), the application on QR, or on the open TCB after its first call
to Db2 if it is threadsafe. A transaction that comes in in a
terminal region has a row there, which ends when it ends, and one in the region where it runs; both bear the same unit
of work of the network, as its accounting record of Db2 does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa

from plexlens import _core
from plexlens.simulate.logged import (
    NETWORK,
    Floats,
    Integers,
    Places,
    Stretch,
    bytes_of,
    floats,
    integers,
    names,
    origins,
    timestamps,
    unit_of_work_token,
)
from plexlens.simulate.processors import ziip_factor
from plexlens.smf_rows.dump import connectors
from plexlens.smf_rows.record import Record, Row
from plexlens.smf_rows.smf110_1 import performance

#: Fields of a row, by their short names in the dictionary.
FIELDS = (
    *("TRAN", "USERID", "TTYPE", "START", "STOP", "TRANNUM", "FCTYNAME", "NETUOWPX", "NETUOWSX", "PGMNAME"),
    *("RTYPE", "PERRECNT", "RSYSID", "SRVCLSNM"),
    *("USRDISPT", "USRCPUT", "CPUTONCP", "OFFLCPUT", "QRDISPT", "QRCPUT", "KY8DISPT", "KY8CPUT", "L8CPUT"),
    *("SUSPTIME", "DISPWTT", "QRMODDLY", "DSPDELAY", "RMITIME", "RMISUSP", "DB2REQCT", "DB2RDYQW"),
    *("MAXOTDLY", "FCIOWTT", "RMITOTAL", "RMIDB2", "SPSYNCCT", "SYNCTIME", "IRIOWTT"),
)

#: Rows of one record: a region's buffer is full then.
_ROWS = 50

#: Task numbers go round.
_TASKS = 99_999

_Columns = dict[str, Any]


def dictionary_records(catalogue: _core.Catalogue, places: Places, start: datetime) -> Iterator[Record]:
    """The dictionary of each region's rows, written when its monitoring begins."""
    entries: list[Row] = _core.standard_dictionary(catalogue).to_pylist()
    for region, system in zip(places.regions, places.systems_of_regions, strict=True):
        yield Record("smf110_1_class1", system, start, {"smf110_1_dictionary": entries}, region)


@dataclass
class Monitoring:
    """CICS monitoring of all regions.

    Attributes
    ----------
    catalogue
        Layouts.
    places
        Names by number.
    """

    catalogue: _core.Catalogue
    places: Places
    _connectors: list[int] = field(init=False, repr=False)
    _tasks: Integers = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._connectors = connectors(self.catalogue, FIELDS)
        self._tasks = np.zeros(len(self.places.regions), np.int64)

    def records(self, logged: Mapping[str, pa.RecordBatch]) -> Stretch:
        """Records of the ended transactions: each region's rows in order of completion, 50 per record.

        What is left in a region's buffer is written with the last of them.
        """
        rows = logged["transactions"]
        terminal = rows.filter(rows["terminal_region"].is_valid())
        parts = [self._stay(rows)]
        if terminal.num_rows:
            parts.append(self._terminal(terminal))
        region = np.concatenate([part.pop("region") for part in parts])
        stop = np.concatenate([part["stop"] for part in parts])
        order = np.lexsort((stop, region))
        columns = {name: _joined([part[name] for part in parts], order) for name in parts[0]}
        region, stop = region[order], stop[order]
        columns["trannum"] = pa.array(self._numbers(region))
        record, last = _buffers(region)
        ends = stop[last]
        # In the dump records stand by the time at which they were written.
        turn = np.argsort(ends, kind="stable")
        place = np.empty(len(turn), np.int64)
        place[turn] = np.arange(len(turn))
        again = np.argsort(place[record], kind="stable")
        columns["start"], columns["stop"] = timestamps(columns["start"].to_numpy()), timestamps(stop)
        columns |= {
            "system": names(self.places.systems_of_regions, region),
            "subsystem": names(self.places.regions, region),
            "interval_end": timestamps(ends[record]),
            "record_no": pa.array(place[record].astype(np.uint64)),
        }
        batch = pa.RecordBatch.from_pydict(columns).take(pa.array(again))
        encoded = _core.encode_records(
            self.catalogue,
            "smf110_1_class3",
            {"smf110_1_performance": batch},
            connectors=self._connectors,
        )
        return Stretch(encoded, ends[turn])

    def _numbers(self, region: Integers) -> Integers:
        """Task numbers, counted separately in each region."""
        first = np.searchsorted(region, region)
        numbers = self._tasks[region] + np.arange(len(region)) - first
        self._tasks += np.bincount(region, minlength=len(self._tasks))
        return numbers % _TASKS + 1

    def _named(self, rows: pa.RecordBatch) -> _Columns:
        """Columns common to all rows of a transaction."""
        classes = integers(rows, "class")
        count = rows.num_rows
        token = unit_of_work_token(rows)
        period = np.tile(np.array([0, 1], np.uint8), (count, 1))
        names_of_classes = self.places.classes
        return {
            "TRAN": names([names_of_class[:4] for names_of_class in names_of_classes], classes),
            "USERID": _constant("CICSUSER", count),
            "NETUOWPX": names([f"{NETWORK}.{region}" for region in self.places.regions], origins(rows)),
            "NETUOWSX": bytes_of(np.hstack([token, period])),
            "PGMNAME": names([names_of_class[:8] for names_of_class in names_of_classes], classes),
            "RTYPE": _constant("T", count),
            "PERRECNT": _constant(1, count),
            "SRVCLSNM": names([names_of_class[:8] for names_of_class in names_of_classes], classes),
        }

    def _stay(self, rows: pa.RecordBatch) -> _Columns:
        """Columns for the region in which the transaction ran."""
        count, region = rows.num_rows, integers(rows, "region")
        attached, ended = integers(rows, "attached"), integers(rows, "ended")
        calls = integers(rows, "db2_calls")
        in_db2, qr = floats(rows, "db2_elapsed"), floats(rows, "dispatched") / 1e9
        ziip, db2_cpu, in_region = floats(rows, "db2_ziip"), floats(rows, "db2_cpu"), floats(rows, "region_cpu")
        qr_cpu = in_region - floats(rows, "open_cpu")
        on_open = db2_cpu - ziip + ziip * self._factors[region] + floats(rows, "open_cpu")
        on_key8 = in_db2 + floats(rows, "open_elapsed")
        waited, waits = floats(rows, "thread_wait") / 1e9, integers(rows, "thread_waits")
        tcb_waited = floats(rows, "open_tcb_wait") / 1e9
        files = floats(rows, "waits_file").astype(np.int64)
        entries = calls + integers(rows, "commits")
        dispatched = qr + on_key8
        dispatches = integers(rows, "dispatches")
        suspended = np.maximum((ended - attached) / 1e9 - dispatched, 0.0)
        routed = rows["terminal_region"].is_valid().to_numpy(zero_copy_only=False)
        once = np.ones(count, np.int64)
        again = np.maximum(dispatches - 1, 0)
        redispatch = floats(rows, "redispatch") / 1e9
        fields = {
            "START": self.places.micros(attached),
            "STOP": self.places.micros(ended),
            "TTYPE": names(["U", "T"], routed.astype(np.int64)),
            "FCTYNAME": _constant("", count),
            "RSYSID": _constant("", count),
            "DB2REQCT": pa.array(calls),
            "SPSYNCCT": pa.array(once),
        }
        clocks = {
            "USRDISPT": (dispatched, dispatches + entries),
            "USRCPUT": (qr_cpu + on_open, dispatches + entries),
            "CPUTONCP": (in_region + db2_cpu - ziip, dispatches + entries),
            "OFFLCPUT": (floats(rows, "db2_ziip_on_cp"), entries),
            "QRDISPT": (qr, dispatches),
            "QRCPUT": (qr_cpu, dispatches),
            "KY8DISPT": (on_key8, entries),
            "KY8CPUT": (on_open, entries),
            "L8CPUT": (on_open, entries),
            "SUSPTIME": (suspended, once + again + waits + (tcb_waited > 0) + files),
            "MAXOTDLY": (tcb_waited, (tcb_waited > 0).astype(np.int64)),
            "FCIOWTT": (floats(rows, "wait_file"), files),
            "DISPWTT": (redispatch, again),
            "QRMODDLY": (redispatch, again),
            "DSPDELAY": (floats(rows, "first_dispatch") / 1e9, once),
            "RMITIME": (in_db2 + waited, entries),
            "RMISUSP": (waited, waits),
            "DB2RDYQW": (waited, waits),
            "RMITOTAL": (in_db2 + waited, entries),
            "RMIDB2": (in_db2 + waited, entries),
            "SYNCTIME": (floats(rows, "sync_point") / 1e9, once),
            "IRIOWTT": (np.zeros(count), np.zeros(count, np.int64)),
        }
        return {"region": region} | performance(self._named(rows) | fields, _columns(clocks))

    def _terminal(self, rows: pa.RecordBatch) -> _Columns:
        """Columns for the region in which the transaction arrived."""
        count = rows.num_rows
        arrived, sent, ended = (integers(rows, name) for name in ("arrived", "sent", "ended"))
        qr, cpu = floats(rows, "terminal_dispatched") / 1e9, floats(rows, "terminal_cpu")
        dispatches, redispatch = integers(rows, "terminal_dispatches"), floats(rows, "terminal_redispatch") / 1e9
        once, none, never = np.ones(count, np.int64), np.zeros(count), np.zeros(count, np.int64)
        again = np.maximum(dispatches - 1, 0)
        without = (
            *("OFFLCPUT", "KY8DISPT", "KY8CPUT", "L8CPUT", "RMITIME", "RMISUSP", "DB2RDYQW", "RMITOTAL"),
            *("MAXOTDLY", "FCIOWTT"),
        )
        fields = {
            "START": self.places.micros(arrived),
            "STOP": self.places.micros(ended),
            "TTYPE": _constant("T", count),
            "FCTYNAME": _constant("T001", count),
            "RSYSID": names([region[:4] for region in self.places.regions], integers(rows, "region")),
            "DB2REQCT": pa.array(never),
            "SPSYNCCT": pa.array(once),
        }
        clocks = {
            **dict.fromkeys((*without, "RMIDB2", "SYNCTIME"), (none, never)),
            "USRDISPT": (qr, dispatches),
            "USRCPUT": (cpu, dispatches),
            "CPUTONCP": (cpu, dispatches),
            "QRDISPT": (qr, dispatches),
            "QRCPUT": (cpu, dispatches),
            "SUSPTIME": (np.maximum((ended - arrived) / 1e9 - qr, 0.0), once + again + once),
            "DISPWTT": (redispatch, again),
            "QRMODDLY": (redispatch, again),
            "DSPDELAY": (floats(rows, "terminal_first_dispatch") / 1e9, once),
            "IRIOWTT": ((ended - sent) / 1e9, once),
        }
        columns = performance(self._named(rows) | fields, _columns(clocks))
        return {"region": integers(rows, "terminal_region")} | columns

    @property
    def _factors(self) -> Floats:
        """Speed of a zIIP relative to a general engine, by region."""
        machines = {cec["name"]: cec for cec in self.places.values["cec"]}
        systems = {system["name"]: machines[system["cec"]] for system in self.places.values["system"]}
        return np.array([ziip_factor(systems[name]) for name in self.places.systems_of_regions])


def _buffers(region: Integers) -> tuple[Integers, Integers]:
    """Record of each row, for rows ordered by region; and the last row of each record."""
    within = np.arange(len(region)) - np.searchsorted(region, region)
    begins = within % _ROWS == 0
    record = np.cumsum(begins) - 1
    return record, np.append(np.flatnonzero(begins)[1:] - 1, len(region) - 1)


def _columns(clocks: Mapping[str, tuple[Floats, Integers]]) -> dict[str, tuple[pa.Array, pa.Array]]:
    return {name: (pa.array(seconds), pa.array(count)) for name, (seconds, count) in clocks.items()}


def _constant(value: str | int, count: int) -> pa.Array:
    return pa.repeat(pa.scalar(value), count)


def _joined(parts: list[Any], order: Integers) -> pa.Array:
    arrays = [part if isinstance(part, pa.Array) else pa.array(part) for part in parts]
    return pa.concat_arrays(arrays).take(pa.array(order))
