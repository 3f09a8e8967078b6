"""The head of an answer: interval, resource, messages. Its values are read when it is ingested.

Source: IBM, z/OS RMF Programmer's Guide, "How to interpret an XML document returned by the DDS"; public answers of
z/OS 2.5.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree

_STAMP = "%Y%m%d%H%M%S"
_LONGEST = timedelta(days=2)

#: Messages with which an answer still holds data.
#: Source: IBM RMF for Grafana, the messages that its client accepts.
_WITH_DATA = frozenset({"GPM0501I", "GPM0502I", "GPM0504I", "GPM0505I", "GPM0506I", "GPM0507I", "GPM0709I"})


class AnswerError(Exception):
    """An answer that does not fit the request; its text gives the reason."""


@dataclass(frozen=True, order=True)
class Interval:
    """Start and end of a gatherer's interval in UTC."""

    start: datetime
    end: datetime

    @property
    def length(self) -> timedelta:
        """Time from start to end."""
        return self.end - self.start

    def overlaps(self, other: Interval) -> bool:
        """Whether they have time in common."""
        return self.start < other.end and other.start < self.end

    def __str__(self) -> str:
        return f"{self.start:%Y-%m-%dT%H:%M:%SZ} to {self.end:%H:%M:%SZ}"


@dataclass(frozen=True)
class Report:
    """A Monitor III report of an answer.

    Attributes
    ----------
    metric
        Its name.
    resource
        Label of its resource.
    interval
        When it was measured; None if the answer has no times.
    offset
        Local time of the server minus UTC.
    gatherer
        Length of the intervals of the gatherer (MINTIME); None if not told.
    has_data
        Whether there are values in it.
    names
        First cell of each row.
    message
        Identifier and text of the server's message; empty if there is none.
    """

    metric: str
    resource: str
    interval: Interval | None
    offset: timedelta
    gatherer: timedelta | None
    has_data: bool
    names: tuple[str, ...]
    message: str


def reports_of(body: bytes) -> list[Report]:
    """The Monitor III reports of an answer.

    Raises
    ------
    AnswerError
        It is not well-formed, or no answer of such a server, or a message alone.
    """
    root = _root(body)
    reports = [_report(element) for element in _children(root, "report")]
    if not reports:
        said = "; ".join(_message(element) for element in root.iter() if _tag(element) == "message")
        raise AnswerError(said or "there is no report in the answer")
    return reports


def check_postprocessor(body: bytes) -> None:
    """Refuse an answer of the Postprocessor without a report in it.

    Raises
    ------
    AnswerError
        It is not well-formed, or holds messages alone.
    """
    root = _root(body)
    reports = list(_children(root, "postprocessor"))
    if not any(_tag(child) == "segment" for report in reports for child in report):
        said = "; ".join(_message(element) for element in root.iter() if _tag(element) == "message")
        raise AnswerError(said or "there is no report in the answer")


def resources_of(body: bytes) -> list[tuple[str, str]]:
    """Label and type of the resources that ``root.xml`` or ``contained.xml`` lists.

    Raises
    ------
    AnswerError
        It is not a list of resources.
    """
    root = _root(body)
    listed = [element for element in root.iter() if _tag(element) == "contained-resources-list"]
    if not listed:
        raise AnswerError("there is no list of resources in the answer")
    return [
        (_text(resource, "reslabel"), _text(resource, "restype"))
        for element in listed
        for contained in _children(element, "contained")
        for resource in _children(contained, "resource")
    ]


def stamp(moment: datetime, offset: timedelta) -> str:
    """A moment as the server takes it: local time, fourteen digits."""
    return f"{moment + offset:{_STAMP}}"


def _root(body: bytes) -> ElementTree.Element:
    if b"<!DOCTYPE" in body or b"<!ENTITY" in body:
        raise AnswerError("the answer declares entities, which the form does not have")
    try:
        root = ElementTree.fromstring(body)
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        raise AnswerError(f"the answer is not well-formed XML: {error}") from error
    if _tag(root) != "ddsml":
        raise AnswerError(f"the outermost element is <{_tag(root)[:40]}>, not <ddsml>")
    return root


def _report(element: ElementTree.Element) -> Report:
    times = next(_children(element, "time-data"), None)
    metric = next(_children(element, "metric"), None)
    resource = next(_children(element, "resource"), None)
    interval, offset, gatherer = None, timedelta(0), None
    if times is not None:
        start, end = _moment(_text(times, "utc-start")), _moment(_text(times, "utc-end"))
        local = _moment(_text(times, "local-start"))
        if start is not None and end is not None and timedelta(0) < end - start < _LONGEST:
            interval = Interval(start, end)
            offset = local - start if local is not None else offset
        seconds = _text(times, "gatherer-interval")
        gatherer = timedelta(seconds=int(seconds)) if seconds.isascii() and seconds.isdigit() and int(seconds) else None
    rows = [[(cell.text or "").strip() for cell in row] for row in _children(element, "row")]
    messages = list(_children(element, "message"))
    return Report(
        metric.get("id", "") if metric is not None else "",
        _text(resource, "reslabel") if resource is not None else "",
        interval,
        offset,
        gatherer,
        bool(rows) or any(True for _ in _children(element, "caption")) or not messages,
        tuple(row[0] for row in rows if row and row[0] and row[0] != "*NoData*"),
        "; ".join(_message(message) for message in messages if message.get("id") not in _WITH_DATA or not rows),
    )


def _tag(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _children(element: ElementTree.Element, tag: str) -> Iterator[ElementTree.Element]:
    return (child for child in element if _tag(child) == tag)


def _text(element: ElementTree.Element, tag: str) -> str:
    result = next(_children(element, tag), None)
    return (result.text or "").strip() if result is not None else ""


def _message(element: ElementTree.Element) -> str:
    description = _text(element, "description") or (element.text or "").strip()
    return " ".join(f"{element.get('id', '')} {description}".split())[:300]


def _moment(text: str) -> datetime | None:
    try:
        return datetime.strptime(text, _STAMP).replace(tzinfo=UTC)
    except ValueError:
        return None
