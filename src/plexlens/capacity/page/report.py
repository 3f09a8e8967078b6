"""A capacity plan as a report: conclusion, model and measurement, curves, goals, alternatives."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from plexlens import __version__
from plexlens.capacity.change import Change
from plexlens.capacity.model import SystemModel
from plexlens.capacity.page.assumptions import assumptions
from plexlens.capacity.page.curves import curves
from plexlens.capacity.page.queues import queues
from plexlens.capacity.plan import Outlook, Plan
from plexlens.capacity.predict import Breaking
from plexlens.capacity.validate import ClassCheck
from plexlens.metrics.page_numbers import page_numbers
from plexlens.metrics.unit import FRACTION
from plexlens.report.model import (
    Block,
    Cell,
    Column,
    ColumnKind,
    Figure,
    KeyFigures,
    Level,
    Note,
    Report,
    Section,
    Table,
)
from plexlens.report.model import text_column as _text
from plexlens.report.model.display import counted
from plexlens.report.model.page_definitions import definitions_of

#: Busy share of engines above which a load at which a goal breaks is said to be uncertain.
NEAR_FULL = 0.9

_OTHER_FROM = {
    "samples": "state samples",
    "rest": "rest of the response",
    "records": "records of transactions",
}

#: Numbers that the page works out, or the model.
PLAN = page_numbers("plan")

DEFINITIONS = definitions_of(PLAN)


def plan_report(plan: Plan) -> Report:
    """The whole report of a plan."""
    sections = [_answer(plan), _check(plan), *(curves(plan, curve) for curve in plan.curves), _goals(plan)]
    sections += [_buys(plan), _outlooks(plan), _demands(plan), queues(plan), assumptions(plan)]
    return _report(plan, tuple(sections))


def goals_report(plan: Plan) -> Report:
    """Only the answer and the loads at which goals break."""
    return _report(plan, (_answer(plan), _goals(plan), _buys(plan)))


def _report(plan: Plan, sections: tuple[Section, ...]) -> Report:
    times = plan.measured.intervals
    systems = tuple(system.name for system in plan.model.systems)
    return Report(
        title="Capacity plan",
        systems=systems,
        start=times[0],
        end=times[-1],
        time_note="Times are UTC; each is the start of an interval.",
        sections=sections,
        definitions=dict(DEFINITIONS),
        generator=f"Plexlens {__version__}",
        kind="Capacity plan",
        subject=f"{', '.join(systems)}: {counted(len(times), 'interval')} of {plan.name}",
    )


def _number(name: str, title: str, definition: str, *, group: str = "") -> Column:
    result = DEFINITIONS[f"plan.{definition}"]
    return Column(name, title, ColumnKind.NUMBER, result.unit, result.id, group=group)


def _loaded(load: float) -> str:
    return f"{load:.2f} x the measured load"


def _words(outlook: Outlook, plan: Plan) -> tuple[str, str]:
    """Saturation point and first missed goal, in words."""
    limit = outlook.limit
    saturates = "at no load" if limit is None else f"at {_loaded(limit[0])} ({limit[1]} of {limit[2]})"
    first = outlook.first
    if first is not None and first.load is not None:
        goal = f"{first.name} on {first.system} at {_loaded(first.load)}"
        if first.load == 0.0:
            goal = f"{first.name} on {first.system}: missed at every load"
    elif beyond := [breaking.beyond for breaking in outlook.breakings if breaking.beyond is not None]:
        goal = f"none up to {_loaded(min(beyond))}; unknown beyond (SMF 110 is missing)"
    elif not outlook.breakings:
        goal = "not known"
    else:
        goal = "none before saturation"
    return saturates, goal


def _answer(plan: Plan) -> Section:
    chosen, measured = plan.chosen, plan.outlooks[0]
    saturates, goal = _words(chosen, plan)
    figures = []
    for system in plan.model.systems:
        system_result = chosen.results[system.name]
        figures.append(
            Figure(
                f"busy-{system.name}", f"General engines busy, {system.name}", system_result.busy, FRACTION,
                "plan.busy",
                detail=f"measured {measured.results[system.name].busy:.1%}"
                + (f"; saturated: {system_result.saturated}" if system_result.saturated else ""),
                alarm=bool(system_result.saturated),
            )
        )  # fmt: skip
    classes = [
        class_check for check in plan.checks for class_check in check.classes if class_check.measured is not None
    ]
    good = sum(class_check.reproduced for class_check in classes)
    figures.append(
        Figure(
            "reproduced", "Classes that the model reproduces", good, detail=f"of {len(classes)} with transactions",
            alarm=good < len(classes),
        )
    )  # fmt: skip
    blocks: list[Block] = [KeyFigures("plan-figures", tuple(figures))]
    text = "measured" if chosen is measured else "asked for"
    blocks.append(Note(f"The configuration {text} saturates {saturates}. First goal to break: {goal}."))
    if len(plan.kinds) > 1:
        blocks.append(
            Note(
                f"The intervals fall into {len(plan.kinds)} groups that differ in engines, mix or CPU time per "
                "transaction. The plan describes their mean, which was never measured. Select one group with --from "
                "and --to.",
                Level.WARNING,
                tuple(f"{_times(kind.intervals)}: {kind.text}" for kind in plan.kinds),
            )
        )
    for system in plan.model.systems:
        system_result = chosen.results[system.name]
        if system_result.saturated:
            blocks.append(
                Note(
                    f"{system.name} cannot carry the requested load: {system_result.saturated} saturated "
                    "(general engines "
                    f"{system_result.busy:.0%} busy). It saturates {saturates}.",
                    Level.WARNING,
                )
            )
        used = system_result.busy * _engines(system, chosen)
        if system.entitled is not None and used > system.entitled:
            blocks.append(
                Note(
                    f"{system.name} needs {used:.2f} engines; its weight guarantees {system.entitled:.2f}. It gets "
                    "more only while other partitions leave capacity unused.",
                    Level.WARNING,
                )
            )
    lead = "A queueing model calibrated with the measured intervals, evaluated at " + _asked(plan) + "."
    return Section("answer", "Answer", tuple(blocks), lead)


def _times(times: tuple[datetime, ...]) -> str:
    """First interval of a kind, and the number of intervals."""
    first = f"{times[0]:%Y-%m-%d %H:%M}"
    return first if len(times) == 1 else f"{len(times)} intervals from {first}"


def _engines(system: SystemModel, outlook: Outlook) -> float:
    text = outlook.change.engines
    if not text:
        return system.engines
    return system.engines + int(text) if text[0] in "+-" else float(text)


def _asked(plan: Plan) -> str:
    change = plan.asked
    parts = [f"{change.scale:g} x the measured load"]
    parts += [f"{name} x {factor:g}" for name, factor in change.scales.items()]
    parts += [f"{change.engines} general engines"] if change.engines else []
    parts += [f"{change.ziips} zIIPs"] if change.ziips else []
    parts += [f"engines {change.speed:g} x as fast"] if change.speed != 1.0 else []
    parts += [f"{change.members} more members"] if change.members else []
    return ", ".join(parts)


def _check(plan: Plan) -> Section:
    systems = Table(
        "plan-utilisation", "Utilisation at the measured load",
        (
            _text("system", "System", key=True), _number("busy", "Measured", "busy", group="General engines"),
            _number("busy_modelled", "Modelled", "busy", group="General engines"),
            _number("ziip", "Measured", "ziip_busy", group="zIIPs"),
            _number("ziip_modelled", "Modelled", "ziip_busy", group="zIIPs"),
            _number("capture", "CPU time charged to classes", "capture"),
        ),
        tuple(
            (check.system, check.busy, check.busy_modelled, check.ziip_busy, check.ziip_busy_modelled, system.capture)
            for check, system in zip(plan.checks, plan.model.systems, strict=True)
        ),
        note="CPU time that is not charged to a class is spread in proportion, so utilisation agrees by construction.",
    )  # fmt: skip
    heads = (
        _text("system", "System", key=True), _text("class", "Class", key=True),
        _number("measured", "Measured", "response", group="Response time"),
        _number("modelled", "Modelled", "response", group="Response time"),
        _number("error", "Error", "error", group="Response time"),
        _number("interval_error", "Error over intervals", "interval_error", group="Response time"),
        _number("held_out_error", "Error in held-out intervals", "held_out_error", group="Response time"),
        _number("velocity", "Measured", "velocity", group="Velocity"),
        _number("velocity_modelled", "Modelled", "velocity", group="Velocity"),
        _text("reproduced", "Conclusions"), _text("reason", "Because"),
    )  # fmt: skip
    rows = tuple(
        (
            class_check.system, class_check.name, class_check.measured, class_check.modelled, class_check.error,
            class_check.interval_error, class_check.held_out_error,
            class_check.velocity, class_check.velocity_modelled, "drawn" if class_check.reproduced else "not drawn",
            class_check.reason,
        )
        for check in plan.checks
        for class_check in check.classes
        if class_check.measured is not None or class_check.velocity is not None
    )  # fmt: skip
    blocks: list[Block] = [systems]
    if rows:
        blocks.append(Table("plan-classes", "Classes at the measured load", heads, rows, top=len(rows)))
    else:
        blocks.append(Note("No class has enough ended transactions or state samples to be checked.", Level.WARNING))
    blocks.append(Note(_tried(plan)))
    return Section(
        "check", "Model compared with measurement", tuple(blocks),
        f"The model must first reproduce the measurement: response within {plan.tolerance:.0%}, velocity within "
        f"{plan.tolerance * 50:.0f} points. For a class outside these limits, no load at which its goal breaks is "
        "given.",
    )  # fmt: skip


def _tried(plan: Plan) -> str:
    """Result of the trial on held-out intervals."""
    tried = plan.tried
    if tried is None:
        return (
            "The model is not tested on intervals held out, because there are fewer than two. Its error at other "
            "loads is unknown."
        )
    text = (
        f"Test on intervals held out: calibrated from {counted(len(tried.calibrated), 'interval')}, the model "
        f"predicts the other {len(tried.tried)}."
    )
    if tried.busy:
        text += f" The largest error of general engines busy is {max(tried.busy.values()) * 100:.1f} points."
    if tried.classes:
        worst = max(tried.classes, key=lambda entry: entry.error)
        text += f" The largest error of a response is {worst.error:.0%} ({worst.name} on {worst.system})."
    if tried.loads is not None:
        text += f" Their load is {tried.loads[0]:.2f} to {tried.loads[1]:.2f} times the mean."
        if tried.is_narrow:
            text += " Such similar loads do not show how responses grow."
    return text


def _goals(plan: Plan) -> Section:
    chosen = plan.chosen
    broken = {(breaking.system, breaking.name): breaking for breaking in chosen.breakings}
    heads = (
        _text("system", "System", key=True), _text("class", "Class", key=True), _text("importance", "Importance"),
        _text("goal", "Goal"), _number("index", "Measured load", "index", group="Performance index, modelled"),
        _number("asked", "Requested load", "index", group="Performance index, modelled"),
        _number("breaks", "Breaks at load", "load"), _text("said", "In words"),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for check, system in zip(plan.checks, plan.model.systems, strict=True):
        for about, class_model in zip(check.classes, system.classes, strict=True):
            if class_model.goal.kind == "none":
                continue
            breaking = broken.get((system.name, class_model.name))
            load, said = _said(breaking, about)
            if about.reproduced and class_model.goal.estimated:
                said = "; ".join(filter(None, (said, "no distribution recorded: exponential response times")))
            rows.append(
                (
                    system.name, class_model.name,
                    "" if class_model.importance is None else str(class_model.importance), class_model.goal.text,
                    plan.outlooks[0].results[system.name].classes[class_model.name].index if about.reproduced else None,
                    chosen.results[system.name].classes[class_model.name].index if about.reproduced else None, load,
                    said,
                )
            )  # fmt: skip
    if not rows:
        return Section("goals", "Goals", (Note("No class has a goal that more load can break."),))
    return Section(
        "goals", "Goals",
        (Table("plan-goals", "Load at which each goal breaks", heads, tuple(rows), top=len(rows)),),
        "All classes grow together, in the requested configuration; the load is found by bisection.",
    )  # fmt: skip


def _said(breaking: Breaking | None, about: ClassCheck) -> tuple[float | None, str]:
    if not about.reproduced:
        return None, f"no conclusion: {about.reason}"
    if breaking is None:
        return None, "no conclusion: the goal has no measured counterpart"
    if breaking.beyond is not None:
        return None, (
            f"no conclusion beyond {breaking.beyond:.2f} x: a QR TCB without SMF 110 records may saturate there"
        )
    if breaking.load is None:
        return None, "holds until the system saturates"
    if breaking.load == 0.0:
        return 0.0, "missed at every load"
    said = "already missed" if breaking.load < 1.0 else ""
    if breaking.busy is not None and breaking.busy > NEAR_FULL:
        near = f"near saturation ({breaking.busy:.0%} busy), where response grows steeply"
        said = "; ".join(filter(None, (said, near)))
    return breaking.load, said


def _buys(plan: Plan) -> Section:
    """For every option, the load at which each goal breaks and systems saturate."""
    # Where only the load is another, what was asked for breaks where the measured configuration does.
    same = plan.chosen is not plan.outlooks[0] and replace(plan.asked, scale=1.0) == Change()
    options = [outlook for outlook in plan.outlooks if not (same and outlook is plan.chosen)]
    heads = (
        _text("system", "System", key=True), _text("goal", "Until", key=True),
        *(_text(f"option_{number}", outlook.title) for number, outlook in enumerate(options)),
    )  # fmt: skip
    known = [(breaking.system, breaking.name) for breaking in options[0].breakings]
    goals = {
        (system.name, class_model.name): class_model.goal.text
        for system in plan.model.systems
        for class_model in system.classes
    }
    rows: list[tuple[Cell, ...]] = []
    for system, name in known:
        cells = []
        for outlook in options:
            breaking = next(
                breaking for breaking in outlook.breakings if (breaking.system, breaking.name) == (system, name)
            )
            limit = outlook.limits.get(system)
            cells.append(_until(breaking, limit))
        rows.append((system, f"{name}: {goals[system, name]}", *cells))
    for system_model in plan.model.systems:
        cells = [f"{limit:.2f}" if (limit := outlook.limits.get(system_model.name)) else "" for outlook in options]
        rows.append((system_model.name, "saturation", *cells))
    return Section(
        "buys", "What each change buys",
        (
            Table(
                "plan-buys", "Load at which each goal breaks, in multiples of the measured load", heads, tuple(rows),
                top=len(rows),
            ),
        ),
        "Each column is a configuration; columns with one more engine, zIIP or member add only that to the requested "
        "configuration. > means "
        "that the goal holds until the system saturates at that load.",
    )  # fmt: skip


def _until(breaking: Breaking, limit: float | None) -> str:
    if breaking.beyond is not None:
        return f"unknown beyond {breaking.beyond:.2f}"
    if breaking.load is None:
        return f"> {limit:.2f}" if limit else "no end"
    return f"{breaking.load:.2f}"


def _outlooks(plan: Plan) -> Section:
    heads = (
        _text("title", "Configuration", key=True), _text("system", "System", key=True),
        _number("busy", "General engines busy", "busy"), _number("ziip_busy", "zIIPs busy", "ziip_busy"),
        _number("overflow", "Overflow", "overflow"), _text("worst", "Goals missed"),
        _number("limit", "Saturates at load", "load"),
        _number("first", "First goal breaks at load", "load"), _text("which", "First goal to break"),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    names = {
        (class_check.system, class_check.name)
        for check in plan.checks
        for class_check in check.classes
        if class_check.reproduced
    }
    for outlook in plan.outlooks:
        for system in plan.model.systems:
            system_result = outlook.results[system.name]
            indexed = [
                class_result
                for class_result in system_result.classes.values()
                if (system.name, class_result.name) in names
            ]
            missed = [
                class_result.name
                for class_result in indexed
                if class_result.index is not None and class_result.index > 1 + 1e-9
            ]
            first = outlook.first
            rows.append(
                (
                    outlook.title, system.name, system_result.busy, system_result.ziip_busy,
                    system_result.overflow if any(class_model.eligible for class_model in system.classes) else None,
                    f"saturated: {system_result.saturated}" if system_result.saturated else
                    (", ".join(missed) or "none"),
                    outlook.limit[0] if outlook.limit else None, first.load if first else None,
                    f"{first.name} on {first.system}" if first else _words(outlook, plan)[1],
                )
            )  # fmt: skip
    return Section(
        "changes", "Other changes",
        (Table("plan-changes", "Other configurations at the requested load", heads, tuple(rows), top=len(rows)),),
        "Each row after the first two adds a single change to the requested configuration. An added member takes its "
        "share of every class and has the background work of the others; only --member-cost adds the cost of data "
        "sharing.",
    )  # fmt: skip


def _demands(plan: Plan) -> Section:
    heads = (
        _text("system", "System", key=True), _text("class", "Class", key=True), _text("importance", "Importance"),
        _number("rate", "Transactions", "rate"), _number("engines", "Engines used", "engines"),
        _number("general", "General engines only", "general", group="For each transaction"),
        _number("eligible", "zIIP-eligible", "eligible", group="For each transaction"),
        _number("overflow", "Overflow", "overflow", group="For each transaction"),
        _number("io", "I/O", "io", group="For each transaction"),
        _number("waiting", "Other queues", "waiting", group="For each transaction"),
        _number("other", "Other delay", "other", group="For each transaction"), _text("from", "Other delay from"),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for system in plan.model.systems:
        for class_model in system.classes:
            used = PLAN["engines"](
                rate=class_model.rate,
                general=class_model.general,
                overflow=class_model.overflow,
                eligible=class_model.eligible,
                ziip_factor=system.ziip_factor,
            )
            start: tuple[Cell, ...] = (
                system.name,
                class_model.name,
                "" if class_model.importance is None else str(class_model.importance),
            )
            if class_model.background:
                rows.append(
                    (
                        *start,
                        None,
                        used,
                        None,
                        None,
                        class_model.overflow if class_model.eligible else None,
                        None,
                        None,
                        None,
                        "background",
                    )
                )
                continue
            what = _OTHER_FROM[class_model.other_from]
            rows.append(
                (
                    *start, class_model.rate, used, class_model.general, class_model.eligible,
                    class_model.overflow if class_model.eligible else None,
                    class_model.io_service + class_model.waited("volume"),
                    class_model.waited() - class_model.waited("volume"), class_model.other, what,
                )
            )  # fmt: skip
    return Section(
        "demands", "Inputs of the model",
        (Table("plan-demands", "Service demands", heads, tuple(rows), top=20),),
        "Work that ended fewer than ten transactions is background: it loads the engines and has no response time.",
    )  # fmt: skip
