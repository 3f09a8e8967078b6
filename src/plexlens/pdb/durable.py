"""The few file system operations on which the PDB's promise rests: write, sync, move.

Every change that a reader could see goes through a `Disk`, so that the order of steps is in one place and can be
observed or cut short by a test.
"""

from __future__ import annotations

import os
from pathlib import Path


class Disk:
    """File system operations whose effect survives a crash once they have returned.

    Parameters
    ----------
    sync
        Whether to force data to the device. Off for a temporary PDB, which no crash is meant to survive.
    """

    def __init__(self, *, sync: bool = True) -> None:
        self.sync = sync

    def sync_file(self, path: Path) -> None:
        """Force the contents of a file to the device."""
        if self.sync:
            _fsync(path, os.O_RDONLY)

    def sync_folder(self, path: Path) -> None:
        """Force the names in a folder to the device; until then a rename is not durable."""
        if self.sync:
            _fsync(path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))

    def make_folder(self, path: Path) -> None:
        """Make a folder and its parents, each durable in its own parent; an existing folder stays."""
        missing = []
        while not path.is_dir():
            missing.append(path)
            path = path.parent
        for folder in reversed(missing):
            folder.mkdir(exist_ok=True)
            self.sync_folder(folder.parent)

    def move(self, source: Path, target: Path) -> None:
        """Rename a file within a file system, atomically; durable after `sync_folder`."""
        source.rename(target)

    def write(self, path: Path, text: str) -> None:
        """Write a whole file: a reader sees the old contents or the new contents, even after a crash."""
        new = path.with_name(path.name + ".new")
        new.write_text(text, encoding="utf-8", newline="\n")
        self.sync_file(new)
        self.move(new, path)
        self.sync_folder(path.parent)


def _fsync(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
