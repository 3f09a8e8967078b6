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
    used = sorted(interval.truth.get("data_sets", ()), key=lambda entry: (entry["system"], entry["job"]))
    for (system, job), rows in groupby(used, key=lambda item: (item["system"], item["job"])):
        data_sets = [_data_set(row) for row in rows if row["used"]["requests"]]
        # Page sets are read by database services, other data sets by the regions.
        service_class = "STCDB2" if data_sets and data_sets[0].kind == LINEAR else "CICSRGN"
        for first in range(0, len(data_sets), MOST):
            about = Job(job, service_class, WORKLOAD, interval.start, interval.end)
            yield Record("smf42_6", system, interval.end, sections(about, data_sets[first : first + MOST]))


def _data_set(entry: Mapping[str, Any]) -> DataSet:
    used = entry["used"]
    return DataSet(
        name=page_set_data_set(entry["group"], entry["name"]) if entry["group"] else entry["name"],
        volume=serial_of(entry["volume"]),
        number=number_of(entry["volume"]),
        kind=LINEAR if entry["group"] else KSDS,
        requests=used["requests"],
        connected=max(used["service"] - used["pending"] - used["disconnected"], 0.0),
        pending=used["pending"],
        disconnected=used["disconnected"],
        queued=used["queued"],
    )
