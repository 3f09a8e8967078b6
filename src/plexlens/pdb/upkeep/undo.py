"""Undo: a new commit restores the state before a commit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from plexlens.errors import PlexlensError, UsageError
from plexlens.pdb import head as heads
from plexlens.pdb.commit import restore
from plexlens.pdb.database import Pdb
from plexlens.pdb.head import Head
from plexlens.pdb.lock import unheard
from plexlens.pdb.manifest import Manifest
from plexlens.pdb.writing import told_of_disk, writing


@dataclass(frozen=True)
class State:
    """A state of the PDB that an undo can bring back.

    Attributes
    ----------
    commit : int
        The commit after which it was so.
    at : str
        When that was; UTC, ISO 8601.
    what : str
        What the commit did.
    is_now : bool
        Whether it is so now.
    """

    commit: int
    at: str
    what: str
    is_now: bool


def states(pdb: Pdb) -> list[State]:
    """The states that can be brought back, the earliest first, and the present one."""
    results = []
    for number in heads.snapshots(pdb.path):
        try:
            snapshot = heads.read_snapshot(pdb.path, number)
        except PlexlensError:
            continue
        if number <= pdb.head.commit:
            results.append(State(number, snapshot.at, snapshot.what, number == pdb.head.commit))
    return results


def undo(
    pdb: Pdb,
    *,
    to: int | None = None,
    wait: float = 0.0,
    tell: Callable[[str], None] = unheard,
    dry_run: bool = False,
) -> tuple[State, State]:
    """Bring back the state before the last commit, or after a certain one.

    Parameters
    ----------
    pdb
        The PDB; it shows the result afterwards.
    to
        The commit whose state comes back; by default the one before the state that the PDB has.
    wait
        Seconds to wait for a writer.
    tell
        Told, as sentences, whom it waits for.
    dry_run
        Whether nothing is changed.

    Returns
    -------
    tuple of State
        What is undone, and what comes back.

    Raises
    ------
    UsageError
        There is no such state.
    PdbLockedError, PdbWriteError
        The PDB cannot be written.
    """
    if dry_run:
        before, target, _, _ = _found(pdb, to)
        return before, target
    with writing(pdb, wait=wait, tell=tell):
        before, target, head, manifest = _found(pdb, to)
        what = f"undo: as after commit {target.commit} ({target.what})"
        told_of_disk(pdb, lambda: restore(pdb, head, manifest, what, pdb.keep))
    return before, target


def _found(pdb: Pdb, to: int | None) -> tuple[State, State, Head, Manifest]:
    every = {state.commit: state for state in states(pdb)}
    now = State(pdb.head.commit, pdb.head.at, pdb.head.what, is_now=True)
    if to is None:
        to = max((number for number in every if number < pdb.head.state), default=0)
    if to not in every or to == pdb.head.commit:
        listed = ", ".join(str(number) for number in every if number != pdb.head.commit)
        raise UsageError(
            file=str(pdb.path),
            what="there is nothing to undo" if not listed else f"the state after commit {to} is not kept",
            remedy=f"give one of these with --to: {listed}"
            if listed
            else "a state is kept once something was committed",
        )
    head = heads.read_snapshot(pdb.path, to)
    try:
        manifest = heads.read_log(pdb.path, head)
        for file in manifest.every_file():
            if (pdb.path / file.path).stat().st_size != file.bytes:
                raise FileNotFoundError(None, None, file.path)
    except FileNotFoundError as error:
        raise UsageError(
            file=str(pdb.path),
            what=f"the state after commit {to} cannot be brought back: {error.filename} is gone",
            remedy=f"see which states are kept: plexlens pdb undo {pdb.path} --list",
        ) from error
    return now, every[to], head, manifest
