"""SMF 42-6: the data sets whose volumes the scenario gives, by the job that used them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from plexlens.simulate.devices import number_of, serial_of
from plexlens.simulate.workload import WORKLOAD
from plexlens.simulate.written import Interval
from plexlens.smf_rows.record import Record
from plexlens.smf_rows.smf42_6 import KSDS, LINEAR, MOST, DataSet, Job, sections

#: Database of all page sets in the names of their data sets.
_DATABASE = "SIMDB"


def page_set_data_set(group: str, page_set: str) -> str:
    """Name of the VSAM data set of a page set, its first piece."""
    return f"{group}.DSNDBD.{_DATABASE}.{page_set}.I0001.A001"


def data_set_records(interval: Interval) -> Iterator[Record]:
    """A record for each job with I/Os, or several if it has many data sets."""
    used = sorted(interval.truth.get("data_sets", ()), key=lambda one: (one["system"], one["job"]))
    for (system, job), rows in groupby(used, key=lambda one: (one["system"], one["job"])):
        found = [_data_set(one) for one in rows if one["used"]["requests"]]
        # Page sets are read by database services, other data sets by the regions.
        service_class = "STCDB2" if found and found[0].kind == LINEAR else "CICSRGN"
        for first in range(0, len(found), MOST):
            about = Job(job, service_class, WORKLOAD, interval.start, interval.end)
            yield Record("smf42_6", system, interval.end, sections(about, found[first : first + MOST]))


def _data_set(one: Mapping[str, Any]) -> DataSet:
    used = one["used"]
    return DataSet(
        name=page_set_data_set(one["group"], one["name"]) if one["group"] else one["name"],
        volume=serial_of(one["volume"]),
        number=number_of(one["volume"]),
        kind=LINEAR if one["group"] else KSDS,
        requests=used["requests"],
        connected=max(used["service"] - used["pending"] - used["disconnected"], 0.0),
        pending=used["pending"],
        disconnected=used["disconnected"],
        queued=used["queued"],
    )
