"""Conversion of a file's named columns to trace columns: names become numbers, invalid values are refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from plexlens import _core
from plexlens.ingest.page_trace.arrays import array_of
from plexlens.ingest.page_trace.error import TraceError
from plexlens.ingest.page_trace.names import MOST_MEMBERS, TraceNames
from plexlens.ingest.page_trace.pool_names import POOL_NAMES, pool_id

#: Columns of a trace and their types.
TYPES: dict[str, pa.DataType] = {name: pa.type_for_alias(kind) for name, kind in _core.TRACE_COLUMNS}

#: Schema of every batch.
SCHEMA = pa.schema(list(TYPES.items()))

#: Columns that a file may have besides: lost references before a row, what an object is.
LOST, KIND = "lost", "kind"

#: What objects are.
KINDS = ("tablespace", "index")

#: Columns whose values may be names.
NAMED = ("member", "pool", "object", "function", "access", "status", KIND)

#: Names of the codes in columns that hold codes.
CODES = {"function": _core.TRACE_FUNCTIONS, "access": _core.TRACE_ACCESSES, "status": _core.TRACE_STATUSES}


class NamedColumns:
    """Converts parts of a file with named columns to trace batches.

    Parameters
    ----------
    path
        The file, for errors.
    names
        Where names of objects and members go.
    first_row
        The number of the first row, which is its time where the file has no column ``time``.

    Attributes
    ----------
    rows : int
        Rows so far.
    lost : int
        Sum of the column ``lost`` so far.
    timed : bool
        Whether there is a column ``time``; without it rows are numbered.
    """

    def __init__(self, path: Path, names: TraceNames, *, first_row: int = 0) -> None:
        self._path = path
        self._names = names
        self._first_row = first_row
        self._resolved: dict[str, _Resolved] = {}
        self._zeros: dict[pa.DataType, pa.Array] = {}
        self.rows = 0
        self.lost = 0
        self.timed = True

    def batch(self, columns: dict[str, pa.Array], rows: int) -> pa.RecordBatch:
        """Convert the next part of the file.

        Raises
        ------
        TraceError
            Columns are missing or unknown, or hold values that mean nothing.
        """
        self._check(columns)
        self.timed = "time" in columns
        results = {}
        for name, kind in TYPES.items():
            column = columns.get(name)
            if column is not None:
                results[name] = self._column(name, column, kind)
            elif name == "time":
                first = self._first_row + self.rows
                results[name] = array_of(np.arange(first, first + rows, dtype=np.int64))
            else:
                results[name] = self._missing(kind, rows)
        if LOST in columns:
            self.lost += self._column(LOST, columns[LOST], pa.uint64()).sum().as_py() or 0
        if KIND in columns:
            self._kinds(results["object"], columns[KIND])
        self.rows += rows
        return pa.RecordBatch.from_arrays(list(results.values()), schema=SCHEMA)

    def _missing(self, kind: pa.DataType, rows: int) -> pa.Array:
        """A column of zeros; batches share one, since nothing changes an array."""
        known = self._zeros.get(kind)
        if known is None or len(known) < rows:
            known = array_of(np.zeros(rows, kind.to_pandas_dtype()))
        elif len(known) > rows:
            known = known.slice(0, rows)
        self._zeros[kind] = known
        return known

    def _check(self, columns: dict[str, pa.Array]) -> None:
        if "page" not in columns:
            raise TraceError(
                file=str(self._path),
                what=f"there is no column named page (columns: {', '.join(columns) or 'none'})",
                remedy=f"name its columns as these: {', '.join(TYPES)}",
            )
        unknown = sorted(columns.keys() - TYPES.keys() - {LOST, KIND})
        if unknown:
            raise TraceError(
                file=str(self._path),
                what=f"unknown columns: {', '.join(unknown)}",
                remedy=f"leave them out or name them as one of these: {', '.join([*TYPES, LOST, KIND])}",
            )

    def _column(self, name: str, column: pa.Array, kind: pa.DataType) -> pa.Array:
        if pa.types.is_timestamp(column.type):
            column = column.cast(pa.timestamp("us", tz=column.type.tz), safe=False).cast(pa.int64())
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            column = column.dictionary_encode()
        if column.null_count:
            row = column.is_null().index(True).as_py()
            raise self._wrong(name, row, "nothing", "leave out rows without it")
        if pa.types.is_dictionary(column.type):
            column = self._of_names(name, column, kind)
        if column.type == kind:
            return column
        try:
            return column.cast(kind)
        except pa.ArrowException as error:
            row, text = self._misfit(column, kind)
            raise self._wrong(name, row, text, f"give whole numbers that fit into {kind}") from error

    @staticmethod
    def _misfit(column: pa.Array, kind: pa.DataType) -> tuple[int, str]:
        """The first row whose value does not fit into a type, and the value."""
        for row, value in enumerate(column):
            try:
                pa.array([value.as_py()], column.type).cast(kind)
            except pa.ArrowException:
                return row, str(value.as_py())
        return 0, "what cannot be converted"

    def _of_names(self, name: str, column: pa.DictionaryArray, kind: pa.DataType) -> pa.Array:
        """Numbers of a text column; each distinct name is looked up once."""
        known = self._resolved.get(name)
        if known is None or not known.dictionary.equals(column.dictionary):
            # Batches of one row group have the same names, and row groups have most of them in common.
            known = self._resolved[name] = _Resolved(column.dictionary, np.dtype(kind.to_pandas_dtype()), known)
        indices = column.indices.to_numpy()
        unknown: list[int] = []
        if known.lacks(indices):
            # In the order of the rows, so that an error names the first row that is wrong.
            used = column.indices.unique().to_numpy()
            unknown = used[~known.done[used]].tolist()
            resolve, remedy = self._resolver(name)
            texts = column.dictionary.to_pylist()
        for index in unknown:
            text = texts[index].strip() if isinstance(texts[index], str) else ""
            number = resolve(text)
            if number is None or number.bit_length() > kind.bit_width:
                row = column.indices.index(index).as_py()
                remedy = remedy if number is None else f"it must fit into {kind}"
                raise self._wrong(name, row, repr(text) if text else "nothing", remedy)
            known.numbers[index], known.done[index] = number, True
        return array_of(known.numbers[indices])

    def _resolver(self, name: str) -> tuple[Callable[[str], int | None], str]:
        """The function that resolves a column's text (None: not a valid name), and the remedy for text it cannot
        resolve.
        """
        if name == "pool":
            return (
                lambda text: _number(text) if _number(text) is not None else pool_id(text),
                f"name {POOL_NAMES}, or give the number of the pool",
            )
        if name in CODES:
            known = CODES[name]
            codes = {word: code for code, word in enumerate(known)} | {str(code): code for code in range(len(known))}
            return lambda text: codes.get(text.lower()), f"give one of {', '.join(known)}"
        if name == "object":
            return (
                lambda text: (
                    (_number(text) if _number(text) is not None else self._names.object_of(text)) if text else None
                ),
                "give names or numbers",
            )
        if name == "member":
            return self._member, f"give names or numbers of at most {MOST_MEMBERS} members"
        return _number, "give numbers"

    def _member(self, text: str) -> int | None:
        number = _number(text)
        if number is None and text:
            number = self._names.member_of(text)
        return number if number is not None and number < MOST_MEMBERS else None

    def _kinds(self, objects: pa.Array, column: pa.Array) -> None:
        """Note the kinds of a batch's objects."""
        if not pa.types.is_dictionary(column.type):
            column = column.cast(pa.string()).dictionary_encode()
        kinds = [text.strip().lower() if text else "" for text in column.dictionary.to_pylist()]
        indices = column.indices.fill_null(-1)
        pairs = np.unique(_pairs(objects.to_numpy(), indices.to_numpy()))
        for pair in pairs.tolist():
            number, index = pair >> 32, (pair & 0xFFFFFFFF) - 1
            if index < 0 or not kinds[index]:
                continue
            if kinds[index] not in KINDS:
                row = indices.index(index).as_py()
                raise self._wrong(KIND, row, repr(kinds[index]), f"give one of {', '.join(KINDS)}, or nothing")
            self._names.tell_kind(number, kinds[index])

    def _wrong(self, name: str, row: int, text: str, remedy: str) -> TraceError:
        return TraceError(
            file=str(self._path), record_no=self.rows + row + 1, what=f"column {name} holds {text}", remedy=remedy
        )


class _Resolved:
    """Numbers of a dictionary's names, looked up when first needed; those of the dictionary before are known."""

    def __init__(self, dictionary: pa.Array, kind: np.dtype[Any], before: _Resolved | None) -> None:
        self.dictionary = dictionary
        self.numbers = np.zeros(len(dictionary), kind)
        self.done = np.zeros(len(dictionary), bool)
        if before is not None and before.dictionary.type == dictionary.type:
            from pyarrow import compute

            at = compute.index_in(dictionary, value_set=before.dictionary, skip_nulls=True)
            places = at.fill_null(0).to_numpy()
            self.done = at.is_valid().to_numpy(zero_copy_only=False) & before.done[places]
            self.numbers[self.done] = before.numbers[places[self.done]]

    def lacks(self, indices: npt.NDArray[np.integer[Any]]) -> bool:
        """Whether a name that is used has no number yet."""
        if self.done.all():
            return False
        used = np.zeros(len(self.done), bool)
        used[indices] = True
        return bool((used & ~self.done).any())


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() else None


def _pairs(objects: npt.NDArray[np.uint32], indices: npt.NDArray[np.int32]) -> npt.NDArray[np.uint64]:
    """Object, and the index of its kind plus one, combined in one number."""
    pairs: npt.NDArray[np.uint64] = (objects.astype(np.uint64) << np.uint64(32)) | (indices + 1).astype(np.uint64)
    return pairs
