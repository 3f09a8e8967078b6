"""RMF XML and text reports handed over: words that reports themselves use stay, every other word is replaced.

A printed report does not say which of its words are names. So the words of its headings and labels are listed
(``layouts/characters/words.txt``), and what is not listed is a name. A name that is such a word, a service class
TOTAL, stays; the account lists those. Numbers stay, also those with letters in them where the reader of the report
takes them for numbers; dates are moved.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from plexlens.errors import UnreadableInputError
from plexlens.hand_over.account import Account
from plexlens.hand_over.holds import Known
from plexlens.hand_over.translation import Translation, words_of
from plexlens.ingest.compression import open_expanded, unreadable
from plexlens.ingest.kinds import SOURCES
from plexlens.ingest.printed.bytes import CP1047, decoder_of
from plexlens.ingest.printed.text.decode import encoding_of, fixed_length
from plexlens.ingest.printed.xml.decode import detect
from plexlens.ingest.source import ReadOptions
from plexlens.layouts_path import layout_folders

_HEAD = 1 << 16
_PIECE = 1 << 20
_VALUES = {"rmf_xml": "rmf_xml_value", "text_reports": "text_report_value"}
#: Columns of tables whose values are names: where one of them is a word that stays, the account says so.
_NAMED = re.compile(
    r"(?:system|sysplex|subsystem|location|member|volume|policy|job_name|resource|.*(?<!cics_)(?<!report_)_name|.*_auth|plan|"
    r"collection|requester|end_user|workstation|main_package|sequence_code|storage_group|opt_member)"
)
_IDENTIFIES = re.compile(r"\b(?:volume|vol|serial|sequence|user|job|name|address)\b", re.IGNORECASE)
_VERSION = re.compile(r"(?:Z|ZOS)?V\d+(?:R\d+(?:M\d+)?)?|\d+(?:[KMGT]?B?|[MU]?S|ST|ND|RD|TH)", re.IGNORECASE)
_TAG = re.compile(r"(<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|<[^<>]*>)", re.DOTALL)
_ATTRIBUTE = re.compile(r"""(\s(?!xmlns|xsi:)[\w:.-]+\s*=\s*)("[^"]*"|'[^']*')""")
_ENTITY = re.compile(r"(&[#\w]+;)")
_DATE = re.compile(
    r"(?<![\w.])(?:(?P<a>\d{1,2})/(?P<b>\d{1,2})/(?P<year>\d{4}|\d{2})|(?P<iso>\d{4}-\d\d-\d\d)|(?P<digits>(?:19|20)\d{6})(?=\d{6}\b))"
    r"(?!\d{1,3}/)"
)
_MONTHS = 12
#: ``14:57:55 MAR 15, 2023``, as Db2 messages print a moment.
_MESSAGE_DATE = re.compile(
    r"\b(?P<month>JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC)(?P<gap> +)(?P<day>\d{1,2}),? +(?P<year>\d{4})\b"
)
_MONTH_NAMES = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
#: Identifiers of Db2 messages: the reader goes by them.
_MESSAGE_ID = re.compile(r"DSN[A-Z0-9]\d{3,4}[A-Z]")


def _none_held(day: date | None) -> npt.NDArray[np.uint64]:
    return np.empty(0, np.uint64)


@dataclass(frozen=True)
class _Way:
    """The way in which words and dates are rewritten."""

    rename: Callable[[str], str]
    days: int


@dataclass
class _Found:
    """Findings of the survey of a report."""

    text: str
    encoding: str
    numbers: set[str] = field(default_factory=set)
    digit_names: set[tuple[int, str]] = field(default_factory=set)
    kept_names: set[str] = field(default_factory=set)
    day_first: bool = False
    values: int = 0


class PrintedCopier:
    """Copies reports under other names.

    Parameters
    ----------
    known
        Words that stay in names.
    layouts
        Folders of the site; a file ``characters/words.txt`` in them lists words that its reports use.
    """

    def __init__(self, known: Known, layouts: Sequence[Path] = ()) -> None:
        self._known = known
        self._layouts = tuple(layouts)
        self._words: frozenset[str] | None = None

    def survey(self, path: Path, kind: str) -> dict[str, Any]:
        """The names of a report (``names``) and what else its copy needs (``found``).

        Raises
        ------
        PlexlensError
            The report cannot be read.
        """
        scan = self._read(path, kind)
        names: set[str] = set()

        def note(word: str) -> str:
            names.add(word)
            return word

        self._rewritten(scan, kind, _Way(note, 0))
        return {"names": sorted(names), "found": scan, "kind": kind, "unknown": {}}

    def copy(self, path: Path, to: Path, translation: Translation, survey: dict[str, Any]) -> Account:
        """Write a report anew; words are those of `survey`."""
        scan, kind = survey["found"], survey["kind"]
        account = Account(str(path), str(to), next(source.title for source in SOURCES if source.name == kind))
        replaced: Counter[str] = Counter()

        def rename(word: str) -> str:
            replaced["words"] += 1
            return translation(word)

        text = self._rewritten(scan, kind, _Way(rename, translation.key.days))
        to.write_bytes(_encoded(text, scan.encoding))
        account.records = scan.values
        account.fields["words that no report uses itself", "", "replaced"] = replaced["words"]
        if scan.kept_names:
            shown = ", ".join(sorted(scan.kept_names)[:20])
            more = f" and {len(scan.kept_names) - 20} more" if len(scan.kept_names) > 20 else ""
            account.notes.append(f"names that are also words of reports, and stay: {shown}{more}")
        return account

    def words(self, numbers: set[str], texts: Iterable[str]) -> PrintedWords:
        """The rewriting of texts of reports that stand in tables.

        Parameters
        ----------
        numbers
            Values of the reports that are numbers, though they have letters.
        texts
            All texts, from which the order of day and month is seen.
        """
        scan = _Found("", "", numbers=numbers)
        scan.day_first = _is_day_first(match for text in texts for match in _DATE.finditer(text) if match["a"])
        return PrintedWords(self, scan)

    def _vocabulary(self) -> frozenset[str]:
        if self._words is None:
            folders = layout_folders(self._layouts)
            files = [folder / "characters" / "words.txt" for folder in folders]
            texts = [file.read_text(encoding="utf-8") for file in files if file.is_file()]
            self._words = frozenset(word.casefold() for text in texts for word in text.split())
        return self._words

    def _read(self, path: Path, kind: str) -> _Found:
        try:
            stream, _ = open_expanded(path)
            with stream:
                data = b"".join(iter(lambda: stream.read(_PIECE), b""))
        except OSError as error:
            raise unreadable(path, error) from error
        head = data[:_HEAD]
        encoding = detect(head).name if kind == "rmf_xml" else encoding_of(head)
        text = decoder_of(encoding).decode(data, final=True)
        if "\ufffd" in text:
            raise UnreadableInputError(
                file=str(path),
                what="the report has bytes that its encoding does not have",
                remedy="transfer it again, or convert it to UTF-8",
            )
        scan = _Found(text, encoding)
        source = next(source for source in SOURCES if source.name == kind)
        options = ReadOptions(source_id="hand-over", seen=_none_held, layouts=self._layouts)
        for table, batch in source.read(path, options):
            rows = batch.to_pydict()
            if table == _VALUES[kind]:
                self._values(scan, rows)
            for column, values in rows.items():
                if _NAMED.fullmatch(column):
                    words = {word for value in set(values) if isinstance(value, str) for word in words_of(value)}
                    scan.kept_names |= {word for word in words if len(word) > 1 and self._stays(word, scan)}
        scan.kept_names = {word for word in scan.kept_names if word not in self._known and not word.isdigit()}
        scan.day_first = _is_day_first(match for match in _DATE.finditer(text) if match["a"])
        return scan

    def _values(self, scan: _Found, rows: dict[str, list[Any]]) -> None:
        columns = (rows["line"], rows["value"], rows["value_type"], rows["name"], rows["column_head"])
        for line, value, kind, name, head in zip(*columns, strict=True):
            scan.values += 1
            if not value:
                continue
            if kind != "text" and not value.isdigit():
                scan.numbers.add(value)
            elif is_serial(value, f"{name or ''} {head or ''}"):
                scan.digit_names.add((line, value))

    def _stays(self, word: str, scan: _Found) -> bool:
        if len(word) == 1 or word.casefold() in self._vocabulary() or word in self._known:
            return True
        if _MESSAGE_ID.fullmatch(word):
            return True
        return word in scan.numbers or word.isdigit() or _VERSION.fullmatch(word) is not None

    def _rewritten(self, scan: _Found, kind: str, way: _Way) -> str:
        length = fixed_length(scan.text[:_HEAD])
        text = scan.text
        # Print records without line ends: words end where a record ends.
        lines = (
            [text[at : at + length] for at in range(0, len(text), length)] if length else text.splitlines(keepends=True)
        )
        digits: dict[int, set[str]] = {}
        for line, value in scan.digit_names:
            digits.setdefault(line, set()).add(value)
        parts: list[str] = []
        if kind == "rmf_xml":
            line = 1
            for piece in _TAG.split(scan.text):
                parts.append(self._markup(scan, piece, way, digits, line))
                line += piece.count("\n")
            return "".join(parts)
        for number, text in enumerate(lines, start=1):
            # The carriage control of a line may stand right before its first word: 1LOCATION.
            control = 1 if text[:1] in {"0", "1"} and text[1:2].isalpha() else 0
            parts.append(text[:control] + self._plain(scan, text[control:], way, digits.get(number, set())))
        return "".join(parts)

    def _markup(self, scan: _Found, piece: str, way: _Way, digits: dict[int, set[str]], line: int) -> str:
        if piece.startswith("<!--"):
            return "<!---->"
        if piece.startswith("<?"):
            return piece
        if piece.startswith("<![CDATA["):
            return f"<![CDATA[{self._plain(scan, piece[9:-3], way, set())}]]>"
        if piece.startswith("<"):
            return _ATTRIBUTE.sub(lambda match: match[1] + self._plain(scan, match[2], way, set()), piece)
        inside = {word for at in range(line, line + piece.count("\n") + 1) for word in digits.get(at, ())}
        return "".join(
            part if part.startswith("&") and part.endswith(";") else self._plain(scan, part, way, inside)
            for part in _ENTITY.split(piece)
        )

    def _plain(self, scan: _Found, text: str, way: _Way, digits: set[str]) -> str:
        parts: list[str] = []
        at = 0
        dates = [(match, _moved(match, way.days, day_first=scan.day_first)) for match in _DATE.finditer(text)]
        dates += [(match, _moved_of_message(match, way.days)) for match in _MESSAGE_DATE.finditer(text)]
        for match, moved in sorted(dates, key=lambda entry: entry[0].start()):
            if moved is None:
                continue
            parts.append(self._words_of(scan, text[at : match.start()], way.rename, digits))
            parts.append(moved)
            at = match.end()
        parts.append(self._words_of(scan, text[at:], way.rename, digits))
        return "".join(parts)

    def _words_of(self, scan: _Found, text: str, rename: Callable[[str], str], digits: set[str]) -> str:
        return "".join(
            rename(word) if word in digits or (any(map(str.isalpha, word)) and not self._stays(word, scan)) else word
            for word in words_of(text)
        )


@dataclass(frozen=True)
class PrintedWords:
    """Rewrites texts of reports word by word, and their dates."""

    _copier: PrintedCopier
    _scan: _Found

    def __call__(self, text: str, rename: Callable[[str], str], days: int, *, serial: bool = False) -> str:
        """A text with names replaced and dates moved.

        Parameters
        ----------
        text
            The text.
        rename
            Gives the replacement of a word that no report uses itself.
        days
            Days added to dates.
        serial
            Whether its numbers name something too.
        """
        digits = {word for word in words_of(text) if word.isdigit()} if serial else set()
        return self._copier._plain(self._scan, text, _Way(rename, days), digits)


def is_serial(value: str, heading: str) -> bool:
    """Whether a value of digits names something, by its heading."""
    return value.isdigit() and len(value) > 3 and _IDENTIFIES.search(heading) is not None


def _is_day_first(dates: Iterable[re.Match[str]]) -> bool:
    pairs = [(int(match["a"]), int(match["b"])) for match in dates]
    return any(first > _MONTHS for first, _ in pairs) and not any(second > _MONTHS for _, second in pairs)


def _moved(match: re.Match[str], days: int, *, day_first: bool) -> str | None:
    """A printed date, moved; None for digits that are not a date."""
    try:
        if match["iso"]:
            return (date.fromisoformat(match["iso"]) + timedelta(days)).isoformat()
        if match["digits"]:
            digits = match["digits"]
            there = date(int(digits[:4]), int(digits[4:6]), int(digits[6:8])) + timedelta(days)
            return f"{there:%Y%m%d}"
        first, second, year = match["a"], match["b"], match["year"]
        month, day = (second, first) if day_first else (first, second)
        century = 0 if len(year) == 4 else (1900 if int(year) >= 70 else 2000)
        there = date(int(year) + century, int(month), int(day)) + timedelta(days)
    except (ValueError, OverflowError):
        return None
    order = (there.day, there.month) if day_first else (there.month, there.day)
    parts = [f"{number:0{len(printed)}d}" for number, printed in zip(order, (first, second), strict=True)]
    return f"{parts[0]}/{parts[1]}/{there.year if len(year) == 4 else there.year % 100:0{len(year)}d}"


def _moved_of_message(match: re.Match[str], days: int) -> str | None:
    """A date of a Db2 message, moved; None for what is not a date."""
    try:
        there = date(int(match["year"]), _MONTH_NAMES.index(match["month"]) + 1, int(match["day"])) + timedelta(days)
    except (ValueError, OverflowError):
        return None
    printed = match[0]
    after = printed[match.end("day") - match.start() : match.start("year") - match.start()]
    day = f"{there.day:{len(match['day'])}d}"
    return f"{_MONTH_NAMES[there.month - 1]}{match['gap']}{day}{after}{there.year:04d}"


def _encoded(text: str, encoding: str) -> bytes:
    if encoding != "ebcdic":
        return text.encode(encoding)
    table = {ord(character): code for code, character in enumerate(CP1047) if character != "\n"} | {ord("\n"): 0x15}
    return codecs.charmap_encode(text, "strict", table)[0]
