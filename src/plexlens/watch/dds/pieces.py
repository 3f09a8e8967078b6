"""An interval that is being asked for, report by report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum
from typing import TypeAlias

from plexlens.watch.dds.answer import AnswerError, Interval, reports_of, stamp
from plexlens.watch.dds.client import Client, DdsError, Trouble
from plexlens.watch.dds.coverage import Coverage
from plexlens.watch.dds.questions import Question

#: Looks after which an interval is taken although a report of it does not come.
_TRIES = 3
_SECOND = timedelta(seconds=1)
_LONGEST = timedelta(hours=1)

#: A document, its interval, and local time minus UTC.
_Given: TypeAlias = tuple[bytes, Interval, timedelta]


class Outcome(Enum):
    """The state of an interval after a look."""

    WHOLE = "whole"
    """Its reports are there, or will not come."""
    LATER = "later"
    """Some are to be asked for once more."""
    ABSENT = "absent"
    """The server has none of them."""


@dataclass
class Piece:
    """An interval and its answers.

    Attributes
    ----------
    asked
        The interval as it was reckoned.
    interval
        The interval that the server has at this time: another one where the gatherer was started anew.
    offset
        Local time minus UTC in its answers.
    answers
        Documents by question.
    lacking
        Why a question has no document.
    tries
        Looks that did not bring all.
    """

    asked: Interval
    interval: Interval
    offset: timedelta = timedelta(0)
    answers: dict[Question, bytes] = field(default_factory=dict)
    lacking: dict[Question, str] = field(default_factory=dict)
    tries: int = 0

    @classmethod
    def of(cls, interval: Interval) -> Piece:
        """A piece without answers."""
        return cls(interval, interval)

    def body(self, questions: Sequence[Question]) -> bytes:
        """Its documents, one after the other."""
        return b"\n".join(self.answers[question] for question in questions if question in self.answers)

    def ask(
        self, client: Client, questions: Sequence[Question], coverage: Coverage, offset: timedelta, *, is_newest: bool
    ) -> Outcome:
        """Request the pieces that have not arrived.

        Parameters
        ----------
        client
            Asks the server.
        questions
            What is asked for.
        coverage
            What the database holds: an answer for a time of it is not taken.
        offset
            Local time of the server minus UTC, now.
        is_newest
            Whether systems may still deliver the interval.

        Raises
        ------
        DdsError
            The server is away, refuses the user, or answers nothing at all.
        """
        failure: DdsError | None = None
        failed = late = False
        for question in questions:
            if question in self.answers:
                continue
            try:
                self.answers[question] = self._answer(client, question, coverage, offset, is_newest=is_newest)
                self.lacking.pop(question, None)
            except AnswerError as error:
                self.lacking[question] = str(error)
                late = True
                if not is_newest and self._is_absent(questions):
                    return Outcome.ABSENT
            except DdsError as error:
                if error.trouble is not Trouble.ANSWER:
                    raise
                self.lacking[question] = error.what
                failure, failed = error, True
        self.tries += 1
        if failure is not None and not self.answers:
            raise failure
        if (failed or (late and is_newest)) and self.tries < _TRIES:
            return Outcome.LATER
        return Outcome.WHOLE if self.answers else Outcome.ABSENT

    def _is_absent(self, questions: Sequence[Question]) -> bool:
        """Whether no resource has the first report: then the others are not asked for."""
        if self.answers:
            return False
        return all(question in self.lacking for question in questions if question.report == questions[0].report)

    def _answer(
        self, client: Client, question: Question, coverage: Coverage, offset: timedelta, *, is_newest: bool
    ) -> bytes:
        """The document of a question.

        Raises
        ------
        AnswerError
            The server has no data of this time.
        DdsError
            There is no answer, or none that can be read.
        """
        body, interval, self.offset = self._found(client, question, coverage, offset, is_newest=is_newest)
        if not _same(interval, self.interval):
            if self.answers or not interval.overlaps(self.interval) or coverage.overlaps(interval):
                raise AnswerError(f"the server has {interval} at this time")
            if interval.length > _LONGEST:
                raise AnswerError(f"the server gives {interval}, which is more than an interval")
            self.interval = interval
        return body

    def _found(
        self, client: Client, question: Question, coverage: Coverage, offset: timedelta, *, is_newest: bool
    ) -> _Given:
        """The document for the time of the piece, by each local time that the piece may have had."""
        if is_newest:
            # Without a time the newest interval is given: in the hour that a change of local time repeats, the clock
            # time would name two.
            given = self._given(client, question)
            if _same(given[1], self.interval):
                return given
        before = coverage.offset_before(self.interval.start)
        results: _Given | None = None
        failure: AnswerError | None = None
        tried: list[timedelta] = []
        for duration in (offset, before):
            if duration is None or duration in tried:
                continue
            tried.append(duration)
            try:
                given = self._given(client, question, duration)
            except AnswerError as error:
                failure = error
                continue
            if given[2] not in tried and not _same(given[1], self.interval):
                # The local time was changed in between: the same clock time is another moment.
                tried.append(given[2])
                given = self._given(client, question, given[2])
            if _same(given[1], self.interval):
                return given
            results = results or given
        if results is None:
            raise failure or AnswerError("the server has no data of this time")
        return results

    def _given(self, client: Client, question: Question, offset: timedelta | None = None) -> _Given:
        """Document, its interval and its offset from UTC, of the time of the piece if an offset is given."""
        span = {}
        if offset is not None:
            span["range"] = f"{stamp(self.interval.start, offset)},{stamp(self.interval.end, offset)}"
        reply = client.get("rmfm3.xml", report=question.report, resource=question.resource, **span)
        try:
            report = reports_of(reply.body)[0]
        except AnswerError as error:
            raise DdsError(
                client.address, f"{question}: {error}", "look at the messages of the server (GPMSERVE)", Trouble.ANSWER
            ) from error
        if not report.has_data:
            raise AnswerError(report.message or "the server has no data of this time")
        if report.interval is None:
            raise AnswerError("the answer has no times")
        return reply.body, report.interval, report.offset


def _same(interval: Interval, other: Interval) -> bool:
    return abs(interval.start - other.start) <= _SECOND and abs(interval.end - other.end) <= _SECOND
