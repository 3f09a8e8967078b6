"""Reports of the Postprocessor: the day so far, every quarter of an hour; the database keeps each report once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta

from plexlens.watch.dds.answer import AnswerError, check_postprocessor
from plexlens.watch.dds.client import Client, DdsError, Trouble

#: Seconds between two looks, the shortest interval that is usual in SMF.
EVERY = 900.0

_NAME = re.compile(r"(?P<server>\S+)/gpm/rmfpp\.xml (?P<report>\S+) (?P<first>\d{8})-(?P<last>\d{8})")
_LATE = timedelta(hours=1)


class Postprocessed:
    """Days of Postprocessor reports.

    Parameters
    ----------
    client
        Asks the server.
    reports
        Names of reports.
    held
        Names of the sources that the database holds.
    catch_up
        How far back days are asked for.
    """

    def __init__(self, client: Client, reports: Sequence[str], names: Iterable[str], catch_up: timedelta) -> None:
        self._client = client
        self._server = str(client.address)
        self._reports = tuple(reports)
        self._catch_up = catch_up
        self._since: dict[str, date] = {}
        self._reached: date | None = None
        for name in names:
            self.taken(name)

    def documents(self, local: datetime) -> Iterator[tuple[str, bytes | AnswerError]]:
        """Name and document of each report, or why there is none.

        Parameters
        ----------
        local
            The local time of the server.

        Raises
        ------
        DdsError
            There is no answer.
        """
        today = local.date()
        # The last interval of a day is written after midnight.
        self._reached = (local - _LATE).date()
        for report in self._reports:
            first = max(self._since.get(report, today), (local - self._catch_up).date())
            days = f"{min(first, today):%Y%m%d}", f"{today:%Y%m%d}"
            name = f"{self._server}/gpm/rmfpp.xml {report} {days[0]}-{days[1]}"
            try:
                body = self._client.get("rmfpp.xml", reports=report, date=",".join(days)).body
                check_postprocessor(body)
            except AnswerError as error:
                yield name, error
            except DdsError as error:
                if error.trouble is not Trouble.ANSWER:
                    raise
                yield name, AnswerError(error.what)
            else:
                yield name, body

    def taken(self, name: str) -> None:
        """Note that a document is held."""
        match = _NAME.fullmatch(name)
        if match is not None and match["server"] == self._server:
            last = datetime.strptime(match["last"], "%Y%m%d").date()
            reached = last if self._reached is None else min(last, self._reached)
            self._since[match["report"]] = max(reached, self._since.get(match["report"], reached))
