"""Man pages of every command, from the help that it prints.

``python -m tools.man_pages FOLDER`` writes ``plexlens.1`` and a page for each command and group into FOLDER.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import typer

from plexlens import __version__
from plexlens.cli.every import app
from plexlens.cli.examples import examples

# Exit codes as docs/exit-codes.md states them.
_EXIT_CODES = {
    "0": "done",
    "1": "findings at or above a limit",
    "2": "wrong use",
    "3": "an input cannot be read, or an output cannot be written",
    "4": "the input has nothing usable",
    "70": "a defect of Plexlens",
    "130": "stopped by Ctrl-C",
}


def pages() -> dict[str, str]:
    """Text of every page in roff, by the name of its file."""
    command = typer.main.get_command(app)
    return {f"{'-'.join(words)}.1": "\n".join(_page(words, context)) + "\n" for words, context in _walk(command, [])}


def _walk(command: Any, parents: list[Any]) -> Iterator[tuple[list[str], Any]]:
    """Words and context of a command and of every command below it."""
    context = command.context_class(command, info_name=command.name or "plexlens", parent=(parents or [None])[-1])
    words = [*(one.info_name for one in parents), context.info_name]
    yield words, context
    for inner in getattr(command, "commands", {}).values():
        if not inner.hidden:
            yield from _walk(inner, [*parents, context])


def _page(words: list[str], context: Any) -> Iterator[str]:
    command = context.command
    paragraphs = [" ".join(one.split()) for one in re.split(r"\n\s*\n", command.help or "")]
    yield f'.TH {_quoted("-".join(words).upper())} 1 "" {_quoted(f"plexlens {__version__}")} {_quoted("Plexlens")}'
    yield from (".SH NAME", f"{_text('-'.join(words))} \\- {_text(paragraphs[0].rstrip('.'))}")
    yield from (
        ".SH SYNOPSIS",
        f".B {_quoted(' '.join(words))}",
        _text(" ".join(command.collect_usage_pieces(context))),
    )
    yield ".SH DESCRIPTION"
    for at, paragraph in enumerate(paragraphs):
        yield from (*((".PP",) if at else ()), _text(paragraph))
    by_kind: dict[str, list[tuple[str, str]]] = {"ARGUMENTS": [], "OPTIONS": []}
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None:
            by_kind["ARGUMENTS" if parameter.param_type_name == "argument" else "OPTIONS"].append(record)
    for heading, records in by_kind.items():
        if records:
            yield f".SH {heading}"
        for term, what in records:
            yield from (".TP", f".B {_quoted(term)}", _text(" ".join(what.split())))
    inner = [one for one in _walk(command, []) if len(one[0]) == 2]
    if inner:
        yield ".SH COMMANDS"
        for below, its in inner:
            yield from (
                ".TP",
                f".BR {_text('-'.join([*words, below[-1]]))} (1)",
                _text(its.command.get_short_help_str(200)),
            )
    shown = examples().get(" ".join(words[1:]), {})
    if shown:
        yield ".SH EXAMPLES"
        for what, arguments in shown.items():
            yield from (".PP", _text(f"{what[0].upper()}{what[1:]}:"))
            yield from (".PP", ".RS 4", ".nf", _text(f"{' '.join(words)} {arguments}"), ".fi", ".RE")
    yield ".SH EXIT STATUS"
    for code, meaning in _EXIT_CODES.items():
        yield from (".TP", f".B {code}", meaning)
    if len(words) > 1:
        yield from (".SH SEE ALSO", f".BR {_text('-'.join(words[:-1]))} (1)")


def _text(text: str) -> str:
    """A line of text in which nothing is a request or an escape of roff."""
    for plain, escaped in (("\\", "\\e"), ("-", "\\-"), ("~", "\\(ti"), ("^", "\\(ha"), ("`", "\\(ga")):
        text = text.replace(plain, escaped)
    return f"\\&{text}" if text.startswith((".", "'")) else text


def _quoted(text: str) -> str:
    """An argument of a request."""
    return '"' + _text(text).replace('"', "\\(dq") + '"'


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the pages."""
    parser = argparse.ArgumentParser(prog="python -m tools.man_pages", description="Write the man pages.")
    parser.add_argument("folder", type=Path, help="folder of the pages, made if it is missing")
    folder: Path = parser.parse_args(arguments).folder
    folder.mkdir(parents=True, exist_ok=True)
    # A page of a command that is no more would be shipped.
    for stale in folder.glob("plexlens*.1"):
        stale.unlink()
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
