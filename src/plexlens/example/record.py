"""Records of the example: their writers, and the studies with their figures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from plexlens.example.plan import Run, Site
from plexlens.smf_rows.record import Record, Sections
from plexlens.smf_rows.rmf import RmfInterval


@dataclass(frozen=True)
class StudyRecord:
    """A record, with the name of the study that supplies its figures."""

    study: str
    record: Record


def utc(site: Site, local: datetime) -> datetime:
    """A local time of a site in UTC."""
    return (local - site.utc_offset).replace(tzinfo=UTC)


@dataclass(frozen=True)
class Reporter:
    """Writer and subject of a record: a system of a site in an interval."""

    site: Site
    run: Run
    system: str

    @property
    def number(self) -> int:
        """Number of the system at its site, from 1; also the number of its partition."""
        return self.site.systems.index(self.system) + 1

    @property
    def interval(self) -> RmfInterval:
        """The RMF interval."""
        site, run = self.site, self.run
        return RmfInterval(
            system=self.system,
            sysplex=site.sysplex,
            partition=self.number,
            start=utc(site, run.start),
            end=utc(site, run.end),
            samples=run.samples,
            cycle=site.cycle_seconds,
            processor_flags=site.processor_flags,
            utc_offset=site.utc_offset,
            rmf_version=site.rmf_version,
            mvs_level=site.mvs_level,
        )


def rmf_record(reporter: Reporter, map_name: str, sections: Sections) -> StudyRecord:
    """An RMF record, with the section lengths of the site's release."""
    site = reporter.site
    return StudyRecord(site.name, reporter.interval.record(map_name, sections, site.lengths))


def of_study(study: str, records: Iterable[Record]) -> list[StudyRecord]:
    """Records of a study."""
    return [StudyRecord(study, record) for record in records]
