"""The head of a PDB: `manifest.json`, a small file that names the parts of the log, and is replaced whole.

The log has one part for each commit, which never changes; eight parts of a size are joined into one of the next, so
that a PDB of a thousand commits has some twenty. A commit writes its own part and a new head: what it costs does not
depend on how much the PDB holds. Former heads are kept for a while (`SNAPSHOTS`): with one of them in place the PDB is
as it was then.

The first line of a head has the version of the format, and the SHA-256 of every byte after it; a head has size and
SHA-256 of each part of the log. What was cut short or edited is found before anything is read by it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from plexlens import __version__
from plexlens.errors import PdbVersionError, UnreadableInputError
from plexlens.pdb.durable import Disk
from plexlens.pdb.manifest import NAME, Line, Manifest, damaged

FORMAT = "plexlens-pdb"
VERSION = 2
"""Version of the format on disk; a reader refuses a later one."""

LOG = "log"
"""Folder of the parts of the log."""

SNAPSHOTS = "snapshots"
"""Folder of former heads, and of the present one."""

#: Parts of a level of the log that are joined into one of the next.
FAN_IN = 8


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the log.

    Attributes
    ----------
    name : str
        Its file in the folder `LOG`.
    bytes : int
        Size.
    sha256 : str
        Hash of its bytes.
    level : int
        How often it was joined.
    """

    name: str
    bytes: int
    sha256: str
    level: int = 0


@dataclass(frozen=True, slots=True)
class Dropped:
    """Files that a commit took out of the PDB; they stay while an undo can bring them back.

    Attributes
    ----------
    commit : int
        The commit.
    at : str
        When; UTC, ISO 8601.
    parts : tuple of str
        Parts of the log.
    listing : str
        The file in `LOG` that lists Parquet files; empty if there are none.
    files, bytes : int
        Number and size of the Parquet files.
    """

    commit: int
    at: str
    parts: tuple[str, ...] = ()
    listing: str = ""
    files: int = 0
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class Head:
    """The contents of `manifest.json`.

    Attributes
    ----------
    commit : int
        Number of the commit that made it; they only rise.
    at : str
        When; UTC, ISO 8601.
    what : str
        What was done: ``ingest day1.smf``.
    restores : int or None
        The commit whose state it brings back, if it is an undo.
    parts : tuple of Part
        The log, the earliest part first.
    dropped : tuple of Dropped
        What no longer belongs to the PDB and is still there.
    version : int
        Format.
    tag : str
        What the storage calls the contents of the file that it was read from; empty where storage has no such thing.
    """

    commit: int = 0
    at: str = ""
    what: str = ""
    restores: int | None = None
    parts: tuple[Part, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    version: int = VERSION
    tag: str = field(default="", compare=False)

    @property
    def state(self) -> int:
        """The commit whose state it shows."""
        return self.commit if self.restores is None else self.restores

    def text(self) -> str:
        """The contents of the file."""
        entry = asdict(self)
        del entry["version"], entry["tag"]
        lines = [f'"written_by": {json.dumps("plexlens " + __version__)}']
        for name, value in entry.items():
            if isinstance(value, tuple | list):
                listed = ",\n".join(json.dumps(entry) for entry in value)
                lines.append(f"{json.dumps(name)}: [\n{listed}]" if value else f"{json.dumps(name)}: []")
            else:
                lines.append(f"{json.dumps(name)}: {json.dumps(value)}")
        body = ",\n".join(lines) + "}\n"
        checksum = hashlib.sha256(body.encode()).hexdigest()
        return f'{{"format": "{FORMAT}", "version": {VERSION}, "checksum": "{checksum}",\n{body}'


def read_file(path: Path) -> bytes:
    """The contents of a file of the manifest.

    Raises
    ------
    UnreadableInputError
        The system does not let it be read.
    """
    return read_tagged(path, Disk())[0]


def read_tagged(path: Path, disk: Disk) -> tuple[bytes, str]:
    """The contents of a file of the manifest, and the tag by which they can be replaced.

    Raises
    ------
    UnreadableInputError
        The system does not let it be read.
    """
    try:
        return disk.read(path)
    except OSError as error:
        raise UnreadableInputError(
            file=str(path),
            what=f"the manifest cannot be read: {error.strerror}",
            remedy="check your permissions and that the disk is mounted",
        ) from error


def version_of(path: Path, content: bytes) -> int:
    """The version of the format that a head names, after its checksum was compared.

    Raises
    ------
    PdbDamagedError
        It is not as written.
    PdbVersionError
        A later Plexlens wrote it.
    """
    first, _, body = content.partition(b"\n")
    version, checksum = _read_first_line(path, first)
    if version > VERSION:
        raise PdbVersionError(
            file=str(path.parent),
            what=f"the PDB has format version {version}; Plexlens {__version__} supports versions up to {VERSION}",
            remedy="open it with the Plexlens that wrote it, or a later one",
        )
    if hashlib.sha256(body).hexdigest() != checksum:
        raise damaged(path, "the checksum in its first line does not match", offset=len(first) + 1)
    return version


def head_of(path: Path, content: bytes) -> Head:
    """The head that a file holds; its checksum has been compared.

    Raises
    ------
    PdbDamagedError
        It has something that cannot be understood.
    """
    try:
        entry = json.loads(content)
        return Head(
            commit=int(entry["commit"]),
            at=entry["at"],
            what=entry["what"],
            restores=entry["restores"],
            parts=tuple(Part(**part) for part in entry["parts"]),
            dropped=tuple(Dropped(**{**item, "parts": tuple(item["parts"])}) for item in entry["dropped"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise damaged(path, f"it has an entry that cannot be understood ({type(error).__name__}: {error})") from error


def _read_first_line(path: Path, line: bytes) -> tuple[int, str]:
    try:
        head = json.loads(line.rstrip().rstrip(b",") + b"}")
        if head["format"] == FORMAT and isinstance(head["version"], int) and isinstance(head["checksum"], str):
            return head["version"], head["checksum"]
    except (ValueError, KeyError, TypeError):
        pass
    raise damaged(path, "its first line does not name the format, version and checksum", offset=0)


def read_log(folder: Path, head: Head) -> Manifest:
    """The manifest that the log of a head gives.

    Raises
    ------
    PdbDamagedError
        A part of it is not as written.
    FileNotFoundError
        A part of it is not there.
    """
    lines: list[Line] = []
    for part in head.parts:
        lines += _lines(folder / LOG / part.name, part)
    return Manifest(lines, folder)


def _lines(path: Path, part: Part) -> list[Line]:
    content = _part_bytes(path, part)
    try:
        return [_line(text) for text in content.decode("utf-8").split("\n")[:-1]]
    except ValueError as error:
        raise damaged(path, f"it has a line that cannot be understood ({error})") from error


def _line(text: str) -> Line:
    kind, name, note = text.split("\t", 2)
    return kind, name, note


def _part_bytes(path: Path, part: Part) -> bytes:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise damaged(path, f"it cannot be read: {error.strerror}") from error
    if len(content) != part.bytes:
        raise damaged(path, f"it has {len(content)} bytes where {part.bytes} were written")
    if hashlib.sha256(content).hexdigest() != part.sha256:
        raise damaged(path, "its bytes are not those that were written")
    return content


def whole(folder: Path, lines: Iterable[Line], commit: int, level: int, disk: Disk) -> Part:
    """Write a log that consists of a single part.

    Raises
    ------
    OSError
        It could not be written.
    """
    return _write(folder, f"{disk.distinct(f'{commit:08d}')}.log", _text(lines), level, disk)


def appended(folder: Path, parts: Sequence[Part], lines: Iterable[Line], commit: int, disk: Disk) -> tuple[Part, ...]:
    """The parts of a log with another of these lines; it is joined with those before if there are enough of a level.

    Raises
    ------
    OSError
        The new part could not be written.
    PdbDamagedError
        A part is not as written.
    """
    levels = [*(part.level for part in parts), 0]
    joined = 0
    while len(levels) >= FAN_IN and len(set(levels[-FAN_IN:])) == 1:
        levels[-FAN_IN:] = [levels[-1] + 1]
        joined = len(parts) + 1 - len(levels)
    before = [_part_bytes(folder / LOG / part.name, part) for part in parts[len(parts) - joined :]]
    text = b"".join(before).decode("utf-8") + _text(lines)
    number = disk.distinct(f"{commit:08d}")
    name = f"{number}-{levels[-1]}.log" if joined else f"{number}.log"
    return (*parts[: len(parts) - joined], _write(folder, name, text, levels[-1], disk))


def _text(lines: Iterable[Line]) -> str:
    return "".join(f"{kind}\t{of}\t{text}\n" for kind, of, text in lines)


def _write(folder: Path, name: str, text: str, level: int, disk: Disk) -> Part:
    disk.write(folder / LOG / name, text)
    content = text.encode()
    return Part(name, len(content), hashlib.sha256(content).hexdigest(), level)


def snapshot(folder: Path, commit: int) -> Path:
    """The file that keeps the head of a commit."""
    return folder / SNAPSHOTS / f"{commit:08d}.json"


def snapshots(folder: Path) -> list[int]:
    """The commits whose heads are kept, the earliest first."""
    try:
        names = [path.stem for path in (folder / SNAPSHOTS).iterdir() if path.suffix == ".json"]
    except OSError:
        return []
    return sorted(int(name) for name in names if name.isdigit())


def read_snapshot(folder: Path, commit: int) -> Head:
    """The head that a commit made.

    Raises
    ------
    PdbDamagedError, UnreadableInputError
        It cannot be read.
    """
    path = snapshot(folder, commit)
    content = read_file(path)
    version_of(path, content)
    return head_of(path, content)


def stamp_of(folder: Path) -> Any:
    """A value that differs after every commit; None if there is no manifest to be seen."""
    try:
        stat = (folder / NAME).stat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size, stat.st_ino
