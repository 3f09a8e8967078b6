"""SMF 74-2: members of XCF groups on one system, and the signals that they sent and received."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plexlens.smf_rows.record import Row, Sections

#: R742MST1: active.
_ACTIVE = 3


@dataclass(frozen=True)
class Member:
    """A member of a group, of the job of the same name, with its signals."""

    group: str
    name: str
    system: str
    sent: int
    received: int

    def row(self) -> Row:
        """The member section."""
        return {
            "r742msys": self.system,
            "r742mgrp": self.group,
            "r742mmem": self.name,
            "r742mst1": _ACTIVE,
            "r742msnt": self.sent,
            "r742mrcv": self.received,
            "r742mjob": self.name,
        }


def sections(members: Sequence[Member]) -> Sections:
    """The sections of a record."""
    return {"smf74_2_member": [member.row() for member in members]}
