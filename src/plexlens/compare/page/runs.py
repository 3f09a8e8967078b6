"""Comparison of two runs as a report: environment and comparability first, then what changed and why, then every
number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from plexlens import __version__
from plexlens.compare.comparison.comparison import Comparison
from plexlens.compare.numbers.quantity import shown as as_text
from plexlens.compare.page import amounts
from plexlens.compare.page.amounts import symbol_of
from plexlens.compare.runs.comparability import Check, Comparability, Outcome
from plexlens.compare.runs.deltas import Delta, Judgement, by_group
from plexlens.compare.runs.environment import Environments
from plexlens.compare.runs.explain import Explanation, LoadExplanation
from plexlens.compare.runs.prediction_check import RateCheck
from plexlens.compare.runs.run import Better, Group, Measure
from plexlens.compare.runs.wording import capital, within_a_sentence
from plexlens.metrics.display import NULL, percent, with_symbol
from plexlens.report.model import Block, Definition, Figure, KeyFigures, Level, Note, Report, Section, Table
from plexlens.report.model import text_column as _text
from plexlens.report.model.display import counted
from plexlens.report.writers.json_object import to_json

#: Rows of a table shown before the reader asks for all.
TOP = 20

#: Groups whose first number stands at the head of the page.
_HEADLINES = (Group.RESPONSE, Group.THROUGHPUT, Group.PROCESSOR, Group.UTILISATION, Group.IO)


def compare_report(made: Comparison) -> Report:
    """The report of a comparison."""
    return Report(
        title=f"{made.new.name} against {made.base.name}",
        systems=(),
        sysplexes=(),
        start=None,
        end=None,
        utc_offset=None,
        time_note="",
        alerts=comparability_alerts(made.comparability),
        sections=tuple(
            section
            for section in (
                _short(made),
                environment_section(made.environments),
                comparability_section(made.comparability),
                _reasons(made),
                _claims(made),
                *_groups(made),
                _method(made),
            )
            if section.blocks
        ),
        definitions={one.id: _definition(one) for one in _measures(made)},
        generator=f"Plexlens {__version__}",
        kind="Comparison",
        subject=f"BASE: {made.base.description}. NEW: {made.new.description}.",
    )


def compare_json(made: Comparison) -> dict[str, Any]:
    """The comparison as plain values: verdict, checks and deltas as numbers, and the page's tables."""
    return {
        "base": {"name": made.base.name, "description": made.base.description},
        "new": {"name": made.new.name, "description": made.new.description},
        "comparable": made.comparability.comparable if made.comparability.tested else None,
        "verdict": made.comparability.verdict,
        "environment": [
            {"subject": one.subject, "name": one.name, "base": one.base, "new": one.new}
            for one in made.environments.differences
        ],
        "checks": [check_json(one) for one in made.comparability.checks],
        "method": made.method,
        "deltas": [_delta_json(one) for one in made.deltas],
        "explanations": [
            {"title": one.title, "object": one.thing or None, "unit": one.unit.base, "base": one.base, "new": one.new,
             "text": one.text, "parts": [
                 {"title": part.title, "kind": str(part.kind), "base": part.base, "new": part.new,
                  "change": part.change, "share": part.share} for part in one.parts]}
            for one in made.explanations
        ],
        "load": [
            {"title": one.title, "work": one.work, "unit": one.unit.base, "change": one.change, "load": one.load,
             "rest": one.rest, "text": one.text, "objects": [
                 {"object": split.thing, "base": split.base, "new": split.new, "work_base": split.work_base,
                  "work_new": split.work_new, "load": split.load, "rest": split.rest} for split in one.objects]}
            for one in made.loads
        ],
        **to_json(compare_report(made)),
    }  # fmt: skip


def check_json(one: Check) -> dict[str, Any]:
    """A check of comparability as plain values."""
    return {
        "id": one.id, "title": one.title, "base": one.base, "new": one.new, "measured": one.measured,
        "bound": one.bound, "outcome": str(one.outcome), "text": one.text, "consequence": one.consequence or None,
        "details": list(one.details),
    }  # fmt: skip


def _delta_json(one: Delta) -> dict[str, Any]:
    interval = one.interval
    return {
        "measure": one.measure.id,
        "title": one.measure.title,
        "group": str(one.measure.group),
        "object": one.thing or None,
        "unit": one.measure.unit.base,
        "better": str(one.measure.better) or None,
        "base": None if one.base is None else one.base.value,
        "new": None if one.new is None else one.new.value,
        "difference": one.difference,
        "ratio": one.ratio,
        "printed_digits": None if one.low is None else {"low": one.low, "high": one.high},
        "confidence": None
        if interval is None
        else {
            "low": interval.low,
            "high": interval.high,
            "ratio_low": interval.ratio_low,
            "ratio_high": interval.ratio_high,
            "freedom": interval.freedom,
        },
        "says": str(one.judgement),
    }


def comparability_alerts(checked: Comparability) -> tuple[Note, ...]:
    """The verdict for the place above the first number."""
    level = Level.INFO if checked.comparable else Level.WARNING
    consequences = tuple(dict.fromkeys(check.consequence for check in checked.differing if check.consequence))
    text = checked.verdict
    if not checked.comparable:
        text += " Their numbers are shown all the same."
    return (Note(text, level, consequences),)


def _headline(found: Sequence[Delta]) -> Delta | None:
    """The most important number of a group: of the whole, with a known good direction; None if there is none."""
    told = [one for one in found if one.difference is not None and (one.difference != 0 or one.ratio is not None)]
    told = [one for one in told if not one.thing or one.measure.better is not Better.NEITHER]
    return min(
        told,
        key=lambda one: (bool(one.thing), not one.measure.headline, one.measure.better is Better.NEITHER),
        default=None,
    )


def _short(made: Comparison) -> Section:
    figures = []
    for group in _HEADLINES:
        one = _headline(by_group(made.deltas).get(group, []))
        if one is None or one.base is None or one.new is None:
            continue
        told = amounts.change(one) or amounts.difference(one)
        figures.append(
            Figure(
                f"new_{group.name.lower()}",
                one.measure.title + (f", {one.thing}" if one.thing else ""),
                one.new.value,
                one.measure.unit,
                one.measure.id,
                f"BASE {amounts.amount(one.base, one.measure)}, {told}: {one.judgement}",
                alarm=one.judgement is Judgement.WORSE,
            )
        )
    blocks: list[Block] = [KeyFigures("headlines", tuple(figures))] if figures else []
    texts = [one.text for one in made.loads[:1]] + [one.text for one in made.explanations if one.parts][:4]
    blocks += [Note(text) for text in texts]
    blocks += [Note(f"BASE: {text}") for text in made.base.notes]
    blocks += [Note(f"NEW: {text}") for text in made.new.notes if text not in made.base.notes]
    return Section(
        "short",
        "In short",
        tuple(blocks),
        "NEW and BASE: differences are NEW minus BASE, ratios NEW over BASE. Below 1, or a minus, means that NEW has "
        "less.",
    )


def environment_section(found: Environments) -> Section:
    """Differences in the environment."""
    if not found.differences:
        text = f"The environments are alike: all {found.alike:,} settings recorded in both runs are the same."
        return Section("environment", "Environment", (Note(text if found.alike else "Neither run records a setting."),))
    rows = tuple((one.subject, one.name, one.base, one.new) for one in found.differences)
    columns = (
        _text("subject", "Of what", key=True), _text("name", "Setting", key=True), _text("base", "BASE"),
        _text("new", "NEW"),
    )  # fmt: skip
    return Section(
        "environment",
        "What differs in the environment",
        (Table("environment", "Settings that differ", columns, rows, top=TOP, note=_alike(found.alike)),),
        "What was changed on purpose, and what changed besides it.",
    )


def _alike(count: int) -> str:
    return f"{count:,} more are the same in both." if count else "Both runs record no other setting."


def comparability_section(checked: Comparability) -> Section:
    """The checks, failed checks first."""
    checks = checked.checks
    if not checks:
        return Section("comparability", "Whether the runs are comparable", (Note(checked.verdict),))
    columns = (
        _text("title", "What has to be alike", key=True), _text("outcome", "Outcome"), _text("text", "Found"),
        _text("base", "BASE"), _text("new", "NEW"), _text("apart", "Apart"), _text("bound", "Allowed"),
    )  # fmt: skip
    # What is not alike comes first.
    order = {Outcome.DIFFERS: 0, Outcome.UNKNOWN: 1, Outcome.ALIKE: 2}
    rows = tuple(
        (one.title, str(one.outcome).upper() if one.outcome is Outcome.DIFFERS else str(one.outcome), one.text,
         one.base, one.new, amounts.share(one.measured, signed=one.id.endswith(": rate")), amounts.share(one.bound))
        for one in sorted(checks, key=lambda one: order[one.outcome])
    )  # fmt: skip
    blocks: list[Block] = [Table("checks", "Checks", columns, rows, top=TOP)]
    blocks += [
        Note(f"{check.title}:", Level.INFO, check.details)
        for check in checks
        if check.details and check.outcome is not Outcome.ALIKE
    ]
    return Section(
        "comparability",
        "Whether the runs are comparable",
        tuple(blocks),
        "Runs can be compared where they did the same work: the same objects, the same mix, rates within the bounds.",
    )


def _reasons(made: Comparison) -> Section:
    blocks: list[Block] = []
    for number, load in enumerate(made.loads, 1):
        blocks += [Note(load.text), _load_table(load, number)]
    for number, one in enumerate(made.explanations, 1):
        if one.parts:
            blocks += [Note(one.text), _parts_table(one, number)]
    return Section(
        "reasons",
        "What changed, and why",
        tuple(blocks),
        "A change divided into its parts. A share of the change can be more than 100 % where another part went the "
        "other way.",
    )


def _load_table(load: LoadExplanation, number: int) -> Table:
    columns = (
        _text("object", "Object", key=True), _text("work_base", f"{load.work}, BASE"), _text("work_new", "NEW"),
        _text("base", f"{load.title}, BASE"), _text("new", "NEW"), _text("change", "Change"),
        _text("load", "By the load"), _text("rest", "By everything else"), _text("arithmetic", "Load's part"),
    )  # fmt: skip

    def row(name: str, *values: float) -> tuple[str, ...]:
        return (name, *(f"{value:,.2f}" for value in values[:4]), *(f"{value:+,.2f}" for value in values[4:]))

    rows = [
        (
            *row(
                share.thing,
                share.work_base,
                share.work_new,
                share.base,
                share.new,
                share.new - share.base,
                share.load,
                share.rest,
            ),
            f"({share.work_new:,.2f} - {share.work_base:,.2f}) x {share.base:,.2f} / {share.work_base:,.2f}"
            if share.work_base
            else "no work in BASE",
        )
        for share in sorted(load.objects, key=lambda share: -abs(share.new - share.base))
    ]
    sums = [sum(getattr(share, name) for share in load.objects) for name in ("work_base", "work_new", "base", "new")]
    rows.append((*row("all", *sums, load.change, load.load, load.rest), "sum of the objects"))
    return Table(
        f"load_{number}",
        f"{load.title} ({load.unit.symbol}), object by object",
        columns,
        tuple(rows),
        top=len(rows),
        note="The load's part is what BASE's rate per unit of work gives for NEW's work; everything else is the rest "
        "of the change: settings, pool sizes, other statements, chance.",
    )


def _parts_table(one: Explanation, number: int) -> Table:
    columns = (
        _text("part", "Part", key=True), _text("kind", "Kind"), _text("base", "BASE"), _text("new", "NEW"),
        _text("change", "Change"), _text("share", "Share of the change"),
    )  # fmt: skip
    rows = [
        (part.title, str(part.kind), with_symbol(part.base, one.unit), with_symbol(part.new, one.unit),
         amounts.plus(part.change, one.unit), amounts.share(part.share))
        for part in one.parts
    ]  # fmt: skip
    rows.append(
        (
            "all",
            "",
            with_symbol(one.base, one.unit),
            with_symbol(one.new, one.unit),
            amounts.plus(one.change, one.unit),
            "",
        )
    )
    name = one.title + (f", {one.thing}" if one.thing else "")
    return Table(f"parts_{number}", name, columns, tuple(rows), top=len(rows), note=capital(one.arithmetic) + ".")


def _claims(made: Comparison) -> Section:
    pair = made.pair
    blocks: list[Block] = []
    if pair is not None and pair.claims:
        columns = (
            _text("claim", "The study says", key=True), _text("printed", "Its number"),
            _text("tables", "Its tables give"), _text("arithmetic", "Arithmetic"), _text("outcome", "Outcome"),
            _text("note", "Note"),
        )  # fmt: skip
        signs = {"=": "", "<": "less than ", ">": "more than "}
        rows = tuple(
            (f"{one.text} ({one.place})", f"{signs[one.relation]}{one.text_number} {symbol_of(one.unit)}".strip(),
             NULL if one.computed is None else f"{as_text(one.computed.value)} {symbol_of(one.unit)}".strip(),
             one.arithmetic, "borne out" if one.agrees else "NOT BORNE OUT", one.note)
            for one in pair.claims
        )  # fmt: skip
        blocks.append(Table("claims", "What the study claims, against what its tables give", columns, rows, top=TOP))
    if pair is not None and pair.predictions:
        blocks.append(prediction_table([check for _, _, check in pair.predictions], "1/s"))
        blocks += [Note(f"{text} ({place}): {prediction_told(check)}") for text, place, check in pair.predictions]
    if pair is not None:
        blocks += [Note(text) for text in pair.notes]
    return Section("claims", "Statements of the study", tuple(blocks))


def prediction_table(checks: Sequence[RateCheck], unit: str, name: str = "predictions") -> Table:
    """Predictions compared with measurements, object by object."""
    symbol = symbol_of(unit)
    columns = (
        _text("object", "Object", key=True), _text("base", f"BASE, {symbol}"), _text("predicted", "Predicted"),
        _text("actual", "Came"), _text("difference", "Came less predicted"), _text("load", "By the load"),
        _text("rest", "Not explained"), _text("rescaled", "Predicted for the measured load"), _text("error", "Error"),
    )  # fmt: skip
    rows = tuple(
        (one.thing, NULL if one.base is None else f"{one.base:,.2f}", f"{one.predicted:,.2f}", f"{one.actual:,.2f}",
         f"{one.difference:+,.2f}", f"{one.load:+,.2f}", f"{one.rest:+,.2f}", one.arithmetic,
         NULL if one.error is None else percent(one.error, signed=True))
        for one in checks
    )  # fmt: skip
    return Table(
        name,
        f"Predicted against actual ({symbol})",
        columns,
        rows,
        top=TOP,
        note="A prediction holds for the work it was made from. It is rescaled, object by object, to the work that "
        "was done; only what then remains is its error.",
    )


def prediction_told(one: RateCheck) -> str:
    """A prediction, its outcome, and its error at the measured work, in sentences."""
    text = (
        f"{one.thing} came to {one.actual:,.2f} a second, {abs(one.difference):,.2f} "
        f"{'more' if one.difference > 0 else 'less'} than the {one.predicted:,.2f} predicted. Its work changed from "
        f"{one.work_base:,.2f} to {one.work_new:,.2f} a second; for that the prediction is {one.rescaled:,.2f}"
    )
    if one.error is None:
        return f"{text}."
    return f"{text}, and the measurement is {percent(abs(one.error))} {'above' if one.error > 0 else 'below'} that."


def _groups(made: Comparison) -> Iterable[Section]:
    for group, every in by_group(made.deltas).items():
        found = [delta for delta in every if not _idle(delta)]
        idle = len(every) - len(found)
        note = f"Left out here, and only in the JSON: {counted(idle, 'number')} that {_are(idle)} zero in both runs."
        name = group.name.lower()
        if not found:
            yield Section(name, str(group), (Note(capital(note)),))
            continue
        chance = any(delta.interval is not None for delta in found)
        digits = any(delta.low is not None for delta in found)
        objects = any(delta.thing for delta in found)
        columns = [_text("number", "Number", key=True)]
        columns += [_text("object", "Object", key=True)] if objects else []
        columns += [
            _text("base", "BASE"), _text("new", "NEW"), _text("difference", "Difference"), _text("change", "Change"),
            _text("ratio", "Ratio"),
        ]  # fmt: skip
        columns += [_text("confidence", "95 % interval of the difference")] if chance else []
        columns += [_text("digits", "What the printed digits leave")] if digits else []
        columns.append(_text("says", "Says"))
        rows = []
        for delta in found:
            row = [delta.measure.title] + ([delta.thing or _whole(delta, made)] if objects else [])
            row += [
                amounts.amount(delta.base, delta.measure),
                amounts.amount(delta.new, delta.measure),
                amounts.difference(delta),
                amounts.change(delta),
            ]
            row += [NULL if delta.ratio is None else f"{delta.ratio:.3f}"]
            row += [amounts.interval(delta)] if chance else []
            row += [amounts.digits(delta)] if digits else []
            rows.append((*row, str(delta.judgement)))
        table = Table(f"numbers_{name}", str(group), tuple(columns), tuple(rows), top=TOP, note=note if idle else "")
        yield Section(name, str(group), (table,))


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _idle(one: Delta) -> bool:
    """Whether the number is zero in both runs."""
    return all(reading is not None and reading.value == 0 for reading in (one.base, one.new))


def _whole(one: Delta, made: Comparison) -> str:
    if made.base.family != "database":
        return "the run"
    return f"all {within_a_sentence(one.measure.kind)}"


def _method(made: Comparison) -> Section:
    bounds = made.comparability.bounds
    narrow = [one for one in made.deltas if one.too_narrow]
    blocks: list[Block] = [
        Note(made.method),
        *_too_narrow(narrow),
        Note(
            f"Bounds of comparability: rates within {percent(bounds.rate, 0)}, at most {percent(bounds.mix, 0)} of the "
            f"work moved between objects, at most {percent(bounds.objects, 0)} of it by objects that appear in only "
            "one run."
        ),
        Note(
            "Verdicts: better or worse where it is known which direction is good, else higher or lower; within chance "
            "where the confidence interval includes zero; within rounding where the printed digits allow zero. "
            "Without an interval, a change is stated as measured, from one observation."
        ),
    ]
    columns = (
        _text("number", "Number", key=True), _text("unit", "Unit"), _text("formula", "Formula"),
        _text("source", "Source"), _text("caveat", "Note"),
    )  # fmt: skip
    rows = tuple(
        (one.title, symbol_of(one.unit.symbol or one.unit.base), one.formula, one.source, one.caveat)
        for one in _measures(made)
    )
    blocks.append(Table("numbers", "What the numbers are", columns, rows, top=TOP, folded=True))
    return Section("method", "Method and definitions", tuple(blocks))


def _too_narrow(found: Sequence[Delta]) -> list[Note]:
    if not found:
        return []
    names = list(dict.fromkeys(one.measure.title + (f", {one.thing}" if one.thing else "") for one in found))
    text = (
        f"The interval of {counted(len(found), 'number')} is too narrow: neighbouring groups of intervals still "
        "resemble each other (correlation above one half). Longer runs, or several days, would make this more certain."
    )
    more = (f"and {len(names) - 5:,} more",) if len(names) > 5 else ()
    return [Note(text, Level.WARNING, (*names[:5], *more))]


def _measures(made: Comparison) -> list[Measure]:
    return list({one.measure.id: one.measure for one in made.deltas}.values())


def _definition(one: Measure) -> Definition:
    return Definition(one.id, one.kind, one.row, one.title, one.unit, one.formula, one.source, one.caveat)
