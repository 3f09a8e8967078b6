"""SMF 74-1: volumes as used by a system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plexlens.smf_rows.record import Row, Sections

#: SMF74SUB: direct access; SMF74CNF: online; SMF74CNX: PAV base.
_DASD, _ONLINE, _PAV = 0x20, 0x01, 0x20


@dataclass(frozen=True)
class Volume:
    """A volume, with the sums of the times of its I/Os in seconds.

    Parameters
    ----------
    number, serial, group
        Device number, volume serial and storage group.
    exposures
        Base and aliases of its parallel access volume.
    requests
        I/Os.
    connected, pending, disconnected, queued
        Connect, pending and disconnect time, and IOS queue time.
    """

    number: int
    serial: str
    group: str
    exposures: int
    requests: int
    connected: float
    pending: float
    disconnected: float
    queued: float

    def row(self) -> Row:
        """The device section."""
        return {
            "smf74num": self.number,
            "smf74cnf": _ONLINE,
            "smf74cnx": _PAV,
            "smf74nux": self.exposures,
            "smf74ser": self.serial,
            "smf74sgn": self.group,
            "smf74ssc": self.requests,
            "smf74mec": self.requests,
            "smf74cnn": self.connected,
            "smf74pen": self.pending,
            "smf74dis": self.disconnected,
            "smf74ios": self.queued,
        }


def sections(volumes: Sequence[Volume]) -> Sections:
    """The sections of a record."""
    control: Row = {"smf74sub": _DASD, "smf74tot": len(volumes), "smf74gen": len(volumes)}
    return {"smf74_1_device_control": [control], "smf74_1_device": [volume.row() for volume in volumes]}
