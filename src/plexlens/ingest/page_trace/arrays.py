"""Columns of Arrow made of arrays of numpy.

`pyarrow.array` does the same, and first loads what it needs to tell masked arrays and series of pandas, which takes
longer than reading a small trace.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa


def array_of(values: npt.NDArray[Any]) -> pa.Array:
    """A column of numbers without nulls, of the same memory: nothing may change it afterwards."""
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(values)])


class Column:
    """A column of whole numbers that is filled part by part.

    Its memory is Arrow's, which keeps what one batch frees for the next. That of numpy goes back to the system.

    Parameters
    ----------
    rows
        The most rows that it takes.
    kind
        Type of its values.

    Attributes
    ----------
    room : int
        Rows that are left.
    """

    def __init__(self, rows: int, kind: npt.DTypeLike) -> None:
        self._buffer = pa.allocate_buffer(rows * np.dtype(kind).itemsize)
        self._values: npt.NDArray[Any] = np.frombuffer(self._buffer, kind)
        self.room = rows

    def add(self, values: npt.NDArray[Any], factor: int = 1) -> None:
        """Append values, converted to the type of the column, times a factor."""
        done = len(self._values) - self.room
        part = self._values[done : done + len(values)]
        np.copyto(part, values, casting="unsafe")
        if factor != 1:
            part *= factor
        self.room -= len(values)

    def array(self) -> pa.Array:
        """The values, of the same memory: nothing may be added afterwards."""
        rows = len(self._values) - self.room
        return pa.Array.from_buffers(pa.from_numpy_dtype(self._values.dtype), rows, [None, self._buffer])
