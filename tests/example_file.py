"""The example dump for tests that read it: written once in a process, and copied from then on.

`tests/example` tests the writer itself.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from plexlens import example
from tests.records import dump, records_of


def write_example(path: Path) -> None:
    """Write the example dump to a file."""
    path.write_bytes(_example())


def write_part_of_example(path: Path, *types: int) -> None:
    """Write the records of some types of the example, 70 and 74 by default: a report of these takes a second or two."""
    path.write_bytes(dump(*(record for record in records_of(_example()) if record[5] in (types or (70, 74)))))


@cache
def _example() -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "example.smf"
        example.write_example(path)
        return path.read_bytes()
