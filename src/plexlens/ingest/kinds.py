"""The supported kinds of source, and recognition of a file's kind."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from plexlens.errors import UnknownSourceError, UnreadableInputError
from plexlens.ingest import monitor, smf, vm_account
from plexlens.ingest.recognition import begins_as_record, describe, read_head
from plexlens.ingest.source import Reading, ReadOptions


@dataclass(frozen=True, slots=True)
class RecordRows:
    """Rows that identify a record (or report), for modules that do not leave out records held already.

    Attributes
    ----------
    table : str
        The table whose rows with one ``record_no`` are all that a record says.
    columns : tuple of str
        Its columns that say it. To add one makes records that are held look new: do not.
    label : str
        Its column with the record's name.
    inventory : str
        The table in which the PDB notes the records it holds.
    """

    table: str
    columns: tuple[str, ...]
    label: str
    inventory: str


@dataclass(frozen=True, slots=True)
class SourceKind:
    """A kind of source and the module that reads it.

    Attributes
    ----------
    name : str
        As the PDB notes it.
    title : str
        As messages call it.
    sniff : callable
        Whether a file looks like this kind, from its first bytes (decompressed) and its name.
    read : callable
        The file as a `plexlens.ingest.source.Reading`.
    once : RecordRows or None
        For a module that knows a record only by its rows; None for one that asks `ReadOptions.seen` itself.
    """

    name: str
    title: str
    sniff: Callable[[bytes, str], bool]
    read: Callable[[Path, ReadOptions], Reading]
    once: RecordRows | None = None


_RMF_REPORTS = RecordRows(
    table="rmf_xml_value",
    columns=(
        *("system", "sysplex", "interval_start", "interval_end", "report", "resource", "segment_no", "part_no"),
        *("kind", "table_no", "row_no", "cell_no", "name", "value"),
    ),
    label="report",
    inventory="rmf_xml_record",
)

_TEXT_REPORTS = RecordRows(
    table="text_report_value",
    columns=(
        *("system", "sysplex", "subsystem", "interval_start", "interval_end", "report", "location", "group_name"),
        *("member", "block", "object", "parent", "name", "column_head", "value"),
    ),
    label="report",
    inventory="text_report_record",
)

_MONITOR_RECORDS = RecordRows(
    table=monitor.TABLE, columns=("name", "hash"), label="name", inventory=f"{monitor.TABLE}_once"
)

_ACCOUNT_RECORDS = RecordRows(
    table=vm_account.TABLE, columns=("acntcode", "hash"), label="acntcode", inventory=f"{vm_account.TABLE}_once"
)


# The readers of printed reports load with the first file that may be one: most runs read dumps only.


def _is_rmf_xml(head: bytes, name: str) -> bool:
    if begins_as_record(head):
        return False
    from plexlens.ingest.printed import xml

    return xml.sniff(head, name)


def _read_rmf_xml(path: Path, options: ReadOptions) -> Reading:
    from plexlens.ingest.printed import xml

    return xml.read_with(path, options)


def _is_text_reports(head: bytes, name: str) -> bool:
    if begins_as_record(head):
        return False
    from plexlens.ingest.printed import text

    return text.sniff(head, name)


def _read_text_reports(path: Path, options: ReadOptions) -> Reading:
    from plexlens.ingest.printed import text

    return text.read_with(path, options)


SOURCES: tuple[SourceKind, ...] = (
    SourceKind("rmf_xml", "RMF Postprocessor or Monitor III XML", _is_rmf_xml, _read_rmf_xml, _RMF_REPORTS),
    SourceKind("text_reports", "Db2, RMF or CICS text reports", _is_text_reports, _read_text_reports, _TEXT_REPORTS),
    SourceKind("monwrite", "z/VM monitor data", monitor.sniff, monitor.read_with, _MONITOR_RECORDS),
    SourceKind("vm_account", "z/VM accounting records", vm_account.sniff, vm_account.read_with, _ACCOUNT_RECORDS),
    SourceKind("smf", "an SMF dump", smf.sniff, smf.read_with),
)
"""The kinds of source, asked in this order."""


def known_kinds() -> str:
    """The kinds of source in words, for messages."""
    titles = [kind.title for kind in SOURCES]
    return " or ".join([", ".join(titles[:-1]), titles[-1]] if len(titles) > 1 else titles)


def recognise(path: Path) -> SourceKind:
    """The kind of source of a file.

    Raises
    ------
    UnknownSourceError
        It looks like none; the message says what it looks like.
    UnreadableInputError
        It cannot be read.
    EmptyInputError
        It is empty.
    """
    head = read_head(path)
    for kind in SOURCES:
        if kind.sniff(head, path.name):
            return kind
    looks_like, remedy = describe(head) or (
        f"bytes that begin {head[:8].hex(' ')}",
        "check that it was transferred in binary",
    )
    raise UnknownSourceError(file=str(path), what=f"the file is {looks_like}, not {known_kinds()}", remedy=remedy)


def expand(paths: str | Path | Iterable[str | Path]) -> list[tuple[Path, bool]]:
    """The files named by the paths, with folders expanded.

    Parameters
    ----------
    paths
        Files and folders.

    Returns
    -------
    list of (Path, bool)
        Each file once, with whether it was named itself; the files of a folder, and of folders in it, by name.

    Raises
    ------
    UnreadableInputError
        A folder holds no file at all, or cannot be listed.
    """
    results: dict[Path, bool] = {}
    for path in map(Path, [paths] if isinstance(paths, (str, Path)) else paths):
        if not path.is_dir():
            results[path] = True
            continue
        inside = sorted(_files_in(path))
        if not inside:
            raise UnreadableInputError(
                file=str(path), what="there is no file in this folder", remedy="give the folder that holds the dumps"
            )
        for entry in inside:
            results.setdefault(entry, False)
    return list(results.items())


def _files_in(folder: Path) -> Iterator[Path]:
    def refuse(error: OSError) -> None:
        raise UnreadableInputError(
            file=str(error.filename),
            what=f"the folder cannot be listed: {error.strerror}",
            remedy="check that you may read it",
        ) from error

    for place, _, names in os.walk(folder, onerror=refuse):
        yield from (Path(place, name) for name in names)
