"""Loading of sources: the options of a call, and the outcome of each file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from plexlens.errors import PlexlensError
from plexlens.ingest.compression import USUAL, Expansion
from plexlens.ingest.plausible import Bound
from plexlens.pdb.database import Pdb
from plexlens.pdb.entries import Ingest
from plexlens.pdb.lock import unheard
from plexlens.progress import Progress


class Outcome(StrEnum):
    """Status of a file after an ingest."""

    ADDED = "added"
    """Its rows are in the PDB."""
    ALREADY_HELD = "already held"
    """The PDB holds a file of the same content: nothing was read, nothing changed."""
    NOTHING_NEW = "nothing new"
    """Every record in it is one the PDB holds or has let expire: only the fact that it was read was added."""
    READ_AGAIN = "read again"
    """Its rows take the place of those that the PDB had of it."""
    SKIPPED = "skipped"
    """A file of a given folder that is not a known source."""


@dataclass(frozen=True, slots=True)
class IngestResult:
    """Result of ingesting one file.

    Attributes
    ----------
    file : str
        The file as the user named it.
    outcome : Outcome
        See there.
    ingest : Ingest or None
        What the PDB says about the file; for one already held, of the file it had from before. None when skipped.
    reason : str
        Why it was skipped.
    """

    file: str
    outcome: Outcome
    ingest: Ingest | None = None
    reason: str = ""


@dataclass
class Job:
    """The options of a call, and the outcome of its files so far.

    Attributes
    ----------
    threads : int
        Threads that decode a dump; 0 takes as many as there are cores.
    reader : str
        A word for the names of staged files, where several processes read for one PDB.
    """

    pdb: Pdb
    progress: Progress
    layouts: tuple[Path, ...]
    codepage: str
    leap_seconds: bool
    memory: int
    bounds: Mapping[str, Sequence[Bound]]
    names: Mapping[Path, str] = field(default_factory=dict)
    horizons: bool = True
    tell: Callable[[str], None] = unheard
    expansion: Expansion = USUAL
    threads: int = 0
    reader: str = ""
    results: list[IngestResult] = field(default_factory=list)
    failures: list[PlexlensError] = field(default_factory=list)
