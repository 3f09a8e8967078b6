"""The few file system operations on which the PDB's promise rests: write, sync, move.

Every change that a reader could see goes through a `Disk`, so that the order of steps is in one place and can be
observed or cut short by a test.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

SCHEME = "s3"
"""Begin of addresses in object storage."""

SCHEMES = (SCHEME, "s3a")
"""Begins of addresses of dumps there; Spark's file system has the second."""


class OvertakenError(Exception):
    """Another writer has replaced the contents that a writer wanted to replace; the argument is the place."""


class Disk:
    """File system operations whose effect survives a crash once they have returned.

    Parameters
    ----------
    sync
        Whether to force data to the device. Off for a temporary PDB, which no crash is meant to survive.
    """

    shared = True
    """Whether writers are on one system, whose lock keeps them apart. Otherwise the first to replace the manifest wins,
    and files that no manifest names may belong to a writer that is still at work."""

    def __init__(self, *, sync: bool = True) -> None:
        self.sync = sync

    @property
    def codec(self) -> str:
        """Compression of Parquet files: small where they stay, fast where they are read once and deleted."""
        return "zstd" if self.sync else "lz4"

    def staging(self, folder: Path) -> Path:
        """Folder for the files of writers before they belong to the PDB in a folder."""
        return folder / "staging"

    def distinct(self, name: str) -> str:
        """The name for a file that a writer adds, such that no other writer has it."""
        return name

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

    def move_all(self, pairs: Iterable[tuple[Path, Path]]) -> None:
        """Move many files."""
        for source, target in pairs:
            self.move(source, target)

    def read(self, path: Path) -> tuple[bytes, str]:
        """Contents of a file, and a tag for them by which `replace` knows them."""
        return path.read_bytes(), ""

    def replace(self, path: Path, text: str, tag: str) -> str:
        """Write a file in the place of the contents with this tag; return the tag of the new contents.

        Raises
        ------
        OvertakenError
            Another writer has replaced them.
        """
        del tag
        self.write(path, text)
        return ""

    def is_left_behind(self, path: Path) -> bool:
        """Whether a file that no manifest names cannot belong to a writer that is still at work."""
        del path
        return True

    def check(self) -> None:
        """Check that writers are kept apart here."""

    def write(self, path: Path, text: str) -> None:
        """Write a whole file: a reader sees the old contents or the new contents, even after a crash."""
        self.write_bytes(path, text.encode())

    def write_bytes(self, path: Path, content: bytes) -> None:
        """The same of bytes."""
        new = path.with_name(path.name + ".new")
        new.write_bytes(content)
        self.sync_file(new)
        self.move(new, path)
        self.sync_folder(path.parent)


def _fsync(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
