"""The file of a bundle: written so that the same contents give the same bytes, and read as if an enemy had made it.

Nothing of a bundle is unpacked by the names in it. A member is read if the manifest names it, up to the length that the
manifest says, and goes where the reader says; the manifest itself is read first, up to `_MANIFEST` bytes.
"""

from __future__ import annotations

import hashlib
import shutil
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from plexlens import __version__
from plexlens.errors import PlexlensError, UnreadableInputError, UsageError
from plexlens.ingest.compression import FREE_BYTES
from plexlens.pdb.staging import sha256_of
from plexlens.proof.manifest import NAME, VERSION, Manifest, WrongManifestError, version_of
from plexlens.whole_file import whole_file

#: Moment of every member, the first that the form knows.
_MOMENT = (1980, 1, 1, 0, 0, 0)

#: Bytes of a manifest at most.
_MANIFEST = 64 << 20

#: Times its own size to which a bundle may expand beyond `FREE_BYTES`: records are in it as they are, pages shrink to a
#: tenth.
_MOST_TIMES = 100
_PIECE = 1 << 20
_ENCRYPTED = 0x1
_AGAIN = "ask for the bundle again, or make it again with plexlens report --bundle"
_FAULTS = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OverflowError)


def write_archive(path: Path, manifest: Manifest, files: Mapping[str, Path]) -> None:
    """Write a bundle completely or not at all.

    Parameters
    ----------
    path
        The ZIP file.
    manifest
        What its members are.
    files
        Contents of each member.

    Raises
    ------
    PlexlensError
        It cannot be written.
    """
    with whole_file(path) as part, zipfile.ZipFile(part, "w", allowZip64=True) as archive:
        archive.writestr(_entry(NAME), manifest.text())
        for name in sorted(manifest.members):
            with archive.open(_entry(name), "w", force_zip64=True) as to, files[name].open("rb") as content:
                shutil.copyfileobj(content, to, _PIECE)


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _MOMENT)
    # Parquet is compressed already.
    entry.compress_type = zipfile.ZIP_STORED if name.endswith(".parquet") else zipfile.ZIP_DEFLATED
    # As on Unix, whatever the system that writes.
    entry.create_system = 3
    entry.external_attr = 0o644 << 16
    return entry


@dataclass(frozen=True)
class Archive:
    """A bundle, open for reading.

    Attributes
    ----------
    path : Path
        The ZIP file.
    sha256 : str
        Hash of its bytes.
    manifest : Manifest
        What its members are.
    """

    path: Path
    sha256: str
    manifest: Manifest
    _zip: zipfile.ZipFile

    def copy(self, name: str, to: Path) -> None:
        """Write a member to a file.

        Raises
        ------
        UnreadableInputError
            It is not as the manifest says.
        """
        to.parent.mkdir(parents=True, exist_ok=True)
        with to.open("wb") as file:
            self._read(name, file)

    def read(self, name: str) -> bytes:
        """The bytes of a member.

        Raises
        ------
        UnreadableInputError
            It is not as the manifest says.
        """
        parts: list[bytes] = []

        class _Parts:
            write = staticmethod(parts.append)

        self._read(name, _Parts)  # type: ignore[arg-type]
        return b"".join(parts)

    def _read(self, name: str, to: IO[bytes]) -> None:
        stated = self.manifest.members[name]
        digest = hashlib.sha256()
        try:
            with self._zip.open(name) as member:
                while piece := member.read(_PIECE):
                    digest.update(piece)
                    to.write(piece)
        except _FAULTS as error:
            raise _wrong(self.path, f"{name} cannot be read: {error}") from error
        if digest.hexdigest() != stated.sha256:
            raise _wrong(
                self.path,
                f"{name} is not the file that the manifest names: its SHA-256 is {digest.hexdigest()}, and the "
                f"manifest says {stated.sha256}",
            )


@contextmanager
def opened(path: Path) -> Iterator[Archive]:
    """A bundle, with its members checked against its manifest by name and length; hashes are checked as each is read.

    Raises
    ------
    UnreadableInputError
        It is not a bundle, or its members are not those that its manifest names.
    UsageError
        A later version of Plexlens wrote it.
    """
    try:
        sha256 = sha256_of(path)
        archive = zipfile.ZipFile(path)
    except OSError as error:
        raise UnreadableInputError(
            file=str(path), what=f"the bundle cannot be read: {error.strerror or error}", remedy="check the path"
        ) from error
    except (*_FAULTS, ValueError) as error:
        raise UnreadableInputError(
            file=str(path),
            what=f"it is not a ZIP file: {error}",
            remedy="name a bundle that plexlens report --bundle wrote, transferred in binary; --same-metrics compares "
            "two sources",
        ) from error
    with archive:
        entries = _entries(path, archive)
        manifest = _manifest(path, archive, entries)
        _check(path, entries, manifest)
        yield Archive(path, sha256, manifest, archive)


def _entries(path: Path, archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    entries: dict[str, zipfile.ZipInfo] = {}
    for entry in archive.infolist():
        name = entry.filename
        if name in entries:
            raise _wrong(path, f"it has two files called {name!r}")
        if entry.flag_bits & _ENCRYPTED or entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise _wrong(path, f"{name!r} is encrypted, or compressed in a way that bundles are not")
        entries[name] = entry
    return entries


def _manifest(path: Path, archive: zipfile.ZipFile, entries: Mapping[str, zipfile.ZipInfo]) -> Manifest:
    if NAME not in entries:
        raise UnreadableInputError(
            file=str(path),
            what=f"it is a ZIP file without {NAME}, so it is not a bundle",
            remedy="name a file that plexlens report --bundle wrote",
        )
    if entries[NAME].file_size > _MANIFEST:
        raise _wrong(path, f"{NAME} has {entries[NAME].file_size:,} bytes, and {_MANIFEST:,} are the most")
    try:
        with archive.open(NAME) as member:
            text = member.read(_MANIFEST).decode("utf-8")
        version, writer = version_of(text)
        if version > VERSION or _numbers(writer) > _numbers(__version__):
            raise UsageError(
                file=str(path),
                what=f"Plexlens {writer} wrote this bundle (version {version}), and this is Plexlens {__version__} "
                f"(version {VERSION})",
                remedy=f"install Plexlens {writer} or later and verify it again",
            )
        return Manifest.of(text)
    except (*_FAULTS, WrongManifestError, UnicodeDecodeError) as error:
        raise _wrong(path, f"{NAME} is not as a bundle has it: {error}") from error


def _numbers(version: str) -> tuple[int, ...]:
    """The numbers that a version begins with."""
    numbers = []
    for part in version.split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        numbers.append(int(digits))
    return tuple(numbers)


def _check(path: Path, entries: Mapping[str, zipfile.ZipInfo], manifest: Manifest) -> None:
    named = {NAME, *manifest.members}
    for name in sorted(named - entries.keys()):
        raise _wrong(path, f"{name} is missing, which its manifest names")
    for name in sorted(entries.keys() - named):
        raise _wrong(path, f"it has the file {name!r}, which its manifest does not name")
    for name, member in manifest.members.items():
        if entries[name].file_size != member.bytes:
            raise _wrong(path, f"{name} has {entries[name].file_size:,} bytes, and its manifest says {member.bytes:,}")
    whole, most = sum(member.bytes for member in manifest.members.values()), allowed(path.stat().st_size)
    if whole > most:
        raise _wrong(
            path,
            f"its files have {whole:,} bytes, and a ZIP file of {path.stat().st_size:,} bytes may have {most:,}",
        )


def allowed(size: int) -> int:
    """Bytes to which a file of a size may expand."""
    return max(FREE_BYTES, _MOST_TIMES * size)


def _wrong(path: Path, what: str) -> PlexlensError:
    return UnreadableInputError(file=str(path), what=what, remedy=_AGAIN)
