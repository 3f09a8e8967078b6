"""Reading of a file: its tables as a stream, then its summary and its damage."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from plexlens.ingest.compression import USUAL, Expansion
from plexlens.ingest.printed.catalogue import catalogue
from plexlens.ingest.printed.errors import RmfXmlError
from plexlens.ingest.printed.output import PrintedReading
from plexlens.ingest.printed.xml.decode import as_text
from plexlens.ingest.printed.xml.elements import Elements
from plexlens.ingest.printed.xml.output import Output
from plexlens.ingest.printed.xml.tables import VALUE
from plexlens.ingest.printed.xml.walk import Walker

_ROOT = re.compile(r"<(?:[A-Za-z_][\w.-]*:)?ddsml(?=[\s/>]|\Z)|\A\W*<xml>\s*<segment\b", re.IGNORECASE)


def sniff(head: bytes, name: str) -> bool:
    """Whether a file looks like RMF XML.

    Parameters
    ----------
    head : bytes
        The file's first bytes; 4 KiB are plenty.
    name : str
        The file's name; not looked at, since the root element tells.
    """
    return _ROOT.search(as_text(head[: 1 << 16])) is not None


class RmfXmlReading(PrintedReading):
    """Reads an RMF XML file, plain or compressed; a site's layout folders extend the catalogue."""

    def __init__(self, path: Path, source_id: str, site: tuple[Path, ...] = (), expansion: Expansion = USUAL) -> None:
        self._output = Output(str(path), source_id, catalogue(site))
        super().__init__(self._output)
        self._walker = Walker(path, Elements(self._output), self._output.note, expansion)

    @property
    def position(self) -> int:
        """Bytes of the file read so far."""
        return self._walker.position

    @property
    def summary(self) -> dict[str, Any]:
        """Counts of the reports and values read.

        ``reports``, ``values``, ``numbers`` : int
            Reports, rows of ``rmf_xml_value``, and those with a number.
        ``records`` : dict
            Reports by metric id.
        ``tables`` : dict
            Rows by table.
        ``systems``, ``sysplexes`` : list of str
        ``span`` : list
            First start and last end of the intervals in local time as recorded, ISO 8601, or two nulls.
        ``damage`` : dict
            Damage by reason, also beyond what `damage` keeps.
        """
        done = self._output
        rows = {name: table.total for name, table in done.tables.items()} | {VALUE: done.values.total}
        span = [point and point.isoformat() for point in (done.first, done.last)]
        return self._counted(done.reports, done.values.total, done.values.numbers, rows) | {"span": span}

    def _tables(self) -> Iterator[tuple[str, pa.RecordBatch]]:
        for _ in self._walker.chunks():
            yield from self._output.batches(all_of_it=False)
        if not self._output.reports:
            said = "; ".join(self._output.messages)[:400]
            raise RmfXmlError(
                file=self._output.file,
                what=f"there is no report in the file{f', but a message: {said}' if said else ''}",
                remedy="request the report again",
            )
        self._output.finish()
        yield from self._output.batches(all_of_it=True)


def read(
    path: str | Path, *, source_id: str, site: tuple[Path, ...] = (), expansion: Expansion = USUAL
) -> RmfXmlReading:
    """Read an RMF XML file.

    Parameters
    ----------
    path : str or Path
        The file, plain or compressed with gzip or Zstandard.
    source_id : str
        The ingest, for the ``source_id`` column.
    site : tuple of Path
        Folders with layouts of the site, whose ``printed`` adds to the catalogue.
    expansion : Expansion
        How far a compressed file may expand.

    Returns
    -------
    RmfXmlReading
        Iterate it once for pairs of table name and Arrow batch; nothing is read before.
    """
    return RmfXmlReading(Path(path), source_id, site, expansion)
