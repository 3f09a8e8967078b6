"""SMF 74-1: the volumes that page sets are spread over."""

from __future__ import annotations

from collections.abc import Iterator

from plexlens.simulate.written import Interval, Record, Row

#: SMF74SUB: direct access; SMF74CNF: online; SMF74CNX: PAV base.
_DASD, _ONLINE, _PAV = 0x20, 0x01, 0x20

#: Number of the first volume.
_FIRST = 0x1000


def device_records(interval: Interval) -> Iterator[Record]:
    """A record of each system, with the I/Os that it asked for.

    The wait for a volume is IOS queue time; what is neither pending nor disconnect time of a service is connect time.
    """
    parallel = interval.values.get("dasd", {}).get("parallel", 4)
    used_by = {used["name"]: used["volumes"] for used in interval.truth["systems"]}
    for system in interval.values["system"]:
        devices: list[Row] = [
            {
                "smf74num": _FIRST + number,
                "smf74cnf": _ONLINE,
                "smf74cnx": _PAV,
                "smf74nux": parallel,
                "smf74ser": f"SIM{number:03d}",
                "smf74sgn": "DB2DATA",
                "smf74ssc": used["requests"],
                "smf74mec": used["requests"],
                "smf74cnn": max(used["service"] - used["pending"] - used["disconnected"], 0.0),
                "smf74pen": used["pending"],
                "smf74dis": used["disconnected"],
                "smf74ios": used["queued"],
            }
            for number, used in enumerate(used_by[system["name"]])
        ]
        control: Row = {"smf74sub": _DASD, "smf74tot": len(devices), "smf74gen": len(devices)}
        sections = {"smf74_1_device_control": [control], "smf74_1_device": devices}
        yield interval.record(system, "smf74_1", sections)
