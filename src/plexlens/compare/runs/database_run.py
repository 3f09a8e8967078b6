"""A run from a performance database: the numbers in `plexlens.compare.runs.subjects`, over a period."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from plexlens.compare.runs.replicates import (
    LEFT_OUT,
    NOTHING,
    is_repeatable,
    rolled_up_without,
    times_of,
    without_each_group,
)
from plexlens.compare.runs.run import Activity, Better, Group, Key, Measure, Reading, Run, Setting
from plexlens.compare.runs.significance import group_lengths, without_each
from plexlens.compare.runs.subjects import SUBJECTS, Subject, Watched
from plexlens.errors import NothingUsableError
from plexlens.metrics import GRAINS
from plexlens.metrics.definition import Attribute, Fact, Grain, Metric
from plexlens.metrics.display import with_symbol
from plexlens.metrics.engine_table import fresh_name
from plexlens.metrics.evaluate import available
from plexlens.metrics.facts import facts, keep
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.reduction import reduced, scoping
from plexlens.metrics.unit import Unit

#: Objects of one kind that are compared; those with the least work are left out beyond it, and counted.
MOST_OBJECTS = 200

#: What joins the keys of an object; a sign that no name holds, so that names can be distinguished again.
BETWEEN = " / "


#: Transactions per second that general processors were busy. It is of two grains, so it is put together here.
ITR = Measure(
    "internal_throughput_rate",
    "Internal throughput rate (ITR): ended transactions of all service classes per second of busy processors",
    Unit("/CPU s", "1/s", 1.0, 1),
    Group.THROUGHPUT,
    Better.HIGHER,
    "Systems",
    "all systems together",
    "ended transactions per second of all service classes / general processors busy",
    "Sysplex data sharing, 1996, note 1 to table 5; VM/ESA 1.1 performance, 1992: ITR",
    "All kinds of transactions count the same, so compare it only between runs with a similar mix.",
)


def database_run(inputs: Inputs, name: str, *, subjects: Sequence[Subject] = SUBJECTS) -> Run:
    """The run in a performance database.

    Parameters
    ----------
    inputs
        Its raw tables, with the selection that the run is of; the engine behind them must allow temporary tables.
    name
        What the user called it.
    subjects
        What of it is compared; everything by default.

    Raises
    ------
    NothingUsableError
        It holds nothing that can be compared, or nothing of it is selected.
    """
    parts = [part for subject in subjects if (part := _part(inputs, subject)) is not None]
    if not parts:
        raise NothingUsableError(
            file=name,
            what="it contains no numbers that can be compared" + (" in what is selected" if inputs.selection else ""),
            remedy="name a database or dump with SMF 30, 70 to 74, 100, 101, 110 or 115 of both times"
            + (", or select more" if inputs.selection else ""),
        )
    measures = {measure.id: measure for part in parts for measure in part.measures}
    readings = {key: reading for part in parts for key, reading in part.readings.items()}
    throughput = _internal_throughput(parts)
    if throughput is not None:
        measures[ITR.id], readings[ITR.id, ""] = ITR, Reading(throughput)
    return Run(
        name=name,
        description=_description(parts),
        family="database",
        settings=_settings(inputs, parts),
        activities=tuple(activity for part in parts for activity in part.activities),
        measures=measures,
        readings=readings,
        intervals={part.grain.title: part.intervals for part in parts},
        notes=tuple(note for part in parts for note in part.notes),
    )


@dataclass(frozen=True)
class _Part:
    """A grain's part of a run."""

    grain: Grain
    measures: tuple[Measure, ...]
    readings: Mapping[Key, Reading]
    activities: tuple[Activity, ...]
    settings: tuple[Setting, ...]
    systems: frozenset[str]
    times: tuple[tuple[datetime, datetime], ...]
    intervals: int
    seconds: float
    notes: tuple[str, ...]


def _part(inputs: Inputs, subject: Subject) -> _Part | None:
    whole = GRAINS[subject.grain]
    if not available(inputs, whole):
        return None
    grain = _narrowed(whole, subject)
    table = facts(inputs, grain)
    assert table is not None
    text = fresh_name(f"compare_{grain.name}")
    kept = keep(table, grain, text)
    times = times_of(inputs.connection, (kept.timed or kept).source)
    if not times:
        return None
    moments = [moment for moment, _, _ in times]
    spread = without_each_group(inputs, kept, moments)
    read = _read(subject)
    rows = rolled_up_without(inputs, grain, subject.by, spread, shown=read)
    seconds = sum((end - start).total_seconds() for _, start, end in times)
    objects = _objects(rows, subject)
    chosen = dict(objects[:MOST_OBJECTS])
    readings: dict[Key, Reading] = {}
    shown = dict(chosen)
    if subject.together and len(objects) > 1:
        whole_rows = rolled_up_without(inputs, grain, (), spread, shown=read)
        shown = {"": {row[LEFT_OUT]: row for row in whole_rows}, **shown}
    measures = []
    parts = (Watched(name, Group.OTHER) for name in subject.parts)
    for watched in (*subject.columns, *parts):
        column = whole.column(watched.column)
        measures.append(replace(_measure(whole, column, watched), part=watched.column in subject.parts))
        repeatable = is_repeatable(whole, column)
        for object_name, mine in shown.items():
            readings[measures[-1].id, object_name] = _reading(mine, watched.column, len(times), repeatable)
    names = inputs.connection.execute(f"select distinct system from {text} where system is not null").fetchall()
    out = len(objects) - MOST_OBJECTS
    note = f"{whole.title}: {out:,} of {len(objects):,} are left out, those with the least work."
    notes = (note,) if out > 0 else ()
    return _Part(
        whole,
        tuple(measures),
        readings,
        tuple(_activities(whole, subject, objects, seconds)),
        tuple(_part_settings(whole, subject, chosen)),
        frozenset(name for (name,) in names),
        tuple((start, end) for _, start, end in times),
        len(times),
        seconds,
        notes,
    )


def _read(subject: Subject) -> set[str]:
    """The columns of a subject that are compared or describe its runs."""
    wanted = {column.column for column in subject.columns} | {*subject.parts, *subject.settings, subject.weight}
    return wanted.union(*(work.facts for work in subject.work))


def _narrowed(whole: Grain, subject: Subject) -> Grain:
    """The grain reduced to the columns that are compared."""
    grain = reduced(whole, _read(subject), ())
    scopes = {*subject.settings, *scoping(grain)}
    return replace(grain, attributes=tuple(attribute for attribute in whole.attributes if attribute.name in scopes))


def _objects(rows: Iterable[dict[str, Any]], subject: Subject) -> list[tuple[str, dict[str, dict[str, Any]]]]:
    """Rows of each object by omitted group; the object with the most work first."""
    results: dict[str, dict[str, dict[str, Any]]] = {}
    for row in rows:
        object_name = BETWEEN.join(str(row[key]) for key in subject.by if row[key] is not None)
        results.setdefault(object_name, {})[row[LEFT_OUT]] = row
    there = [(object_name, mine) for object_name, mine in results.items() if NOTHING in mine]
    return sorted(there, key=lambda entry: (-(entry[1][NOTHING].get(subject.weight) or 0.0), entry[0]))


def _measure(grain: Grain, column: Fact | Metric, watched: Watched) -> Measure:
    return Measure(
        f"{grain.name}.{column.name}",
        column.title,
        column.unit,
        watched.group,
        watched.better,
        grain.title,
        grain.row,
        column.words if isinstance(column, Metric) else "",
        column.source,
        column.caveat if isinstance(column, Metric) else "",
        watched.summed,
    )


def _reading(mine: Mapping[str, Mapping[str, Any]], column: str, count: int, spread: bool) -> Reading:
    value = mine[NOTHING][column]
    without = [mine[str(number)][column] for number in range(len(group_lengths(count))) if str(number) in mine]
    complete = len(without) == len(group_lengths(count))
    return Reading(value, estimate=without_each(value, without, count) if spread and complete else None)


def _activities(
    grain: Grain, subject: Subject, objects: Sequence[tuple[str, Mapping[str, Mapping[str, Any]]]], seconds: float
) -> Iterable[Activity]:
    if seconds <= 0:
        return
    split = "class_kind" if "class_kind" in subject.by else ""
    kinds = sorted({mine[NOTHING][split] or "" for _, mine in objects}) if split else [""]
    for work in subject.work:
        for kind in kinds:
            mine = {
                object_name: rows[NOTHING]
                for object_name, rows in objects
                if not split or (rows[NOTHING][split] or "") == kind
            }
            if work.kinds:
                amounts = {
                    title: sum(row[fact] or 0.0 for row in mine.values()) / seconds
                    for fact, title in zip(work.facts, work.kinds, strict=True)
                }
            else:
                amounts = {
                    object_name: sum(row[fact] or 0.0 for fact in work.facts) / seconds
                    for object_name, row in mine.items()
                }
            title = f"{work.title} by {kind}" if kind else work.title
            kept = {object_name: amount for object_name, amount in amounts.items() if amount > 0}
            if kept:
                yield Activity(
                    f"{grain.name}.{title}",
                    title,
                    "kinds of access" if work.kinds else grain.title,
                    amounts if work.kinds else kept,
                    bool(work.kinds),
                )


def _part_settings(
    grain: Grain, subject: Subject, objects: Mapping[str, Mapping[str, Mapping[str, Any]]]
) -> Iterable[Setting]:
    attributes = {attribute.name: attribute for attribute in grain.attributes}
    for name in subject.settings:
        for object_name, mine in objects.items():
            value = mine[NOTHING].get(name)
            if value is None:
                continue
            column: Attribute | Fact | Metric = attributes[name] if name in attributes else grain.column(name)
            text = str(value) if isinstance(column, Attribute) else with_symbol(value, column.unit)
            yield Setting(f"{grain.title}: {object_name}", column.title, text)


def _settings(inputs: Inputs, parts: Sequence[_Part]) -> tuple[Setting, ...]:
    """The environment: measured systems and duration, software levels, then settings from the grains."""
    settings = [
        Setting("Systems", "names", ", ".join(sorted(set().union(*(part.systems for part in parts)))) or "unknown")
    ]
    start = min(first for part in parts for first, _ in part.times)
    end = max(last for part in parts for _, last in part.times)
    settings += [Setting("Time, local", "from", _moment(start)), Setting("Time, local", "to", _moment(end))]
    settings.append(Setting("Time, local", "weekday of the start", f"{start:%A}"))
    if inputs.has("rmf_product_section"):
        rows = inputs.connection.execute(
            "select system, string_agg(distinct smf7xmvs, ', ' order by smf7xmvs) from rmf_product_section"
            " where smf7xmvs is not null and system is not null group by 1 order by 1"
        ).fetchall()
        measured = set().union(*(part.systems for part in parts))
        settings += [Setting(f"System {name}", "z/OS level", level) for name, level in rows if name in measured]
    for part in parts:
        lengths = sorted({round((end - start).total_seconds()) for start, end in part.times})
        shown = f"{lengths[0]:,} s" if len(lengths) == 1 else f"{lengths[0]:,} to {lengths[-1]:,} s"
        settings.append(Setting("Length of intervals", part.grain.title, shown))
    return (*settings, *(setting for part in parts for setting in part.settings))


def _internal_throughput(parts: Sequence[_Part]) -> float | None:
    """Transactions of service classes per second of busy general processors; None if either is missing.

    Both must be of the same systems and intervals.
    """
    named = {part.grain.name: part for part in parts}
    work, processors = named.get("workload_period"), named.get("cpu_system")
    if work is None or processors is None or (work.systems, work.times) != (processors.systems, processors.times):
        return None
    ended = sum(activity.total for activity in work.activities if activity.title.endswith("by service class"))
    busy = sum(
        reading.value or 0.0
        for (name, object_name), reading in processors.readings.items()
        if name == "cpu_system.processors_used" and object_name.endswith(f"{BETWEEN}CP")
    )
    return ended / busy if ended > 0 and busy > 0 else None


def _description(parts: Sequence[_Part]) -> str:
    start = min(first for part in parts for first, _ in part.times)
    end = max(last for part in parts for _, last in part.times)
    systems = sorted(set().union(*(part.systems for part in parts)))
    who = ("systems " if len(systems) > 1 else "system ") + ", ".join(systems) if systems else "no system named"
    most = max(part.intervals for part in parts)
    times = f"{most:,} intervals" if most > 1 else "one interval"
    return f"performance database, {who}, {_moment(start)} to {_moment(end)} local time, {times}"


def _moment(moment: datetime) -> str:
    return f"{moment.day} {moment:%B %Y %H:%M:%S}".removesuffix(":00")
