"""Compositions of times: the parts that explain a change of the whole.

Each composition lists the measures that are parts of a measure. The remainder is a part of its own, with a title
that says what it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from plexlens.compare.runs.headings import NONE, common_name
from plexlens.metrics.causes import causes


class Kind(StrEnum):
    """Kind of time in a part."""

    CPU = "processor"
    IO = "I/O"
    WAIT = "other waits"
    REST = "not distinguished"


@dataclass(frozen=True)
class Part:
    """A measure that is part of another.

    Attributes
    ----------
    factor
        From its base unit to that of the whole.
    title
        What it is called in a sentence; the measure's own title where empty.
    """

    measure: str
    kind: Kind
    factor: float = 1.0
    title: str = ""


@dataclass(frozen=True)
class Composition:
    """A measure and its parts.

    Attributes
    ----------
    rest
        What the parts leave; empty where they leave nothing, and are then only told.
    scale
        Measure by which whole and parts are divided, and what the quotient is called; empty for none.
    """

    whole: str
    parts: tuple[Part, ...]
    rest: str = ""
    rest_kind: Kind = Kind.REST
    scale: str = ""
    scaled_title: str = ""


def _vm(heading: str, kind: Kind, title: str, factor: float = 1.0) -> Part:
    return Part(common_name(NONE, heading), kind, factor, title)


def database_compositions() -> tuple[Composition, ...]:
    """The wholes of the catalogue (`plexlens.metrics.causes`), as compositions of a database's metrics."""
    return tuple(
        Composition(
            whole.metric,
            tuple(Part(part.metric, Kind[part.kind.upper()], title=part.title) for part in whole.parts),
            whole.rest,
            Kind[whole.rest_kind.upper()],
            whole.scale,
            whole.scaled_title,
        )
        for whole in causes().wholes
    )


#: Tables of the VM/ESA report; (H) is the hardware monitor, (T) what the players of users measured.
VM: tuple[Composition, ...] = (
    Composition(
        common_name(NONE, "AVG LAST (T)"),
        (_vm("TOT INT ADJ", Kind.WAIT, "time within the system (internal response time)"),),
        "time outside the system: VTAM, network, line",
        Kind.WAIT,
    ),
    Composition(
        common_name(NONE, "TOT INT ADJ"),
        (_vm("PBT/CMD (H)", Kind.CPU, "processor time", 1e-3),),
        "waiting for processors, pages, disks and servers",
        Kind.WAIT,
    ),
    Composition(
        common_name(NONE, "PBT/CMD (H)"),
        (
            _vm("CP/CMD (H)", Kind.CPU, "the control program (CP)"),
            _vm("EMUL/CMD (H)", Kind.CPU, "code of users (emulation)"),
        ),
    ),
    Composition(
        common_name(NONE, "PBT/CMD"),
        (
            _vm("CP/CMD", Kind.CPU, "the control program (CP)"),
            _vm("EMUL/CMD", Kind.CPU, "code of users (emulation)"),
        ),
    ),
)

#: The total of the tables of the CICS study; its parts are the address spaces.
CICS_TOTAL = common_name(NONE, "TOTAL ms CPU per transaction")

#: What follows the work done: a rate, and the rate of work that causes it.
CAUSED: tuple[tuple[str, str], ...] = (
    ("db2_pool.read_ios_per_second", "db2_pool.getpages_per_second"),
    (common_name(NONE, "I/Os/s"), common_name(NONE, "getpages/s")),
    (common_name(NONE, "RI/O/Sec"), common_name(NONE, "getpages/s")),
)

#: What objects add up to, such as the processor time of a transaction over its address spaces.
ADDED: tuple[str, ...] = ("cics_class_cost.cpu_time", "cpu_system.processors_used")
