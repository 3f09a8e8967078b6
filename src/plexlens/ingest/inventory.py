"""Survey of sources without storing them: records by type and system, time span, damage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from plexlens.errors import PlexlensError, UnknownSourceError
from plexlens.ingest import plausible, smf
from plexlens.ingest.compression import USUAL, Expansion
from plexlens.ingest.kinds import expand, recognise
from plexlens.ingest.plausible import Implausible, Plausibility
from plexlens.ingest.source import Damage, Reading, ReadOptions
from plexlens.progress import Progress, silent


def _nothing_seen(day: date | None) -> npt.NDArray[np.uint64]:
    return np.empty(0, dtype=np.uint64)


#: Every record counts, and the layouts are the bundled ones.
_USUAL = ReadOptions("", _nothing_seen)


@dataclass(frozen=True)
class Inventory:
    """Contents of a source.

    Attributes
    ----------
    file : str
        As the user named it.
    kind : str
        Kind of source: ``smf``, ``rmf_xml``.
    size : int
        Bytes of the file.
    form : str
        How records are framed and packed; empty for sources without records.
    records : mapping
        Records (reports) by type (``74.4``, ``CPU``) and system.
    undecoded : mapping
        Of these, by type, those that no layout describes.
    span : pair of str or None
        First and last time as recorded.
    duplicates : int
        Records that stand in the source more than once.
    damage : list of Damage
        What was wrong.
    damage_counts : mapping
        Damage by reason, all of it.
    implausible : list of Implausible
        Values above their bounds.
    notes : mapping
        What was counted and is not damage: how often, by what it is and where.
    skipped : str
        Why nothing of it was read.
    account : mapping
        Bytes of a dump, after expansion: of records, with their descriptor words, that are ``decoded``, ``counted``
        (no layout describes them), ``repeated`` (left out, as they came before) or ``incomplete`` (spanned, and without
        some of their segments); of ``block_words``; ``damaged`` before the end of the last whole record;
        ``damaged_at_end``, behind it; ``padding``, behind it. They add up to ``bytes``. Empty for other sources.
    """

    file: str
    kind: str
    size: int
    form: str = ""
    records: Counter[tuple[str, str]] = field(default_factory=Counter)
    undecoded: Counter[str] = field(default_factory=Counter)
    span: tuple[str, str] | None = None
    duplicates: int = 0
    damage: Sequence[Damage] = ()
    damage_counts: dict[str, int] = field(default_factory=dict)
    notes: dict[tuple[str, str], int] = field(default_factory=dict)
    skipped: str = ""
    implausible: Sequence[Implausible] = ()
    account: Mapping[str, int] = field(default_factory=dict)


def of_files(
    paths: Iterable[str | Path],
    progress: Progress = silent,
    *,
    layouts: tuple[Path, ...] = (),
    codepage: str = "1047",
    leap_seconds: bool = False,
    expansion: Expansion = USUAL,
) -> Iterator[Inventory]:
    """The inventory of each file; a folder stands for the files in it that are a known source.

    Parameters
    ----------
    paths
        Files and folders.
    progress
        Told how many bytes of a file are read.
    layouts, codepage, leap_seconds, expansion
        As in `plexlens.ingest.source.ReadOptions`.

    Raises
    ------
    PlexlensError
        A file that was named cannot be read, or is not a known source.
    """
    options = ReadOptions("", _nothing_seen, layouts, codepage, leap_seconds, expansion)
    for path, named in expand(paths):
        try:
            yield of_file(path, progress, options)
        except PlexlensError as error:
            # A folder may hold anything; only what was asked for by name has to be a source.
            if named:
                raise
            # A link that leads nowhere has no size but its own.
            yield Inventory(file=str(path), kind="", size=path.lstat().st_size, skipped=error.what)


#: Kinds of source whose records are not listed: the words of the message for the file, and what to do with it.
_NOT_LISTED = {
    "monwrite": (
        "z/VM monitor data, whose records this command does not list",
        "count them with plexlens monwrite",
    ),
    "vm_account": (
        "z/VM accounting records, which this command does not list",
        "give them to plexlens report, or to plexlens ingest",
    ),
}


def of_file(path: Path, progress: Progress = silent, options: ReadOptions = _USUAL) -> Inventory:
    """The inventory of one file."""
    kind = recognise(path)
    if kind.name == "smf":
        return _of_dump(path, progress, options)
    if kind.name in _NOT_LISTED:
        what, remedy = _NOT_LISTED[kind.name]
        raise UnknownSourceError(file=str(path), what=f"the file is {what}", remedy=remedy)
    progress(0, path.stat().st_size, f"reading {path.name}")
    reading = kind.read(path, options)
    return _of_reports(path, kind.name, reading)


def _of_dump(path: Path, progress: Progress, options: ReadOptions) -> Inventory:
    checker = Plausibility(str(path), plausible.read_bounds())
    reading = smf.read(
        path,
        source_id="",
        layouts=options.layouts,
        tables=(smf.INVENTORY, *smf.tables_of(checker.tables)),
        codepage=options.codepage,
        leap_seconds=options.leap_seconds,
        expansion=options.expansion,
    )
    marked: list[Implausible] = []
    records: Counter[tuple[str, str]] = Counter()
    undecoded: Counter[str] = Counter()
    sections: dict[str, pa.Table] = {}
    size = path.stat().st_size
    progress(0, size, f"reading {path.name}")
    for table, batch in reading:
        progress(min(reading.position, size), size, f"reading {path.name}")
        if table != smf.INVENTORY:
            sections[table] = pa.table(batch)
            continue
        marked += _marked(checker, sections)
        sections = {}
        columns = ["record_type", "subtype", "system", "decoded"]
        counted = pa.table(batch).group_by(columns).aggregate([([], "count_all")])
        for row in counted.to_pylist():
            name = str(row["record_type"]) + ("" if row["subtype"] is None else f".{row['subtype']}")
            records[name, row["system"] or ""] += row["count_all"]
            if not row["decoded"]:
                undecoded[name] += row["count_all"]
    marked += _marked(checker, sections)
    summary = reading.summary
    packed = "" if summary["compression"] in ("", "none") else f", {summary['compression']}"
    return Inventory(
        file=str(path),
        kind="smf",
        size=path.stat().st_size,
        form=summary["form"] + packed,
        records=records,
        undecoded=undecoded,
        span=tuple(summary["span"]) if summary["span"] else None,
        duplicates=summary["duplicates"],
        damage=reading.damage,
        damage_counts=dict(summary["damage"]),
        implausible=marked,
        account={
            "bytes": summary["bytes"],
            "decoded": summary["decoded_bytes"],
            "counted": summary["counted_bytes"],
            "repeated": summary["duplicate_bytes"],
            "block_words": summary["block_bytes"],
            "incomplete": summary["incomplete_bytes"],
            "damaged": summary["damaged_bytes"] - summary["damaged_at_end"],
            "damaged_at_end": summary["damaged_at_end"],
            "padding": summary["padding_bytes"],
        },
    )


def _marked(checker: Plausibility, sections: Mapping[str, pa.Table]) -> list[Implausible]:
    """Implausible values in a batch of records; all sections of a record are in the same batch."""
    marked = [
        marked_value
        for table, rows in sections.items()
        for marked_value in Implausible.of(checker.marked(table, rows, sections))
    ]
    return sorted(marked, key=lambda marked_value: marked_value.record_no)


def _of_reports(path: Path, kind: str, reading: Reading) -> Inventory:
    seen: dict[tuple[str, str], set[int]] = {}
    checker = Plausibility(str(path), plausible.read_bounds())
    marked: list[Implausible] = []
    for table, batch in reading:
        if table in checker.tables:
            marked += Implausible.of(checker.marked(table, pa.table(batch)))
        if "report" not in batch.schema.names:
            continue
        columns = ["report", "system", "subsystem", "sysplex", "record_no"]
        for row in pa.table(batch).select(columns).group_by(columns).aggregate([]).to_pylist():
            if row["report"]:
                # Reports of Db2 and CICS name themselves, not the system that they run on.
                whose = row["system"] or row["subsystem"] or row["sysplex"] or ""
                seen.setdefault((row["report"], whose), set()).add(row["record_no"])
    summary = reading.summary
    span = summary.get("span")
    return Inventory(
        file=str(path),
        kind=kind,
        size=path.stat().st_size,
        records=Counter({key: len(reports) for key, reports in seen.items()}),
        span=(str(span[0]), str(span[1])) if span and None not in span else None,
        damage=reading.damage,
        implausible=marked,
        damage_counts=dict(summary["damage"]),
        notes={
            (note["note"], f"{note['section']}: {note['field']}"): note["count"] for note in summary.get("notes", ())
        },
    )


def _type_order(name: str) -> tuple[int, int, str]:
    """Record types by number, reports by name."""
    head, _, tail = name.partition(".")
    return (int(head) if head.isdigit() else 1 << 16, int(tail) if tail.isdigit() else 0, name)


def to_json(inventories: Sequence[Inventory]) -> dict[str, Any]:
    """The inventories as a JSON object: files, records by type, span, damage."""
    records: Counter[str] = Counter()
    systems: dict[str, Counter[str]] = {}
    for file in inventories:
        for (name, system), count in file.records.items():
            records[name] += count
            systems.setdefault(system, Counter())[name] += count
    spans = [file.span for file in inventories if file.span]
    ordered = sorted(records, key=_type_order)
    return {
        "files": [
            {
                "file": inventory.file,
                "kind": inventory.kind,
                "bytes": inventory.size,
                "form": inventory.form,
                "duplicates": inventory.duplicates,
            }
            | ({"skipped": inventory.skipped} if inventory.skipped else {})
            | ({"account": dict(inventory.account)} if inventory.account else {})
            for inventory in inventories
        ],
        "records": {name: records[name] for name in ordered},
        "systems": {
            system: {name: counts[name] for name in sorted(counts, key=_type_order)}
            for system, counts in sorted(systems.items())
        },
        "undecoded": sorted(
            {name for file in inventories for name in file.undecoded if name not in _MARKERS}, key=_type_order
        ),
        "notes": [
            {"file": file.file, "note": note, "place": place, "count": count}
            for file in inventories
            for (note, place), count in file.notes.items()
        ],
        "span": [min(start for start, _ in spans), max(end for _, end in spans)] if spans else None,
        "damage": [
            {
                "file": row.file,
                "record": row.record_no,
                "offset": row.offset,
                "reason": row.reason,
                "severity": str(row.severity),
                "detail": row.detail,
                "remedy": row.remedy,
            }
            for file in inventories
            for row in file.damage
        ],
        "implausible": [
            {key: value for key, value in asdict(row).items() if key != "source_id"}
            for file in inventories
            for row in file.implausible
        ],
    }


#: Columns of the records as one table.
HEADS = ("file", "kind", "record", "system", "records", "decoded")


def to_rows(inventories: Iterable[Inventory]) -> list[tuple[str | int, ...]]:
    """The inventories as one table: a row per file, type and system; ``decoded`` is ``no`` without a layout."""
    return [
        (file.file, file.kind, name, system, count, "no" if name in file.undecoded else "yes")
        for file in inventories
        for (name, system), count in sorted(
            file.records.items(), key=lambda entry: (_type_order(entry[0][0]), entry[0])
        )
    ]


#: Records of the dump program: they measure nothing.
_MARKERS = {"2": "dump header", "3": "dump trailer"}

#: Damage rows of one file that the plain listing shows.
_SHOWN = 20


_PLACES = {
    "counted": "in records without a layout",
    "repeated": "in records that came before",
    "block_words": "in block descriptor words",
    "incomplete": "in spanned records without some of their segments",
    "damaged": "damaged",
    "damaged_at_end": "damaged after the last whole record",
    "padding": "of padding after it",
}


def _record_lines(inventory: Inventory) -> Iterator[str]:
    names = sorted({name for name, _ in inventory.records}, key=_type_order)
    width = max((8, *(len(name) for name in names)))
    for name in names:
        by_system = sorted((system, count) for (kind, system), count in inventory.records.items() if kind == name)
        text = ", ".join(f"{system or '?'} {count:,}" for system, count in by_system)
        note = _MARKERS.get(name) or ("counted only: no layout" if name in inventory.undecoded else "")
        number = sum(count for _, count in by_system)
        yield f"  {name:>{width}}  {number:>10,}  {text}" + (f"  ({note})" if note else "")
    if inventory.account:
        parts = [f"{inventory.account['decoded']:,} in decoded records"]
        parts += [
            f"{inventory.account[place]:,} {words}" for place, words in _PLACES.items() if inventory.account[place]
        ]
        yield f"  {inventory.account['bytes']:,} bytes = {' + '.join(parts)}"


def to_lines(inventories: Iterable[Inventory]) -> Iterator[str]:
    """The inventories as plain text."""
    for file in inventories:
        if file.skipped:
            yield f"{file.file}: skipped: {file.skipped}"
            continue
        about = ", ".join(
            part for part in (file.kind.replace("_", " ").upper(), file.form, f"{file.size:,} bytes") if part
        )
        yield f"{file.file}: {about}"
        if file.span:
            yield f"  {file.span[0]} to {file.span[1]}, as recorded"
        yield from _record_lines(file)
        if file.duplicates:
            yield f"  {file.duplicates:,} records occur more than once"
        for note in sorted({note for note, _ in file.notes}):
            places = [place for kind, place in file.notes if kind == note]
            number = sum(count for (kind, _), count in file.notes.items() if kind == note)
            more = f"; and {len(places) - _SHOWN:,} more (--json lists them)" if len(places) > _SHOWN else ""
            yield f"  counted: {number:,} x {note.replace('_', ' ')}: {'; '.join(places[:_SHOWN])}{more}"
        for reason, count in sorted(file.damage_counts.items()):
            yield f"  damage: {count:,} x {reason.replace('_', ' ')}"
        for row in file.damage[:_SHOWN]:
            yield f"    {row}"
        if len(file.damage) > _SHOWN:
            yield f"    and {len(file.damage) - _SHOWN:,} more (--json lists them)"
        if file.implausible:
            yield f"  {len(file.implausible):,} values are impossible; metrics leave them out"
        for value in file.implausible[:_SHOWN]:
            yield f"    {value}"
        if len(file.implausible) > _SHOWN:
            yield f"    and {len(file.implausible) - _SHOWN:,} more (--json lists them)"
