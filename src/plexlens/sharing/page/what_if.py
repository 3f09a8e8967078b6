"""Effects of changes on the cost of data sharing, as sections of its report: predictions, accuracy of the twin."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from plexlens.metrics.page_numbers import page_numbers
from plexlens.report.model import Block, Cell, Column, ColumnKind, Level, Note, Section, Table
from plexlens.report.model import text_column as _text
from plexlens.report.model.page_definitions import definitions_of
from plexlens.sharing.conversion import Threshold
from plexlens.sharing.twin import PoolFit
from plexlens.sharing.twin_calibrate import Check, Twin
from plexlens.sharing.twin_numbers import TITLES, Key
from plexlens.sharing.what_if import Outcome, Verdict, WhatIf
from plexlens.simulate.estimates import Estimate

#: Units of numbers by their sign, with the factor to the unit shown.
_SHOWN: dict[str, tuple[str, float]] = {
    "/s": ("/s", 1.0),
    "%": ("%", 100.0),
    "us": ("µs", 1e6),
    "ms": ("ms", 1e3),
    "engines": ("engines", 1.0),
}

#: Numbers of the twin.
_WHAT_IF = page_numbers("what_if")

DEFINITIONS = definitions_of(_WHAT_IF)

#: Columns of the first table: numbers of all structures together, in this order.
_SUMMARY = ("overhead", "coupling_cpu", "false_contention", "hit", "xi_reclaim", "service", "async", "db2_time")


def _number(name: str, definition: str, title: str, *, group: str = "") -> Column:
    number = _WHAT_IF[definition]
    return Column(name, title, ColumnKind.NUMBER, number.unit, number.id, group=group)


def shown(what: str, value: float | None) -> str:
    """A number with its unit; empty if there are none."""
    if value is None or math.isnan(value):
        return ""
    unit, factor = _SHOWN[TITLES[what][1]]
    scaled = value * factor
    digits = 0 if scaled == 0 else min(max(2 - math.floor(math.log10(abs(scaled))), 0), 6)
    return f"{scaled:,.{digits}f} {unit}"


def interval(what: str, estimate: Estimate) -> str:
    """A mean with the half-width of its confidence interval and its unit."""
    unit, factor = _SHOWN[TITLES[what][1]]
    return f"{Estimate(estimate.mean * factor, estimate.half_width * factor)} {unit}"


def what_if_sections(twin: Twin, answers: Sequence[WhatIf], tolerance: float) -> tuple[Section, ...]:
    """Sections on the effects of changes, and on the twin that predicts them.

    Parameters
    ----------
    twin
        The twin before the changes.
    answers
        What `plexlens.sharing.what_if.what_if` gave; none where the twin alone was asked for.
    tolerance
        By how much the twin may be off, as a share of the measured number.
    """
    sections = [_answers(twin, answers)] if answers else []
    return (*sections, _quality(twin, tolerance))


def _answers(twin: Twin, answers: Sequence[WhatIf]) -> Section:
    columns = [_text("change", "Change", key=True)]
    columns += [_number(name, name, _WHAT_IF[name].title) for name in _SUMMARY]
    rows: list[tuple[Cell, ...]] = []
    rows.append(("As measured", *(_measured(twin, name) for name in _SUMMARY)))
    rows += [(answer.title, *(_summed(twin, answer, name) for name in _SUMMARY)) for answer in answers]
    blocks: list[Block] = [
        Table(
            "what-if",
            "Effect of each change",
            tuple(columns),
            tuple(rows),
            top=len(rows),
            note="For several structures: means weighted by requests; cross-invalidations are added.",
            origin=f"{len(twin.seeds)} runs of each change",
        )
    ]
    blocks += [_detail(number, answer) for number, answer in enumerate(answers, 1)]
    for answer in answers:
        off = [outcome for outcome in answer.outcomes if outcome.verdict is Verdict.OFF]
        if off:
            blocks.append(
                Note(
                    f"{answer.title}: no conclusion on {len(off)} numbers that the twin does not reproduce.",
                    Level.WARNING,
                    tuple(f"{_name(number.key)}: {number.why}" for number in off),
                )
            )
        blocks += [Note(f"{answer.title}: {text}", Level.WARNING) for text in answer.notes]
    lead = (
        "The group is simulated as a scenario, and again with each change. Measured numbers change by the same ratio "
        "as the twin; the error bar is a 95 % interval over runs, measurement, fit and rare events."
    )
    return Section("what-if", "What-if answers", tuple(blocks), lead)


def _weights(twin: Twin) -> dict[str, float]:
    """Weights of the numbers: requests per second of each structure, transactions of each class, as measured."""
    weights = {
        check.key.of: check.measured for check in twin.checks if check.key.what in ("lock_requests", "pool_requests")
    }
    for work_class in twin.classes:
        weights[work_class.label] = weights.get(work_class.label, 0.0) + work_class.work.rate
    return weights


def _mean(pairs: Iterable[tuple[float, float]], *, added: bool) -> float | None:
    contents = list(pairs)
    if not contents:
        return None
    if added:
        return sum(value for value, _ in contents)
    whole = sum(weight for _, weight in contents)
    return sum(value * weight for value, weight in contents) / whole if whole else None


def _measured(twin: Twin, what: str) -> float | None:
    weights = _weights(twin)
    results = [(check.measured, weights.get(check.key.of, 1.0)) for check in twin.checks if check.key.what == what]
    return _mean(results, added=what == "xi_reclaim")


def _summed(twin: Twin, answer: WhatIf, what: str) -> float | None:
    weights = _weights(twin)
    results = [
        (outcome.answer.value, weights.get(outcome.key.of, 1.0))
        for outcome in answer.outcomes
        if outcome.key.what == what
    ]
    return _mean(results, added=what == "xi_reclaim")


def _name(key: Key) -> str:
    title = TITLES[key.what][0]
    return f"{title}, {key.of}" if key.of else title


def _detail(number: int, answer: WhatIf) -> Table:
    heads = (
        _text("what", "Number", key=True), _text("of", "Of", key=True), _text("measured", "Measured"),
        _text("answer", "With the change"), _text("low", "From"), _text("high", "To"), _text("verdict", "Verdict"),
        _text("runs", "Twin before and after"), _text("why", "Because"),
    )  # fmt: skip
    moved = [outcome for outcome in answer.outcomes if outcome.verdict is not Verdict.NO_CHANGE]
    rows = tuple(_row(number) for number in moved)
    same = len(answer.outcomes) - len(moved)
    return Table(
        f"what-if-{number}",
        answer.title,
        heads,
        rows,
        top=len(rows),
        note=f"{same} further numbers do not change." if same else "",
        folded=number > 1,
    )


def _row(outcome: Outcome) -> tuple[Cell, ...]:
    what = outcome.key.what
    return (
        TITLES[what][0],
        outcome.key.of,
        shown(what, outcome.measured),
        shown(what, outcome.answer.value),
        shown(what, outcome.answer.low),
        shown(what, outcome.answer.high),
        outcome.verdict.value,
        f"{shown(what, outcome.before.mean)} → {shown(what, outcome.after.mean)}",
        outcome.why,
    )


def _locked(fit: PoolFit) -> str:
    """Fitted pages with page P-locks."""
    if fit.locked is None:
        return ""
    return f"; {fit.locked.pages:,} pages with page P-locks, {fit.locked.updates:.0%} of the changes"


def _quality(twin: Twin, tolerance: float) -> Section:
    heads = (
        _text("what", "Number", key=True), _text("of", "Of", key=True), _text("measured", "Measured"),
        _text("twin", "Twin"), _number("error", "error", "Twin off by"), _text("kind", "Agreement"),
        _text("verdict", "Verdict"),
    )  # fmt: skip
    ordered = sorted(
        twin.checks, key=lambda check: (check.calibrated, list(TITLES).index(check.key.what), check.key.of)
    )
    rows = tuple(_checked(check, tolerance) for check in ordered)
    table = Table(
        "twin",
        "The twin and the measurement",
        heads,
        rows,
        top=len(rows),
        note=(
            "Calibrated: the twin was fitted to this number. Checked: it was not. Off: the difference exceeds "
            f"{tolerance:.0%} and the confidence interval."
        ),
    )
    about = [Note(text, Level.WARNING) for text in twin.notes]
    pools = [
        f"{group} {pool}: {fit.dependent:.0%} of the getpages GBP-dependent "
        f"({'counted by Db2' if fit.dependent_by == 'counted' else 'fitted'}), {fit.pages.shared:,} shared pages, "
        f"skew {fit.pages.skew:.2f}, {fit.hot:.0%} of the writes at one end; {fit.pages.private:,} pages used by only "
        f"one member{_locked(fit)}"
        for (group, pool), fit in twin.fit.pools.items()
    ]
    links = [
        f"{name}: {link * 1e6:.2f} µs of link one way, speed {twin.fit.speed.get(name, 1.0):.2f}"
        for name, link in twin.fit.link.items()
    ]
    fitted = [
        *pools,
        *links,
        f"Execution: lock {twin.fit.lock * 1e6:.2f} µs, registering read {twin.fit.read * 1e6:.2f} µs, page moved "
        f"{twin.fit.page * 1e6:.2f} µs",
        _threshold(twin.fit.threshold),
    ]
    return Section(
        "twin",
        "Accuracy of the twin",
        (table, *about, Note("Values that no record contains were fitted or assumed.", details=tuple(fitted))),
        "The twin is a scenario fitted to the group; --write-scenario writes it with the source of every number.",
    )


def _threshold(threshold: Threshold) -> str:
    """Service time above which requests are asynchronous, and its evidence."""
    if threshold.source == "stated":
        return (
            f"Requests become asynchronous above {threshold.seconds * 1e6:.1f} µs, as stated"
            if threshold.seconds
            else ("Requests never become asynchronous, as stated")
        )
    high = f"and {threshold.high * 1e6:.1f} µs" if math.isfinite(threshold.high) else "µs and any time"
    between = f"between {threshold.low * 1e6:.1f} {high}, by requests that were changed and those that were not"
    return f"Requests become asynchronous above {threshold.seconds * 1e6:.1f} µs ({threshold.source}; {between})"


def _checked(check: Check, tolerance: float) -> tuple[Cell, ...]:
    what = check.key.what
    off = check.is_off(tolerance)
    error = None if math.isnan(check.error) or check.small else check.error
    return (
        TITLES[what][0],
        check.key.of,
        shown(what, check.measured),
        interval(what, check.twin),
        error,
        "calibrated" if check.calibrated else "checked",
        "off: no conclusion" if off else ("next to nothing" if check.small else "holds"),
    )
