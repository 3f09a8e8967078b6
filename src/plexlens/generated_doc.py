"""Documents generated from definitions: written, or compared with the existing file."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path


def write_or_check(
    document: Callable[[], str], module: str, about: str, usual: str, arguments: Sequence[str] | None = None
) -> int:
    """The command of a generated document.

    Parameters
    ----------
    document
        Gives the whole text.
    module, about, usual
        Module that is run, what it does, and the file that it usually writes.
    arguments
        Of the command line; those of the process by default.

    Returns
    -------
    int
        Exit code: 1 where ``--check`` finds the file missing or stale.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=about)
    parser.add_argument("path", type=Path, help=f"the Markdown file, {usual}")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the file is missing or stale")
    options = parser.parse_args(arguments)
    path: Path = options.path
    text = document()
    if not options.check:
        path.write_text(text, encoding="utf-8", newline="\n")
        return 0
    state = "missing" if not path.is_file() else "stale" if path.read_text(encoding="utf-8") != text else None
    if state is None:
        return 0
    sys.stderr.write(f"{path} is {state}; run make docs\n")
    return 1
