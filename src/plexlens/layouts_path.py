"""Location of the record layouts: next to this module in an installed package, in ``layouts/`` of a checkout.

In a checkout ``src/plexlens/layouts`` is a link to ``layouts/``, so that there is one copy and the package finds it
under one name either way. Where links are not checked out, the folder itself is looked for.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from plexlens.errors import UnreadableInputError, UsageError

_PACKAGE = Path(__file__).parent


def layouts_path() -> Path:
    """The folder of the shipped layouts.

    Raises
    ------
    UsageError
        They are not there: the installation is incomplete.
    """
    return shipped("layouts", "records", "the record layouts that come with Plexlens are missing")


def layout_folders(site: Sequence[str | Path] = ()) -> list[Path]:
    """The shipped layouts and a site's own; a file in a later folder replaces one of the same name.

    Parameters
    ----------
    site
        Folders with layouts of the site, each with its record maps in ``records``.

    Raises
    ------
    UsageError
        A folder does not exist, or the layouts that come with Plexlens are missing.
    """
    what = "there is no such folder of layouts"
    remedy = "name a folder that holds layout files (*.csv) and, in records/, record maps"
    return [layouts_path(), *site_folders(site, what, remedy)]


def shipped(name: str, holds: str, missing: str) -> Path:
    """A folder that ships with Plexlens: the link next to this module, or the folder of the checkout.

    Parameters
    ----------
    name
        The folder.
    holds
        A file or folder in it, by which it is known.
    missing
        What the error says.

    Raises
    ------
    UsageError
        It is not there.
    """
    for folder in (_PACKAGE / name, _PACKAGE.parents[1] / name):
        if (folder / holds).exists():
            return folder
    raise UsageError(file=str(_PACKAGE / name), what=missing, remedy="install Plexlens again")


def site_folders(site: Sequence[str | Path], what: str, remedy: str) -> list[Path]:
    """Folders named by a site; UsageError if one does not exist."""
    folders = list(map(Path, site))
    for folder in folders:
        if not folder.is_dir():
            raise UsageError(file=str(folder), what=what, remedy=remedy)
    return folders


def layout_lines(path: Path, remedy: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Lines of a CSV of field knowledge with their numbers; lines that begin with ``#`` are remarks.

    Parameters
    ----------
    path
        The file.
    remedy
        What to do about a line that cannot be read.

    Raises
    ------
    UnreadableInputError
        The file cannot be read, or a line has another number of cells than the heading.
    """
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            numbered = [(number, text) for number, text in enumerate(stream, start=1) if not text.startswith("#")]
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableInputError(file=str(path), what=f"it cannot be read: {error}", remedy=remedy) from error
    rows = csv.DictReader(text for _, text in numbered)
    for line in rows:
        number = numbered[rows.line_num - 1][0]
        if None in line or None in line.values():
            what = "the number of cells differs from the heading"
            raise UnreadableInputError(file=str(path), line=number, what=what, remedy=remedy)
        yield number, line
