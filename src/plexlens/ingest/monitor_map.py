"""Kinds of monitor records of z/VM, as data: names, keys, counters that run on, and layouts.

``layouts/vm/records.csv`` maps domain and record to the DSECT, its title and the fields that tell its entities apart;
``layouts/vm/counters.csv`` lists the fields that count on from record to record. A layout of the DSECT ``SYTPRP`` is
``vm_sytprp.csv`` of Plexlens, or ``sytprp.csv`` of a site, as `plexlens layouts import` writes it from IBM's page; the
one of the site comes first. A site may bring its own two lists in ``DIR/vm``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from plexlens import _core
from plexlens.errors import UnreadableInputError
from plexlens.layouts_path import layout_folders, layout_lines

#: The two lists; they have a folder of their own, since the folder above it holds layouts only.
_FOLDER = "vm"
_RUNS = {"up", "down", "either"}
_DIRECTIONS = ", ".join(sorted(_RUNS))
_WIDTHS = {"32", "64"}


@dataclass(frozen=True, slots=True)
class RecordKind:
    """A kind of monitor record.

    Attributes
    ----------
    domain, record : int
        Its numbers.
    dsect : str
        IBM's name of the mapping.
    title : str
        What IBM calls it.
    key : tuple of str
        Columns that tell its entities apart within a system.
    """

    domain: int
    record: int
    dsect: str
    title: str
    key: tuple[str, ...]

    @property
    def label(self) -> str:
        """Domain and record as z/VM literature writes them: ``D0R2``."""
        return f"D{self.domain}R{self.record}"

    @property
    def table(self) -> str:
        """The raw table of its fields."""
        return f"vm_{self.dsect.lower()}"

    @property
    def page(self) -> str:
        """Name of IBM's page."""
        return f"MR{self.dsect}"


@dataclass(frozen=True, slots=True)
class Counter:
    """A field that counts on: its width in bits, and whether it runs up, down, or either, where that is not known."""

    width: int
    runs: str


class MonitorMap:
    """The kinds of record, their layouts and their counters.

    Parameters
    ----------
    site
        Folders with layouts of the site.

    Raises
    ------
    UnreadableInputError
        A line of the lists is wrong; the message names it.
    UsageError
        A folder is not there.
    plexlens._core.SmfError
        A layout is wrong.
    """

    def __init__(self, site: Sequence[Path] = ()) -> None:
        folders = layout_folders(site)
        self.catalogue = _core.Catalogue(folders)
        self.kinds: dict[tuple[int, int], RecordKind] = {}
        self.counters: dict[str, Counter] = {}
        for folder in folders:
            records, counters = (folder / _FOLDER / f"{name}.csv" for name in ("records", "counters"))
            if records.is_file():
                self.kinds |= {(kind.domain, kind.record): kind for kind in _kinds(records)}
            if counters.is_file():
                self.counters |= dict(_counters(counters))
        self._sections = set(self.catalogue.sections())

    def layout(self, domain: int, record: int) -> str | None:
        """Name of the layout of a kind of record; None where there is none."""
        kind = self.kinds.get((domain, record))
        if kind is None:
            return None
        return next((name for name in (kind.dsect.lower(), kind.table) if name in self._sections), None)

    def counters_of(self, layout: str) -> dict[str, Counter]:
        """The fields of a layout that count on, by column."""
        columns = [field["column"] for field in self.catalogue.describe(layout)]
        return {column: self.counters[column] for column in columns if column in self.counters}


def _kinds(path: Path) -> Iterator[RecordKind]:
    remedy = "give domain, record, dsect, kind, title, key, source, as layouts/vm/records.csv does"
    for number, line in layout_lines(path, remedy):
        try:
            domain, record = int(line["domain"]), int(line["record"])
            kind = RecordKind(domain, record, line["dsect"], line["title"], tuple(line["key"].lower().split()))
        except (KeyError, ValueError) as error:
            what = f"the line names no kind of monitor record: {error}"
            raise UnreadableInputError(file=str(path), line=number, what=what, remedy=remedy) from error
        yield kind


def _counters(path: Path) -> Iterator[tuple[str, Counter]]:
    remedy = f"give field, width (32 or 64), runs ({_DIRECTIONS}), source, as layouts/vm/counters.csv does"
    for number, line in layout_lines(path, remedy):
        if not {"field", "width", "runs"} <= line.keys() or line["width"] not in _WIDTHS or line["runs"] not in _RUNS:
            what = "the line names no counter with its width and direction"
            raise UnreadableInputError(file=str(path), line=number, what=what, remedy=remedy)
        yield line["field"].lower(), Counter(int(line["width"]), line["runs"])
