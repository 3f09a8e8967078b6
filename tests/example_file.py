"""The example dump for tests that read it: written once in a process, and copied from then on.

`tests/example` tests the writer itself.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from plexlens import example


def write_example(path: Path) -> None:
    """Write the example dump to a file."""
    path.write_bytes(_example())


def write_part_of_example(path: Path) -> None:
    """Write the records of types 70 and 74 of the example: a report of them takes a second or two."""
    data, at, records = _example(), 0, []
    while at < len(data):
        length = int.from_bytes(data[at : at + 2])
        records += [data[at : at + length]] * (data[at + 5] in (70, 74))
        at += length
    path.write_bytes(b"".join(records))


@cache
def _example() -> bytes:
    with TemporaryDirectory() as folder:
        dump = Path(folder) / "example.smf"
        example.write_example(dump)
        return dump.read_bytes()
