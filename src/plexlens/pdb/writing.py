"""First steps of every writer of a PDB: take the lock, read the manifest, remove the leftovers of a dead writer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar

from plexlens.errors import PdbLockedError, PdbWriteError
from plexlens.pdb.commit import clean_leftovers, commit
from plexlens.pdb.database import Pdb
from plexlens.pdb.durable import OvertakenError
from plexlens.pdb.format_1 import PREVIOUS
from plexlens.pdb.head import VERSION
from plexlens.pdb.lock import LOCK, unheard, writer_lock
from plexlens.pdb.manifest import Change
from plexlens.whole_file import remedy_of

_T = TypeVar("_T")


@contextmanager
def writing(pdb: Pdb, *, wait: float = 0.0, tell: Callable[[str], None] = unheard) -> Iterator[None]:
    """Hold the write lock of a PDB, which shows its present state then and is of the present format.

    In object storage there is no lock: whoever commits first wins, and the other is told.

    Parameters
    ----------
    pdb
        The PDB.
    wait
        Seconds to wait for another writer.
    tell
        Told, as sentences, whom it waits for and what a writer before has left.

    Raises
    ------
    PdbLockedError
        Another process is writing into the PDB.
    PdbWriteError
        The PDB cannot be written.
    """
    if not pdb.disk.shared:
        pdb.disk.check()
        pdb.refresh()
        try:
            yield
        except OvertakenError as error:
            raise PdbLockedError(
                file=str(pdb.path),
                what="another command has changed this PDB meanwhile; nothing was changed by this one",
                remedy="run the command again",
            ) from error
        return
    with writer_lock(pdb.path / LOCK, pdb=pdb.path, wait=wait, tell=tell):
        pdb.refresh()
        told_of_disk(pdb, lambda: clean_leftovers(pdb))
        if pdb.head.version < VERSION:
            told_of_disk(pdb, lambda: commit(pdb, Change(f"upgrade from format {pdb.head.version}"), fold=True))
            # It names files that the present format may remove.
            with suppress(OSError):
                (pdb.path / PREVIOUS).unlink(missing_ok=True)
        yield


def told_of_disk(pdb: Pdb, step: Callable[[], _T]) -> _T:
    """Run a step that writes; an error of the operating system becomes one that explains its effect on the PDB."""
    try:
        return step()
    except OSError as error:
        raise PdbWriteError(
            file=str(error.filename or pdb.path),
            what=f"the PDB cannot be written: {error.strerror or error}; its previous contents are intact",
            remedy=remedy_of(error, pdb.path) or "check your permissions",
        ) from error
