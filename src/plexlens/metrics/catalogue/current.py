"""The catalogue of this process: the one loaded by a command, else the shipped one with the folders in the
environment.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from plexlens.metrics.catalogue.catalogue import Catalogue
from plexlens.metrics.catalogue.index import Family
from plexlens.metrics.definition import Grain

#: Environment variable with a site's folders, separated as in PATH.
VARIABLE = "PLEXLENS_CATALOGUE"


class Grains(Mapping[str, Grain]):
    """Every grain by name.

    Nothing is read before it is asked for. A command that is given folders of a site calls `load` before that.
    """

    def __init__(self) -> None:
        self._catalogue: Catalogue | None = None

    def load(self, folders: Sequence[str | Path] = ()) -> None:
        """Load the definitions of a site's folders, after those named by the environment.

        Parameters
        ----------
        folders
            In order: a later one has the last word.

        Raises
        ------
        CatalogueError
            A file that cannot be used; the grains are then what they were before.
        UsageError
            A folder that is not there.
        """
        named = [folder for folder in os.environ.get(VARIABLE, "").split(os.pathsep) if folder]
        self._catalogue = Catalogue([*named, *folders])

    @contextmanager
    def instead(self, base: Path, folders: Sequence[str | Path] = ()) -> Iterator[None]:
        """Use other definitions for a while: a copy of a shipped catalogue, and a site's folders.

        Parameters
        ----------
        base
            The copy; the installed catalogue and the folders named by the environment are not read.
        folders
            In order: a later one has the last word.

        Raises
        ------
        CatalogueError
            A file that cannot be used.
        """
        before, self._catalogue = self._catalogue, Catalogue(folders, base)
        try:
            yield
        finally:
            self._catalogue = before

    @property
    def catalogue(self) -> Catalogue:
        """All loaded definitions."""
        if self._catalogue is None:
            self.load()
        assert self._catalogue is not None
        return self._catalogue

    @property
    def families(self) -> Mapping[str, Family]:
        """Families of grains by name, in their order."""
        return self.catalogue.families

    def __getitem__(self, name: str) -> Grain:
        """A grain by name."""
        return self.catalogue[name]

    def __iter__(self) -> Iterator[str]:
        """Names, in the order of families and of grains within them."""
        return iter(self.catalogue)

    def __len__(self) -> int:
        """Number of grains."""
        return len(self.catalogue)


GRAINS = Grains()
