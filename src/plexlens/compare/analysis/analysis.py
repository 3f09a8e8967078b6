"""The analysis of a study: question, set-up, figures, curves, checks, findings and claims.

It is declared in ``analysis.toml`` (and further files ``analysis-*.toml``) next to ``study.toml``; every number in it
is computed from the tables of the study.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import tomli

from plexlens.compare.analysis.claims import Claim, Finding, read_claim, read_finding
from plexlens.compare.analysis.curves import Curve, read_curve
from plexlens.compare.analysis.entries import Entry
from plexlens.compare.analysis.figures import Figure, read_figure
from plexlens.compare.analysis.leave_out import LeaveOut, read_check
from plexlens.compare.analysis.values import Numbers
from plexlens.compare.audit.audit import Audit
from plexlens.compare.study.model import Place, StudyError

_LISTS = ("figures", "curves", "checks", "findings", "claims")


@dataclass(frozen=True)
class Analysis:
    """The evaluated declarations about a study; empty if nothing is declared.

    Attributes
    ----------
    question
        What the study set out to find, in our words.
    setup
        How it was measured, a sentence each.
    """

    question: str = ""
    setup: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    curves: tuple[Curve, ...] = ()
    checks: tuple[LeaveOut, ...] = ()
    findings: tuple[Finding, ...] = ()
    claims: tuple[Claim, ...] = ()


class _WithResults(Protocol):
    @property
    def id(self) -> str: ...

    def results(self) -> Mapping[str, float | None]: ...


def _content(path: Path) -> dict[str, Any]:
    try:
        return tomli.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(file=str(path), what=f"it cannot be read: {error}", remedy="restore the file") from error
    except tomli.TOMLDecodeError as error:
        raise StudyError(file=str(path), what=f"it is not valid TOML: {error}", remedy="correct the syntax") from error


def analysis_files(audit: Audit) -> list[Path]:
    """The files that declare the analysis of a study, ``analysis.toml`` first; empty if there are none."""
    folder = audit.study.path.parent
    return [*folder.glob("analysis.toml"), *sorted(folder.glob("analysis-*.toml"))]


def analyse(audit: Audit, options: Mapping[str, Mapping[str, Any]] | None = None) -> Analysis:
    """Evaluate the declarations about a study.

    Parameters
    ----------
    audit
        The study, recomputed.
    options
        Keys of curves that stand for those declared, by the id of the curve: ``{"storage-response": {"goal": 2.0}}``.
        Findings and claims keep to what is declared.

    Raises
    ------
    StudyError
        A file cannot be read, names what the study does not have, or a finding does not hold.
    """
    question = ""
    setup: tuple[str, ...] = ()
    entries: dict[str, list[Any]] = {name: [] for name in _LISTS}

    def results(kind: str, name: str, result: str) -> float:
        there: list[_WithResults] = entries["curves" if kind == "curve" else "checks"]
        function = next((result for result in there if result.id == name), None)
        if function is None:
            raise KeyError(
                f"there is no {kind} {name!r}; known are {', '.join(result.id for result in there) or 'none'}"
            )
        number = function.results().get(result)
        if number is None:
            names = ", ".join(key for key, value in function.results().items() if value is not None)
            raise KeyError(f"{kind} {name!r} has no result {result!r}; it has {names}")
        return number

    rests: dict[tuple[str, str], frozenset[Place]] = {}
    contents = []
    for path in analysis_files(audit):
        numbers = Numbers(audit, str(path), results, rests)
        whole = Entry(_content(path), "", numbers)
        whole.only("question", "setup", *_LISTS)
        if "question" in whole.content:
            question = whole.text("question")
        setup += whole.texts("setup")
        contents.append(whole)

    def read(name: str, function: Callable[[Entry], Any], other: Mapping[str, Mapping[str, Any]]) -> list[Any]:
        read_so_far: list[Any] = []
        for whole in contents:
            for entry in whole.entries(name):
                label = entry.content.get("id")
                content = {**entry.content, **other.get(str(label), {})}
                named = Entry(content, f"{name} {label!r}" if label else entry.where, entry.numbers.afresh())
                if label is not None and any(label == before.id for before in read_so_far):
                    raise named.wrong("id", "two entries have this id", "give each an id of its own")
                read_so_far.append(function(named))
                rests[name.removesuffix("s"), str(label)] = named.numbers.read
        return read_so_far

    # Findings and claims may name results of curves and checks, so they come last.
    for name, function in (
        ("figures", read_figure), ("curves", read_curve), ("checks", read_check), ("findings", read_finding),
        ("claims", read_claim),
    ):  # fmt: skip
        entries[name] = read(name, function, {})
    if options:
        # After the findings, which refer to the curves as declared.
        entries["curves"] = read("curves", read_curve, options)
    return Analysis(question, setup, **{name: tuple(values) for name, values in entries.items()})
