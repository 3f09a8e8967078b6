"""The watch over folders: look, ingest what has settled, judge, pass on, wait."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from plexlens.errors import PdbLockedError, PdbWriteError, PlexlensError, SourceChangedError
from plexlens.pdb import Outcome, Pdb, ingest
from plexlens.pdb.opening import DumpReading, losses
from plexlens.progress import Progress, silent
from plexlens.watch.aside import forget, is_set_aside, set_aside
from plexlens.watch.judging import Judge
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
    """A watch over folders.

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
    ) -> None:
        self.folders = folders
        self.pdb = pdb
        self.judge = judge
        self.receivers = receivers
        self.reading = reading
        self.tell = tell
        self.progress = progress
        self.counts = Counts()
        self._said = ""

    def run(self, interval: float, stop: Event, *, once: bool = False) -> Counts:
        """Watch until told to stop.

        Parameters
        ----------
        interval
            Seconds between two looks.
        stop
            Ends the watch after the file that is being read.
        once
            Whether two looks are enough.

        Returns
        -------
        Counts
            What was done.
        """
        # Sources that were ingested before a crash and not judged.
        self._judge()
        self._take(self.folders.look(), stop)
        while not stop.wait(interval):
            self._take(self.folders.look(), stop)
            if once:
                for path in self.folders.unsettled():
                    self.tell(f"{path}: it is still being written, or could not be taken; look again later")
                break
        return self.counts

    def _take(self, settled: list[Path], stop: Event) -> None:
        for path in settled:
            if stop.is_set():
                return
            if is_set_aside(path) or self._ingest(path):
                self.folders.done(path)
        self._judge()

    def _ingest(self, path: Path) -> bool:
        """Ingest a file; return whether it is done with."""
        try:
            results = ingest(
                [path],
                self.pdb,
                progress=self.progress,
                layouts=self.reading.layouts,
                codepage=self.reading.codepage,
                leap_seconds=self.reading.leap_seconds,
            )
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
        self._said = ""
        forget(path)
        for result in results:
            self.tell(f"{path}: {result.outcome.value}")
            self.counts.ingested += result.outcome in (Outcome.ADDED, Outcome.NOTHING_NEW)
        for loss in losses(self.pdb, results):
            self.tell(loss)
        return True

    def _say(self, message: str) -> None:
        """Say something that lasts only once."""
        if message != self._said:
            self.tell(f"{message} (tried again at the next look)")
        self._said = message

    def _judge(self) -> None:
        found = self.judge.new()
        for finding in found:
            self.receivers.give(finding)
        self.counts.findings += len(found)
        if self.judge.is_behind:
            self.judge.keep(found)
