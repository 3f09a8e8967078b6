"""Texts of causes: titles, numbers, the way to them, and the command that shows the records."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from plexlens.metrics import GRAINS
from plexlens.metrics.causes import EVENTS, REST
from plexlens.metrics.display import significant, with_symbol
from plexlens.metrics.unit import Unit
from plexlens.why.answer import Why, subject
from plexlens.why.decomposition import Amount
from plexlens.why.links import Cause


def value_text(value: float, unit: Unit) -> str:
    """A difference with its sign and unit."""
    text = with_symbol(value, unit)
    return text if value <= 0 or text.startswith("<") else f"+{text}"


def title_of(name: str) -> str:
    """Title of a metric, fact or attribute, followed by the part of it that changed, if any."""
    grain, _, column = name.partition("#")[0].partition(".")
    of = GRAINS[grain]
    attribute = next((each.title for each in of.attributes if each.name == column), "")
    title = attribute or of.column(column).title
    if name.endswith(EVENTS):
        return f"number of events of {title[:1].lower()}{title[1:]}"
    return f"other parts of {title[:1].lower()}{title[1:]}" if name.endswith(REST) else title


def path_text(cause: Cause) -> str:
    """The way from the metric to a cause, and why its last step leads there."""
    between = [title_of(name) for name in cause.path[1:-1]]
    return ": ".join(text for text in (" > ".join(between), cause.text) if text)


def cause_object(cause: Cause) -> str:
    """The object that changed; empty for all together."""
    if cause.setting is not None:
        return cause.setting.owner
    return "" if cause.item is None else subject((), cause.item.names)


def cause_numbers(cause: Cause) -> tuple[str, str, str]:
    """BASE, NEW, and the interval of the change, as text."""
    before, after = (_text(value, cause) for value in (cause.before, cause.after))
    return before, after, "" if cause.setting is not None else interval_text(cause.moved, cause.unit)


def _text(value: float | str | None, cause: Cause) -> str:
    if value is None:
        return "not there"
    if isinstance(value, str):
        return value
    return with_symbol(value, cause.unit) if cause.unit is not None else significant(value, 4)


def interval_text(amount: Amount | None, unit: Unit | None) -> str:
    """An interval of confidence; what is not known is said."""
    if amount is None or amount.interval is None:
        return "not known"
    if unit is None:
        return f"{significant(amount.interval.low, 3)} to {significant(amount.interval.high, 3)}"
    return f"{value_text(amount.interval.low, unit)} to {value_text(amount.interval.high, unit)}"


def command_of(answer: Why, cause: Cause) -> str:
    """The command that shows the numbers of a cause over time."""
    grain, _, column = cause.name.partition("#")[0].partition(".")
    of = GRAINS[grain]
    if any(attribute.name == column for attribute in of.attributes):
        sql = f"select distinct {column}, system, interval from {grain} order by interval"
        return shell_line(["plexlens", "sql", answer.name, sql])
    words = ["plexlens", "trend", answer.name, "--metric", f"{grain}.{column}", "--every", "hour"]
    conditions = []
    change = answer.walked.looked_at.get(cause.name)
    if cause.setting is not None:
        conditions = [f"{key} = '{value}'" for key, value in cause.setting.whose]
    elif cause.item is not None and change is not None and change.by_key:
        conditions = [
            f"{key} = '{value}'"
            for key, value in zip(change.by_key[0].keys, cause.item.names, strict=True)
            if value is not None and key
        ]
    if answer.where and grain == answer.change.grain.name:
        conditions.append(f"({answer.where})")
    return shell_line([*words, *(["--where", " and ".join(conditions)] if conditions else [])])


#: A word with single quotes, and nothing that a shell changes between double quotes.
_QUOTES = re.compile(r"""[^"$`\\!]*'[^"$`\\!]*""")


def shell_line(words: Sequence[str]) -> str:
    """Words as a line of a shell; conditions, which have single quotes, in double quotes."""
    return " ".join(f'"{word}"' if _QUOTES.fullmatch(word) else shlex.quote(word) for word in words)
