"""Page of `plexlens why`: the judgement, causes in their order, the parts of the change, and what else differs."""

from __future__ import annotations

from collections.abc import Sequence

from plexlens import __version__
from plexlens.metrics.causes import EVENTS, REST
from plexlens.metrics.definition import Attribute, Fact
from plexlens.metrics.display import percent, with_symbol
from plexlens.metrics.unit import COUNT, FRACTION
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
    text_column,
)
from plexlens.report.model.clock import Clock
from plexlens.report.model.page_definitions import definition_of
from plexlens.why.answer import CHANCE, CHANGED, LIKELY, UNKNOWN, Why, subject
from plexlens.why.chain import Chain
from plexlens.why.change import ByKey
from plexlens.why.links import ALPHA, LINKED, Cause
from plexlens.why.page.texts import cause_numbers, cause_object, command_of, interval_text, path_text, title_of

METHOD = (
    "Intervals of confidence are 95 %: neighbouring intervals of each period are put into groups, each number is "
    "computed again without each group in turn (deleted-group jackknife), and the two errors are combined as in "
    "Welch's t test. Differences are tested in this way and by the logarithms of the groups, around a line where a "
    "period rises or falls along one. Both cover chance within the periods, not differences between days."
)
FORMULA = (
    "Of a ratio of sums, with s an object's share of what stands below the line and r its own ratio: intensity = "
    "(r1 - r0) x (s0 + s1) / 2; mix = (s1 - s0) x ((r0 + r1) / 2 - R), R being the mean of the whole's ratio before "
    "and after. Of a sum over work: work W, share s and ratio r each get their Shapley value. Before is 0, after is 1. "
    "No order of steps is preferred, and the parts add up to the change."
)


def why_report(answer: Why, clock: Clock) -> Report:
    """The report of an answer.

    Parameters
    ----------
    answer
        From `plexlens.why.answer.why`.
    clock
        The clock on which times are shown.
    """
    column = answer.change.column
    name = answer.change.name
    sections = [_answer(answer), _where(answer)]
    if answer.chain is not None:
        sections.append(_through(answer.chain))
    sections += [_else(answer), _tested(answer)]
    return Report(
        title=f"Why {column.title} changed",
        utc_offset=clock.offset,
        time_note="Periods are local times of the systems.",
        sections=tuple(sections),
        definitions={name: definition_of(answer.change.grain, column.name)},
        generator=f"Plexlens {__version__}",
        kind="Why",
        subject=f"NEW: {answer.at}. BASE: {answer.against}." + (f" Objects: {answer.where}." if answer.where else ""),
    )


def judgement_text(answer: Why) -> str:
    """The judgement in a sentence."""
    change = answer.change
    title, unit = change.column.title, change.column.unit
    from_to = f"from {with_symbol(change.before, unit)} to {with_symbol(change.after, unit)}"
    p = None if change.all is None else change.all.p
    if answer.judgement == CHANGED:
        return f"{title} changed {from_to}. A change of this size by chance has a probability of {_p(p)}."
    if answer.judgement == CHANCE:
        return (
            f"Nothing beyond chance: {title} went {from_to}, and intervals of either period differ so much that this "
            f"has a probability of {_p(p)} without any cause. No cause is named."
        )
    if answer.judgement == LIKELY:
        return (
            f"{title} went {from_to}, which has a probability of {_p(p)} without any cause: it may be chance. But "
            "settings or metrics that move it changed beyond chance, so these are named."
        )
    return (
        f"{title} went {from_to}. Whether that is chance cannot be told: a period has fewer than four intervals, or "
        "the metric is a high-water mark. Of causes only settings are named; the parts below are exact all the same."
    )


def _p(p: float | None) -> str:
    return "an unknown size" if p is None else "less than 0.1 %" if p < 0.001 else percent(p)


def _answer(answer: Why) -> Section:
    change = answer.change
    unit = change.column.unit
    figures = (
        Figure("before", "BASE", change.before, unit, change.name, answer.against),
        Figure("after", "NEW", change.after, unit, change.name, answer.at),
    )
    level = Level.INFO if answer.judgement != UNKNOWN else Level.WARNING
    blocks: list[Block] = [KeyFigures("periods", figures), Note(judgement_text(answer), level)]
    blocks += [
        Note(
            f"It {'rises' if last > first else 'falls'} throughout {period}, from {with_symbol(first, unit)} to "
            f"{with_symbol(last, unit)}: its mean depends on where the period begins and ends.",
            Level.WARNING,
        )
        for period, (first, last) in change.drifts.items()
    ]
    if answer.causes:
        columns = (
            Column("rank", "Rank", ColumnKind.NUMBER, COUNT),
            text_column("cause", "What changed", key=True),
            text_column("object", "Object", key=True),
            text_column("before", "BASE"),
            text_column("after", "NEW"),
            text_column("interval", "95 % interval of its change"),
            Column("share", "Explains at most", ColumnKind.NUMBER, FRACTION),
            Column("weight", "Weight", ColumnKind.NUMBER, FRACTION, bar=True),
            text_column("path", "By way of"),
            text_column("command", "Records behind it"),
        )
        rows = tuple(_cause_row(answer, number, cause) for number, cause in enumerate(answer.causes, 1))
        note = (
            "The first changes along the links of the catalogue. Weight orders them; shares of causes behind one part "
            "overlap and do not add up."
        )
        blocks.append(Table("causes", "Causes", columns, rows, note=note))
        if unexplained := _unexplained(answer):
            blocks.append(Note(unexplained))
    elif answer.judgement == CHANGED:
        blocks.append(Note("No link of the catalogue leads from it to another change: see its parts below."))
    return Section("answer", "Answer", tuple(blocks))


def _unexplained(answer: Why) -> str:
    best = min(1.0, max((cause.share for cause in answer.causes), default=0.0))
    open_ends = [cause for cause in answer.causes if cause.name.endswith((EVENTS, REST))]
    texts = []
    if best < 0.95:
        texts.append(f"At least {percent(1 - best, 0)} of the change is not explained by the first cause of any chain.")
    if open_ends:
        names = "; ".join(dict.fromkeys(cause.text for cause in open_ends))
        texts.append(f"Nothing that the records hold explains these parts further: {names}.")
    return " ".join(texts)


def _cause_row(answer: Why, number: int, cause: Cause) -> tuple[Cell, ...]:
    before, after, interval = cause_numbers(cause)
    return (
        number,
        title_of(cause.name) if not cause.name.endswith((EVENTS, REST)) else cause_object_title(cause),
        cause_object(cause),
        before,
        after,
        interval,
        min(1.0, cause.share),
        cause.weight,
        path_text(cause),
        command_of(answer, cause),
    )


def cause_object_title(cause: Cause) -> str:
    """Title of a part: the number of its events, or the rest of a whole."""
    return f"Number of events: {cause.text}" if cause.name.endswith(EVENTS) else cause.text


def _where(answer: Why) -> Section:
    change = answer.change
    divided = [by_key for by_key in change.by_key if len(by_key.items) > 1]
    blocks: list[Block] = [_key_table(answer, by_key, number) for number, by_key in enumerate(divided)]
    blocks += [
        Note(f"By {_key_titles(answer, keys.split(', '))} the change cannot be divided: {reason}.")
        for keys, reason in (change.undivided or {}).items()
    ]
    if not blocks:
        blocks = [Note("Every key has one value: there is a single object.")]
    if any(by_key.has_parts for by_key in divided):
        blocks.append(Note(FORMULA))
    elif divided:
        blocks.append(Note("The metric is a sum: the part of an object is its own difference."))
    return Section("where", "Where it changed", tuple(blocks), "The change divided among objects, key by key.")


def _key_titles(answer: Why, keys: Sequence[str]) -> str:
    titles = {"system": "system"} | {key.name: key.title.lower() for key in answer.change.grain.keys}
    return ", ".join(titles.get(key, key) for key in keys)


def _key_table(answer: Why, by_key: ByKey, number: int) -> Table:
    unit = answer.change.column.unit
    whole = answer.change.all.value if answer.change.all is not None else 0.0
    parts = [Column("volume", "Volume", ColumnKind.NUMBER, unit)] if by_key.is_sum and by_key.has_parts else []
    if by_key.has_parts:
        parts += [
            Column("mix", "Mix", ColumnKind.NUMBER, unit),
            Column("intensity", "Intensity", ColumnKind.NUMBER, unit),
        ]
    columns = (
        text_column("object", _key_titles(answer, by_key.keys).capitalize(), key=True),
        Column("before", "BASE", ColumnKind.NUMBER, unit),
        Column("after", "NEW", ColumnKind.NUMBER, unit),
        *parts,
        Column("change", "Part of the change", ColumnKind.NUMBER, unit),
        text_column("interval", "95 % interval"),
        Column("share", "Share", ColumnKind.NUMBER, FRACTION, bar=True),
        text_column("note", ""),
    )
    rows: list[tuple[Cell, ...]] = []
    for item in by_key.items:
        values: list[Cell] = [item.volume] if by_key.is_sum and by_key.has_parts else []
        values += [item.mix, item.intensity] if by_key.has_parts else []
        rows.append(
            (
                subject(by_key.keys, item.names),
                item.before,
                item.after,
                *values,
                item.all.value,
                interval_text(item.all, unit),
                item.all.value / whole if whole else None,
                "only in NEW" if item.is_new else "only in BASE" if item.is_gone else "",
            )
        )
    total: list[Cell] = [sum(item.volume for item in by_key.items)] if by_key.is_sum and by_key.has_parts else []
    if by_key.has_parts:
        total += [sum(item.mix for item in by_key.items), sum(item.intensity for item in by_key.items)]
    rows.append(
        (
            "all together",
            answer.change.before,
            answer.change.after,
            *total,
            sum(item.all.value for item in by_key.items),
            interval_text(answer.change.all, unit),
            1.0 if whole else None,
            "",
        )
    )
    title = f"By {_key_titles(answer, by_key.keys)}"
    return Table(f"where_{'_'.join(by_key.keys)}", title, columns, tuple(rows), top=20, folded=number > 2)


def _through(chain: Chain) -> Section:
    unit = chain.unit
    columns = (
        text_column("part", "Part", key=True),
        Column("before", "BASE", ColumnKind.NUMBER, unit),
        Column("after", "NEW", ColumnKind.NUMBER, unit),
        Column("change", "Change", ColumnKind.NUMBER, unit),
        text_column("interval", "95 % interval"),
        Column("share", "Share", ColumnKind.NUMBER, FRACTION, bar=True),
        Column("events", "By the number of events", ColumnKind.NUMBER, unit),
        Column("each", "By the time of an event", ColumnKind.NUMBER, unit),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            part.title,
            part.before,
            part.after,
            part.all.value,
            interval_text(part.all, unit),
            part.share,
            None if part.split is None else part.split.events.value,
            None if part.split is None else part.split.each.value,
        )
        for part in chain.parts
    ]
    change = chain.after - chain.before
    rows.append(("all together", chain.before, chain.after, change, "", 1.0, None, None))
    note = "Events n of time t: (n1 - n0) x (t0 + t1) / 2 and (t1 - t0) x (n0 + n1) / 2."
    table = Table("through", chain.title, columns, tuple(rows), top=30, note=note)
    return Section("through", "Through what it changed", (table,), "The parts that add up to it.")


def _else(answer: Why) -> Section:
    blocks: list[Block] = []
    if answer.settings:
        rows = tuple(
            (
                setting.column.title,
                setting.grain.title,
                setting.owner,
                _setting_text(setting.before, setting.column),
                _setting_text(setting.after, setting.column),
            )
            for setting in answer.settings
        )
        columns = (
            text_column("setting", "Setting", key=True),
            text_column("of", "Of"),
            text_column("object", "Object", key=True),
            text_column("before", "BASE"),
            text_column("after", "NEW"),
        )
        blocks.append(Table("settings", "Settings with another value", columns, rows))
    else:
        blocks.append(Note("Every setting that both periods record has the same value."))
    if answer.names:
        name_rows = tuple(
            (each.grain.title, each.name, "only in NEW" if each.is_new else "only in BASE") for each in answer.names
        )
        heads = (text_column("of", "Kind"), text_column("name", "Name", key=True), text_column("there", "Where"))
        blocks.append(Table("names", "Names of one period only", heads, name_rows))
    else:
        blocks.append(Note("No names came or went."))
    if answer.findings:
        rows = tuple(
            ("began" if each.began else "ended", each.severity, each.title, each.objects, each.sentence)
            for each in answer.findings
        )
        columns = (
            text_column("state", "State"),
            text_column("severity", "Severity"),
            text_column("finding", "Finding", key=True),
            text_column("object", "Object", key=True),
            text_column("text", "What is wrong"),
        )
        blocks.append(Table("findings", "Findings of one period only", columns, rows))
    else:
        text = "Rules were not checked." if answer.findings is None else "The findings of both periods are the same."
        blocks.append(Note(text))
    return Section("else", "What else changed", tuple(blocks), "Whether linked to the metric or not.")


def _setting_text(value: object, column: Fact | Attribute) -> str:
    return str(value) if isinstance(column, Attribute) or value is None else with_symbol(float(str(value)), column.unit)


def _tested(answer: Why) -> Section:
    intervals = f"BASE has {answer.intervals[0]:,} intervals, NEW {answer.intervals[1]:,}."
    text = (
        f"{answer.walked.tests:,} changes of metrics and objects that links lead to were tested together: Holm's rule "
        f"keeps the probability of any false one at {percent(LINKED, 0)}. The metric itself counts as changed at "
        f"{percent(ALPHA, 0)}. A setting is changed where no interval of one period has a value of the other's range."
    )
    return Section("method", "How it was judged", (Note(intervals), Note(METHOD), Note(text)))
