"""A record before it is encoded: its sections as rows of base units, and the fields that RMF fills in every record."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from plexlens.example.plan import Run, Site

#: A cell: field name in lower case to its value in base units (seconds, bytes, counts).
Row = dict[str, object]


@dataclass(frozen=True)
class Record:
    """One SMF record.

    Parameters
    ----------
    study
        The study whose figures it holds.
    map
        Name of its record map, such as ``smf74_4``.
    system
        System (SMF) id of its header.
    written_at
        Local time of its header: the end of the interval.
    end
        The same in UTC: the order of the dump.
    sections
        Section name to its entries. Fields that an entry does not name are zero or blank.
    lengths
        Lengths of sections that are shorter than their layout.
    subsystem
        Db2 or CICS that wrote it; empty for RMF.
    dictionary_fields
        Short names of the fields that CICS performance records hold, in the order of the standard dictionary.
    """

    study: str
    map: str
    system: str
    written_at: datetime
    end: datetime
    sections: dict[str, list[Row]]
    lengths: dict[str, int]
    subsystem: str = ""
    dictionary_fields: tuple[str, ...] = ()


def utc(site: Site, local: datetime) -> datetime:
    """A local time of a site in UTC."""
    return (local - site.utc_offset).replace(tzinfo=UTC)


def _seconds_of_day(local: datetime) -> float:
    return (local - local.replace(hour=0, minute=0, second=0, microsecond=0)).total_seconds()


@dataclass(frozen=True)
class Reporter:
    """Who writes a record of what: one system of a site in one interval."""

    site: Site
    run: Run
    system: str

    @property
    def number(self) -> int:
        """Number of the system at its site, from 1; also of its partition."""
        return self.site.systems.index(self.system) + 1


def product_fields(reporter: Reporter) -> Row:
    """The RMF product section of a system's records of one interval."""
    site, run = reporter.site, reporter.run
    end = utc(site, run.end)
    return {
        "smf7xmfv": site.rmf_version,
        "smf7xprd": "RMF",
        "smf7xist": _seconds_of_day(run.start),
        "smf7xdat": run.start.date(),
        "smf7xint": run.seconds,
        "smf7xsam": run.samples,
        "smf7xcyc": site.cycle_seconds,
        "smf7xmvs": site.mvs_level,
        "smf7xprf": site.processor_flags,
        "smf7xptn": reporter.number,
        # A token that the records of one interval share: here its end, in seconds.
        "smf7xiet": int(end.timestamp()).to_bytes(8, "big"),
        "smf7xlgo": site.utc_offset / timedelta(seconds=1),
        "smf7xoil": float(round(run.seconds)),
        "smf7xgie": end,
        "smf7xxnm": site.sysplex,
        "smf7xsnm": reporter.system,
    }


def record(reporter: Reporter, map_name: str, sections: dict[str, list[Row]]) -> Record:
    """An RMF record: the product section added to its own sections.

    Parameters
    ----------
    reporter
        Who writes it.
    map_name
        Name of its record map, which is its type and subtype: ``smf74_4``.
    sections
        Its sections; empty ones are left out.
    """
    return Record(
        study=reporter.site.name,
        map=map_name,
        system=reporter.system,
        written_at=reporter.run.end,
        end=utc(reporter.site, reporter.run.end),
        sections={"rmf_product_section": [product_fields(reporter)]}
        | {name: rows for name, rows in sections.items() if rows},
        lengths={name: length for name, length in reporter.site.lengths.items() if name in sections},
    )
