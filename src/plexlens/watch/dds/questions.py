"""The questions to a server: reports of its sysplex and of the systems in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from plexlens.errors import UsageError
from plexlens.watch.dds.answer import AnswerError, Report, reports_of, resources_of
from plexlens.watch.dds.client import Client, DdsError, Reply, Trouble

#: Reports that are asked for unless others are named: those of which metrics are made.
REPORTS = ("CPC", "SYSINFO", "CHANNEL", "DEVR")

#: Reports about the sysplex; every other one is about a system.
#: Source: IBM RMF for Grafana, its dashboards of Monitor III reports.
OF_SYSPLEX = frozenset(
    {
        "CACHDET", "CACHSUM", "CFACT", "CFOVER", "CFSYS", "CRYOVW", "SPACED", "SPACEG", "SYSRG", "SYSSUM", "XCFGROUP",
        "XCFOVW", "XCFPATH", "XCFSYS", "ZFSFS", "ZFSKN", "ZFSOVW",
    }
)  # fmt: skip

#: A metric of the sysplex with a value for each system, which also tells the newest interval.
#: Source: IBM RMF for Grafana, whose client asks for it first.
_PROBE = "8D0D60"
_NAME = re.compile(r"[A-Z][A-Z0-9]{0,15}")


@dataclass(frozen=True)
class Question:
    """A report of a resource."""

    report: str
    resource: str

    def __str__(self) -> str:
        owner = self.resource.strip(",").split(",")[0] or "the sysplex"
        return f"{self.report} of {owner}"


def named_reports(texts: Iterable[str]) -> tuple[str, ...]:
    """Names of reports from a list with commas.

    Raises
    ------
    UsageError
        One of them cannot be a name.
    """
    results: dict[str, None] = {}
    for text in texts:
        for name in filter(None, (part.strip().upper() for part in text.split(","))):
            if not _NAME.fullmatch(name):
                raise UsageError(
                    file="", what=f"{name!r} is not the name of a report", remedy="name reports such as CPC,CHANNEL"
                )
            results[name] = None
    return tuple(results)


@dataclass(frozen=True)
class Newest:
    """The newest interval of a server.

    Attributes
    ----------
    report
        The report with its times.
    reply
        The answer that it came in.
    """

    report: Report
    reply: Reply


class Resources:
    """The sysplex of a server and its systems.

    Parameters
    ----------
    client
        Asks the server.
    systems
        Patterns (``SYS*``) of the systems that count; none for all.
    """

    def __init__(self, client: Client, systems: Sequence[str] = ()) -> None:
        self._client = client
        self._patterns = tuple(pattern.upper() for pattern in systems)
        self.sysplex = ""
        self.images: tuple[str, ...] = ()

    @property
    def is_known(self) -> bool:
        """Whether they were found."""
        return bool(self.images)

    def find(self) -> None:
        """Ask the server for them.

        Raises
        ------
        DdsError
            There is no answer, or none of the systems is wanted.
        AnswerError
            The answer lists no sysplex.
        """
        plexes = [label for label, kind in resources_of(self._client.get("root.xml").body) if kind == "SYSPLEX"]
        if not plexes:
            raise AnswerError("the server names no sysplex")
        self.sysplex = plexes[0]
        inside = resources_of(self._client.get("contained.xml", resource=self.sysplex).body)
        systems = [label for label, kind in inside if kind == "MVS_IMAGE"]
        if not systems:
            # A sysplex contains other kinds too, and of systems that no gatherer runs on the metric has no row.
            systems = [f",{name},MVS_IMAGE" for name in self.newest().report.names]
        self.images = tuple(sorted(label for label in systems if self._wanted(_name(label))))
        if not self.images:
            names = ", ".join(sorted(map(_name, systems))) or "none"
            raise DdsError(
                self._client.address,
                f"no system is called {' or '.join(self._patterns) or 'anything'}; there are {names}",
                "name others with --system, or leave the option out",
                Trouble.WRONG,
            )

    def newest(self) -> Newest:
        """The newest interval that the server has.

        Raises
        ------
        DdsError
            There is no answer.
        AnswerError
            It has no times.
        """
        reply = self._client.get("perform.xml", resource=self.sysplex, id=_PROBE)
        report = reports_of(reply.body)[0]
        if report.interval is None:
            raise AnswerError(report.message or "the answer has no times")
        return Newest(report, reply)

    def questions(self, reports: Sequence[str]) -> list[Question]:
        """Every report of every resource that it is of, in the order of the reports."""
        return [
            Question(report, resource)
            for report in reports
            for resource in ((self.sysplex,) if report in OF_SYSPLEX else self.images)
        ]

    def _wanted(self, name: str) -> bool:
        return not self._patterns or any(fnmatchcase(name.upper(), pattern) for pattern in self._patterns)


def _name(label: str) -> str:
    parts = label.split(",")
    return parts[1] if len(parts) == 3 else label
