"""Who writes which record of a simulated interval, and what they find in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from plexlens.simulate.scenario import Simulated

#: When the measured part of every run begins: a Monday morning, so that the same seed gives the same bytes.
BEGINNING = datetime(2026, 1, 5, 9, tzinfo=UTC)

#: RMF samples once a second.
CYCLE = 1.0

#: A cell: field name in lower case to its value in base units (seconds, bytes, counts).
Row = dict[str, Any]


@dataclass(frozen=True)
class Record:
    """One SMF record before it is encoded.

    Attributes
    ----------
    map
        Name of its record map, such as ``smf74_4``.
    system, subsystem
        SMF id; Db2 that wrote it, or empty.
    start, end
        The interval, in UTC; records of Db2 bear the end alone.
    sections
        Section name to its rows.
    """

    map: str
    system: str
    subsystem: str
    start: datetime
    end: datetime
    sections: dict[str, list[Row]]


@dataclass(frozen=True)
class Interval:
    """One interval of a run, with the scenario it belongs to.

    Attributes
    ----------
    run
        The run.
    number
        From 0.
    truth
        What the simulator measured in it.
    """

    run: Simulated
    number: int
    truth: Mapping[str, Any]

    @property
    def values(self) -> dict[str, Any]:
        """The scenario's tables."""
        return self.run.scenario.values

    @property
    def seconds(self) -> float:
        """Length."""
        return float(self.truth["end"]) - float(self.truth["start"])

    @property
    def start(self) -> datetime:
        """Start in UTC."""
        return BEGINNING + timedelta(seconds=self.truth["start"])

    @property
    def end(self) -> datetime:
        """End in UTC."""
        return BEGINNING + timedelta(seconds=self.truth["end"])

    def cec(self, system: Mapping[str, Any]) -> dict[str, Any]:
        """The machine of a system."""
        return next(cec for cec in self.values["cec"] if cec["name"] == system["cec"])

    def images(self, cec: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Systems on a machine, in the order of their partition numbers."""
        return [system for system in self.values["system"] if system["cec"] == cec["name"]]

    def engines(self, system: Mapping[str, Any]) -> tuple[int, int]:
        """Logical general engines and zIIPs of a system."""
        cec = self.cec(system)
        general, ziips = cec["engines"], cec.get("ziips", 0)
        return min(system.get("engines", general), general), min(system.get("ziips", ziips), ziips)

    def record(self, system: Mapping[str, Any], name: str, sections: dict[str, list[Row]]) -> Record:
        """An RMF record of a system: the product section added, empty sections left out."""
        product: Row = {
            "smf7xprd": "RMF",
            "smf7xsam": self.samples,
            "smf7xcyc": CYCLE,
            # Bit 3: z/Architecture.
            "smf7xprf": 0x10,
            "smf7xptn": self.images(self.cec(system)).index(dict(system)) + 1,
            "smf7xiet": int(self.end.timestamp()).to_bytes(8, "big"),
            "smf7xoil": round(self.seconds),
            "smf7xgie": self.end,
            "smf7xxnm": self.values.get("sysplex", "PLEX1"),
            "smf7xsnm": system["name"],
        }
        held = {"rmf_product_section": [product]} | {key: rows for key, rows in sections.items() if rows}
        return Record(name, system["name"], "", self.start, self.end, held)

    @property
    def samples(self) -> int:
        """Samples that RMF takes in it."""
        return max(round(self.seconds / CYCLE), 1)


def intervals(run: Simulated) -> Iterator[Interval]:
    """The intervals of a run in their order."""
    for number, truth in enumerate(run.results["intervals"]):
        yield Interval(run, number, truth)
