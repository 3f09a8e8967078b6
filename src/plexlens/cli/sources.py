"""The options that say how dumps are read, common to all commands that take dumps."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from plexlens.cli.bundle import bundle
from plexlens.cli.options import CodePage, Codepage, Layouts, LeapSeconds
from plexlens.cli.terminal import err

if TYPE_CHECKING:
    from plexlens.pdb.opening import DumpReading

    Reading: TypeAlias = DumpReading
else:
    # A command knows the type only where types are checked: its module loads the engine.
    Reading = Any


def _reading(*, layouts: list[Path] | None, codepage: CodePage, leap_seconds: bool) -> Reading:
    from plexlens.pdb.opening import DumpReading

    return DumpReading(tuple(layouts or ()), codepage, leap_seconds, tell)


def tell(message: str) -> None:
    """Print a message of the program on standard error."""
    err.print(f"plexlens: {message}")


#: Gives a command the options that say how dumps are read; it gets them as one argument, ``reading``.
reads_dumps = bundle(
    "reading",
    (
        ("layouts", Layouts, None),
        ("codepage", Codepage, CodePage.LATIN_1047),
        ("leap_seconds", LeapSeconds, False),
    ),
    _reading,
)
