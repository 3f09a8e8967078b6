"""The manifest of a bundle: what is in it, with hashes, and all that its numbers depend on besides the records."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import date, datetime
from typing import Any

from plexlens.metrics.selection import Selection, Shift, Window
from plexlens.pdb.entries import Ingest, ingest_json, ingest_of
from plexlens.pdb.partition import family_of
from plexlens.report.blocks.readings import FileRead, State

KIND = "plexlens report bundle"
VERSION = 1

NAME = "manifest.json"
PAGE, VALUES = "page.html", "page.json"
CATALOGUE, RULES, SITE = "definitions/catalogue", "definitions/rules", "definitions/site.toml"

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(?:/[A-Za-z0-9_][A-Za-z0-9_.-]*)*")
_HASH = re.compile(r"[0-9a-f]{64}")
_VERSION = re.compile(r"\d{1,6}(?:\.\d{1,6})*[0-9A-Za-z.+-]{0,40}")


class WrongManifestError(ValueError):
    """A manifest that is not as a bundle's is; the message says where and why."""


@dataclass(frozen=True)
class Member:
    """A file of a bundle: its bytes and their SHA-256."""

    bytes: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """Contents of a bundle.

    Attributes
    ----------
    plexlens : str
        Version that wrote it.
    engines : dict of str to str
        Versions of the libraries that computed.
    title : str
        Heading that was asked for; empty for the default.
    selection : Selection
        The part of the records that the page is of, not resolved.
    judged_on : date or None
        Day by which the site's decisions about findings were judged; None without decisions.
    catalogue, rules : tuple of str
        Folders of definitions and of rules in the bundle, the shipped one first.
    tables : dict of str to int
        Rows of each table.
    sources : tuple of Ingest
        Files that the records come from.
    others : tuple of FileRead
        Files that were named and are not in the records, with the reason.
    members : dict of str to Member
        Every file of the bundle but the manifest.
    """

    plexlens: str
    engines: Mapping[str, str]
    title: str
    selection: Selection
    judged_on: date | None
    catalogue: tuple[str, ...]
    rules: tuple[str, ...]
    tables: Mapping[str, int]
    sources: tuple[Ingest, ...]
    others: tuple[FileRead, ...] = ()
    members: Mapping[str, Member] = field(default_factory=dict)

    def text(self) -> str:
        """The manifest as JSON; the same contents give the same text."""
        selection = self.selection
        content = {
            "kind": KIND,
            "version": VERSION,
            "plexlens": self.plexlens,
            "engines": dict(self.engines),
            "title": self.title,
            "selection": {
                "windows": [[_moment_text(window.start), _moment_text(window.end)] for window in selection.windows],
                "shifts": [{"text": shift.text, "spans": shift.spans} for shift in selection.shifts],
                "systems": selection.systems,
                "classes": selection.classes,
            },
            "judged_on": self.judged_on.isoformat() if self.judged_on else None,
            "catalogue": self.catalogue,
            "rules": self.rules,
            "tables": dict(sorted(self.tables.items())),
            "sources": [ingest_json(source) for source in self.sources],
            "others": [asdict(other) for other in self.others],
            "files": {name: asdict(member) for name, member in sorted(self.members.items())},
        }
        return json.dumps(content, indent=1, allow_nan=False) + "\n"

    @classmethod
    def of(cls, text: str) -> Manifest:
        """A manifest from its JSON.

        Raises
        ------
        WrongManifestError
            It is not the manifest of a bundle of this version.
        """
        try:
            content = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise WrongManifestError(f"it is not JSON: {error}") from error
        return _Reader().manifest(content)


def version_of(text: str) -> tuple[int, str]:
    """Version of the form of a bundle, and the version of Plexlens that wrote it, before anything else is read.

    Raises
    ------
    WrongManifestError
        The text is not the manifest of a bundle.
    """
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WrongManifestError(f"it is not JSON: {error}") from error
    if not isinstance(content, dict) or content.get("kind") != KIND:
        raise WrongManifestError(f"it does not say that it is of a {KIND}")
    reader = _Reader()
    return reader.whole(content, "version"), reader.matching(content, "plexlens", _VERSION, "a version")


def is_member_name(name: str) -> bool:
    """Whether a bundle can hold a file of this name: no folder above, no absolute path, no sign that a system minds."""
    return _NAME.fullmatch(name) is not None


def record_name(table: str) -> str:
    """Name of the file of a table in a bundle."""
    return f"records/{table}.parquet"


def _moment_text(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment is not None else None


class _Reader:
    """Reads the values of a manifest that anyone may have written; each is checked."""

    def manifest(self, content: Any) -> Manifest:
        tables = self.table(content, "tables")
        for name in tables:
            try:
                family_of(name)
            except ValueError as error:
                raise WrongManifestError(f"tables: {error}") from error
        files = self.table(content, "files")
        members = {}
        for name in files:
            if not _NAME.fullmatch(name):
                raise WrongManifestError(f"files: {name!r} is not the name of a file in a bundle")
            member = self.table(files, name)
            members[name] = Member(self.whole(member, "bytes"), self.matching(member, "sha256", _HASH, "a SHA-256"))
        return Manifest(
            plexlens=self.matching(content, "plexlens", _VERSION, "a version"),
            engines={name: self.text(self.table(content, "engines"), name) for name in self.table(content, "engines")},
            title=self.text(content, "title"),
            selection=self.selection(self.table(content, "selection")),
            judged_on=self.day(content, "judged_on"),
            catalogue=self.folders(content, "catalogue"),
            rules=self.folders(content, "rules"),
            tables={name: self.whole(tables, name) for name in tables},
            sources=tuple(self.source(entry) for entry in self.tables(content, "sources")),
            others=tuple(self.other(entry) for entry in self.tables(content, "others")),
            members=members,
        )

    def selection(self, content: dict[str, Any]) -> Selection:
        windows = []
        for pair in self.sequence(content, "windows"):
            if not isinstance(pair, list) or len(pair) != 2:
                raise WrongManifestError("windows: a window is not a start and an end")
            windows.append(Window(*(self.moment(text) for text in pair)))
        shifts = []
        for entry in self.tables(content, "shifts"):
            spans = self.sequence(entry, "spans")
            if not all(isinstance(span, list) and len(span) == 2 and all(map(_is_whole, span)) for span in spans):
                raise WrongManifestError("spans: a shift has spans that are not two seconds of the week")
            shifts.append(Shift(self.text(entry, "text"), tuple((span[0], span[1]) for span in spans)))
        return Selection(tuple(windows), tuple(shifts), self.texts(content, "systems"), self.texts(content, "classes"))

    def source(self, entry: dict[str, Any]) -> Ingest:
        texts = ("id", "sha256", "sample", "file", "kind", "started_at", "finished_at", "path")
        for name in texts:
            self.text(entry, name)
        for name in ("started_at", "finished_at"):
            self.moment(entry[name])
        for name in ("size", "duplicates", "revision"):
            self.whole(entry, name)
        for name in ("rows", "records", "damage"):
            counts = self.table(entry, name)
            for key in counts:
                self.whole(counts, key)
        self.table(entry, "options")
        self._of(entry, "incomplete", lambda value: isinstance(value, bool), "true or false")
        span = self.sequence(entry, "span")
        if len(span) != 2 or not all(end is None or isinstance(end, str) for end in span):
            raise WrongManifestError("span: it is not a first and a last time")
        for note in self.tables(entry, "notes"):
            for name in ("note", "section", "severity"):
                self.text(note, name)
            if note.get("severity") not in ("info", "error", "data loss"):
                raise WrongManifestError("severity: a note does not have it")
            if note.get("field") is not None:
                self.text(note, "field")
            for name in ("count", "max_bytes"):
                self.whole(note, name)
        try:
            return ingest_of(entry)
        except (TypeError, ValueError) as error:
            raise WrongManifestError(f"sources: {error}") from error

    def other(self, entry: dict[str, Any]) -> FileRead:
        try:
            state = State(entry.get("state", ""))
        except ValueError as error:
            raise WrongManifestError(f"others: {error}") from error
        return FileRead(self.text(entry, "file"), state=state, reason=self.text(entry, "reason"))

    def folders(self, content: Any, key: str) -> tuple[str, ...]:
        folders = self.texts(content, key)
        if not folders or not all(map(_NAME.fullmatch, folders)):
            raise WrongManifestError(f"{key}: it names no folder of the bundle")
        return folders

    def day(self, content: Any, key: str) -> date | None:
        value = self.get(content, key)
        if value is None:
            return None
        try:
            return date.fromisoformat(value)
        except (TypeError, ValueError) as error:
            raise WrongManifestError(f"{key}: {value!r} is not a day") from error

    def moment(self, text: Any) -> datetime | None:
        if text is None:
            return None
        try:
            return datetime.fromisoformat(text)
        except (TypeError, ValueError) as error:
            raise WrongManifestError(f"{text!r} is not a time") from error

    def get(self, content: Any, key: str) -> Any:
        if not isinstance(content, dict) or key not in content:
            raise WrongManifestError(f"{key}: it is missing")
        return content[key]

    def _of(self, content: Any, key: str, is_right: Callable[[Any], bool], what: str) -> Any:
        value = self.get(content, key)
        if not is_right(value):
            raise WrongManifestError(f"{key}: it is not {what}")
        return value

    def whole(self, content: Any, key: str) -> int:
        number: int = self._of(content, key, _is_whole, "a whole number")
        return number

    def text(self, content: Any, key: str) -> str:
        value: str = self._of(content, key, lambda value: isinstance(value, str), "a text")
        return value

    def matching(self, content: Any, key: str, form: re.Pattern[str], what: str) -> str:
        value = self.text(content, key)
        if not form.fullmatch(value):
            raise WrongManifestError(f"{key}: {value[:80]!r} is not {what}")
        return value

    def table(self, content: Any, key: str) -> dict[str, Any]:
        value: dict[str, Any] = self._of(content, key, lambda value: isinstance(value, dict), "a table")
        return value

    def sequence(self, content: Any, key: str) -> list[Any]:
        value: list[Any] = self._of(content, key, lambda value: isinstance(value, list), "a list")
        return value

    def texts(self, content: Any, key: str) -> tuple[str, ...]:
        value = self.sequence(content, key)
        if not all(isinstance(text, str) for text in value):
            raise WrongManifestError(f"{key}: it is not a list of texts")
        return tuple(value)

    def tables(self, content: Any, key: str) -> list[dict[str, Any]]:
        value = self.sequence(content, key)
        if not all(isinstance(table, dict) for table in value):
            raise WrongManifestError(f"{key}: it is not a list of tables")
        return value


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 63


__all__ = ["Manifest", "Member", "WrongManifestError", "is_member_name", "record_name", "version_of"]
