"""Performance databases handed over: every table written anew, row by row, into a new database."""

from __future__ import annotations

import hashlib
import hmac
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from plexlens.errors import UsageError
from plexlens.hand_over.account import Account
from plexlens.hand_over.columns import ColumnPlan, ColumnPlans, dictionary_words
from plexlens.hand_over.holds import Holding
from plexlens.hand_over.printed import PrintedCopier, PrintedWords, is_serial
from plexlens.hand_over.translation import Translation
from plexlens.pdb import Pdb
from plexlens.pdb.carried import carried_sources
from plexlens.pdb.commit import commit, staging_folder
from plexlens.pdb.engine import Connection, in_batches, let_wait, quoted
from plexlens.pdb.entries import Ingest
from plexlens.pdb.manifest import Change
from plexlens.pdb.opening import MEMORY_LIMIT
from plexlens.pdb.rewriting import schema_of
from plexlens.pdb.staging import StagedTables
from plexlens.pdb.writing import told_of_disk, writing
from plexlens.whole_file import PART

_BATCH_ROWS = 16_384
_WRITER = "hand-over"
_VALUES = ("rmf_xml_value", "text_report_value")
_CODE_PAGE = "cp037"
"""Of binary fields that hold names: letters, digits and national characters are those of all EBCDIC code pages."""

_DAY = 86_400_000_000
_TOD_DAY = _DAY << 12
_FIRST_YEAR = 366
_EPOCH_1900 = -2_208_988_800_000_000
_DONE = {
    "keep": "kept",
    "blank": "blanked",
    "dictionary": "kept if known",
    "key": "replaced by a keyed hash",
} | dict.fromkeys(("moved", "clock", "printed_date"), "moved")


@dataclass(frozen=True)
class Contents:
    """A database as it was surveyed.

    Attributes
    ----------
    pdb : Pdb
        The database.
    plans : dict of str to list of ColumnPlan
        What becomes of the columns of each table.
    words : PrintedWords
        How texts of printed reports are rewritten.
    """

    pdb: Pdb
    plans: dict[str, list[ColumnPlan]]
    words: PrintedWords


class DatabaseCopier:
    """Copies databases under other names.

    Parameters
    ----------
    printed
        Rewrites texts of reports.
    layouts
        Folders with layouts of the site.

    Raises
    ------
    UnreadableInputError
        A line of ``characters/*.csv`` is wrong.
    """

    def __init__(self, printed: PrintedCopier, layouts: Sequence[Path] = ()) -> None:
        self._plans = ColumnPlans(layouts)
        self._printed = printed
        self._dictionary = dictionary_words(layouts)

    def survey(self, path: Path) -> dict[str, Any]:
        """The names in a database (``names``) and what else its copy needs (``found``).

        Raises
        ------
        PlexlensError
            The database cannot be read, or nothing says what one of its columns holds.
        """
        pdb = Pdb.open(path)
        plans = {table: self._plans.of(table, columns) for table, columns in pdb.manifest.columns.items()}
        connection = pdb.connect(memory_limit=MEMORY_LIMIT)
        numbers: set[str] = set()
        texts: dict[tuple[str, str], list[str]] = {}
        for table in _VALUES:
            if table in plans:
                statement = f"select distinct value from {table} where value_type <> 'text'"
                numbers |= {value for (value,) in connection.execute(statement).fetchall() if value}
        for table, plan in plans.items():
            for column in plan:
                if column.treatment in ("printed", "printed_serial"):
                    texts[table, column.name] = list(_distinct(connection, table, column.name))
        numbers = {value for value in numbers if not value.isdigit()}
        words = self._printed.words(numbers, (text for listed in texts.values() for text in listed))
        contents = Contents(pdb, plans, words)
        names: set[str] = set()

        def note(word: str) -> str:
            names.add(word)
            return word

        for table, plan in plans.items():
            rewriting = _Rewriting(contents, table, note, 0, b"", self._dictionary, {})
            for column in plan:
                if column.treatment == "name":
                    names.update(_distinct(connection, table, column.name))
                elif column.treatment in ("parts", "printed", "printed_serial"):
                    for values in _needed(connection, table, column):
                        rewriting.value(column, values)
        return {"names": sorted(names), "found": contents, "unknown": {}}

    def copy(self, to: Path, translation: Translation, survey: dict[str, Any]) -> Account:
        """Write a database anew into a new folder; nothing of it is left if that fails.

        Raises
        ------
        PlexlensError
            The database is damaged, or the folder cannot be written.
        """
        contents: Contents = survey["found"]
        account = Account(str(contents.pdb.path), str(to), "performance database")
        secret = translation.key.secret
        sources = [self._source(number, source, contents, translation) for number, source in _numbered(contents.pdb)]
        files = {old.file: new.file for (_, old), new in zip(_numbered(contents.pdb), sources, strict=True)}
        _check_new(to)
        # As for files: what a command that was killed has left is written over, and the name is free until the copy is
        # whole.
        unfinished = to.absolute().with_name(f".{to.name}{PART}")
        shutil.rmtree(unfinished, ignore_errors=True)
        target = Pdb.create(unfinished)
        try:
            with writing(target):
                staged = StagedTables(staging_folder(target, _WRITER), _WRITER, target.disk)
                try:
                    connection = let_wait(contents.pdb.connect(memory_limit=MEMORY_LIMIT, threads=1))
                    for table, plan in contents.plans.items():
                        rewriting = _Rewriting(
                            contents, table, translation, translation.key.days, secret, self._dictionary, files
                        )
                        told_of_disk(target, lambda: self._rows(connection, rewriting, staged, account))  # noqa: B023
                        for column in plan:
                            account.fields[table, column.name, _DONE.get(column.treatment, "replaced")] += 0
                    written = told_of_disk(target, staged.finish)
                except BaseException:
                    staged.abandon()
                    raise
                data_files = tuple(file.data_file(_sources_in(file.staged)) for file in written)
                change = Change("anonymise", tuple(sources), variants=staged.variants, files=data_files)
                told_of_disk(target, lambda: commit(target, change, written, _WRITER))
            told_of_disk(target, lambda: unfinished.rename(to))
        except BaseException:
            shutil.rmtree(unfinished, ignore_errors=True)
            raise
        account.records = sum(sum(source.records.values()) for source in sources)
        account.notes.append(
            "roll-ups, earlier states and retention.toml are not copied; plexlens pdb compact and rollup make anew"
        )
        return account

    def _rows(self, connection: Connection, rewriting: _Rewriting, staged: StagedTables, account: Account) -> None:
        table = rewriting.table
        columns = rewriting.contents.pdb.manifest.columns[table]
        schema = schema_of(columns)
        for batch in in_batches(connection, f"select * from main.{quoted(table)}", _BATCH_ROWS):
            arrays = []
            for plan, field in zip(rewriting.contents.plans[table], schema, strict=True):
                cells = batch.column(field.name)
                cells = cells if cells.type == field.type else cells.cast(field.type)
                arrays.append(rewriting.array(plan, cells, batch))
                account.fields[table, plan.name, _DONE.get(plan.treatment, "replaced")] += len(cells) - cells.null_count
            staged.add(table, pa.RecordBatch.from_arrays(arrays, schema=schema))

    def _source(self, number: int, source: Ingest, contents: Contents, translation: Translation) -> Ingest:
        secret = translation.key.secret
        ending = {"smf": ".smf", "rmf_xml": ".xml"}.get(source.kind, ".txt")

        def printed(text: str) -> str:
            return contents.words(text, translation, translation.key.days)

        return replace(
            source,
            id=_hashed(secret, source.id)[:16],
            sha256=_hashed(secret, source.sha256),
            sample=_hashed(secret, source.sample),
            file=f"source-{number}{ending}",
            records={printed(name): count for name, count in source.records.items()},
            span=(_moved_text(source.span[0], translation.key.days), _moved_text(source.span[1], translation.key.days)),
        )


def _check_new(to: Path) -> None:
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise UsageError(
            file=str(to),
            what="the folder is not empty",
            remedy="name a new or empty folder for the copy of the database",
        )


def _numbered(pdb: Pdb) -> Iterator[tuple[int, Ingest]]:
    return enumerate(carried_sources(pdb.ingests), start=1)


def _distinct(connection: Connection, table: str, column: str) -> Iterator[str]:
    rows = connection.execute(f"select distinct {quoted(column)} from main.{quoted(table)}").fetchall()
    for (value,) in rows:
        for text in value if isinstance(value, list) else (value,):
            if isinstance(text, bytes):
                yield text.decode(_CODE_PAGE).strip(" \0")
            elif text is not None:
                yield text


def _needed(connection: Connection, table: str, column: ColumnPlan) -> Iterator[dict[str, Any]]:
    """The different rows of the columns that a column's treatment depends on."""
    names = [column.name, *_others(table, column)]
    rows = connection.execute(f"select distinct {', '.join(map(quoted, names))} from main.{quoted(table)}").fetchall()
    for row in rows:
        yield dict(zip(names, row, strict=True))


def _others(table: str, column: ColumnPlan) -> list[str]:
    if table in _VALUES and column.name == "value":
        return ["name", "column_head"]
    return list(dict.fromkeys(part.when.partition("=")[0].lower() for part in column.parts if part.when))


@dataclass
class _Rewriting:
    """Rewrites the columns of a table."""

    contents: Contents
    table: str
    rename: Callable[[str], str]
    days: int
    secret: bytes
    dictionary: frozenset[str]
    files: dict[str, str]

    def __post_init__(self) -> None:
        self._known: dict[tuple[Any, ...], Any] = {}

    def array(self, plan: ColumnPlan, cells: pa.Array, batch: pa.RecordBatch) -> pa.Array:
        """A column of a batch, rewritten."""
        if plan.treatment == "keep":
            return cells
        if plan.treatment == "moved":
            return _moved(cells, self.days)
        if plan.treatment == "key" and pa.types.is_integer(cells.type):
            return pa.array(_mixed(cells.to_numpy(zero_copy_only=False), self.secret), cells.type)
        names = [plan.name, *_others(self.table, plan)]
        rows = zip(cells.to_pylist(), *(batch.column(name).to_pylist() for name in names[1:]), strict=True)
        values = []
        for row in rows:
            known = (plan.name, *map(_frozen, row))
            if known not in self._known:
                self._known[known] = self.value(plan, dict(zip(names, row, strict=True)))
            values.append(self._known[known])
        return pa.array(values, cells.type)

    def value(self, plan: ColumnPlan, row: dict[str, Any]) -> Any:
        """The value of a column in a row, rewritten."""
        value = row[plan.name]
        if isinstance(value, list):
            return [self.value(plan, row | {plan.name: text}) for text in value]
        if value is None:
            return None
        if plan.treatment == "parts":
            return self._parts(plan, row)
        if plan.treatment.startswith("printed") and plan.treatment != "printed_date":
            serial = plan.treatment == "printed_serial"
            if self.table in _VALUES and plan.name == "value":
                serial = is_serial(value, f"{row['name'] or ''} {row['column_head'] or ''}")
            return self.contents.words(value, self.rename, self.days, serial=serial)
        return self._treated(plan.treatment, value)

    def _parts(self, plan: ColumnPlan, row: dict[str, Any]) -> Any:
        """A value whose parts differ: lines whose condition is met, or else lines without a condition."""
        met = [part for part in plan.parts if part.when and _is_met(part, row)]
        lines = met or [part for part in plan.parts if not part.when]
        value = row[plan.name]
        text: str = value.decode(_CODE_PAGE) if isinstance(value, bytes) else value
        parts, at = [], 0
        for line in sorted(lines, key=lambda line: line.at):
            end = len(text) if line.length is None else line.at + line.length
            parts.append("\0" * max(0, min(line.at, len(text)) - at))
            inner = text[line.at : end]
            trimmed = inner.rstrip(" \0")
            parts.append(str(self._treated(line.treatment, trimmed)).ljust(len(trimmed), "\0") + inner[len(trimmed) :])
            at = max(at, min(end, len(text)))
        parts.append("\0" * (len(text) - at))
        whole = "".join(parts)
        return whole.encode(_CODE_PAGE) if isinstance(value, bytes) else whole.rstrip(" \0")

    def _treated(self, treatment: str, value: Any) -> Any:
        if isinstance(value, bytes) and treatment == "name":
            return self.rename(value.decode(_CODE_PAGE)).encode(_CODE_PAGE)
        simple: dict[str, Callable[[Any], Any]] = {
            "keep": lambda value: value,
            "blank": _blanked,
            "key": lambda value: _hashed(self.secret, value)[: len(value)],
            "file": lambda value: self.files.get(value, "source"),
            "dictionary": lambda value: value if value.strip() in self.dictionary else "?",
            "clock": lambda value: _clock(value, self.days),
            "printed_date": lambda value: _printed_date(value, self.days),
        }
        return simple.get(treatment, self.rename)(value)


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _is_met(part: Holding, row: dict[str, Any]) -> bool:
    field, _, number = part.when.partition("=")
    value = row.get(field.lower())
    return value is not None and int(value) == int(number)


def _blanked(value: Any) -> Any:
    if isinstance(value, bytes):
        return bytes(byte if byte == 0x40 else 0 for byte in value)
    if isinstance(value, str):
        return ""
    return type(value)(0) if isinstance(value, int | float) else value


def _clock(value: Any, days: int) -> Any:
    if not isinstance(value, bytes) or len(value) < 8:
        return _blanked(value)
    clock = int.from_bytes(value[:8])
    moved = clock if clock < _FIRST_YEAR * _TOD_DAY else clock + days * _TOD_DAY
    return moved.to_bytes(8) + bytes(len(value) - 8) if 0 <= moved < 1 << 64 else bytes(len(value))


def _printed_date(value: str, days: int) -> str:
    try:
        there = date(int(value[4:8]), int(value[:2]), int(value[2:4])) + timedelta(days)
    except (ValueError, OverflowError):
        return ""
    return f"{there:%m%d%Y}"


def _moved_text(text: str | None, days: int) -> str | None:
    """A time of the manifest, moved; None for what is not a time."""
    try:
        return None if text is None else (datetime.fromisoformat(text) + timedelta(days)).isoformat()
    except (ValueError, OverflowError):
        return None


def _moved(cells: pa.Array, days: int) -> pa.Array:
    """Dates or times, moved; a time of the year 1900 is a duration, and stays."""
    if pa.types.is_date(cells.type):
        numbers = cells.cast(pa.int32()).to_numpy(zero_copy_only=False)
        moved = np.where(np.isnan(numbers), 0, numbers + days) if cells.null_count else numbers + days
        return pa.array(moved.astype(np.int32), pa.int32(), mask=cells.is_null().to_numpy(zero_copy_only=False)).cast(
            cells.type
        )
    import pyarrow.compute as pc

    numbers = pc.fill_null(cells.cast(pa.int64()), 0).to_numpy(zero_copy_only=False)
    moved = np.where(numbers < _EPOCH_1900 + _FIRST_YEAR * _DAY, numbers, numbers + days * _DAY)
    return pa.array(moved, pa.int64(), mask=cells.is_null().to_numpy(zero_copy_only=False)).cast(cells.type)


def _mixed(numbers: npt.NDArray[Any], secret: bytes) -> npt.NDArray[np.uint64]:
    """Numbers of 64 bits, each replaced by another that only the key tells; different numbers stay different."""
    mixed = numbers.astype(np.uint64)
    for place in (0, 8):
        mixed = mixed ^ np.uint64(int.from_bytes(hashlib.sha256(secret).digest()[place : place + 8]))
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
        mixed = mixed ^ (mixed >> np.uint64(31))
    return mixed


def _hashed(secret: bytes, text: str) -> str:
    return hmac.new(secret, text.encode(), hashlib.sha256).hexdigest()


def _sources_in(path: Path) -> tuple[str, ...]:
    """The sources whose rows are in a file."""
    column = pq.read_table(path, columns=["source_id"]).column(0)
    return tuple(sorted(str(source) for source in column.unique().to_pylist() if source is not None))
