"""SMF 74-1: the volumes over which page sets are spread."""

from __future__ import annotations

from collections.abc import Iterator

from plexlens.simulate.written import Interval
from plexlens.smf_rows.record import Record
from plexlens.smf_rows.smf74_1 import Volume, sections

#: Number of the first volume.
_FIRST = 0x1000


def number_of(volume: int) -> int:
    """Device number of a volume of the scenario."""
    return _FIRST + volume


def serial_of(volume: int) -> str:
    """Serial of a volume of the scenario; six characters, as VOLSER has them."""
    return f"SIM{volume:03d}" if volume < 1000 else f"S{volume:05d}"


def device_records(interval: Interval) -> Iterator[Record]:
    """A record for each system with its own I/Os.

    The wait for a volume is IOS queue time; what is neither pending nor disconnect time of a service is connect time.
    """
    parallel = interval.values.get("dasd", {}).get("parallel", 4)
    for system in interval.values["system"]:
        volumes = [
            Volume(
                number=number_of(number),
                serial=serial_of(number),
                group="DB2DATA",
                exposures=parallel,
                requests=used["requests"],
                connected=max(used["service"] - used["pending"] - used["disconnected"], 0.0),
                pending=used["pending"],
                disconnected=used["disconnected"],
                queued=used["queued"],
            )
            for number, used in enumerate(interval.used(system["name"])["volumes"])
        ]
        yield interval.rmf(system, "smf74_1", sections(volumes))
