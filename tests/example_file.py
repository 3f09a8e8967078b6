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


@cache
def _example() -> bytes:
    with TemporaryDirectory() as folder:
        dump = Path(folder) / "example.smf"
        example.write_example(dump)
        return dump.read_bytes()
