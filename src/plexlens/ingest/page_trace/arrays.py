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


def copied(values: npt.NDArray[Any], kind: npt.DTypeLike, factor: int = 1) -> pa.Array:
    """A column of whole numbers of another type, times a factor.

    Its memory is Arrow's, which keeps what one batch frees for the next. That of numpy goes back to the system.
    """
    buffer = pa.allocate_buffer(len(values) * np.dtype(kind).itemsize)
    results = np.frombuffer(buffer, kind)
    np.copyto(results, values, casting="unsafe")
    if factor != 1:
        results *= factor
    return pa.Array.from_buffers(pa.from_numpy_dtype(results.dtype), len(values), [None, buffer])
