"""Systems of one name in several sysplexes: records of Db2 and CICS do not tell which of them wrote them."""

from __future__ import annotations

from collections.abc import Iterable

from plexlens.errors import UsageError
from plexlens.metrics.catalogue.current import GRAINS
from plexlens.metrics.facts import facts
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.reduction import narrowed

#: Grains of RMF, whose records name the sysplex of their system.
_NAMING = ("cpu_system", "workload_period", "coupling_structure")


def ambiguous(named: Iterable[tuple[str | None, str | None]]) -> str:
    """The systems that are in several sysplexes, in words.

    Parameters
    ----------
    named
        Pairs of system and sysplex.

    Returns
    -------
    str
        ``SYS1 is a system of PLEX1 and of PLEX2``; empty where each system is in a single sysplex.
    """
    sysplexes: dict[str, set[str]] = {}
    for system, sysplex in named:
        if system and sysplex:
            sysplexes.setdefault(system, set()).add(sysplex)
    several = {system: tuple(sorted(names)) for system, names in sorted(sysplexes.items()) if len(names) > 1}
    if not several:
        return ""
    same = next(iter(several.values()))
    systems = [system for system, names in several.items() if names == same]
    shown = ", ".join(systems[:8]) + (f" and {len(systems) - 8} more" if len(systems) > 8 else "")
    return f"{shown} {'is a system' if len(systems) == 1 else 'are systems'} of {' and of '.join(same)}"


def check_one(inputs: Inputs, name: str) -> None:
    """Refuse data in which a system is in several sysplexes.

    Parameters
    ----------
    inputs
        The selected tables.
    name
        What the user called them.

    Raises
    ------
    UsageError
        A system is in several sysplexes.
    """
    named: set[tuple[str | None, str | None]] = set()
    for grain in _NAMING:
        query = facts(inputs, narrowed(GRAINS[grain], (), ()))
        if query is not None:
            named.update(inputs.connection.execute(f"select distinct system, sysplex from {query.source}").fetchall())
    if text := ambiguous(named):
        raise UsageError(
            file=name,
            what=f"{text}; records of Db2 and CICS do not name their sysplex, so their numbers would be of both",
            remedy="give the files of one sysplex, or a database for each",
        )
