"""The state of a page as its address holds it: selection, keys that split the rows, and the number shown."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from difflib import get_close_matches

from starlette.datastructures import QueryParams

from plexlens.errors import UsageError
from plexlens.metrics.selection import Selection, selected

#: Parameters that select a part of the data, named as the options of commands.
SELECTING = ("from", "to", "system", "shift", "class")

#: Those of them that may be given repeatedly.
REPEATED = ("system", "shift", "class")

#: Characters of a value, and values in an address, at most.
LONGEST, MOST = 200, 60


def check(
    params: QueryParams, known: Collection[str], *, lists: Collection[str] = ("system", "shift", "class")
) -> None:
    """Refuse unknown parameters, repeated parameters, and values that are neither a name nor a time.

    Parameters
    ----------
    params
        Of the address.
    known
        Names of parameters of the page.
    lists
        Those of them that may be given repeatedly.

    Raises
    ------
    UsageError
        Something is wrong with them; it names the parameter.
    """
    pairs = params.multi_items()
    if len(pairs) > MOST:
        raise wrong("", f"the address has {len(pairs):,} parameters", f"give at most {MOST}")
    seen: set[str] = set()
    for name, value in pairs:
        if name not in known:
            near = get_close_matches(name, sorted(known), n=1)
            meant = f"did you mean {near[0]}?" if near else f"there are {', '.join(sorted(known)) or 'none here'}"
            raise wrong("", f"there is no parameter {name[:40]!r}", meant)
        if len(value) > LONGEST:
            raise wrong(name, f"it has {len(value):,} characters", f"give at most {LONGEST}")
        if any(ord(letter) < 32 or 0xD800 <= ord(letter) < 0xE000 for letter in value):
            raise wrong(name, "it has control characters", "leave them out")
        if name in seen and name not in lists:
            raise wrong(name, "it is given twice", "give it once")
        seen.add(name)


def wrong(name: str, what: str, remedy: str) -> UsageError:
    """The error of a parameter."""
    return UsageError(file=f"parameter {name}" if name else "", what=what, remedy=remedy)


def selection_of(params: QueryParams) -> Selection:
    """The part of the data that an address selects, not yet resolved.

    Raises
    ------
    UsageError
        A bound is not a time, or a shift is not a shift.
    """
    return selected(
        since=_moment(params.get("from", "")),
        until=_moment(params.get("to", "")),
        systems=[value for value in params.getlist("system") if value],
        shifts=[value for value in params.getlist("shift") if value],
        classes=[value for value in params.getlist("class") if value],
    )


def _moment(text: str) -> str:
    """A time as written; the plus sign of an offset, which an address turns into a blank, is put back."""
    date, separator, offset = text.strip().rpartition(" ")
    return f"{date}+{offset}" if separator and "T" in date and ":" in offset else text


def selecting(params: QueryParams) -> list[tuple[str, str]]:
    """The parameters of the selection, for addresses of other pages over the same part of the data."""
    return [(name, value) for name, value in params.multi_items() if name in SELECTING and value]


def number(params: QueryParams, name: str, default: int, largest: int) -> int:
    """A whole number from 1 to ``largest``.

    Raises
    ------
    UsageError
        It is not such a number.
    """
    text = params.get(name, "")
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= 9 and 1 <= int(text) <= largest):
        raise wrong(name, f"{text[:40]!r} is not a number from 1 to {largest:,}", "correct it")
    return int(text)


def chosen(params: QueryParams, name: str, valid: Sequence[str], default: str) -> str:
    """A parameter that is a word of a list.

    Raises
    ------
    UsageError
        It is another word; the message lists those that are spelt alike, or all.
    """
    text = params.get(name, "")
    if not text:
        return default
    if text not in valid:
        near = get_close_matches(text, valid, n=3) or list(valid)[:20]
        raise wrong(name, f"there is no {text[:60]!r}", f"name one of {', '.join(near)}")
    return text
