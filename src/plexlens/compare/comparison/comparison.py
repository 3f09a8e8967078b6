"""Comparison of two runs, from their environments to the reasons for the changes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from plexlens.compare.runs.comparability import Bounds, Comparability, comparability
from plexlens.compare.runs.deltas import Delta, deltas
from plexlens.compare.runs.environment import Environments, environments
from plexlens.compare.runs.explain import Explanation, LoadExplanation, explanations, load_explanations
from plexlens.compare.runs.run import Run
from plexlens.compare.runs.significance import METHOD_INTERVALS, METHOD_NONE, METHOD_REPEATS
from plexlens.errors import NothingUsableError, UsageError

if TYPE_CHECKING:
    from plexlens.compare.comparison.study_pairs import StudyPair


@dataclass(frozen=True)
class Comparison:
    """Result of comparing two runs.

    Attributes
    ----------
    deltas
        Every number of both runs; those that only explain others (`Measure.part`) are left out.
    method
        How chance was judged.
    pair
        Statements of a study about the two runs; None if there are none.
    """

    base: Run
    new: Run
    environments: Environments
    comparability: Comparability
    deltas: tuple[Delta, ...]
    explanations: tuple[Explanation, ...]
    loads: tuple[LoadExplanation, ...]
    method: str
    pair: StudyPair | None


def compare(base: Run, new: Run, *, bounds: Bounds | None = None, studies: Path | None = None) -> Comparison:
    """Compare two runs.

    Parameters
    ----------
    base, new
        The runs; differences are NEW less BASE, ratios NEW over BASE.
    bounds
        How far the work of the two may differ and still count as alike.
    studies
        Where studies are; those that come with Plexlens if not given.

    Raises
    ------
    UsageError
        The runs are of different studies, or one is of a study and the other of a database.
    NothingUsableError
        The two have no number in common.
    """
    if base.family != new.family:
        raise UsageError(
            file="",
            what=f"{base.name} is of {_family(base)} and {new.name} of {_family(new)}: the two are not comparable",
            remedy="name two runs of one study, or two performance databases",
        )
    results = tuple(delta for delta in deltas(base, new) if not delta.measure.part)
    if not any(delta.difference is not None for delta in results):
        objects = sorted({delta.object_name for delta in results if delta.object_name})
        raise NothingUsableError(
            file="",
            what=f"{base.name} and {new.name} have no number in common",
            remedy="name runs with the same kind of data"
            + (f"; objects found: {', '.join(objects[:6])}" if objects else ""),
        )
    return Comparison(
        base,
        new,
        environments(base, new),
        comparability(base, new, bounds),
        results,
        explanations(base, new),
        load_explanations(base, new),
        _method(results, base),
        _said_of_both(base, new, studies),
    )


def _said_of_both(base: Run, new: Run, studies: Path | None) -> StudyPair | None:
    """Statements of their study about two runs; None for databases, for which no study is loaded."""
    if base.family == "database":
        return None
    from plexlens.compare.comparison.study_pairs import study_pair

    return study_pair(base, new, studies)


def _family(run: Run) -> str:
    return "a performance database" if run.family == "database" else f"study {run.family}"


def _method(result: tuple[Delta, ...], base: Run) -> str:
    if not any(delta.interval is not None for delta in result):
        return METHOD_NONE
    return METHOD_INTERVALS if base.family == "database" else METHOD_REPEATS
