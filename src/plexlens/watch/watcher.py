"""The watch over folders and servers: look, ingest what is new, judge, pass on, wait."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event

from plexlens.errors import PdbLockedError, PdbWriteError, PlexlensError, SourceChangedError
from plexlens.metrics.rolled.making import bring_up_to_date
from plexlens.pdb import IngestResult, Outcome, Pdb, ingest
from plexlens.pdb.opening import DumpReading, losses
from plexlens.progress import Progress, silent
from plexlens.watch.aside import forget, is_set_aside, set_aside
from plexlens.watch.dds.server import Arrival, Server
from plexlens.watch.judging import Judge
from plexlens.watch.outbox import Outbox
from plexlens.watch.passing_on import Receivers
from plexlens.watch.settling import Folders

#: Errors that say nothing against the file: it is tried again at the next look.
_PASSING = (PdbLockedError, PdbWriteError, SourceChangedError)


@dataclass
class Counts:
    """The results of a watch: files ingested, files set aside, findings passed on."""

    ingested: int = 0
    set_aside: int = 0
    findings: int = 0


class Watcher:
    """A watch over folders and servers.

    Parameters
    ----------
    folders
        The folders.
    pdb
        The database that takes what arrives.
    judge
        Gives the new findings.
    receivers
        Take the findings.
    reading
        How dumps are read.
    tell
        Told what happens, as sentences.
    progress
        Told how far an ingest is.
    servers
        Distributed Data Servers.
    """

    def __init__(
        self,
        folders: Folders,
        pdb: Pdb,
        judge: Judge,
        receivers: Receivers,
        *,
        reading: DumpReading,
        tell: Callable[[str], None],
        progress: Progress = silent,
        servers: Sequence[Server] = (),
    ) -> None:
        self.folders = folders
        self.pdb = pdb
        self.judge = judge
        self.receivers = receivers
        self.reading = reading
        self.tell = tell
        self.progress = progress
        self.servers = tuple(servers)
        self.outbox = Outbox(pdb.path, tell)
        self.counts = Counts()
        self._said = ""
        self._next_look = 0.0

    def run(self, interval: float, stop: Event, *, once: bool = False) -> Counts:
        """Watch until stopped.

        Parameters
        ----------
        interval
            Seconds between two looks at the folders; a server says itself when it is asked.
        stop
            Ends the watch after the file or answer that is being read.
        once
            Whether two looks at the folders are enough, and the intervals that each server has now.

        Returns
        -------
        Counts
            What was done.
        """
        # Sources that were ingested before a crash and not judged.
        self._judge()
        self._look_at_folders(interval, stop)
        self._ask_servers(stop)
        while not self._is_over and not (once and not self.folders.are_there):
            if stop.wait(self._pause(interval)):
                break
            if self._pause_of_folders() <= 0:
                self._look_at_folders(interval, stop)
                if once:
                    break
            self._ask_servers(stop)
        if once:
            self._end_once(stop)
        self.outbox.give(self.receivers.each, now=True)
        return self.counts

    @property
    def _is_over(self) -> bool:
        return not self.folders.are_there and all(server.is_over for server in self.servers)

    def _pause(self, interval: float) -> float:
        """Seconds until something is to be looked at."""
        waits = [server.pause for server in self.servers if not server.is_over]
        return min([*waits, self._pause_of_folders()]) if waits else interval

    def _pause_of_folders(self) -> float:
        return self._next_look - time.monotonic() if self.servers else 0.0

    def _end_once(self, stop: Event) -> None:
        for path in self.folders.unsettled():
            self.tell(f"{path}: it is still being written, or could not be taken; look again later")
        for server in self.servers:
            while server.is_behind and server.failure is None and not server.is_over and not stop.wait(server.pause):
                self._ask_servers(stop)

    def _look_at_folders(self, interval: float, stop: Event) -> None:
        self._next_look = time.monotonic() + interval
        settled = self.folders.look()
        for path in settled:
            if stop.is_set():
                return
            if is_set_aside(path) or self._ingest_file(path):
                self.folders.done(path)
        if settled and (said := bring_up_to_date(self.pdb)):
            self.tell(said)
        self._judge()

    def _ask_servers(self, stop: Event) -> None:
        for server in self.servers:
            for arrival in server.look(stop):
                if self._ingest_arrival(server, arrival):
                    self._judge()
            if stop.is_set():
                return

    def _ingest_file(self, path: Path) -> bool:
        """Ingest a file; return whether it is done with."""
        try:
            results = self._ingest(path)
        except _PASSING as error:
            self._say(str(error))
            return False
        except PlexlensError as error:
            if not path.exists():
                return False
            self.counts.set_aside += 1
            self.tell(f"set aside: {error}")
            set_aside(path, error, self.tell)
            return True
        forget(path)
        self._told(results)
        self.counts.ingested += sum(result.outcome in (Outcome.ADDED, Outcome.NOTHING_NEW) for result in results)
        return True

    def _ingest_arrival(self, server: Server, arrival: Arrival) -> bool:
        """Ingest answers of a server; return whether they are held."""
        with TemporaryDirectory(prefix="plexlens-") as folder:
            path = Path(folder) / "answers.xml"
            path.write_bytes(arrival.body)
            try:
                results = self._ingest(path, arrival.name)
            except _PASSING as error:
                self._say(str(error))
                return False
            except PlexlensError as error:
                self.counts.set_aside += 1
                self.tell(f"{arrival.name}: its answers cannot be ingested: {error.what}; {error.remedy}")
                server.set_aside(arrival)
                return False
        self._told(results, arrival.name)
        server.taken(arrival)
        return True

    def _ingest(self, path: Path, name: str = "") -> list[IngestResult]:
        return ingest(
            [path],
            self.pdb,
            progress=self.progress,
            layouts=self.reading.layouts,
            codepage=self.reading.codepage,
            leap_seconds=self.reading.leap_seconds,
            expansion=self.reading.expansion,
            names={path: name} if name else None,
        )

    def _told(self, results: list[IngestResult], name: str = "") -> None:
        self._said = ""
        for result in results:
            self.tell(f"{name or result.file}: {result.outcome.value}")
        for loss in losses(self.pdb, results):
            self.tell(loss)

    def _say(self, message: str) -> None:
        """Say something that lasts only once."""
        if message != self._said:
            self.tell(f"{message} (the watch tries again at the next scan)")
        self._said = message

    def _judge(self) -> None:
        self.outbox.give(self.receivers.each)
        results = self.judge.new()
        # A receiver that does not answer would hold up what arrives: the others of a round wait, in their order.
        failing = {name for name in self.receivers.each if self.outbox.waits_for(name)}
        for finding in results:
            refused = dict.fromkeys(failing, "it did not take the one before")
            refused |= self.receivers.give(finding, without=failing)
            for name, why in refused.items():
                self.outbox.add(name, finding, why)
            failing |= set(refused)
        self.counts.findings += len(results)
        if self.judge.is_behind:
            self.judge.keep(results)
