"""SMF 102: every page reference in the form of Db2's performance trace (IFCID 198), and names of page sets (105).

A getpage is a row with its status (hit or miss in the member's own pool, or no read of a page that is made anew), its
access and its agent; a row of set write follows where the page is changed, then its release.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from plexlens import _core
from plexlens.simulate.logged import Integers, Places, Stretch, integers, names, timestamps
from plexlens.simulate.scenario import Scenario
from plexlens.smf_rows.db2 import DB2_12, QWHS, header_row
from plexlens.smf_rows.record import Record, Row, named
from plexlens.smf_rows.smf102 import ACCESSES, FUNCTIONS, NAMES, REFERENCES, STATUSES, name_row, reference_columns

#: Database id of the first group's page sets; the next group has the next.
_DATABASE = 257

#: Object id of a group's first page set: 1 is the database's own.
_OBJECT = 2

#: Most that the fields hold.
_MOST_PAGE_SETS = 0xFFFF - _OBJECT
_MOST_PAGES = 1 << 32
_MOST_POOL = 0xFF

#: Getpages of one record, with their set writes and releases.
_GETPAGES = 100

#: Names of one record.
_NAMES = 500


def check_page_trace(scenario: Scenario) -> None:
    """Check that page sets and pools fit the fields of IFCID 198.

    Raises
    ------
    ScenarioFileError
        One does not.
    """
    for number, group in enumerate(scenario.values.get("db2", [])):
        for at, page_set in enumerate(group["page_set"]):
            if page_set["pages"] > _MOST_PAGES or at >= _MOST_PAGE_SETS:
                raise scenario.wrong(
                    f"db2[{number}].page_set[{at}]",
                    "page numbers and page sets of IFCID 198 have 32 and 16 bits",
                    f"give at most {_MOST_PAGES} pages and {_MOST_PAGE_SETS} page sets, or leave --page-trace out",
                )
        for at, page_set in enumerate(group["pool"]):
            if page_set["number"] > _MOST_POOL:
                raise scenario.wrong(
                    f"db2[{number}].pool[{at}].number",
                    f"pool numbers of IFCID 198 have 8 bits, and {page_set['number']} has more",
                    f"give at most {_MOST_POOL}, or leave --page-trace out",
                )


def named_page_set(name: str) -> tuple[str, str]:
    """Database and table space of a page set, at most eight characters each."""
    database, dot, space = name.partition(".")
    return (database[:8], space[:8]) if dot and space else ("SIMULATE", name[:8])


def name_records(places: Places, start: datetime) -> Iterator[Record]:
    """Names of each member's page sets: IFCID 105."""
    for number, group in enumerate(places.groups):
        rows: list[Row] = [
            name_row(_DATABASE + number, _OBJECT + at, *named_page_set(page_set["name"]))
            for at, page_set in enumerate(group["page_set"])
        ]
        for member in group["member"]:
            for sequence, first in enumerate(range(0, len(rows), _NAMES)):
                sections = {
                    "db2_qwhs": [header_row(member["name"], start, sequence, ifcid=NAMES)],
                    "smf102_ifcid105": rows[first : first + _NAMES],
                }
                yield Record("smf102_ifcid105", member["system"], start, sections, member["name"])


@dataclass
class PageTrace:
    """The trace of all members.

    Attributes
    ----------
    catalogue
        Layouts.
    places
        Names by number.
    """

    catalogue: _core.Catalogue
    places: Places
    _sequence: Integers = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._sequence = np.zeros(len(self._members), np.int64)

    @property
    def _members(self) -> list[tuple[str, str]]:
        """System and name of the members of all groups, one group after the other."""
        return [(member["system"], member["name"]) for group in self.places.groups for member in group["member"]]

    def records(self, logged: Mapping[str, pa.RecordBatch]) -> Stretch:
        """Records of the references: those of each member in order, 100 getpages per record.

        A record bears the time of its last getpage; what is left in a member's buffer is written with the last of them.
        """
        rows = logged["references"]
        first = np.cumsum([0, *(len(group["member"]) for group in self.places.groups)])
        member = first[integers(rows, "group")] + integers(rows, "member")
        order = np.argsort(member, kind="stable")
        rows, member = rows.take(pa.array(order)), member[order]
        within = np.arange(len(member)) - np.searchsorted(member, member)
        begins = within % _GETPAGES == 0
        record = np.cumsum(begins) - 1
        last = np.append(np.flatnonzero(begins)[1:] - 1, len(member) - 1)
        ends = self.places.micros(integers(rows, "time"))[last]
        turn = np.argsort(ends, kind="stable")
        place = np.empty(len(turn), np.int64)
        place[turn] = np.arange(len(turn))
        again = np.argsort(place[record], kind="stable")
        entries = self._entries(rows.take(pa.array(again)), place[record][again])
        header = self._headers(member[last][turn], ends[turn])
        encoded = _core.encode_records(
            self.catalogue, "smf102_ifcid198", {"db2_qwhs": header, "smf102_ifcid198": entries}
        )
        return Stretch(encoded, ends[turn])

    def _headers(self, member: Integers, ends: Integers) -> pa.RecordBatch:
        """A header for each record, in the order of writing."""
        count = len(member)
        order = np.argsort(member, kind="stable")
        number = np.empty(count, np.int64)
        sorted_members = member[order]
        number[order] = (
            self._sequence[sorted_members] + np.arange(count) - np.searchsorted(sorted_members, sorted_members)
        )
        self._sequence += np.bincount(member, minlength=len(self._sequence))
        systems, subsystems = zip(*self._members, strict=True)
        header = {
            "subsystem": names(subsystems, member),
            "ifcid": pa.repeat(pa.scalar(REFERENCES), count),
            "release": pa.repeat(pa.scalar(DB2_12), count),
            "sequence": pa.array(number % (1 << 32)),
        }
        return pa.RecordBatch.from_pydict(
            {
                "record_no": pa.array(np.arange(count, dtype=np.uint64)),
                "system": names(systems, member),
                "subsystem": names(subsystems, member),
                "interval_end": timestamps(ends),
                **named(QWHS, header),
            }
        )

    def _entries(self, rows: pa.RecordBatch, record: Integers) -> pa.RecordBatch:
        """Getpage, set write (if any), and release of each reference."""
        update = _flags(rows, "update")
        times = 2 + update.astype(np.int64)
        at = np.repeat(np.arange(rows.num_rows), times)
        step = np.arange(len(at)) - np.repeat(np.cumsum(times) - times, times)
        is_getpage, is_release = step == 0, step == np.repeat(times, times) - 1
        function = np.where(is_getpage, 0, np.where(is_release, 2, 1))
        status = np.where(is_getpage, integers(rows, "status")[at], 0)
        access = np.where(is_getpage, _flags(rows, "sequential")[at].astype(np.int64), 2)
        group = integers(rows, "group")[at]
        columns = reference_columns(
            database_id=pa.array(_DATABASE + group),
            object_id=pa.array(_OBJECT + integers(rows, "page_set")[at]),
            pool=pa.array(integers(rows, "pool")[at]),
            function=names(FUNCTIONS, function),
            status=names(STATUSES, status),
            access=names(ACCESSES, access),
            page=pa.array(integers(rows, "page")[at]),
            agent=pa.array(integers(rows, "task")[at] + 1),
        )
        return pa.RecordBatch.from_pydict({"record_no": pa.array(record[at].astype(np.uint64)), **columns})


def _flags(rows: pa.RecordBatch, name: str) -> npt.NDArray[np.bool_]:
    values: npt.NDArray[np.bool_] = rows[name].to_numpy(zero_copy_only=False).astype(np.bool_)
    return values
