"""The options that say how dumps are read, common to all commands that take dumps."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from plexlens.cli.bundle import bundle
from plexlens.cli.options import CodePage, Codepage, Layouts, LeapSeconds, MaxExpanded, MaxExpansion
from plexlens.cli.terminal import err

if TYPE_CHECKING:
    from plexlens.pdb.opening import DumpReading

    Reading: TypeAlias = DumpReading
else:
    # A command knows the type only where types are checked: its module loads the engine.
    Reading = Any


def _reading(
    *, layouts: list[Path] | None, codepage: CodePage, leap_seconds: bool, max_expansion: int | None, max_expanded: str
) -> Reading:
    from plexlens.ingest.compression import USUAL, Expansion
    from plexlens.pdb.opening import DumpReading

    times = USUAL.times if max_expansion is None else max_expansion
    most = _bytes_expanded(max_expanded) if max_expanded else USUAL.most
    return DumpReading(tuple(layouts or ()), codepage, leap_seconds, tell, Expansion(times, most))


def _bytes_expanded(text: str) -> int:
    from plexlens.errors import UsageError
    from plexlens.storage_size import parse_size

    size = parse_size(text)
    if size < 1:
        raise UsageError(file="--max-expanded", what=f"{text} leaves nothing to read", remedy="give it as 4GiB or 2TiB")
    return size


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
        ("max_expansion", MaxExpansion, None),
        ("max_expanded", MaxExpanded, ""),
    ),
    _reading,
)
