"""The what-if options of `plexlens sharing`: from texts to a twin and the effects of changes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plexlens.cli.output import write_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from plexlens.metrics.inputs import Inputs
    from plexlens.report.model import Report, Section
    from plexlens.sharing.assumptions import Assumptions
    from plexlens.sharing.twin_calibrate import Twin
    from plexlens.sharing.what_if import WhatIf
    from plexlens.sharing.what_if_changes import Change


@dataclass(frozen=True)
class Asked:
    """Requests in the options; ``tolerance`` is a fraction, ``threshold`` is in seconds."""

    changes: tuple[Change, ...]
    seeds: int
    tolerance: float
    threshold: float | None
    index_pools: tuple[str, ...]
    write_scenario: Path | None

    @property
    def is_anything(self) -> bool:
        """Whether a twin is needed."""
        return bool(self.changes) or self.write_scenario is not None


@dataclass(frozen=True)
class Answered:
    """A twin and the effects of changes; both missing if nothing was requested."""

    twin: Twin | None
    answers: tuple[WhatIf, ...]
    tolerance: float

    def sections(self) -> tuple[Section, ...]:
        """Sections for the report."""
        from plexlens.sharing.page.what_if import what_if_sections

        return what_if_sections(self.twin, self.answers, self.tolerance) if self.twin else ()

    def defined(self, report: Report) -> Report:
        """The report with the definitions of these sections added."""
        from plexlens.sharing.page.what_if import DEFINITIONS

        return replace(report, definitions={**report.definitions, **DEFINITIONS}) if self.twin else report

    def added(self, numbers: dict[str, Any]) -> dict[str, Any]:
        """The numbers of the report with these added."""
        from plexlens.sharing.what_if_json import what_if_object

        if self.twin is None:
            return numbers
        return numbers | {"what_if": what_if_object(self.twin, self.answers, self.tolerance)}


def asked_for(
    texts: Mapping[str, Iterable[str] | None],
    *,
    seeds: int,
    tolerance: float,
    convert_above: float | None,
    index_pools: Iterable[str] | None,
    write_scenario: Path | None,
) -> Asked:
    """The checked requests of the options: ``tolerance`` in percent, ``convert_above`` in microseconds.

    Raises
    ------
    UsageError
        An option says what cannot be.
    """
    from plexlens.sharing.twin_calibrate import check_runs
    from plexlens.sharing.what_if_changes import parse_changes

    check_runs(seeds, tolerance, convert_above)
    threshold = None if convert_above is None else convert_above * 1e-6
    indexes = tuple(name.upper() for name in index_pools or ())
    return Asked(parse_changes(texts), seeds, tolerance / 100, threshold, indexes, write_scenario)


def answer(
    inputs: Inputs, name: str, stated: Assumptions, options: Asked, progress: Callable[[int, int, str], None]
) -> Answered:
    """A twin of the measured group, written if requested, and the effects of the changes."""
    if not options.is_anything:
        return Answered(None, (), options.tolerance)
    from plexlens.sharing.twin_calibrate import make_twin
    from plexlens.sharing.twin_measured import measure_sharing
    from plexlens.sharing.twin_toml import twin_toml
    from plexlens.sharing.what_if import what_if

    progress(0, 0, "measuring the group")
    measured = measure_sharing(inputs, name)
    twin = make_twin(
        measured,
        stated,
        threshold=options.threshold,
        index_pools=options.index_pools,
        seeds=range(1, options.seeds + 1),
        progress=progress,
    )
    answers = what_if(twin, options.changes, tolerance=options.tolerance, progress=progress)
    if options.write_scenario is not None:
        write_file(options.write_scenario, twin_toml(twin))
    return Answered(twin, answers, options.tolerance)
