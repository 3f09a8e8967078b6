"""A server under watch: its newest interval, those that were missed, and what it could not give."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from threading import Event

from plexlens.watch.dds.answer import AnswerError, Interval
from plexlens.watch.dds.client import Client, DdsError, Trouble
from plexlens.watch.dds.coverage import Coverage, name_of
from plexlens.watch.dds.pace import Pace
from plexlens.watch.dds.pieces import Outcome, Piece
from plexlens.watch.dds.postprocessed import EVERY, Postprocessed
from plexlens.watch.dds.questions import Newest, Question, Resources

#: Missed intervals that are asked for before the newest one has its turn again, and bytes of one ingest.
_BATCH, _BYTES = 20, 32 << 20
#: Tries in a row after which a user who was accepted before is not sent again.
_REFUSALS = 2
#: Seconds after which the systems are looked up again.
_RESOURCES_LAST = 3600.0
_SECOND = timedelta(seconds=1)


@dataclass(frozen=True)
class Arrival:
    """Answers that are ingested together.

    Attributes
    ----------
    name
        What the database calls them.
    body
        Documents, one after the other.
    pieces
        The intervals that they cover; none for the Postprocessor, of whose reports the database keeps each once.
    """

    name: str
    body: bytes
    pieces: tuple[Piece, ...] = ()


@dataclass
class Counts:
    """Counts of a server.

    Attributes
    ----------
    intervals
        Intervals taken.
    missed
        Intervals that the server did not have any more, or never had.
    unanswered
        Reports that are missing in intervals taken.
    failures
        Looks that the server did not answer.
    """

    intervals: int = 0
    missed: int = 0
    unanswered: int = 0
    failures: int = 0


class Server:
    """A server whose intervals go into a database, each once.

    Parameters
    ----------
    client
        Asks the server.
    held
        Names of the sources that the database holds.
    reports
        Monitor III reports that are asked for.
    systems
        Patterns of the systems that count; none for all.
    postprocessor
        Reports of the Postprocessor that are asked for.
    catch_up
        How far back missed intervals are asked for.
    tell
        Told what happens, as sentences.
    pace
        When the server is asked.
    """

    def __init__(
        self,
        client: Client,
        content: Iterable[str],
        *,
        reports: Sequence[str],
        systems: Sequence[str] = (),
        postprocessor: Sequence[str] = (),
        catch_up: timedelta = timedelta(hours=24),
        tell: Callable[[str], None],
        pace: Pace | None = None,
    ) -> None:
        names = list(content)
        self.client = client
        self.counts = Counts()
        self.failure: DdsError | None = None
        self.is_over = False
        self.is_behind = False
        self._server = str(client.address)
        self._reports = tuple(reports)
        self._held = Coverage.of_names(self._server, names)
        self._settled = Coverage.of_names(self._server, names)
        self._resources = Resources(client, systems)
        self._postprocessed = Postprocessed(client, postprocessor, names, catch_up)
        self._catch_up = catch_up
        self._tell = tell
        self._pace = pace or Pace()
        self._next = self._found_at = self._next_days = self._pace.clock()
        self._failures = self._refusals = 0
        self._was_accepted = self._is_back = False
        self._said: set[str] = set()
        self._pieces: dict[Interval, Piece] = {}

    @property
    def pause(self) -> float:
        """Seconds until the next request to the server."""
        return max(0.0, self._next - self._pace.clock())

    def look(self, stop: Event) -> Iterator[Arrival]:
        """Ask the server, if it is time to, and give what is new.

        Each arrival has to be given back with `taken` once it is held; one that is not comes again.

        Parameters
        ----------
        stop
            Ends the look after the question that is being answered.

        Raises
        ------
        DdsError
            At the first look: what is there is no such server, and nothing of one is held; or it does not accept the
            user.
        """
        if self.is_over or self.pause > 0:
            return
        try:
            yield from self._look(stop)
        except DdsError as error:
            self._failed(error)
        except AnswerError as error:
            self._failed(
                DdsError(
                    self.client.address, str(error), "look at the messages of the server (GPMSERVE)", Trouble.ANSWER
                )
            )

    def taken(self, arrival: Arrival) -> None:
        """Note that an arrival is held."""
        for piece in arrival.pieces:
            self._pieces.pop(piece.asked, None)
            self._held.add(piece.interval, piece.offset)
            self._settled.add(piece.interval)
            self._settled.add(piece.asked)
            self.counts.intervals += 1
            self.counts.unanswered += len(piece.lacking)
            for question, why in piece.lacking.items():
                self._say(f"{self._server}: {question} is missing in {piece.interval} and what follows: {why}", why)
        self._postprocessed.taken(arrival.name)

    def set_aside(self, arrival: Arrival) -> None:
        """Record that an arrival cannot be ingested; it is requested again after a restart."""
        for piece in arrival.pieces:
            self._pieces.pop(piece.asked, None)
            self._settled.add(piece.interval)
            self._settled.add(piece.asked)
            self.counts.missed += 1

    def _look(self, stop: Event) -> Iterator[Arrival]:
        newest = self._newest()
        self._was_accepted = True
        interval = newest.report.interval
        if interval is None:
            raise AnswerError("the answer has no times")
        length = newest.report.gatherer or interval.length
        pieces = self._wanted(interval, length)
        # The newest interval first: findings are of now. Then the oldest, which the server loses first.
        is_current = bool(pieces) and pieces[-1].end == interval.end
        current, missed = (pieces[-1:], pieces[:-1]) if is_current else ([], pieces)
        yield from self._ask(current, newest, stop, is_newest=True)
        yield from self._ask(missed[:_BATCH], newest, stop, is_newest=False)
        if self._pace.clock() >= self._next_days and not stop.is_set():
            yield from self._of_days(interval, newest)
            self._next_days = self._pace.after(EVERY)
        self._well()
        self.is_behind = bool(self._pieces) or len(missed) > _BATCH
        if any(piece.asked.end == interval.end for piece in self._pieces.values()):
            wait = self._pace.late(length)
        elif self.is_behind:
            wait = self._pace.next_batch()
        else:
            wait = self._pace.next_interval(interval, length, newest.reply.date)
        self._next = self._pace.after(wait)

    def _newest(self) -> Newest:
        now = self._pace.clock()
        if not self._resources.is_known or now - self._found_at > _RESOURCES_LAST:
            before = self._resources.images
            self._resources.find()
            self._found_at = now
            if self._resources.images != before:
                names = ", ".join(label.split(",")[1] for label in self._resources.images)
                self._tell(f"{self._server}: reports {', '.join(self._reports)} of {names}")
        return self._resources.newest()

    def _wanted(self, newest: Interval, length: timedelta) -> list[Interval]:
        """Intervals that are neither held nor known to be lost, in the order of time."""
        first, last = self._held.first, self._held.last
        if first is None or last is None:
            return [newest]
        is_back = newest.end < last - _SECOND
        if is_back and not self._is_back:
            self._tell(
                f"{self._server}: its newest interval ends at {newest.end:%Y-%m-%dT%H:%M:%SZ}, before the last one "
                f"held, {last:%Y-%m-%dT%H:%M:%SZ}: its clock was set back. What it measures until then has the "
                "times of what is held, and is not taken"
            )
        self._is_back = is_back
        wanted = self._settled.missing(max(newest.end - self._catch_up, first), newest.end, length)
        self._pieces = {interval: piece for interval, piece in self._pieces.items() if interval in wanted}
        return wanted

    def _ask(self, wanted: Sequence[Interval], newest: Newest, stop: Event, *, is_newest: bool) -> Iterator[Arrival]:
        """Ask for intervals; what was answered before a failure is given before the failure is raised."""
        questions = self._resources.questions(self._reports)
        ready: list[Piece] = []
        absent: list[Piece] = []
        failure: DdsError | None = None
        for interval in wanted:
            if stop.is_set():
                break
            piece = self._pieces.setdefault(interval, Piece.of(interval))
            try:
                outcome = piece.ask(self.client, questions, self._held, newest.report.offset, is_newest=is_newest)
            except DdsError as error:
                failure = error
                break
            if outcome is Outcome.WHOLE:
                ready.append(piece)
            elif outcome is Outcome.ABSENT:
                absent.append(piece)
        self._count_missed(absent)
        yield from self._arrivals(ready, questions)
        if failure is not None:
            raise failure

    def _arrivals(self, ready: Sequence[Piece], questions: Sequence[Question]) -> Iterator[Arrival]:
        """Intervals that follow one another are ingested together: each ingest has its cost."""
        group: list[Piece] = []
        size = 0
        for piece in ready:
            weight = sum(map(len, piece.answers.values()))
            last = group[-1] if group else piece
            is_next = last.interval.end == piece.interval.start and last.offset == piece.offset
            if group and not (is_next and size + weight <= _BYTES):
                yield self._arrival(group, questions)
                group, size = [], 0
            group.append(piece)
            size += weight
        if group:
            yield self._arrival(group, questions)

    def _arrival(self, group: Sequence[Piece], questions: Sequence[Question]) -> Arrival:
        whole = Interval(group[0].interval.start, group[-1].interval.end)
        body = b"\n".join(piece.body(questions) for piece in group)
        return Arrival(name_of(self._server, whole, group[-1].offset), body, tuple(group))

    def _count_missed(self, absent: Sequence[Piece]) -> None:
        if not absent:
            return
        for piece in absent:
            self._pieces.pop(piece.asked, None)
            self._settled.add(piece.asked)
        self.counts.missed += len(absent)
        why = next(iter(absent[0].lacking.values()), "the server has no data of it")
        span = Interval(absent[0].asked.start, absent[-1].asked.end)
        number = f"{len(absent)} intervals" if len(absent) > 1 else "an interval"
        self._tell(f"{self._server}: {number} of {span} cannot be had: {why}")

    def _of_days(self, interval: Interval, newest: Newest) -> Iterator[Arrival]:
        local = (interval.end + newest.report.offset).replace(tzinfo=None)
        for name, document in self._postprocessed.documents(local):
            if isinstance(document, AnswerError):
                self._say(f"{name}: {document} (asked again every {EVERY / 60:g} minutes)", str(document))
            else:
                yield Arrival(name, document)

    def _well(self) -> None:
        if self._failures:
            self._tell(f"{self._server}: it answers again")
        self._failures = self._refusals = 0
        self.failure = None
        # Messages of the failure are said again when it comes back.
        self._said = {said for said in self._said if not said.startswith("failure: ")}

    def _failed(self, error: DdsError) -> None:
        # A server of which intervals are held is there: what answers in its place now, a gateway perhaps, is passing.
        ends = [Trouble.REFUSED, Trouble.WRONG, *([Trouble.ANOTHER] if self._held.last is None else [])]
        if not self._was_accepted and not self._failures and error.trouble in ends:
            raise error
        self.failure = error
        self._failures += 1
        self.counts.failures += 1
        wait = self._pace.failed(self._failures)
        if error.trouble is Trouble.REFUSED:
            self._refusals += 1
            wait = self._pace.refused()
            if self._refusals >= _REFUSALS:
                self.is_over = True
                self._tell(f"{error}. It is not asked any more, so that the user is not revoked: start the watch again")
                return
        self._say(f"{error} (asked again, at most a quarter of an hour apart)", f"failure: {error}")
        self._next = self._pace.after(wait)

    def _say(self, message: str, reason: str) -> None:
        """Say something once for each reason."""
        if reason not in self._said:
            self._tell(message)
        self._said.add(reason)
