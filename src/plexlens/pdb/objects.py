"""Object storage as the place of a PDB: ``s3://BUCKET/PATH``.

`ObjectPath` stands where a PDB has a `Path`, and `ObjectDisk` where it has a `Disk`. Nothing else of a PDB knows about
object storage, save where the two differ in kind: objects have no lock and no rename, so a writer that was overtaken
learns it from the conditional put of the manifest (`plexlens.pdb.commit`).
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from plexlens.errors import StorageError, UsageError
from plexlens.pdb.durable import SCHEME, Disk
from plexlens.pdb.entries import DataFile
from plexlens.pdb.lock import alive, is_held
from plexlens.pdb.object_store import AT_ONCE, Bucket, ObjectFile, bucket_of

#: Time for which objects that no manifest names may belong to a writer that is still at work.
GRACE = timedelta(hours=24)

if TYPE_CHECKING:
    # Functions of a PDB take either kind of path. pathlib's own can be extended from Python 3.12 on.
    _Path = Path
else:
    _Path = object


def object_path(address: str) -> ObjectPath:
    """The place of a PDB in object storage; pathlib makes ``s3:/`` of the two slashes of an address.

    Raises
    ------
    UsageError
        The address lacks a bucket or a path, or has credentials in it; or the packages are missing.
    """
    _, bucket, key = parts_of(address, "a database")
    key = key.rstrip("/")
    if any(part in ("", ".", "..") for part in key.split("/")):
        raise not_an_address(address, "a database")
    return ObjectPath(bucket_of(bucket), key)


def parts_of(address: str, what: str) -> tuple[str, str, str]:
    """Scheme, bucket and key of the address of something in object storage.

    Raises
    ------
    UsageError
        The address has no bucket, or credentials in it.
    """
    scheme, _, rest = address.partition(":")
    bucket, _, key = rest.lstrip("/").partition("/")
    if "@" in bucket or ":" in bucket:
        raise UsageError(
            file=f"{scheme}://...",
            what="credentials or a port do not belong in the address",
            remedy="set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_ENDPOINT_URL in the environment",
        )
    # Three slashes leave out the bucket, so that the first folder would be taken for it.
    if not bucket or rest.startswith("///"):
        raise not_an_address(address, what)
    return scheme, bucket, key


def not_an_address(address: str, what: str) -> UsageError:
    """The error of an address without a bucket, or with a path that nothing can have."""
    return UsageError(
        file=address,
        what=f"this is not the address of {what}",
        remedy=f"give bucket and path: {SCHEME}://BUCKET/PATH",
    )


class ObjectPath(_Path):
    """The address of an object, or of all objects below it: with what a PDB asks of a `Path`.

    Parameters
    ----------
    bucket
        The bucket.
    key
        Name of the object in it.
    """

    # They are many, and made for one look.
    __slots__ = ("bucket", "key")

    bucket: Bucket
    key: str

    def __new__(cls, bucket: Bucket, key: str) -> ObjectPath:  # noqa: D102
        self: ObjectPath = object.__new__(cls)
        self.bucket, self.key = bucket, key
        return self

    def __init__(self, bucket: Bucket, key: str) -> None:
        del bucket, key

    def __reduce__(self) -> Any:
        """The parts for pickle: another process reaches the bucket by itself."""
        return object_path, (str(self),)

    def __truediv__(self, name: Any) -> ObjectPath:
        return ObjectPath(self.bucket, f"{self.key}/{name}" if self.key else str(name))

    def __str__(self) -> str:
        return f"{SCHEME}://{self.bucket.name}/{self.key}"

    def __repr__(self) -> str:
        return f"ObjectPath({str(self)!r})"

    def __fspath__(self) -> str:
        return str(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ObjectPath) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __lt__(self, other: Any) -> bool:
        return self.key < str(other.key)

    @property
    def _pure(self) -> PurePosixPath:
        return PurePosixPath(self.key)

    @property
    def name(self) -> str:
        """The last part of the key."""
        return self._pure.name

    @property
    def stem(self) -> str:
        """The name without its ending."""
        return self._pure.stem

    @property
    def suffix(self) -> str:
        """The ending of the name."""
        return self._pure.suffix

    @property
    def parent(self) -> ObjectPath:
        """The address one part shorter."""
        return ObjectPath(self.bucket, self.key.rpartition("/")[0])

    @property
    def parents(self) -> Any:
        """All addresses above."""
        parts = self.key.split("/")
        return tuple(ObjectPath(self.bucket, "/".join(parts[:count])) for count in range(len(parts) - 1, -1, -1))

    def absolute(self) -> ObjectPath:
        """The address itself."""
        return self

    def resolve(self, strict: bool = False) -> ObjectPath:
        """The address itself."""
        del strict
        return self

    def as_posix(self) -> str:
        """The address."""
        return str(self)

    def relative_to(self, *other: Any) -> Any:
        """The part of the key below another address."""
        return self._pure.relative_to(other[0].key)

    def exists(self, **named: Any) -> bool:
        """Whether there is such an object, or one below it."""
        del named
        return self.is_file() or self.is_dir()

    def is_file(self, **named: Any) -> bool:
        """Whether there is such an object."""
        del named
        try:
            self.bucket.meta(self.key)
        except FileNotFoundError:
            return False
        return True

    def is_dir(self, **named: Any) -> bool:
        """Whether there is an object below it."""
        del named
        return next(iter(self.bucket.below(self.key)), None) is not None

    def samefile(self, other: Any) -> bool:
        """Whether another path is the same address."""
        return bool(self == other)

    def iterdir(self) -> Iterator[ObjectPath]:  # type: ignore[override]
        """Addresses one part longer at which, or below which, there are objects."""
        for name in self.bucket.children(self.key):
            yield self / name

    def rglob(self, pattern: str, **named: Any) -> Iterator[ObjectPath]:  # type: ignore[override]
        """All objects below it; the pattern has to be ``*``."""
        del named
        assert pattern == "*"
        for entry in self.bucket.below(self.key):
            yield ObjectPath(self.bucket, entry.key)

    def read_bytes(self) -> bytes:
        """Contents of the object."""
        return self.bucket.get(self.key)[0]

    def read_text(self, encoding: str | None = None, errors: str | None = None, newline: str | None = None) -> str:
        """Contents of the object as text."""
        del newline
        return self.read_bytes().decode(encoding or "utf-8", errors or "strict")

    def open(self, mode: str = "rb", *words: Any, **named: Any) -> Any:
        """The object for reading."""
        del mode, words, named
        return ObjectFile(self.bucket, self.key)

    def stat(self, **named: Any) -> Any:
        """Size, time and tag of the object."""
        del named
        entry = self.bucket.meta(self.key)
        return _Status(entry.bytes, int(entry.modified.timestamp() * 1e9), entry.tag, entry.modified.timestamp())

    def differing(self, files: Iterable[DataFile]) -> Iterator[tuple[DataFile, str]]:
        """The files below it that are not there or have another size, by a request for a thousand of them."""
        expected = list(files)
        there = {entry.key: entry.bytes for entry in self.bucket.below(f"{self.key}/tables")} if expected else {}
        for file in expected:
            size = there.get(f"{self.key}/{file.path}")
            if size is None:
                yield file, "the object is not there"
            elif size != file.bytes:
                yield file, f"the object has {size} bytes, and {file.bytes} were written"

    def unlink(self, missing_ok: bool = False) -> None:
        """Remove the object; one that is not there is no error."""
        del missing_ok
        self.bucket.delete(self.key)


@dataclass(frozen=True, slots=True)
class _Status:
    st_size: int
    st_mtime_ns: int
    st_ino: str
    st_mtime: float


class ObjectDisk(Disk):
    """The steps of a writer into object storage.

    What readers could see goes there whole, object by object; files are written on a disk of this machine first.

    Parameters
    ----------
    folder
        The PDB.
    """

    shared = False

    def __init__(self, folder: ObjectPath) -> None:
        super().__init__(sync=False)
        self.folder = folder
        self.began = time.monotonic()
        self._token = os.urandom(5).hex()

    @property
    def codec(self) -> str:
        """Objects stay, though no folder of theirs is forced to a device."""
        return "zstd"

    @cached_property
    def scratch(self) -> Path:
        """Folder on this machine for files before they are put; what processes that ended have left in it goes."""
        home = Path(tempfile.gettempdir()) / f"plexlens-s3-{os.getuid()}"
        home.mkdir(mode=0o700, exist_ok=True)
        if home.stat().st_uid != os.getuid() or home.is_symlink():
            what = "the folder for files before they are put belongs to somebody else"
            raise UsageError(file=str(home), what=what, remedy="set TMPDIR to a folder of yours")
        for left in home.iterdir():
            if left.is_dir() and not is_held(left / "alive"):
                shutil.rmtree(left, ignore_errors=True)
        folder = Path(tempfile.mkdtemp(dir=home))
        self._alive = alive(folder / "alive")
        self._alive.__enter__()
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        return folder

    def staging(self, folder: Path) -> Path:
        """Folder on this machine for the files of writers before they belong to the PDB."""
        del folder
        return self.scratch

    def distinct(self, name: str) -> str:
        """The name with a word that no other writer has, since nothing keeps two writers apart."""
        return f"{name}.{self._token}"

    def make_folder(self, path: Path) -> None:
        """Folders on this machine alone: objects need none."""
        if not isinstance(path, ObjectPath):
            super().make_folder(path)

    def sync_folder(self, path: Path) -> None:
        """Nothing: an object is durable when the server has taken it."""

    def sync_file(self, path: Path) -> None:
        """Nothing: a file on this machine does not outlive the command."""

    def move(self, source: Path, target: Path) -> None:
        """Put a file as an object; or an object under another name."""
        assert isinstance(target, ObjectPath)
        if isinstance(source, ObjectPath):
            source.bucket.copy(source.key, target.key)
            source.bucket.delete(source.key)
            return
        target.bucket.put(target.key, source)

    def move_all(self, pairs: Iterable[tuple[Path, Path]]) -> None:
        """Put many files side by side."""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for _ in pool.map(lambda pair: self.move(*pair), pairs):
                pass

    def write(self, path: Path, text: str) -> None:
        """Write a whole object."""
        self.write_bytes(path, text.encode())

    def write_bytes(self, path: Path, content: bytes) -> None:
        """The same of bytes."""
        assert isinstance(path, ObjectPath)
        path.bucket.put(path.key, content)

    def read(self, path: Path) -> tuple[bytes, str]:
        """Contents of an object, and its tag."""
        assert isinstance(path, ObjectPath)
        return path.bucket.get(path.key)

    def replace(self, path: Path, text: str, tag: str) -> str:
        """Write an object in the place of the contents of a tag; return its new tag."""
        assert isinstance(path, ObjectPath)
        if time.monotonic() - self.began > GRACE.total_seconds() / 2:
            # What this writer has put may count as left behind soon.
            raise StorageError(
                file=str(path),
                what=f"the command has run for more than {GRACE.total_seconds() / 7200:.0f} hours; nothing was changed",
                remedy="run it again, with fewer files at a time",
            )
        return path.bucket.put_if(path.key, text.encode(), tag)

    def is_left_behind(self, path: Path) -> bool:
        """Whether an object that no manifest names cannot belong to a writer that is still at work."""
        assert isinstance(path, ObjectPath)
        return datetime.now(UTC) - path.bucket.meta(path.key).modified > GRACE

    def check(self) -> None:
        """Check that two writers cannot overwrite each other's commits here.

        Raises
        ------
        UsageError
            The server ignores conditions of a put.
        """
        if not self.folder.bucket.honours_conditions(self.folder.key):
            raise UsageError(
                file=str(self.folder),
                what="the server takes a write whose condition does not hold, so two writers would lose data",
                remedy="use a server that honours If-None-Match and If-Match of a PUT (docs/object-storage.md)",
            )
