"""The question to a model: a load, and a configuration."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from plexlens.capacity.attribution import matching
from plexlens.capacity.model import Model, SystemModel
from plexlens.capacity.network import Setting
from plexlens.errors import UsageError


@dataclass(frozen=True)
class Change:
    """A load and a configuration, as changes relative to the measured ones.

    Attributes
    ----------
    scale
        Factor on the rates of all classes.
    scales
        Factors on single classes, on top of ``scale``, by class or class period.
    engines, ziips
        Text: ``8`` engines a system, or ``+1``, ``-1``; empty for those there are.
    speed
        Speed of all engines over the measured one.
    members
        Systems added, each like the others, that take an equal share of every class's transactions.
    member_cost
        CPU time of a transaction that sharing with added members costs, as a share of what it has.
    fixed_background
        Whether work without transactions stays as it is, whatever the load.
    """

    scale: float = 1.0
    scales: Mapping[str, float] = field(default_factory=dict)
    engines: str = ""
    ziips: str = ""
    speed: float = 1.0
    members: int = 0
    member_cost: float = 0.0
    fixed_background: bool = False

    def at(self, load: float) -> Change:
        """The same configuration at a multiple of the load."""
        return replace(self, scale=self.scale * load)


def check(change: Change, model: Model) -> None:
    """Refuse an impossible change.

    Raises
    ------
    UsageError
        A factor that is negative or not a number, an invalid number of engines, or an unknown class.
    """
    named = {f"of {name}": factor for name, factor in change.scales.items()}
    for what, value, least in (
        *((f"--scale {name}".strip(), factor, 0.0) for name, factor in {"": change.scale, **named}.items()),
        ("--speed", change.speed, 1e-3),
        ("--members", change.members, 0),
        ("--member-cost", change.member_cost, 0.0),
    ):
        if not (math.isfinite(value) and value >= least):
            raise UsageError(file="", what=f"{what} is {value:g}", remedy=f"give {least:g} or more")
    there = {class_model.name for system in model.systems for class_model in system.classes}
    for name in change.scales:
        if not matching(there, name):
            raise UsageError(
                file="", what=f"there is no class {name!r}", remedy=f"name one of {', '.join(sorted(there))}"
            )
    for system in model.systems:
        count_of("engines", change.engines, system.engines, 1)
        count_of("ziips", change.ziips, system.ziips, 0)


def count_of(what: str, text: str, now: float, least: int) -> float:
    """Number of engines requested by a text of `Change`, given the present number.

    Raises
    ------
    UsageError
        It is not a number, or leaves fewer than `least`.
    """
    if not text:
        return now
    try:
        number = int(text)
    except ValueError:
        raise UsageError(
            file="", what=f"--{what} {text!r} is not a number of engines", remedy="give 8, or +1 for one more"
        ) from None
    count = now + number if text[0] in "+-" else float(number)
    if count < least - 1e-9:
        raise UsageError(file="", what=f"--{what} {text} leaves {count:g}", remedy=f"leave {least} or more")
    return max(0.0, count)


def setting(change: Change, model: Model, system: SystemModel) -> Setting:
    """The settings of a change for a single system."""
    count = len(model.systems)
    share = count / (count + change.members)
    factors = {
        class_model.name: change.scale
        * math.prod(factor for name, factor in change.scales.items() if matching({class_model.name}, name))
        for class_model in system.classes
    }
    work = {
        class_model.name: class_model.rate * (class_model.general + class_model.eligible)
        for class_model in system.classes
        if not class_model.background
    }
    before = sum(work.values())
    # Work without transactions grows as the processor time of those with some; every system has its own.
    growth = sum(work[name] * factors[name] for name in work) / before if before else change.scale
    behind = 1.0 if change.fixed_background else growth
    rates = {
        class_model.name: class_model.rate * (behind if class_model.background else factors[class_model.name] * share)
        for class_model in system.classes
    }
    return Setting(
        rates,
        count_of("engines", change.engines, system.engines, 1),
        count_of("ziips", change.ziips, system.ziips, 0),
        change.speed,
        1.0 + (change.member_cost if change.members else 0.0),
        share,
    )
