"""SMF 42-6: data sets as a job used them in an interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from plexlens.smf_rows.record import Row, Sections

#: S42DSTYP: KSDS data component, linear.
KSDS, LINEAR = 16, 21

#: S42JDCOD: written at the end of an interval.
_INTERVAL = 1

#: Data sets of one record: its length is a halfword.
MOST = 100


@dataclass(frozen=True)
class DataSet:
    """A data set on a volume, with the sums of the times of its I/Os in seconds.

    Parameters
    ----------
    name, volume, number
        Data set, volume serial and device number.
    kind
        `KSDS` or `LINEAR`.
    requests
        I/Os.
    connected, pending, disconnected, queued
        Connect, pending and disconnect time, and what else they waited: IOS queue time.
    """

    name: str
    volume: str
    number: int
    kind: int
    requests: int
    connected: float
    pending: float
    disconnected: float
    queued: float

    def header(self) -> Row:
        """The data set header."""
        return {"s42dsn": self.name, "s42dsvol": self.volume, "s42dsdev": self.number, "s42dstyp": self.kind}

    def io(self) -> Row:
        """The I/O statistics: means, in microseconds and in units of 128."""
        count = self.requests
        means = {
            "r": (self.connected + self.pending + self.disconnected + self.queued) / count,
            "c": self.connected / count,
            "p": self.pending / count,
            "d": self.disconnected / count,
        }
        fine = {f"s42ds{letter}1u": mean for letter, mean in means.items()}
        return fine | {f"s42dsio{letter}": mean for letter, mean in means.items()} | {"s42dsion": count}


@dataclass(frozen=True)
class Job:
    """A job, with its service class and workload, and its interval in UTC."""

    name: str
    service_class: str
    workload: str
    start: datetime
    end: datetime

    def row(self) -> Row:
        """The job header."""
        return {
            "s42jdjnm": self.name,
            "s42jdcod": _INTERVAL,
            "s42jdwsc": self.service_class,
            "s42jdwld": self.workload,
        }


def sections(job: Job, data_sets: Sequence[DataSet]) -> Sections:
    """The sections of a record: at most `MOST` data sets, each with I/Os."""
    numbered = list(enumerate(data_sets, start=1))
    return {
        "smf42_product": [{"smf42pts": job.start, "smf42pte": job.end}],
        "smf42_6_job": [job.row()],
        "smf42_6_data_set": [data_set.header() | {"section_no": number} for number, data_set in numbered],
        "smf42_6_io": [data_set.io() | {"section_no": number} for number, data_set in numbered],
    }
