"""Why a metric changed: two periods of a database, the parts that moved it, and the changes behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial

from plexlens.errors import NothingUsableError, UsageError
from plexlens.findings import Finding, check
from plexlens.metrics import GRAINS
from plexlens.metrics.causes import EVENTS, REST, Causes, causes
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.opening import explained
from plexlens.metrics.question import Question, condition_named
from plexlens.metrics.selection import Selection, Window, resolve, window
from plexlens.metrics.source_rows import available
from plexlens.metrics.source_sql import names_in
from plexlens.pdb.engine import literal
from plexlens.progress import Progress, silent
from plexlens.why.chain import Chain, chain_of
from plexlens.why.change import Change, change_of, objects_apart
from plexlens.why.links import ALPHA, Cause, Walk, Walked
from plexlens.why.measured import Period
from plexlens.why.settings import NameChange, Setting, by_name, changed_names, changed_settings

#: Judgements of a change: beyond chance; perhaps chance, while what moves it changed beyond chance; not beyond chance;
#: and too few intervals to tell.
CHANGED, LIKELY, CHANCE, UNKNOWN = "changed", "likely", "chance", "unknown"

#: Judgements in which causes are named.
NAMED = (CHANGED, LIKELY)

#: A change of at most this probability is a likely one where a change beyond chance leads to it.
MAYBE = 0.1


@dataclass(frozen=True)
class FindingChange:
    """A finding that only one of the periods has."""

    rule: str
    title: str
    severity: str
    objects: str
    sentence: str
    began: bool


@dataclass(frozen=True)
class Why:
    """The answer.

    Attributes
    ----------
    name
        What the user called the database.
    at, against
        The periods as text: NEW, and BASE that it is compared with.
    where
        The condition on objects; empty for none.
    intervals
        Number of intervals of BASE and NEW.
    change
        The metric, with its change divided by every key.
    chain
        The parts of the metric; None where the catalogue lists none, or the metric hardly changed.
    walked
        Causes, and what was tested.
    settings, names, findings
        What else differs; findings are None where they were not asked for.
    judgement
        `CHANGED`, `LIKELY`, `CHANCE` or `UNKNOWN`.
    selections
        What was selected of BASE and of NEW.
    """

    name: str
    at: str
    against: str
    where: str
    intervals: tuple[int, int]
    change: Change
    chain: Chain | None
    walked: Walked
    settings: tuple[Setting, ...]
    names: tuple[NameChange, ...]
    findings: tuple[FindingChange, ...] | None
    judgement: str
    selections: Mapping[str, Selection] = field(default_factory=dict)

    @property
    def causes(self) -> tuple[Cause, ...]:
        """The causes in their order: none for a change that may be chance, settings alone where that cannot be told."""
        if self.judgement == UNKNOWN:
            return tuple(cause for cause in self.walked.causes if cause.setting is not None)
        return tuple(self.walked.causes) if self.judgement in NAMED else ()


def why(
    inputs: Inputs,
    metric: str,
    at: str,
    against: str = "",
    *,
    name: str,
    where: str = "",
    selection: Selection,
    findings: bool = True,
    progress: Progress = silent,
) -> Why:
    """Why a metric changed from one period to another.

    Parameters
    ----------
    inputs
        The tables, without a selection.
    metric
        ``grain.metric``.
    at, against
        The periods, as `plexlens.metrics.selection.window` reads them. Without ``against``: the same time a week
        earlier, or the time of the same length that ends where ``at`` begins.
    name
        What the user called the database.
    where
        SQL of a condition on objects.
    selection
        What else is selected, not resolved.
    findings
        Whether rules are checked in both periods.
    progress
        Told how far it is.

    Raises
    ------
    UsageError
        An unknown metric or key, or a period that is not one.
    NothingUsableError
        A period has no data of the metric.
    """
    grain, dot, column = metric.partition(".")
    if not (grain and dot and column):
        raise UsageError(
            file="",
            what=f"--metric {metric!r} is not of the form GRAIN.NAME",
            remedy="give a grain and a metric of it, such as cpu_system.processors_used",
        )
    question = Question.of(grain, by=(), every="all", columns=[column], where=where)
    if column not in question.numbers:
        raise UsageError(
            file="", what=f"{metric} is a name, not a number", remedy=f"plexlens metrics {grain} lists its metrics"
        )
    windows = _windows(inputs, at, against, name, selection)
    known = causes()
    needs = _needs(known, grain, column, where)
    periods = []
    for each in windows:
        progress(0, 0, f"reading {each.text}")
        resolved = resolve(selection.and_window(each), inputs.connection, name)
        periods.append(Period(Inputs(inputs.connection, resolved), needs))
    new, base = periods
    for period, text in ((new, windows[0].text), (base, windows[1].text)):
        with explained(period.inputs.selection):
            if not period.times(grain):
                raise NothingUsableError(
                    file=name, what=f"there is no data of {grain} ({text})", remedy="give a period with data"
                )
    progress(0, 0, "dividing the change")
    with condition_named(where or None):
        change = change_of(base, new, metric, _keys(grain), where)
    if change.all is None:
        raise NothingUsableError(
            file=name, what=f"{metric} has no value in one of the periods", remedy="choose another metric or condition"
        )
    present = [each for each in GRAINS if available(inputs, GRAINS[each])]
    progress(0, 0, "comparing settings and names")
    settings = changed_settings(base, new, present)
    names = changed_names(base, new, present)
    scope = _systems(base, new, grain, column, where)
    walk = Walk(
        known,
        partial(_followed, (base, new), known, (grain, where), scope),
        partial(_chain, base, new, known, (grain, where)),
        by_name(settings),
    )
    progress(0, 0, "following links")
    p = change.all.p
    walked = walk.from_metric(metric, change.log_ratio, is_sure=p is not None and p <= ALPHA)
    judgement = _judgement(p, walked)
    began: tuple[FindingChange, ...] | None = None
    if findings:
        progress(0, 0, "checking rules in both periods")
        began = _findings(base.inputs, new.inputs)
    whole = _chain(base, new, known, (grain, where), metric)
    return Why(
        name,
        windows[0].text,
        windows[1].text,
        where,
        (len(base.times(grain)), len(new.times(grain))),
        change,
        whole,
        walked,
        tuple(settings),
        tuple(names),
        began,
        judgement,
        {"BASE": base.inputs.selection, "NEW": new.inputs.selection},
    )


def _judgement(p: float | None, walked: Walked) -> str:
    if p is None:
        return UNKNOWN
    if p <= ALPHA:
        return CHANGED
    return LIKELY if p <= MAYBE and walked.causes else CHANCE


def _windows(inputs: Inputs, at: str, against: str, name: str, selection: Selection) -> tuple[Window, Window]:
    """NEW and BASE."""
    new = window(at)
    if against:
        return new, window(against)
    if new.start is None or new.end is None:
        raise UsageError(
            file="", what=f"--at {at} is open at one end", remedy="give --against too, or both ends of --at"
        )
    for earlier in (timedelta(days=7), new.end - new.start):
        base = replace(new, start=new.start - earlier, end=new.end - earlier)
        try:
            resolve(selection.and_window(base), inputs.connection, name)
        except NothingUsableError:
            continue
        return new, base
    raise NothingUsableError(
        file=name,
        what=f"there is no data a week before {new.text}, nor just before it",
        remedy="name the period to compare with: --against, or Compared with on the page",
    )


def _keys(grain: str) -> list[tuple[str, ...]]:
    return [(key,) for key in dict.fromkeys(("system", *(key.name for key in GRAINS[grain].keys)))]


def _needs(known: Causes, grain: str, column: str, where: str) -> Mapping[str, set[str]]:
    """Columns of each grain that a walk may ask for."""
    needs: dict[str, set[str]] = {grain: {column, *names_in(where)} if where else {column}}

    def need(name: str) -> None:
        of, _, named = name.partition("#")[0].partition(".")
        if named:
            needs.setdefault(of, set()).add(named)

    for whole in known.wholes:
        for name in (whole.metric, whole.scale, whole.scaled):
            need(name)
        for part in whole.parts:
            need(part.metric)
            need(part.each)
    for link in known.links:
        need(link.of)
        need(link.by)
    for name, work in known.work.items():
        need(name)
        need(work)
    for name in known.levels:
        need(name)
    for name, apart in known.apart.items():
        for condition in names_in(apart.where) if apart.where else ():
            needs.setdefault(name.partition(".")[0], set()).add(condition)
    return needs


def _systems(base: Period, new: Period, grain: str, column: str, where: str) -> str:
    """The condition for the systems on which the question's objects are; empty where they are on all."""
    if not where:
        return ""
    some, every = (
        {names[0] for period in (base, new) for names in period.rows(grain, [column], ("system",), condition)}
        for condition in (where, "")
    )
    if not some or None in some or some == every:
        return ""
    return "system in (" + ", ".join(literal(str(system)) for system in sorted(some)) + ")"


def _followed(
    periods: tuple[Period, Period], known: Causes, question: tuple[str, str], systems: str, name: str
) -> Change | None:
    """The change of a metric that a link leads to, with the objects that are looked at one by one."""
    base, new = periods
    if EVENTS in name or REST in name:
        return None
    grain, _, column = name.partition(".")
    if column not in {metric.name for metric in GRAINS[grain].metrics}:
        return None
    apart = known.apart.get(name)
    own = question[1] if grain == question[0] else ""
    if apart is not None and apart.of_systems:
        own = systems
    conditions = [own, apart.where if apart is not None else ""]
    where = " and ".join(f"({condition})" for condition in conditions if condition)
    if base.kept(grain) is None or new.kept(grain) is None:
        return None
    if apart is None:
        return change_of(base, new, name, (), where)
    return objects_apart(base, new, name, apart.by, where)


def _chain(base: Period, new: Period, known: Causes, question: tuple[str, str], name: str) -> Chain | None:
    whole = known.whole_of(name)
    grain = name.partition(".")[0]
    if whole is None or base.kept(grain) is None or new.kept(grain) is None:
        return None
    where = question[1] if grain == question[0] else ""
    return chain_of(base, new, whole, where, is_scaled=name != whole.metric)


def _findings(base: Inputs, new: Inputs) -> tuple[FindingChange, ...]:
    """Findings that began or ended, those that began first.

    A finding for which another one of the same cause speaks is a finding too: which of them speaks may differ from
    period to period.
    """
    first, second = (
        {_identity(each): each for finding in check(inputs).fired for each in finding.all} for inputs in (base, new)
    )
    began = [_shown(each, began=True) for identity, each in second.items() if identity not in first]
    ended = [_shown(each, began=False) for identity, each in first.items() if identity not in second]
    return tuple(began + ended)


def _identity(finding: Finding) -> tuple[object, ...]:
    return finding.rule.id, tuple((part.column, part.value) for part in finding.entity)


def _shown(finding: Finding, *, began: bool) -> FindingChange:
    return FindingChange(
        finding.rule.id, finding.rule.title, str(finding.severity), finding.name, finding.sentence, began
    )


def subject(keys: Sequence[str], names: Sequence[object]) -> str:
    """An object in one line."""
    return " / ".join(str(name) for name in names if name is not None) or "without a name"
