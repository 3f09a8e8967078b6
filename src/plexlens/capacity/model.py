"""A calibrated model: the demand per transaction of each class, and the resources of each system.

A system is two stations that serve by importance, general engines and zIIPs, lines where transactions queue for
everything else (`plexlens.capacity.lines`), and time that does not depend on load (I/O service).
`plexlens.capacity.calibrate` makes models out of what was measured, `plexlens.capacity.predict` asks them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from plexlens.capacity.goals import Goal
from plexlens.capacity.lines import Law, Line, Wait
from plexlens.capacity.lines_together import Floats, LinesTogether, WaitsTogether
from plexlens.capacity.overflow import Overflow
from plexlens.metrics.page_numbers import page_numbers

_PLAN = page_numbers("plan")

#: Kinds of lines that are passed before anything is held.
_ENTERING = ("locks", "threads", "open TCBs")


@dataclass(frozen=True)
class Samples:
    """State samples of a class period by cause.

    Attributes
    ----------
    cpu_using, ziip_using
        Using a general processor, a zIIP.
    other_using, other_delay
        Using and delayed for anything else.
    unknown
        In a state that no cause is known of; velocity does not count them.
    """

    cpu_using: float
    cpu_delay: float
    ziip_using: float
    ziip_delay: float
    other_using: float
    other_delay: float
    unknown: float = 0.0

    @property
    def velocity(self) -> float | None:
        """Measured execution velocity."""
        using = self.cpu_using + self.ziip_using + self.other_using
        return _PLAN["velocity"](using=using, delay=self.cpu_delay + self.ziip_delay + self.other_delay)


@dataclass(frozen=True)
class ClassModel:
    """A class period on a system. Seconds are per transaction.

    Attributes
    ----------
    background
        Whether nothing tells its transactions: it is load on the engines, in pieces as long as those of the others.
    priority
        Rank by importance; lower is served first.
    general
        General engine seconds of what cannot run on a zIIP, uncaptured time included.
    eligible
        zIIP seconds of what can.
    visits
        How often a transaction takes engines, until it waits for something else.
    overflow
        Share of that which ran on general engines.
    io_service
        Connect and disconnect time.
    waits
        What it waits for at lines: volumes, QR TCBs, threads, coupling facilities, the log, locks.
    other
        Delay that neither processors nor I/O nor any line explains. It is taken to grow like that of the busiest
        resource measured.
    other_from
        ``samples``; ``rest`` where it is what the model leaves of the measured response, which is then reproduced by
        construction; ``records`` where records of transactions tell all waits, and there is none.
    unseen
        Load beyond which nothing can be concluded, because a QR TCB without records could be saturated; None where
        there is none.
    engine_factor
        Waiting for engines over that of the formula, where records tell all other waits; else 1.
    users
        Users of a closed class; None for arrivals from outside.
    """

    name: str
    importance: int | None
    priority: int
    goal: Goal
    background: bool
    transactions: float
    rate: float
    response: float | None
    velocity: float | None
    general: float
    eligible: float
    overflow: float
    visits: float = 1.0
    io_service: float = 0.0
    io_requests: float = 0.0
    waits: tuple[Wait, ...] = ()
    other: float = 0.0
    other_from: str = "samples"
    unseen: float | None = None
    engine_factor: float = 1.0
    samples: Samples | None = None
    users: int | None = None
    uncertain: tuple[str, ...] = ()

    def waited(self, *kinds: str) -> float:
        """Measured wait per transaction at lines of these kinds; without kinds, at all lines."""
        return sum(wait.seconds for wait in self.waits if not kinds or wait.kind in kinds)


@dataclass(frozen=True)
class SystemModel:
    """A system of the model.

    Attributes
    ----------
    engines, ziips
        Engines online and not parked, mean.
    busy, ziip_busy
        Engines kept busy, as measured.
    capture, ziip_capture
        CPU time of classes over busy time.
    ziip_factor
        General engine seconds that a zIIP second is worth.
    entitled
        General engines that the partition's weight grants; None where unknown.
    lines
        Queues other than engines, by name.
    spins
        Synchronous requests to coupling facilities a second, with the names of the lines that make them longer.
    stretch
        Time of each class at general engines over its service there, at the measured load.
    held
        Seconds of the response of each class in which it can hold locks and threads, at the measured load.
    """

    name: str
    classes: tuple[ClassModel, ...]
    engines: float
    ziips: float
    busy: float
    ziip_busy: float
    capture: float
    ziip_capture: float
    ziip_factor: float
    overflow: Overflow
    entitled: float | None = None
    lines: Mapping[str, Line] = field(default_factory=dict)
    spins: tuple[tuple[float, tuple[str, ...]], ...] = ()
    stretch: Mapping[str, float] = field(default_factory=dict)
    held: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def lines_together(self) -> LinesTogether:
        """The lines as arrays."""
        return LinesTogether(self.lines, [class_model.name for class_model in self.classes])

    @cached_property
    def waits_together(self) -> WaitsTogether:
        """The waits of the classes as arrays: at the lines, and what no line explains."""
        waits = [(*each.waits, Wait("other", {}, 0.0, each.other)) for each in self.classes]
        return WaitsTogether(waits, list(self.lines), _ENTERING)

    @cached_property
    def spinning(self) -> Floats:
        """Synchronous requests per second that each line makes longer."""
        places = {name: n for n, name in enumerate(self.lines)}
        result = np.zeros(len(places))
        for rate, names in self.spins:
            for name in names:
                result[places[name]] += rate
        return result

    @cached_property
    def busiest(self) -> tuple[str, float]:
        """The busiest resource at the measured load, and its busy share."""
        places = {"general engines": self.busy / self.engines}
        if self.ziips:
            places["zIIPs"] = self.ziip_busy / self.ziips
        places |= {name: line.busy for name, line in self.lines.items() if line.law is Law.QUEUE}
        name = max(places, key=lambda place: places[place])
        return name, places[name]

    def of(self, name: str) -> ClassModel:
        """A class by name; the KeyError lists the valid names."""
        for class_model in self.classes:
            if class_model.name == name:
                return class_model
        raise KeyError(f"no class {name!r}; there are {', '.join(class_model.name for class_model in self.classes)}")


@dataclass(frozen=True)
class Model:
    """All systems, and notes on their calibration.

    Attributes
    ----------
    users, serves
        The user's statements on closed classes and on served classes.
    """

    systems: tuple[SystemModel, ...]
    notes: tuple[str, ...]
    kind: str
    users: Mapping[str, int] = field(default_factory=dict)
    serves: Mapping[str, str] = field(default_factory=dict)
