"""Comparison of two runs as a report: environment and comparability first, then what changed and why, then every
number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from plexlens import __version__
from plexlens.compare.comparison.comparison import Comparison
from plexlens.compare.numbers.quantity import shown as as_text
from plexlens.compare.page import amounts
from plexlens.compare.page.amounts import symbol_of
from plexlens.compare.runs.comparability import Comparability, Outcome
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

#: Rows of a table shown before the reader asks for all.
TOP = 20

#: Groups whose first number stands at the head of the page.
_HEADLINES = (Group.RESPONSE, Group.THROUGHPUT, Group.PROCESSOR, Group.UTILISATION, Group.IO)


def compare_report(comparison: Comparison) -> Report:
    """The report of a comparison."""
    return Report(
        title=f"{comparison.new.name} against {comparison.base.name}",
        alerts=comparability_alerts(comparison.comparability),
        sections=tuple(
            section
            for section in (
                _short(comparison),
                environment_section(comparison.environments),
                comparability_section(comparison.comparability),
                _reasons(comparison),
                _claims(comparison),
                *_groups(comparison),
                _method(comparison),
            )
            if section.blocks
        ),
        definitions={measure.id: _definition(measure) for measure in _measures(comparison)},
        generator=f"Plexlens {__version__}",
        kind="Comparison",
        subject=f"BASE: {comparison.base.description}. NEW: {comparison.new.description}.",
    )


def comparability_alerts(checked: Comparability) -> tuple[Note, ...]:
    """The verdict for the place above the first number."""
    level = Level.INFO if checked.comparable else Level.WARNING
    consequences = tuple(dict.fromkeys(check.consequence for check in checked.differing if check.consequence))
    text = checked.verdict
    if not checked.comparable:
        text += " Their numbers are shown anyway."
    return (Note(text, level, consequences),)


def _headline(deltas: Sequence[Delta]) -> Delta | None:
    """The most important number of a group: of the whole, with a known good direction; None if there is none."""
    texts = [
        delta for delta in deltas if delta.difference is not None and (delta.difference != 0 or delta.ratio is not None)
    ]
    texts = [delta for delta in texts if not delta.object_name or delta.measure.better is not Better.NEITHER]
    return min(
        texts,
        key=lambda delta: (bool(delta.object_name), not delta.measure.headline, delta.measure.better is Better.NEITHER),
        default=None,
    )


def _short(comparison: Comparison) -> Section:
    figures = []
    for group in _HEADLINES:
        headline = _headline(by_group(comparison.deltas).get(group, []))
        if headline is None or headline.base is None or headline.new is None:
            continue
        change = amounts.change(headline) or amounts.difference(headline)
        figures.append(
            Figure(
                f"new_{group.name.lower()}",
                headline.measure.title + (f", {headline.object_name}" if headline.object_name else ""),
                headline.new.value,
                headline.measure.unit,
                headline.measure.id,
                f"BASE {amounts.amount(headline.base, headline.measure)}, {change}: {headline.judgement}",
                alarm=headline.judgement is Judgement.WORSE,
            )
        )
    blocks: list[Block] = [KeyFigures("headlines", tuple(figures))] if figures else []
    texts = [load.text for load in comparison.loads[:1]] + [
        explanation.text for explanation in comparison.explanations if explanation.parts
    ][:4]
    blocks += [Note(text) for text in texts]
    blocks += [Note(f"BASE: {text}") for text in comparison.base.notes]
    blocks += [Note(f"NEW: {text}") for text in comparison.new.notes if text not in comparison.base.notes]
    return Section(
        "short",
        "In short",
        tuple(blocks),
        "Differences are NEW minus BASE, ratios NEW divided by BASE. A ratio below 1, or a negative difference, means "
        "that NEW has less.",
    )


def environment_section(environments: Environments) -> Section:
    """Differences in the environment."""
    if not environments.differences:
        text = f"The environments are alike: all {environments.alike:,} settings recorded in both runs are the same."
        return Section(
            "environment", "Environment", (Note(text if environments.alike else "Neither run records a setting."),)
        )
    rows = tuple(
        (difference.subject, difference.name, difference.base, difference.new)
        for difference in environments.differences
    )
    columns = (
        _text("subject", "Of what", key=True), _text("name", "Setting", key=True), _text("base", "BASE"),
        _text("new", "NEW"),
    )  # fmt: skip
    return Section(
        "environment",
        "Differences in the environment",
        (Table("environment", "Settings that differ", columns, rows, top=TOP, note=_alike(environments.alike)),),
        "Intended changes, and other changes.",
    )


def _alike(count: int) -> str:
    return (
        f"{count:,} further settings are the same in both runs." if count else "Neither run records a further setting."
    )


def comparability_section(checked: Comparability) -> Section:
    """The checks, failed checks first."""
    checks = checked.checks
    if not checks:
        return Section("comparability", "Are the runs comparable?", (Note(checked.verdict),))
    columns = (
        _text("title", "Criterion", key=True), _text("outcome", "Outcome"), _text("text", "Found"),
        _text("base", "BASE"), _text("new", "NEW"), _text("apart", "Apart"), _text("bound", "Allowed"),
    )  # fmt: skip
    # What is not alike comes first.
    order = {Outcome.DIFFERS: 0, Outcome.UNKNOWN: 1, Outcome.ALIKE: 2}
    rows = tuple(
        (check.title, str(check.outcome).upper() if check.outcome is Outcome.DIFFERS else str(check.outcome),
         check.text,
         check.base, check.new, amounts.share(check.measured, signed=check.id.endswith(": rate")),
         amounts.share(check.bound))
        for check in sorted(checks, key=lambda check: order[check.outcome])
    )  # fmt: skip
    blocks: list[Block] = [Table("checks", "Checks", columns, rows, top=TOP)]
    blocks += [
        Note(f"{check.title}:", Level.INFO, check.details)
        for check in checks
        if check.details and check.outcome is not Outcome.ALIKE
    ]
    return Section(
        "comparability",
        "Are the runs comparable?",
        tuple(blocks),
        "Runs are comparable if they did the same work: the same objects, the same mix, and rates within the bounds.",
    )


def _reasons(comparison: Comparison) -> Section:
    blocks: list[Block] = []
    for number, load in enumerate(comparison.loads, 1):
        blocks += [Note(load.text), _load_table(load, number)]
    for number, explanation in enumerate(comparison.explanations, 1):
        if explanation.parts:
            blocks += [Note(explanation.text), _parts_table(explanation, number)]
    return Section(
        "reasons",
        "What changed, and why",
        tuple(blocks),
        "Each change divided into its parts. A share of the change can exceed 100 % if another part changed in the "
        "opposite direction.",
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
                share.object_name,
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
        note="By the load: BASE's rate per unit of work times the difference in work. By everything else: the rest of "
        "the change, such as settings, pool sizes, other statements, chance.",
    )


def _parts_table(explanation: Explanation, number: int) -> Table:
    columns = (
        _text("part", "Part", key=True), _text("kind", "Kind"), _text("base", "BASE"), _text("new", "NEW"),
        _text("change", "Change"), _text("share", "Share of the change"),
    )  # fmt: skip
    rows = [
        (part.title, str(part.kind), with_symbol(part.base, explanation.unit), with_symbol(part.new, explanation.unit),
         amounts.plus(part.change, explanation.unit), amounts.share(part.share))
        for part in explanation.parts
    ]  # fmt: skip
    rows.append(
        (
            "all",
            "",
            with_symbol(explanation.base, explanation.unit),
            with_symbol(explanation.new, explanation.unit),
            amounts.plus(explanation.change, explanation.unit),
            "",
        )
    )
    name = explanation.title + (f", {explanation.object_name}" if explanation.object_name else "")
    return Table(
        f"parts_{number}", name, columns, tuple(rows), top=len(rows), note=capital(explanation.arithmetic) + "."
    )


def _claims(comparison: Comparison) -> Section:
    pair = comparison.pair
    blocks: list[Block] = []
    if pair is not None and pair.claims:
        columns = (
            _text("claim", "The study says", key=True), _text("printed", "Its number"),
            _text("tables", "Its tables give"), _text("arithmetic", "Arithmetic"), _text("outcome", "Outcome"),
            _text("note", "Note"),
        )  # fmt: skip
        signs = {"=": "", "<": "less than ", ">": "more than "}
        rows = tuple(
            (f"{claim.text} ({claim.place})",
             f"{signs[claim.relation]}{claim.text_number} {symbol_of(claim.unit)}".strip(),
             NULL if claim.computed is None else f"{as_text(claim.computed.value)} {symbol_of(claim.unit)}".strip(),
             claim.arithmetic, "borne out" if claim.agrees else "NOT BORNE OUT", claim.note)
            for claim in pair.claims
        )  # fmt: skip
        blocks.append(Table("claims", "Claims of the study, compared with its tables", columns, rows, top=TOP))
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
        _text("actual", "Came"), _text("difference", "Measured less predicted"), _text("load", "By the load"),
        _text("rest", "Not explained"), _text("rescaled", "Predicted for the measured load"), _text("error", "Error"),
    )  # fmt: skip
    rows = tuple(
        (check.object_name, NULL if check.base is None else f"{check.base:,.2f}", f"{check.predicted:,.2f}",
         f"{check.actual:,.2f}",
         f"{check.difference:+,.2f}", f"{check.load:+,.2f}", f"{check.rest:+,.2f}", check.arithmetic,
         NULL if check.error is None else percent(check.error, signed=True))
        for check in checks
    )  # fmt: skip
    return Table(
        name,
        f"Predicted against actual ({symbol})",
        columns,
        rows,
        top=TOP,
        note="A prediction applies to the work that it was made from. It is scaled, object by object, to the measured "
        "work; the remaining difference is its error.",
    )


def prediction_told(check: RateCheck) -> str:
    """A prediction, its outcome, and its error at the measured work, in sentences."""
    text = (
        f"{check.object_name} was {check.actual:,.2f} per second, {abs(check.difference):,.2f} "
        f"{'more' if check.difference > 0 else 'less'} than the predicted {check.predicted:,.2f}. Its work changed "
        "from "
        f"{check.work_base:,.2f} to {check.work_new:,.2f} per second; for the changed work the prediction is "
        f"{check.rescaled:,.2f}"
    )
    if check.error is None:
        return f"{text}."
    return f"{text}, and the measurement is {percent(abs(check.error))} {'above' if check.error > 0 else 'below'} that."


def _groups(comparison: Comparison) -> Iterable[Section]:
    for group, every in by_group(comparison.deltas).items():
        deltas = [delta for delta in every if not _idle(delta)]
        idle = len(every) - len(deltas)
        note = f"Only in the JSON output: {counted(idle, 'number')} that {_are(idle)} zero in both runs."
        name = group.name.lower()
        if not deltas:
            yield Section(name, str(group), (Note(capital(note)),))
            continue
        chance = any(delta.interval is not None for delta in deltas)
        digits = any(delta.low is not None for delta in deltas)
        objects = any(delta.object_name for delta in deltas)
        columns = [_text("number", "Number", key=True)]
        columns += [_text("object", "Object", key=True)] if objects else []
        columns += [
            _text("base", "BASE"), _text("new", "NEW"), _text("difference", "Difference"), _text("change", "Change"),
            _text("ratio", "Ratio"),
        ]  # fmt: skip
        columns += [_text("confidence", "95 % interval of the difference")] if chance else []
        columns += [_text("digits", "Range allowed by printed digits")] if digits else []
        columns.append(_text("says", "Says"))
        rows = []
        for delta in deltas:
            row = [delta.measure.title] + ([delta.object_name or _whole(delta, comparison)] if objects else [])
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


def _idle(delta: Delta) -> bool:
    """Whether the number is zero in both runs."""
    return all(reading is not None and reading.value == 0 for reading in (delta.base, delta.new))


def _whole(delta: Delta, comparison: Comparison) -> str:
    if comparison.base.family != "database":
        return "the run"
    return f"all {within_a_sentence(delta.measure.kind)}"


def _method(comparison: Comparison) -> Section:
    bounds = comparison.comparability.bounds
    narrow = [delta for delta in comparison.deltas if delta.too_narrow]
    blocks: list[Block] = [
        Note(comparison.method),
        *_too_narrow(narrow),
        Note(
            f"Bounds of comparability: rates within {percent(bounds.rate, 0)}, at most {percent(bounds.mix, 0)} of the "
            f"work moved between objects, at most {percent(bounds.objects, 0)} of it by objects that appear in only "
            "one run."
        ),
        Note(
            "Verdicts: better or worse if the good direction is known, otherwise higher or lower; within chance if "
            "the confidence interval includes zero; within rounding if the printed digits allow zero. A change "
            "without a confidence interval is a single observation."
        ),
    ]
    columns = (
        _text("number", "Number", key=True), _text("unit", "Unit"), _text("formula", "Formula"),
        _text("source", "Source"), _text("caveat", "Note"),
    )  # fmt: skip
    rows = tuple(
        (
            measure.title,
            symbol_of(measure.unit.symbol or measure.unit.base),
            measure.formula,
            measure.source,
            measure.caveat,
        )
        for measure in _measures(comparison)
    )
    blocks.append(Table("numbers", "Definitions", columns, rows, top=TOP, folded=True))
    return Section("method", "Method and definitions", tuple(blocks))


def _too_narrow(deltas: Sequence[Delta]) -> list[Note]:
    if not deltas:
        return []
    names = list(
        dict.fromkeys(delta.measure.title + (f", {delta.object_name}" if delta.object_name else "") for delta in deltas)
    )
    text = (
        f"The confidence interval of {counted(len(deltas), 'number')} is too narrow: neighbouring groups of intervals "
        "are still correlated (above 0.5). Longer runs, or several days, give a more certain answer."
    )
    more = (f"and {len(names) - 5:,} more",) if len(names) > 5 else ()
    return [Note(text, Level.WARNING, (*names[:5], *more))]


def _measures(comparison: Comparison) -> list[Measure]:
    return list({delta.measure.id: delta.measure for delta in comparison.deltas}.values())


def _definition(measure: Measure) -> Definition:
    return Definition(
        measure.id,
        measure.kind,
        measure.row,
        measure.title,
        measure.unit,
        measure.formula,
        measure.source,
        measure.caveat,
    )
