"""The product section of RMF records: the measuring system and its interval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from plexlens.smf_rows.record import Record, Row, Sections, given


@dataclass(frozen=True)
class RmfInterval:
    """An RMF interval on a system.

    Parameters
    ----------
    system, sysplex
        Names.
    partition
        Number of the system's partition.
    start, end
        In UTC.
    samples
        Samples that RMF took.
    cycle
        Seconds from one sample to the next.
    processor_flags
        SMF7XPRF.
    utc_offset
        Local time less UTC.
    rmf_version, mvs_level
        Of the software; None where they are not known.
    """

    system: str
    sysplex: str
    partition: int
    start: datetime
    end: datetime
    samples: int
    cycle: float
    processor_flags: int
    utc_offset: timedelta = timedelta(0)
    rmf_version: int | None = None
    mvs_level: str | None = None

    @property
    def seconds(self) -> float:
        """Length."""
        return (self.end - self.start) / timedelta(seconds=1)

    def record(self, map_name: str, sections: Sections, lengths: Mapping[str, int] | None = None) -> Record:
        """A record: the product section is added, empty sections and lengths of absent sections are left out."""
        contents = {name: rows for name, rows in sections.items() if rows}
        return Record(
            map=map_name,
            system=self.system,
            end=self.end,
            sections={"rmf_product_section": [product_row(self)]} | contents,
            utc_offset=self.utc_offset,
            lengths={name: length for name, length in (lengths or {}).items() if name in sections},
        )


def product_row(interval: RmfInterval) -> Row:
    """The RMF product section."""
    local = interval.start + interval.utc_offset
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0)
    return given(
        smf7xmfv=interval.rmf_version,
        smf7xprd="RMF",
        smf7xist=(local - midnight) / timedelta(seconds=1),
        smf7xdat=local.date(),
        smf7xint=interval.seconds,
        smf7xsam=interval.samples,
        smf7xcyc=interval.cycle,
        smf7xmvs=interval.mvs_level,
        smf7xprf=interval.processor_flags,
        smf7xptn=interval.partition,
        # A token that the records of one interval share: here its end, in seconds.
        smf7xiet=int(interval.end.timestamp()).to_bytes(8, "big"),
        smf7xlgo=interval.utc_offset / timedelta(seconds=1),
        smf7xoil=round(interval.seconds),
        smf7xgie=interval.end,
        smf7xxnm=interval.sysplex,
        smf7xsnm=interval.system,
    )
