"""SMF 74-2: transactions that regions of different systems sent each other (CICS interregion communication by XCF)."""

from __future__ import annotations

from collections.abc import Iterator

from plexlens.simulate.written import Interval
from plexlens.smf_rows.record import Record
from plexlens.smf_rows.smf74_2 import Member, sections

#: XCF group that CICS regions join.
_GROUP = "DFHIR000"


def signal_records(interval: Interval) -> Iterator[Record]:
    """A record of each system where transactions go from system to system.

    Each transaction that is sent is a signal. Classes, paths and the signals of lock managers are not simulated.
    """
    systems = interval.values["system"]
    if len(systems) < 2 or not any(values.get("terminal_regions") for values in interval.values["class"]):
        return
    for system in systems:
        members = [
            Member(_GROUP, used["name"], used["system"], used["shipped"], used["received"])
            for used in interval.truth["regions"]
            if used["system"] == system["name"]
        ]
        if members:
            yield interval.rmf(system, "smf74_2", sections(members))
