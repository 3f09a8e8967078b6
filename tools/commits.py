"""Checks of commits: what they hold can be parsed, and their messages say what changes and why.

``python -m tools.commits --staged`` checks the index and ``--message FILE`` a commit's message: ``make hooks`` installs
hooks that do both before each commit. A range (``main..HEAD``) parses what each of its commits changes, so that every
commit can be built when a fault is searched by bisection; CI does that. Parsing needs the standard library alone; where
ruff is there, staged Python is also linted and its format checked.
"""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

#: Longest subject; main has subjects of up to 137 characters, which no list of commits shows whole.
LONGEST_SUBJECT = 100

_SUBJECT = re.compile(r"[a-z0-9][\w.,/ -]*: \S")
_CONFLICT = re.compile(r"^(<{7}|>{7}) ", re.MULTILINE)


def _git(*words: str) -> bytes:
    return subprocess.run(["git", *words], check=True, capture_output=True).stdout


def _rust(text: str) -> None:
    program = shutil.which("rustfmt")
    if program is None:
        return
    # With its text on standard input rustfmt fails on what it cannot parse, and on nothing else.
    done = subprocess.run(
        [program, "--edition", "2024", "--emit", "stdout"], input=text, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise ValueError(done.stderr.strip().splitlines()[0])


_PARSERS: dict[str, Callable[[str], object]] = {
    ".py": ast.parse,
    ".pyi": ast.parse,
    ".toml": tomllib.loads,
    ".json": json.loads,
    ".rs": _rust,
}


def fault(name: str, content: bytes) -> str | None:
    """The error that keeps a file from being parsed; None if there is none, or its kind is unknown."""
    parse = _PARSERS.get(Path(name).suffix)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"{name}: not UTF-8: {error}" if parse else None
    if found := _CONFLICT.search(text):
        line = text.count("\n", 0, found.start()) + 1
        return f"{name}:{line}: a conflict marker"
    try:
        if parse is not None:
            parse(text)
    except SyntaxError as error:
        return f"{name}:{error.lineno}: {error.msg}"
    except (ValueError, RecursionError) as error:
        return f"{name}: {error}"
    return None


def _blobs(revision: str, names: list[str]) -> Iterator[tuple[str, bytes]]:
    for name in names:
        yield name, _git("cat-file", "blob", f"{revision}:{name}")


def _changed(*words: str) -> list[str]:
    """Names of files that are added or changed; links are left out."""
    raw = _git(*words, "--raw", "-z", "--no-renames", "--diff-filter=AMT").decode().split("\0")
    return [name for fact, name in zip(raw[::2], raw[1::2], strict=False) if fact.split()[1].startswith("100")]


def _linted(name: str, content: bytes) -> Iterator[str]:
    ruff = shutil.which("ruff", path=f"{Path(sys.executable).parent}:") or shutil.which("ruff")
    if ruff is None or not name.endswith(".py"):
        return
    for words, what in ((["check", "--quiet"], ""), (["format", "--quiet", "--check"], "ruff format would change it")):
        done = subprocess.run(
            [ruff, *words, "--stdin-filename", name, "-"], input=content, capture_output=True, check=False
        )
        if done.returncode:
            yield f"{name}: {what or done.stdout.decode().strip()}"


def staged() -> list[str]:
    """Errors in the files of the index that a commit would change."""
    wrong: list[str] = []
    for name, content in _blobs("", _changed("diff", "--cached")):
        found = fault(name, content)
        wrong += [found] if found else _linted(name, content)
    return wrong


def commits(revisions: str) -> list[str]:
    """Files that cannot be parsed in any commit of a range, with the commit.

    Messages are left out: a message of the past cannot be mended without changing the commits after it.
    """
    wrong = []
    for commit in _git("rev-list", "--no-merges", "--reverse", revisions).decode().split():
        names = _changed("diff-tree", "-r", "--root", "--no-commit-id", commit)
        found = [text for name, content in _blobs(commit, names) if (text := fault(name, content))]
        wrong += [f"{commit[:9]}: {text}" for text in found]
    return wrong


def message_faults(text: str) -> list[str]:
    """Parts missing in a commit's message: a subject ``area: what changes``, and a body with the reason."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    subject, rest = (lines[0] if lines else "").strip(), "".join(lines[1:]).strip()
    if subject.startswith(("fixup!", "squash!", "Revert ", "Merge ")):
        return []
    wrong = []
    if not _SUBJECT.match(subject):
        wrong.append(f"the subject is not of the form 'area: what changes': {subject!r}")
    if len(subject) > LONGEST_SUBJECT:
        wrong.append(f"the subject has {len(subject)} characters, more than {LONGEST_SUBJECT}")
    if ";" in subject:
        wrong.append("the subject lists several changes: make a commit of each, or say what they have in common")
    if not rest:
        wrong.append("there is no body: say why, and whether a reported number moves")
    return wrong


def main(words: list[str]) -> int:
    """Check what the command line names; 1 where something is wrong, 2 for wrong use."""
    match words:
        case ["--staged"]:
            wrong = staged()
        case ["--message", name]:
            wrong = message_faults(Path(name).read_text(encoding="utf-8"))
        case [revisions] if not revisions.startswith("-"):
            wrong = commits(revisions)
        case _:
            sys.stderr.write("usage: python -m tools.commits --staged | --message FILE | RANGE\n")
            return 2
    sys.stderr.write("".join(f"{text}\n" for text in wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
