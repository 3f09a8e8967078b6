"""The intervals of a run, and the facts that their records need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from plexlens.simulate.scenario import Simulated, beginning
from plexlens.smf_rows.record import Record, Sections
from plexlens.smf_rows.rmf import RmfInterval

#: RMF samples once a second.
CYCLE = 1.0

#: SMF7XPRF, bit 3.
_Z_ARCHITECTURE = 0x10


@dataclass(frozen=True)
class Interval:
    """An interval of a run, with its scenario.

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
    def sysplex(self) -> str:
        """Name of the sysplex."""
        return str(self.values.get("sysplex", "PLEX1"))

    @property
    def seconds(self) -> float:
        """Length."""
        return float(self.truth["end"]) - float(self.truth["start"])

    @property
    def beginning(self) -> datetime:
        """When the measured part of the run begins, in UTC."""
        return beginning(self.values)

    @property
    def start(self) -> datetime:
        """Start in UTC."""
        return self.beginning + timedelta(seconds=self.truth["start"])

    @property
    def end(self) -> datetime:
        """End in UTC."""
        return self.beginning + timedelta(seconds=self.truth["end"])

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

    def rmf(self, system: Mapping[str, Any], name: str, sections: Sections) -> Record:
        """An RMF record of a system."""
        interval = RmfInterval(
            system=system["name"],
            sysplex=self.sysplex,
            partition=self.images(self.cec(system)).index(dict(system)) + 1,
            start=self.start,
            end=self.end,
            samples=self.samples,
            cycle=CYCLE,
            processor_flags=_Z_ARCHITECTURE,
        )
        return interval.record(name, sections)

    def used(self, system: str) -> Mapping[str, Any]:
        """Resource use of a system."""
        results: Mapping[str, Any] = next(used for used in self.truth["systems"] if used["name"] == system)
        return results

    @property
    def samples(self) -> int:
        """Number of RMF samples in the interval."""
        return max(round(self.seconds / CYCLE), 1)


def intervals(run: Simulated) -> Iterator[Interval]:
    """The intervals of a run in their order."""
    for number, truth in enumerate(run.results["intervals"]):
        yield Interval(run, number, truth)
