"""Events logged by a run, as columns: time and place of each transaction, in the terms of records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from plexlens import _core
from plexlens.simulate.scenario import Scenario, beginning

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

#: Network of all regions, in identifiers of units of work.
NETWORK = "SIMULNET"

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Stretch:
    """Encoded records of a kind, each with its time of writing.

    Attributes
    ----------
    records
        The records.
    times
        Microseconds since 1970, as many as there are records, none before the one ahead of it.
    """

    records: _core.EncodedRecords
    times: Integers


@dataclass(frozen=True)
class Places:
    """Names in a scenario by the numbers used in logs.

    Attributes
    ----------
    values
        The scenario's tables.
    """

    values: Mapping[str, Any]

    @classmethod
    def of(cls, scenario: Scenario) -> Places:
        """The names of a scenario."""
        return cls(scenario.values)

    @cached_property
    def classes(self) -> list[str]:
        """Classes."""
        return [entry["name"] for entry in self.values["class"]]

    @cached_property
    def regions(self) -> list[str]:
        """Regions."""
        return [entry["name"] for entry in self.values.get("region", [])]

    @cached_property
    def systems_of_regions(self) -> list[str]:
        """System of each region."""
        return [entry["system"] for entry in self.values.get("region", [])]

    @cached_property
    def groups(self) -> list[dict[str, Any]]:
        """Data-sharing groups."""
        return list(self.values.get("db2", []))

    @cached_property
    def groups_of_regions(self) -> Integers:
        """Number of the group that each region is connected to; -1 for none."""
        names = [group["group"] for group in self.groups]
        return np.array(
            [names.index(entry["db2"]) if entry.get("db2") else -1 for entry in self.values.get("region", [])], np.int64
        )

    @cached_property
    def members_of_regions(self) -> list[str]:
        """Member that each region is connected to; empty for none."""
        results = []
        for region, group in zip(self.values.get("region", []), self.groups_of_regions.tolist(), strict=True):
            members = self.groups[group]["member"] if group >= 0 else []
            results.append(next((member["name"] for member in members if member["system"] == region["system"]), ""))
        return results

    @cached_property
    def _begun(self) -> int:
        return round((beginning(self.values) - _EPOCH).total_seconds() * 1e6)

    def micros(self, nanoseconds: Integers) -> Integers:
        """Log times (nanoseconds since measurement began) as microseconds since 1970."""
        return nanoseconds // 1000 + self._begun


def integers(rows: pa.RecordBatch, name: str) -> Integers:
    """A column of whole numbers."""
    values: Integers = rows[name].to_numpy(zero_copy_only=False).astype(np.int64)
    return values


def floats(rows: pa.RecordBatch, name: str) -> Floats:
    """A column of numbers."""
    values: Floats = rows[name].to_numpy(zero_copy_only=False).astype(np.float64)
    return values


def timestamps(times: Integers) -> pa.Array:
    """Microseconds since 1970 as a column of times in UTC."""
    return pa.array(times, pa.int64()).cast(pa.timestamp("us", "UTC"))


def names(texts: Sequence[str], numbers: Integers) -> pa.Array:
    """The texts with these numbers, as a column."""
    return pa.array(texts, pa.string()).take(pa.array(numbers))


def bytes_of(matrix: npt.NDArray[np.uint8]) -> pa.Array:
    """Rows of bytes as a column."""
    width = matrix.shape[1]
    buffer = pa.py_buffer(np.ascontiguousarray(matrix).tobytes())
    return pa.Array.from_buffers(pa.binary(width), len(matrix), [None, buffer]).cast(pa.binary())


def unit_of_work_token(rows: pa.RecordBatch) -> npt.NDArray[np.uint8]:
    """Six bytes that identify a transaction, equal in all its records."""
    numbers = rows["number"].to_numpy().astype(">u8")
    token: npt.NDArray[np.uint8] = numbers.view(np.uint8).reshape(-1, 8)[:, 2:]
    return token


def origins(rows: pa.RecordBatch) -> Integers:
    """Region in which each transaction arrived."""
    terminal = rows["terminal_region"].to_numpy(zero_copy_only=False).astype(np.float64)
    region = integers(rows, "region")
    origin: Integers = np.where(np.isnan(terminal), region, np.nan_to_num(terminal)).astype(np.int64)
    return origin


def in_order(stretches: Iterable[Stretch]) -> Iterable[bytes]:
    """All records of several stretches in time order; ties in the order of the stretches."""
    contents = [stretch for stretch in stretches if len(stretch.times)]
    if not contents:
        return
    which = np.repeat(np.arange(len(contents)), [len(stretch.times) for stretch in contents])
    inside = np.concatenate([np.arange(len(stretch.times)) for stretch in contents])
    order = np.argsort(np.concatenate([stretch.times for stretch in contents]), kind="stable")
    records = [stretch.records for stretch in contents]
    for stretch, at in zip(which[order].tolist(), inside[order].tolist(), strict=True):
        yield records[stretch][at]
