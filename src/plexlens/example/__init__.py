"""The example dump: figures of four published studies as SMF 70-1, 72-3, 74-4, 100, 101 and 110.

``studies/example/README.md`` says what it holds and where every number comes from.
"""

from __future__ import annotations

from pathlib import Path

from plexlens.example.dump import write_dump
from plexlens.example.plan import read_plan
from plexlens.example.printed import ExampleError

_PACKAGE = Path(__file__).parents[1]


def studies_path() -> Path:
    """The folder of the studies: next to the package in an installation, else in the checkout.

    Raises
    ------
    ExampleError
        It is in neither place.
    """
    for folder in (_PACKAGE / "studies", _PACKAGE.parents[1] / "studies"):
        if (folder / "example").is_dir():
            return folder
    raise ExampleError(
        file=str(_PACKAGE / "studies"),
        what="the studies behind the example are missing",
        remedy="run from a checkout of Plexlens, or install it again",
    )


def write_example(path: str | Path, *, studies: str | Path | None = None) -> None:
    """Write the example dump. The same studies always give the same bytes.

    Parameters
    ----------
    path
        The file; what is there is replaced when the dump is complete.
    studies
        Folder of the studies; None for the one that comes with Plexlens.

    Raises
    ------
    ExampleError
        The studies are missing or incomplete.
    OSError
        The file cannot be written.
    """
    write_dump(read_plan(studies_path() if studies is None else Path(studies)), Path(path))


__all__ = ["ExampleError", "studies_path", "write_example"]
