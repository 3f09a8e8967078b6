"""Checks that variables, parameters, functions and fields are named by nouns of the field.

``python -m tools.names`` lists the places in ``src/plexlens`` that bind a word of ``tools/names.toml``, apart from what
the list allows, and entries of the list that allow more than there is. The exit code is 1 if there is any.
`tools.english` runs it too.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIST = Path(__file__).with_suffix(".toml")
PACKAGE = "src/plexlens"


@dataclass(frozen=True)
class Rules:
    """Words to avoid as names, and the number of places in each file where they stay."""

    words: frozenset[str]
    stays: Counter[str]


def read_rules(path: Path = LIST) -> Rules:
    """Read the list of words and of places that stay."""
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    stays: Counter[str] = Counter()
    for entry in content.get("stays", []):
        stays.update(entry["files"])
    return Rules(frozenset(content["words"]), stays)


def bound(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Every name that a module binds, with its line: variables, parameters, functions, classes, fields, patterns."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store(), lineno=line):
                yield name, line
            case ast.arg(arg=name, lineno=line):
                yield name, line
            case (
                ast.FunctionDef(name=name, lineno=line)
                | ast.AsyncFunctionDef(name=name, lineno=line)
                | ast.ClassDef(name=name, lineno=line)
            ):
                yield name, line
            case (
                ast.MatchAs(name=str(name), lineno=line)
                | ast.MatchStar(name=str(name), lineno=line)
                | ast.MatchMapping(rest=str(name), lineno=line)
            ):
                yield name, line


def complaints(root: Path = ROOT, rules: Rules | None = None) -> list[str]:
    """Places to rename, and entries of the list that are too high."""
    rules = rules or read_rules()
    lines = []
    for path in sorted((root / PACKAGE).rglob("*.py")):
        file = path.relative_to(root).as_posix()
        places = [
            (line, name) for name, line in bound(ast.parse(path.read_text(encoding="utf-8"))) if name in rules.words
        ]
        stays = rules.stays[file]
        if len(places) > stays:
            allowed = f" ({stays} may stay)" if stays else ""
            lines += [f"{file}:{line}: {name!r} is no noun{allowed}: name what it stands for" for line, name in places]
        elif len(places) < stays:
            lines.append(f"{file}: {len(places)} such names are left: lower {stays} in tools/names.toml")
    files = {path.relative_to(root).as_posix() for path in (root / PACKAGE).rglob("*.py")}
    return lines + [f"{file}: tools/names.toml lists a file that does not exist" for file in rules.stays.keys() - files]


def main() -> int:
    """List the complaints; the exit code is 1 if there are any."""
    lines = complaints()
    for line in lines:
        print(line)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
