"""Goldens: output as it was last reviewed, compared with what the program writes now.

A golden detects change. It does not say that a number is right: a wrong number that was reviewed without care stays
wrong here. Whether numbers are right is tested where they are made, against hand calculations and oracles.

``make goldens`` renews the files, ``PLEXLENS_UPDATE_GOLDEN=1 pytest FILE -k NAME`` some of them. Read their difference
like code, and say in the commit why each number moved.
"""

from __future__ import annotations

import difflib
import json
import math
import os
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

#: The variable that renews goldens.
SWITCH = "PLEXLENS_UPDATE_GOLDEN"

#: Differences that a message lists; more are counted.
LISTED = 25

#: Lists with more elements are kept as their ends, and a digest of each column.
LONGEST_LIST = 30
_ENDS = 3
_WIDTH = 118

#: Two numbers are the same to this relative difference: the order of additions differs between processors, and the fit
#: of a curve ends within 1e-8 of its best.
TOLERANCE = 1e-6


def check_text(path: Path, text: str) -> None:
    """Compare a text with its golden, line by line, or renew the golden."""
    text = "".join(line.rstrip() + "\n" for line in text.splitlines())
    if os.environ.get(SWITCH):
        path.write_text(text, encoding="utf-8")
    differences = text_differences(_golden(path), text)
    assert not differences, _message(path, differences)


def check_json(path: Path, value: Any) -> None:
    """Compare a JSON value with its golden, number by number, or renew the golden."""
    made = thinned(value)
    if os.environ.get(SWITCH) and not (path.is_file() and not differences_of(json.loads(_golden(path)), made)):
        path.write_text(written(made) + "\n", encoding="utf-8")
    differences = differences_of(json.loads(_golden(path)), made)
    assert not differences, _message(path, differences)


def check_no_other(folder: Path, names: set[str]) -> None:
    """No golden without a case: it would be compared with nothing."""
    others = {path.name for path in folder.iterdir()} - names
    if os.environ.get(SWITCH):
        for name in sorted(others):
            (folder / name).unlink()
        return
    assert not others, (
        f"goldens in {folder} that no test compares: {', '.join(sorted(others))}; {SWITCH}=1 deletes them"
    )


def _golden(path: Path) -> str:
    assert path.is_file(), f"{path} is not there: {SWITCH}=1 writes it; review it before you commit it"
    return path.read_text(encoding="utf-8")


def _message(path: Path, differences: list[str]) -> str:
    more = len(differences) - LISTED
    return "\n".join(
        [
            f"{path.name} differs from what was reviewed in {len(differences)} places (golden -> now):",
            *differences[:LISTED],
            *([f"... and {more} more"] if more > 0 else []),
            f"If the change is intended, {SWITCH}=1 renews the golden; review its difference.",
        ]
    )


def text_differences(golden: str, text: str) -> list[str]:
    """Each line that differs, as ``line N: - golden line`` or ``+ line now``."""
    before, after = golden.splitlines(), text.splitlines()
    found = []
    for kind, i1, i2, j1, j2 in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind != "equal":
            found += [f"line {number + 1}: - {before[number]}" for number in range(i1, i2)]
            found += [f"line {i1 + 1}: + {after[number]}" for number in range(j1, j2)]
    return found


def differences_of(golden: Any, value: Any, place: str = "") -> list[str]:
    """Each place where two JSON values differ, as ``place: golden -> now``."""
    if isinstance(golden, dict) and isinstance(value, dict):
        found = [f"{place}.{key}: {_short(golden[key])} -> gone" for key in golden if key not in value]
        for key, item in value.items():
            inside = f"{place}.{key}" if place else key
            found += differences_of(golden[key], item, inside) if key in golden else [f"{inside}: new: {_short(item)}"]
        if not found and list(golden) != list(value):
            found = [f"{place}: the order of keys is {list(golden)} -> {list(value)}"]
        return found
    if isinstance(golden, list) and isinstance(value, list):
        found = [] if len(golden) == len(value) else [f"{place}: {len(golden)} -> {len(value)} elements"]
        for number, (old, new) in enumerate(zip(golden, value, strict=False)):
            found += differences_of(old, new, f"{place}[{number}]{_name_of(new)}")
        return found
    numbers = all(isinstance(one, int | float) and not isinstance(one, bool) for one in (golden, value))
    same = math.isclose(golden, value, rel_tol=TOLERANCE, abs_tol=1e-15) if numbers else golden == value
    same = same and (numbers or type(golden) is type(value))
    return [] if same else [f"{place}: {_short(golden)} -> {_short(value)}"]


def _name_of(value: Any) -> str:
    """What an element of a list is called, so that its place can be found on the page."""
    names = (
        [value[key] for key in ("id", "name", "title") if isinstance(value.get(key), str)]
        if isinstance(value, dict)
        else []
    )
    return f"({names[0]})" if names else ""


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 160 else text[:157] + "..."


def thinned(value: Any) -> Any:
    """A JSON value with numbers of nine digits, and of each long list its ends and a digest of each column.

    A digest tells that something in its column changed, of all elements; the text of the page, or the command itself,
    tells what.
    """
    if isinstance(value, dict):
        return {key: thinned(item) for key, item in value.items()}
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if not isinstance(value, list):
        return value
    if len(value) <= LONGEST_LIST:
        return [thinned(item) for item in value]
    ends = [thinned(item) for item in (*value[:_ENDS], value[-1])]
    return [*ends[:_ENDS], {"elements": len(value), "digests": _digests(value)}, ends[-1]]


def _digests(elements: list[Any]) -> Any:
    if all(isinstance(item, dict) for item in elements):
        keys = dict.fromkeys(key for item in elements for key in item)
        return {key: _digest(item.get(key, "absent") for item in elements) for key in keys}
    return _digest(elements)


def _digest(values: Iterable[Any]) -> str:
    """CRC of the values, numbers to seven digits."""
    check = 0
    for value in values:
        check = zlib.crc32(json.dumps(_seven(value), ensure_ascii=False).encode(), check)
    return f"{check:08x}"


def _seven(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _seven(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_seven(item) for item in value]
    # Past seven digits, and near zero, the order of additions shows.
    return f"{value:.6e}" if isinstance(value, float) else value


def written(value: Any, depth: int = 0) -> str:
    """JSON with whatever fits into a line in one line, so that a difference of two files is a line of a table."""
    plain = json.dumps(value, ensure_ascii=False)
    if depth + len(plain) <= _WIDTH or not isinstance(value, dict | list) or not value:
        return plain
    inner = " " * (depth + 1)
    if isinstance(value, list):
        if all(not isinstance(item, dict | list) for item in value):
            lines = list(_filled([json.dumps(item, ensure_ascii=False) for item in value], _WIDTH - depth))
        else:
            lines = [written(item, depth + 1) for item in value]
        return "[\n" + ",\n".join(inner + line for line in lines) + "\n" + " " * depth + "]"
    items = [f"{json.dumps(key, ensure_ascii=False)}: {written(item, depth + 1)}" for key, item in value.items()]
    return "{\n" + ",\n".join(inner + item for item in items) + "\n" + " " * depth + "}"


def _filled(items: list[str], width: int) -> Iterator[str]:
    """Items of a list, as many in a line as fit."""
    rest = iter(items)
    line = next(rest)
    for item in rest:
        if len(line) + len(item) + 2 > width:
            yield line
            line = item
        else:
            line += ", " + item
    yield line
