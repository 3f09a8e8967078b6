"""Checks the English of docstrings, comments, texts and documents against a list of patterns.

``python -m tools.english`` lists every place in the repository where a pattern of ``tools/english.toml`` matches: file,
line, the words, and the words to use instead; then what `tools.names` finds. The exit code is 1 if there is any.
``python -m tools.english FILE...`` checks only these files.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import sys
import tokenize
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tools.names import complaints

ROOT = Path(__file__).parents[1]
PATTERNS = Path(__file__).with_suffix(".toml")

#: Kinds of passage: first paragraphs of docstrings, their other paragraphs, comments, texts for users in Python, texts
#: in TOML, and paragraphs of Markdown.
KINDS = ("head", "docstring", "comment", "text", "toml", "markdown")
#: Folders with Python whose texts reach users.
PACKAGES = ("src/plexlens",)
#: Further folders with Python; only their docstrings and comments are checked.
PROGRAMS = ("tools", "benchmarks")
#: Folders with data and documents.
DATA = ("catalogue", "src/plexlens/cli", "src/plexlens/findings", "src/plexlens/metrics/selection", "scenarios")
DOCUMENTS = ("README.md", "docs", "layouts", "studies", "benchmarks")
#: A text with fewer words is a name.
WORDS = 3
#: Keys of TOML files whose values are not English.
NOT_ENGLISH = frozenset({"formula", "sql", "from", "source", "where", "condition", "fields", "command", "undo", "url"})

_WORD = re.compile(r"[A-Za-z]{2,}")
_CODE = re.compile(r"``[^`]*``|`[^`]*`")
_URL = re.compile(r"https?://\S+|\]\([^)]*\)")
_FENCE = re.compile(r"^\s*(```|~~~)")


@dataclass(frozen=True)
class Pattern:
    """A pattern of words to avoid.

    Attributes
    ----------
    expression
        Regular expression; letters match without case.
    kinds
        Kinds of passage that it applies to.
    why, better
        Reason, and advice.
    example, rewritten
        A sentence that the pattern matches, and its better form.
    """

    name: str
    expression: re.Pattern[str]
    kinds: frozenset[str]
    why: str
    better: str
    example: str
    rewritten: str


@dataclass(frozen=True)
class Allowed:
    """A match that stays, in a file, with the reason."""

    file: str
    words: str
    reason: str


@dataclass(frozen=True)
class House:
    """The house style: patterns, and matches that stay."""

    patterns: tuple[Pattern, ...]
    allowed: tuple[Allowed, ...] = ()


@dataclass(frozen=True)
class Passage:
    """A text with its place: ``lines`` gives the line of each of its pieces, by the offset of the piece."""

    file: str
    kind: str
    text: str
    line: int
    lines: tuple[tuple[int, int], ...] = field(default=())

    def line_at(self, offset: int) -> int:
        """Line of a character of the text."""
        found = self.line
        for begin, line in self.lines:
            if begin <= offset:
                found = line
        return found


@dataclass(frozen=True)
class Match:
    """A match of a pattern."""

    passage: Passage
    pattern: Pattern
    words: str
    line: int

    def __str__(self) -> str:
        """``file:line: words: why; better``."""
        place = f"{self.passage.file}:{self.line}"
        return f"{place}: {self.words!r} ({self.pattern.name}): {self.pattern.why}; {self.pattern.better}"


def read_house(path: Path = PATTERNS) -> House:
    """Read the house style."""
    content: Mapping[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    patterns = []
    for name, entry in content["pattern"].items():
        kinds = frozenset(entry.get("kinds", KINDS))
        if unknown := kinds - set(KINDS):
            raise SystemExit(f"{path}: pattern {name}: no such kind: {', '.join(sorted(unknown))}")
        expression = re.compile(entry["expression"], re.IGNORECASE)
        texts = (entry[key] for key in ("why", "better", "example", "rewritten"))
        patterns.append(Pattern(name, expression, kinds, *texts))
    allowed = tuple(Allowed(**entry) for entry in content.get("allowed", []))
    return House(tuple(patterns), allowed)


HOUSE = read_house()


def matches(passage: Passage, house: House = HOUSE) -> Iterator[Match]:
    """Every match in a passage that the house style does not allow."""
    text = _without_code(passage.text)
    for pattern in house.patterns:
        if passage.kind in pattern.kinds:
            for found in pattern.expression.finditer(text):
                words = passage.text[found.start() : found.end()].strip()
                if not any(entry.file == passage.file and entry.words in passage.text for entry in house.allowed):
                    yield Match(passage, pattern, " ".join(words.split()), passage.line_at(found.start()))


def _without_code(text: str) -> str:
    """The text with code and addresses masked, so that offsets stay."""
    for expression in (_CODE, _URL):
        text = expression.sub(lambda found: "`" + "·" * (len(found[0]) - 2) + "`", text)
    return text


# --- passages ---------------------------------------------------------------------------------------------------------


def python_passages(file: str, source: str, *, with_texts: bool) -> Iterator[Passage]:
    """Docstrings, comments and, if asked for, texts of a Python module."""
    tree = ast.parse(source)
    docstrings = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            docstring = node.body[0] if node.body else None
            if isinstance(docstring, ast.Expr) and isinstance(docstring.value, ast.Constant):
                docstrings.add(id(docstring.value))
                if isinstance(docstring.value.value, str):
                    yield from _docstring(file, docstring.value.value, docstring.lineno)
    yield from _comments(file, source)
    if with_texts:
        yield from _texts(file, tree, docstrings)


def _docstring(file: str, text: str, line: int) -> Iterator[Passage]:
    at = line
    paragraph: list[tuple[int, str]] = []
    kind = "head"
    in_list = False
    for number, piece in enumerate([*text.split("\n"), ""]):
        stripped = piece.strip()
        if set(stripped) == {"-"}:
            # A heading such as Parameters, with its rule: entries follow, in lines of names and indented descriptions.
            paragraph.clear()
            in_list = True
        elif stripped and not (in_list and re.fullmatch(r"[\w, .*]+( : .*)?", stripped) and " " not in stripped):
            paragraph.append((at + number, stripped))
        elif paragraph:
            yield _joined(file, kind, paragraph)
            paragraph.clear()
            kind = "docstring"


def _comments(file: str, source: str) -> Iterator[Passage]:
    block: list[tuple[int, str]] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and not token.string.startswith(("#!", "# type:", "# noqa")):
            text = token.string.lstrip("#: ").strip(" -")
            if block and block[-1][0] + 1 != token.start[0]:
                yield _joined(file, "comment", block)
                block.clear()
            block.append((token.start[0], text))
    if block:
        yield _joined(file, "comment", block)


def _texts(file: str, tree: ast.AST, docstrings: set[int]) -> Iterator[Passage]:
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            pieces = [
                (piece.lineno, str(piece.value)) if isinstance(piece, ast.Constant) else (piece.lineno, "{}")
                for piece in node.values
            ]
            text = "".join(piece for _, piece in pieces)
            lines, offset = [], 0
            for line, piece in pieces:
                lines.append((offset, line))
                offset += len(piece)
            if _is_english(text):
                yield Passage(file, "text", text, node.lineno, tuple(lines))
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in docstrings | inside
            and _is_english(node.value)
        ):
            yield Passage(file, "text", node.value, node.lineno)


def _is_english(text: str) -> bool:
    return len(_WORD.findall(text)) >= WORDS and not re.match(r"\s*(select|with|create|insert|from|where)\b", text)


def toml_passages(file: str, source: str) -> Iterator[Passage]:
    """The texts of a TOML file."""
    lines = source.split("\n")
    for text in _values(tomllib.loads(source), ""):
        begin = text.strip().split("\n")[0][:40]
        line = next((number for number, piece in enumerate(lines, 1) if begin in piece), 1)
        yield Passage(file, "toml", text, line)


def _values(value: object, key: str) -> Iterator[str]:
    if isinstance(value, dict):
        for inner, content in value.items():
            yield from _values(content, inner)
    elif isinstance(value, list):
        for content in value:
            yield from _values(content, key)
    elif isinstance(value, str) and key not in NOT_ENGLISH and len(_WORD.findall(value)) >= WORDS:
        yield value


def markdown_passages(file: str, source: str) -> Iterator[Passage]:
    """Paragraphs, list items and table rows of a Markdown document, without code blocks and quotations."""
    block: list[tuple[int, str]] = []
    in_code = False
    for number, line in enumerate([*source.split("\n"), ""], 1):
        is_fence = bool(_FENCE.match(line))
        in_code ^= is_fence
        ends = is_fence or in_code or not line.strip() or line.startswith(("    ", "#", "|", ">", "<!--"))
        if block and (ends or re.match(r"\s*([-*]|\d+\.) ", line)):
            yield _joined(file, "markdown", block)
            block = []
        if line.startswith("|") and not in_code:
            yield Passage(file, "markdown", line, number)
        elif not ends:
            block.append((number, line.strip()))


def _joined(file: str, kind: str, pieces: list[tuple[int, str]]) -> Passage:
    text, lines = "", []
    for line, piece in pieces:
        text += " " if text else ""
        lines.append((len(text), line))
        text += piece
    return Passage(file, kind, text, pieces[0][0], tuple(lines))


# --- the repository ---------------------------------------------------------------------------------------------------


def files(root: Path = ROOT) -> Iterator[Path]:
    """Every checked file of the repository."""
    for folder in (*PACKAGES, *PROGRAMS):
        yield from sorted((root / folder).rglob("*.py"))
    for folder in DATA:
        yield from sorted((root / folder).rglob("*.toml"))
    for name in DOCUMENTS:
        place = root / name
        pages = sorted(place.rglob("*.md")) if place.is_dir() else [place]
        yield from (page for page in pages if "record" not in page.parts and not _is_generated(page))


def _is_generated(page: Path) -> bool:
    """Whether a page is generated; its texts are checked where they are written."""
    return "do not edit" in "".join(page.read_text(encoding="utf-8").split("\n\n")[:2])


def passages(path: Path, root: Path = ROOT) -> Iterator[Passage]:
    """The passages of a file."""
    file = str(path.relative_to(root)) if path.is_relative_to(root) else str(path)
    source = path.read_text(encoding="utf-8")
    match path.suffix:
        case ".py":
            yield from python_passages(file, source, with_texts=file.startswith(PACKAGES))
        case ".toml":
            yield from toml_passages(file, source)
        case _:
            yield from markdown_passages(file, source)


def main(arguments: list[str] | None = None) -> int:
    """List the matches; the exit code is 1 if there are any."""
    parser = argparse.ArgumentParser(prog="python -m tools.english", description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, help="files to check (default: the repository)")
    named = [path.resolve() for path in parser.parse_args(arguments).files]
    count = 0
    for path in named or files():
        for passage in passages(path):
            for match in matches(passage):
                print(match)
                count += 1
    if not named:
        for line in complaints():
            print(line)
            count += 1
    if count:
        print(
            f"{count} places to rewrite; tools/english.toml has an example of each, tools/names.toml the names",
            file=sys.stderr,
        )
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
