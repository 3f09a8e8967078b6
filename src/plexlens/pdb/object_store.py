"""A bucket of object storage: its requests, with bounded tries, and what went wrong in words.

Credentials, region and endpoint come from the environment (``AWS_ACCESS_KEY_ID``, ``AWS_SECRET_ACCESS_KEY``,
``AWS_SESSION_TOKEN``, ``AWS_REGION``, ``AWS_ENDPOINT_URL``), as obstore reads them; none of them reaches a message.
"""

from __future__ import annotations

import io
import os
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from plexlens.errors import StorageError, UsageError
from plexlens.pdb.durable import SCHEME, OvertakenError

_T = TypeVar("_T")

#: Seconds that a request may take, and tries of a request; the environment may say otherwise.
TIMEOUT, TRIES = ("PLEXLENS_S3_TIMEOUT", 30.0), ("PLEXLENS_S3_TRIES", 5.0)

#: Requests under way at the same time.
AT_ONCE = 16

#: Bytes at the end of an object that are read with its first request: its footer, and all of a small one.
_TAIL = 256 << 10

#: Bytes of such ends that are kept.
_KEPT = 64 << 20

#: Bytes that are read at least where an object is read further on.
_AHEAD = 1 << 20

_PROBE = "conditional-put"

_INSTALL = "install it with: pip install 'plexlens[s3]'"


@dataclass(frozen=True, slots=True)
class Found:
    """An object as the server lists it.

    Attributes
    ----------
    key : str
        Its name in the bucket.
    bytes : int
        Its size.
    modified : datetime
        When it was written, by the clock of the server.
    tag : str
        The ETag, which changes with its contents.
    """

    key: str
    bytes: int
    modified: datetime
    tag: str


@cache
def bucket_of(name: str) -> Bucket:
    """The bucket of a name: one for the process, which keeps what it has read of objects that never change."""
    return Bucket(name)


def _number(setting: tuple[str, float]) -> float:
    name, otherwise = setting
    text = os.environ.get(name, "")
    try:
        value = float(text) if text else otherwise
    except ValueError:
        value = 0.0
    if not 0 < value < 10_000:
        raise UsageError(file=name, what=f"{text!r} is not a number above 0", remedy=f"set {name}={otherwise:g}")
    return value


class Bucket:
    """The objects of a bucket.

    Each request is tried a bounded number of times. One that fails in the end raises a `StorageError`, which names the
    object, the server's reason and what to do; an object that is not there raises `FileNotFoundError`.

    Parameters
    ----------
    name
        The bucket.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.requests = 0
        self.bytes = 0
        self.sizes: dict[str, int] = {}
        """Sizes that are known from a manifest."""
        self._tails: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()
        timeout, tries = _number(TIMEOUT), int(_number(TRIES))
        try:
            from obstore.store import S3Store
        except ImportError:
            raise UsageError(file=f"{SCHEME}://{name}", what="obstore is not installed", remedy=_INSTALL) from None
        options: dict[str, Any] = {"timeout": timedelta(seconds=timeout), "connect_timeout": timedelta(seconds=5)}
        endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL", "")
        if endpoint.startswith("http://"):
            options["allow_http"] = True
        backoff = {"init_backoff": timedelta(milliseconds=200), "max_backoff": timedelta(seconds=5), "base": 2}
        retry = {"max_retries": tries - 1, "retry_timeout": timedelta(seconds=timeout * tries), "backoff": backoff}
        self.tries, self.timeout = tries, timeout
        try:
            where = {"endpoint": endpoint} if endpoint else {}
            self._store: Any = S3Store(name, client_options=options, retry_config=retry, **where)
        except Exception as error:
            raise self._failed("", "be reached", error) from None

    def _asked(self, key: str, what: str, request: Callable[[], _T]) -> _T:
        """The answer to a request."""
        self.requests += 1
        try:
            return request()
        except FileNotFoundError as error:
            if "NoSuchBucket" in str(error):
                raise self._failed(key, what, error) from None
            raise FileNotFoundError(2, "there is no such object", f"{SCHEME}://{self.name}/{key}") from None
        except StorageError:
            raise
        except Exception as error:
            raise self._failed(key, what, error) from None

    def _failed(self, key: str, what: str, error: Exception) -> StorageError:
        # The library's text has addresses and headers of requests in it: only what is known to be harmless is taken.
        said, remedy = _reason(str(error), self.tries, self.timeout)
        failure = StorageError(
            file=f"{SCHEME}://{self.name}/{key}".rstrip("/"), what=f"the object cannot {what}: {said}", remedy=remedy
        )
        FAILURES.append(failure)
        return failure

    def get(self, key: str) -> tuple[bytes, str]:
        """Contents of an object, and its tag."""

        def request() -> tuple[bytes, str]:
            answer = self._store.get(key)
            return bytes(answer.bytes()), answer.meta["e_tag"] or ""

        content, tag = self._asked(key, "be read", request)
        self.bytes += len(content)
        return content, tag

    def span(self, key: str, start: int, end: int) -> bytes:
        """Bytes of an object."""
        content = bytes(self._asked(key, "be read", lambda: self._store.get_range(key, start=start, end=end)))
        self.bytes += len(content)
        return content

    def span_as(self, key: str, start: int, end: int, tag: str) -> bytes:
        """Bytes of an object whose contents still have this tag.

        Raises
        ------
        OvertakenError
            It has other contents by now.
        """
        from obstore.exceptions import PreconditionError

        def request() -> bytes | None:
            try:
                condition = {"if_match": tag} if tag else {}
                answer = self._store.get(key, options={"range": (start, end), **condition})
                return bytes(answer.bytes()) if (answer.meta["e_tag"] or "") == tag else None
            except PreconditionError:
                return None

        content = self._asked(key, "be read", request)
        if content is None:
            raise OvertakenError(f"{SCHEME}://{self.name}/{key}")
        if len(content) != end - start:
            raise self._failed(key, f"be read from byte {start} to {end}", OSError(_CUT))
        self.bytes += len(content)
        return content

    def tail(self, key: str, size: int) -> bytes:
        """The last bytes of an object that never changes; they are kept."""
        with self._lock:
            if key in self._tails:
                self._tails.move_to_end(key)
                return self._tails[key]
        content = self.span(key, max(0, size - _TAIL), size) if size else b""
        with self._lock:
            self._tails[key] = content
            while sum(map(len, self._tails.values())) > _KEPT and len(self._tails) > 1:
                self._tails.popitem(last=False)
        return content

    def fetch_tails(self, keys: Iterable[str]) -> None:
        """Read the ends of many objects side by side, so that none of them is waited for alone."""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for _ in pool.map(self._quiet_tail, keys):
                pass

    def _quiet_tail(self, key: str) -> None:
        # A lost object is an error of who reads it.
        with suppress(FileNotFoundError, StorageError):
            self.tail(key, self.size(key))

    def size(self, key: str) -> int:
        """Size of an object."""
        if key not in self.sizes:
            self.sizes[key] = self.meta(key).bytes
        return self.sizes[key]

    def meta(self, key: str) -> Found:
        """Size, time and tag of an object."""
        return _found(self._asked(key, "be read", lambda: self._store.head(key)))

    def put(self, key: str, content: bytes | Path) -> None:
        """Write an object, from bytes or a file; readers see all of it or nothing."""
        self._asked(key, "be written", lambda: self._store.put(key, content))

    def put_if(self, key: str, content: bytes, tag: str) -> str:
        """Write an object in the place of the contents of a tag (none: only if it is not there); return its new tag.

        Raises
        ------
        OvertakenError
            It has other contents by now.
        StorageError
            The server did not answer: the contents may still come to be there.
        """
        mode: Any = {"e_tag": tag} if tag else "create"
        wait = 0.2
        for left in reversed(range(self.tries)):
            failure: Exception | None = None
            try:
                return str(self._conditional(key, content, mode)["e_tag"] or "")
            except OvertakenError:
                pass
            except StorageError as error:
                failure = error
            # The answer to a put that went well may be lost, and its repetition refused: what is there decides.
            try:
                there, present = self.get(key)
            except FileNotFoundError:
                there, present = b"", ""
            if there == content:
                return present
            if present != tag:
                raise OvertakenError(f"{SCHEME}://{self.name}/{key}")
            if not left:
                raise failure or OvertakenError(f"{SCHEME}://{self.name}/{key}")
            time.sleep(wait)
            wait *= 2
        raise AssertionError

    def _conditional(self, key: str, content: bytes, mode: Any) -> Any:
        from obstore.exceptions import AlreadyExistsError, PreconditionError

        def request() -> Any:
            try:
                return self._store.put(key, content, mode=mode, use_multipart=False)
            except (AlreadyExistsError, PreconditionError):
                return None

        answer = self._asked(key, "be written", request)
        if answer is None:
            raise OvertakenError(f"{SCHEME}://{self.name}/{key}")
        return answer

    def honours_conditions(self, folder: str) -> bool:
        """Whether the server refuses a put whose condition does not hold; tried on an object of its own."""
        key = f"{folder}/{_PROBE}"
        for mode in ("create", {"e_tag": '"0"'}):
            for _ in range(2):
                try:
                    self._conditional(key, b"see docs/object-storage.md\n", mode)
                except OvertakenError:
                    break
            else:
                return False
        return True

    def copy(self, key: str, target: str) -> None:
        """Copy an object within the bucket."""
        self._asked(key, "be copied", lambda: self._store.copy(key, target))

    def delete(self, key: str) -> None:
        """Remove an object."""
        with suppress(FileNotFoundError):
            self._asked(key, "be removed", lambda: self._store.delete(key))

    def below(self, key: str) -> Iterator[Found]:
        """The objects below an address, by name; all of the bucket if the address is empty."""
        batches = iter(self._asked(key, "be listed", lambda: self._store.list(f"{key}/" if key else None)))
        while True:
            batch: Any = self._asked(key, "be listed", lambda: next(batches, None))
            if batch is None:
                return
            yield from map(_found, batch)

    def children(self, key: str) -> list[str]:
        """Names of the parts that follow an address."""
        answer: Any = self._asked(key, "be listed", lambda: self._store.list_with_delimiter(f"{key}/"))
        paths = [*(entry["path"] for entry in answer["objects"]), *answer["common_prefixes"]]
        return sorted(path.rstrip("/").rpartition("/")[2] for path in paths)


def _found(meta: Any) -> Found:
    return Found(meta["path"], meta["size"], meta["last_modified"], meta["e_tag"] or "")


#: Variables of the environment that say how object storage is reached from any machine.
_SETTINGS = (
    *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_DEFAULT_REGION"),
    *("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", TIMEOUT[0], TRIES[0]),
)


class Access(dict[str, str]):
    """The variables of the environment that say how object storage is reached, for another process of the same user."""

    @classmethod
    def here(cls) -> Access:
        """The variables of this process."""
        return cls({name: os.environ[name] for name in _SETTINGS if os.environ.get(name)})

    def __repr__(self) -> str:
        """The names alone: some of the values are secret."""
        return f"Access({', '.join(sorted(self))})"

    def use(self) -> None:
        """Make them those of this process, where it has others."""
        if self.items() <= os.environ.items():
            return
        if _SETTINGS[0] in self:
            # Not a token of other credentials.
            for name in _SETTINGS[:3]:
                os.environ.pop(name, None)
        os.environ.update(self)
        bucket_of.cache_clear()


FAILURES: list[StorageError] = []
"""The failures of this process, the latest last: an engine that reads objects says only that it could not."""


_STATUS = re.compile(r"status code: (\d{3})(?: ([A-Za-z ]+))?")
_CODE = re.compile(r"<Code>([A-Za-z]{1,60})</Code>")
_CUT = "the answer is cut short"
AGAIN = "run the command again; what the database held is whole"
_REMEDIES = {
    "NoSuchBucket": "check the name of the bucket, and AWS_ENDPOINT_URL",
    "AccessDenied": "check that the credentials in the environment may list, read and write this path",
    "InvalidAccessKeyId": "check AWS_ACCESS_KEY_ID in the environment",
    "SignatureDoesNotMatch": "check AWS_SECRET_ACCESS_KEY and AWS_REGION in the environment",
    "ExpiredToken": "get new credentials, set AWS_SESSION_TOKEN with them, and run the command again",
    "SlowDown": f"wait until the server has less to do, and {AGAIN}",
}


def _reason(text: str, tries: int, timeout: float) -> tuple[str, str]:
    """The reason for a failed request, in words without addresses or keys, and the remedy."""
    code, status = _CODE.search(text), _STATUS.search(text)
    tried = f" {tries} tries of at most {timeout:g} s" if tries > 1 else f" one try of at most {timeout:g} s"
    if text == _CUT:
        return f"{text}: the server gives fewer bytes than it was asked for", AGAIN
    if "empty path segment" in text:
        return "its name, or that of an object next to it, has an empty part (//)", "copy it to another name"
    if "169.254.169.254" in text or "credential" in text.lower():
        return "there are no credentials", "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment"
    if code is not None or status is not None:
        number = status[1] if status else ""
        said = " ".join(filter(None, [number, code[1] if code else (status[2] or "").strip() if status else ""]))
        name = code[1] if code else {"403": "AccessDenied", "503": "SlowDown", "429": "SlowDown"}.get(number, "")
        again = f", after{tried}" if number >= "500" else ""
        return f"the server answers {said}{again}", _REMEDIES.get(
            name, f"look into the log of the server, then {AGAIN}"
        )
    if "Region" in text or "region" in text:
        return "the region is missing or wrong", "set AWS_REGION in the environment"
    return (
        f"the server does not answer in{tried}",
        f"check AWS_ENDPOINT_URL and the network, then {AGAIN}; PLEXLENS_S3_TIMEOUT gives slow servers more seconds",
    )


class ObjectFile(io.RawIOBase):
    """An object for reading, by ranges.

    The position is that of a thread: an engine seeks and reads from several threads at the same time.

    Parameters
    ----------
    bucket, key
        The object.
    """

    def __init__(self, bucket: Bucket, key: str) -> None:
        self._bucket, self._key = bucket, key
        self._place = threading.local()
        self.size = bucket.size(key)
        self._ahead: tuple[int, bytes] = (0, b"")

    def readable(self) -> bool:
        """True."""
        return True

    def seekable(self) -> bool:
        """True."""
        return True

    def tell(self) -> int:
        """The position."""
        return int(getattr(self._place, "at", 0))

    def seek(self, offset: int, whence: int = 0) -> int:
        """Move the position."""
        self._place.at = offset + (0, self.tell(), self.size)[whence]
        return self.tell()

    def read(self, size: int | None = -1) -> bytes:
        """Bytes from the position on; fewer only at the end."""
        start = self.tell()
        end = self.size if size is None or size < 0 else min(self.size, start + size)
        content = self._between(start, end) if end > start else b""
        self._place.at = start + len(content)
        return content

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer."""
        content = self.read(len(buffer))
        buffer[: len(content)] = content
        return len(content)

    def _between(self, start: int, end: int) -> bytes:
        first = max(0, self.size - _TAIL)
        if start >= first:
            tail = self._bucket.tail(self._key, self.size)
            return tail[start - first : end - first]
        begin, content = self._ahead
        if not begin <= start <= end <= begin + len(content):
            begin, content = start, self._bucket.span(self._key, start, min(self.size, max(end, start + _AHEAD)))
            self._ahead = begin, content
        return content[start - begin : end - begin]
