"""Numbers of the page of a simulated group of three members, each worked by hand from the fields that were written.

The dump has what makes roll-ups hard: members in two time zones, one member without SMF 72-3, and a buffer pool that is
enlarged between the two intervals. Expected values are sums and quotients of the fields as they were handed to the
encoder, written out one by one; no metric, layout or database has a part in them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from plexlens.simulate import dump as dumps
from plexlens.simulate import read_scenario, run_scenario
from plexlens.simulate.scenario import beginning
from plexlens.smf_rows.record import Record
from tests.report.test_example_by_hand import report_of, value_of

SCENARIO = Path(__file__).parents[2] / "scenarios" / "three-members.toml"

#: Local time less UTC, in hours.
ZONES = {"SYSA": -5, "SYSB": 1, "SYSC": -5}

#: Two intervals of a minute.
SECONDS = 120.0
MINUTE = 60.0

#: Buffers of BP1 of DBA1 in the second interval; 4,000 before.
ENLARGED = 6000


@dataclass(frozen=True)
class Written:
    """The records as they were handed to the encoder."""

    records: list[Record]

    def rows(self, section: str, system: str | None = None, **match: Any) -> list[tuple[Record, dict[str, Any]]]:
        return [
            (record, row)
            for record in self.records
            if system in {None, record.system}
            for row in record.sections.get(section, [])
            if all(row.get(name) == value for name, value in match.items())
        ]

    def sum(self, field: str, section: str, system: str | None = None, **match: Any) -> float:
        """The field added over all rows of both intervals."""
        return sum(float(row[field]) for _, row in self.rows(section, system, **match))

    def grown(self, field: str, section: str, member: str, **match: Any) -> float:
        """What a counter of a Db2 grew by: its last value less its first."""
        rows = [row for record, row in self.rows(section, **match) if record.subsystem == member]
        return float(rows[-1][field]) - float(rows[0][field])

    # --- sums that several numbers need ---------------------------------------------------------------------------

    def dispatched(self, system: str) -> float:
        """SMF70PDT of the general processors (the first kind of the record)."""
        return self.sum("smf70pdt", "smf70_1_logical_processor", system, smf70cix=1)

    def effective(self, system: str) -> float:
        """SMF70EDT of the general processors: dispatched, without PR/SM's management of the partition."""
        return self.sum("smf70edt", "smf70_1_logical_processor", system, smf70cix=1)

    def online(self, system: str) -> float:
        """SMF70ONT of the general processors."""
        return self.sum("smf70ont", "smf70_1_logical_processor", system, smf70cix=1)

    def captured(self, system: str) -> float:
        """Service of service classes less what ran on zIIPs, at 16,000 service units a second.

        An adjustment factor of 1000 makes 16,000,000 / 1000 units a second; the service coefficient is 1.
        """
        units = 0.0
        for record in self.records:
            if record.map == "smf72_3" and record.system == system:
                [control], [period] = (record.sections[f"smf72_3_{part}"] for part in ("wlm_control", "period"))
                if control.get("r723mscf", 0) == 0:
                    units += period.get("r723ccpu", 0.0) - period.get("r723csup", 0.0)
        return units / 16_000

    def ended(self, system: str, name: str) -> float:
        """R723CRCP of a service class."""
        return sum(
            float(record.sections["smf72_3_period"][0]["r723crcp"])
            for record in self.records
            if record.map == "smf72_3"
            and record.system == system
            and record.sections["smf72_3_wlm_control"][0]["r723mcnm"] == name
        )

    def requests(self, structure: str, system: str | None = None) -> float:
        """R744STRC."""
        return self.sum("r744strc", "smf74_4_request", system, r744snam=structure)

    def getpages(self, member: str, pool: int) -> float:
        """QBSTGET."""
        return self.grown("qbstget", "smf100_ifcid2_qbst", member, qbstpid=pool)

    def read_ios(self, member: str, pool: int) -> float:
        """QBSTRIO + QBSTPIO + QBSTLIO + QBSTDIO: synchronous, sequential, list and dynamic prefetch."""
        return sum(
            self.grown(field, "smf100_ifcid2_qbst", member, qbstpid=pool)
            for field in ("qbstrio", "qbstpio", "qbstlio", "qbstdio")
        )


def _as_measured(record: Record) -> Record | None:
    """The record with what the scenario cannot say, under its system's local time."""
    if record.map == "smf72_3" and record.system == "SYSC":
        return None
    offset = timedelta(hours=ZONES[record.system])
    sections = dict(record.sections)
    if record.subsystem == "DBA1" and "smf100_ifcid2_qbst" in sections:
        second = (record.end - beginning({})).total_seconds() > MINUTE
        sections["smf100_ifcid2_qbst"] = [
            row | ({"qbstvpl": ENLARGED} if second and row["qbstpid"] == 1 else {})
            for row in sections["smf100_ifcid2_qbst"]
        ]
    if "rmf_product_section" in sections:
        (product,) = sections["rmf_product_section"]
        start = record.end + offset - timedelta(seconds=product["smf7xint"])
        local = {
            "smf7xist": start.hour * 3600 + start.minute * 60 + start.second,
            "smf7xdat": start.date(),
            "smf7xlgo": offset.total_seconds(),
        }
        sections["rmf_product_section"] = [product | local]
    return replace(record, sections=sections, utc_offset=offset)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Written, dict[str, Any]]:
    path = tmp_path_factory.mktemp("group") / "group.smf"
    run = run_scenario(read_scenario(SCENARIO).with_run(seconds=SECONDS))
    records = [new for record in dumps.dump_records(run) if (new := _as_measured(record)) is not None]
    with dumps.open_simulated(run.scenario, path) as dump:
        for record in records:
            dump.write(record)
    return Written(records), report_of(path)


CP = {"processor_type": "CP"}

#: Table, row, column, and the value from the written fields.
BY_HAND: list[tuple[str, dict[str, str], str, Any]] = [
    # Every system by itself, whatever its time zone.
    ("cpu_systems", CP | {"system": "SYSA"}, "lpar_busy", lambda w: w.dispatched("SYSA") / w.online("SYSA")),
    ("cpu_systems", CP | {"system": "SYSB"}, "lpar_busy", lambda w: w.dispatched("SYSB") / w.online("SYSB")),
    ("cpu_systems", CP | {"system": "SYSC"}, "lpar_busy", lambda w: w.dispatched("SYSC") / w.online("SYSC")),
    ("cpu_systems", CP | {"system": "SYSA"}, "processors_used", lambda w: w.dispatched("SYSA") / SECONDS),
    ("cpu_systems", CP | {"system": "SYSC"}, "processors_used", lambda w: w.dispatched("SYSC") / SECONDS),
    ("cpu_systems", CP | {"system": "SYSA"}, "capture_ratio", lambda w: w.captured("SYSA") / w.effective("SYSA")),
    ("cpu_systems", CP | {"system": "SYSB"}, "capture_ratio", lambda w: w.captured("SYSB") / w.effective("SYSB")),
    ("cpu_systems", CP | {"system": "SYSC"}, "capture_ratio", lambda w: None),
    # A class of three systems of which two are measured: the rates of the two add.
    (
        "workload_goals",
        {"class_name": "PAY"},
        "transactions_per_second",
        lambda w: (w.ended("SYSA", "PAY") + w.ended("SYSB", "PAY")) / SECONDS,
    ),
    (
        "workload_goals",
        {"class_name": "INQUIRE"},
        "transactions_per_second",
        lambda w: (w.ended("SYSA", "INQUIRE") + w.ended("SYSB", "INQUIRE")) / SECONDS,
    ),
    # Requests of each system, and of all three, to one structure.
    *(
        (
            "coupling_structure_systems",
            {"structure": "DSNB_LOCK1", "system": system},
            "requests_per_second",
            lambda w, system=system: w.requests("DSNB_LOCK1", system) / SECONDS,
        )
        for system in ("SYSA", "SYSB", "SYSC")
    ),
    *(
        (
            "coupling_structures",
            {"structure": structure},
            "requests_per_second",
            lambda w, structure=structure: w.requests(structure) / SECONDS,
        )
        for structure in ("DSNB_LOCK1", "DSNB_GBP1", "DSNB_GBP2")
    ),
    (
        "coupling_structures",
        {"structure": "DSNB_LOCK1"},
        "sync_service_time",
        lambda w: (
            w.sum("r744sstm", "smf74_4_request", r744snam="DSNB_LOCK1")
            / w.sum("r744ssrc", "smf74_4_request", r744snam="DSNB_LOCK1")
        ),
    ),
    (
        "coupling_locks",
        {"structure": "DSNB_LOCK1"},
        "false_contention_fraction",
        lambda w: w.sum("r744sfcn", "smf74_4_request", r744snam="DSNB_LOCK1") / w.requests("DSNB_LOCK1"),
    ),
    # The lock table has 1024 entries, however many systems and intervals say so.
    ("coupling_locks", {"structure": "DSNB_LOCK1"}, "lock_entries", lambda w: 1024),
    # CF1 holds the lock structure and group buffer pool 2; its requests are theirs.
    (
        "coupling_facilities",
        {"facility": "CF1"},
        "requests_per_second",
        lambda w: (w.requests("DSNB_LOCK1") + w.requests("DSNB_GBP2")) / SECONDS,
    ),
    # A facility counts its busy time once, and all three systems report it alike: SYSA's records say it.
    (
        "coupling_facilities",
        {"facility": "CF1"},
        "utilization",
        lambda w: (
            sum(
                row["r744pbsy"]
                for record, row in w.rows("smf74_4_processor", "SYSA")
                if record.sections["smf74_4_local_cf"][0]["r744fnam"] == "CF1"
            )
            / SECONDS
        ),
    ),
    # So are castouts, which the structure counts itself: one cache section of SYSA on CF2 is group buffer pool 1.
    (
        "coupling_caches",
        {"structure": "DSNB_GBP1"},
        "castouts_per_second",
        lambda w: (
            sum(
                row["r744ccoc"]
                for record, row in w.rows("smf74_4_cache", "SYSA")
                if record.sections["smf74_4_local_cf"][0]["r744fnam"] == "CF2"
            )
            / SECONDS
        ),
    ),
    # Counters of Db2: last record less first.
    *(
        (
            "db2_pools",
            {"subsystem": member, "pool": "BP1"},
            "getpages_per_second",
            lambda w, member=member: w.getpages(member, 1) / SECONDS,
        )
        for member in ("DBA1", "DBB1", "DBC1")
    ),
    (
        "db2_pools",
        {"subsystem": "DBC1", "pool": "BP2"},
        "read_ios_per_second",
        lambda w: w.read_ios("DBC1", 2) / SECONDS,
    ),
    # The setting in force, not a mean of 4,000 and 6,000; the other member's is as it was.
    ("db2_pools", {"subsystem": "DBA1", "pool": "BP1"}, "buffers", lambda w: ENLARGED),
    ("db2_pools", {"subsystem": "DBB1", "pool": "BP1"}, "buffers", lambda w: 4000),
    # The buffers of DBA1 are those of its three pools: 6000 + 3000 + 2000.
    ("db2_subsystems", {"subsystem": "DBA1"}, "buffers", lambda w: ENLARGED + 3000 + 2000),
    (
        "db2_subsystems",
        {"subsystem": "DBB1"},
        "commits_per_second",
        lambda w: w.grown("q3stcomm", "smf100_ifcid1_q3st", "DBB1") / SECONDS,
    ),
    (
        "db2_groups",
        {"group_name": "DSNB"},
        "getpages_per_second",
        lambda w: sum(w.getpages(member, pool) for member in ("DBA1", "DBB1", "DBC1") for pool in (1, 2, 3)) / SECONDS,
    ),
    # A volume that all three systems use: its I/Os are those of all.
    (
        "dasd_systems",
        {"system": "SYSB"},
        "io_rate",
        lambda w: w.sum("smf74ssc", "smf74_1_device", "SYSB") / SECONDS,
    ),
]


@pytest.mark.parametrize(
    ("table", "row", "column", "value"),
    BY_HAND,
    ids=[f"{table}-{'-'.join(row.values())}-{column}" for table, row, column, _ in BY_HAND],
)
def test_number(
    measured: tuple[Written, dict[str, Any]], table: str, row: dict[str, str], column: str, value: Any
) -> None:
    written, page = measured
    expected = value(written)
    # Times are recorded to a microsecond and less, service to a whole unit.
    assert value_of(page, table, row, column) == (None if expected is None else pytest.approx(expected, rel=1e-4))


def test_capture_ratio_and_management_of_partitions_are_those_of_a_real_system(
    measured: tuple[Written, dict[str, Any]],
) -> None:
    """The scenario says 10 % of uncaptured time and 0.5 % for PR/SM: neither all is captured nor nothing managed."""
    written, _ = measured
    for system in ("SYSA", "SYSB"):
        assert written.captured(system) / written.effective(system) == pytest.approx(1 / 1.1, abs=0.01)
    for system in ("SYSA", "SYSB", "SYSC"):
        managed = written.dispatched(system) - written.effective(system)
        assert 0.004 < managed / written.effective(system) < 0.006


def test_capture_ratio_of_the_group_leaves_out_the_member_without_records(
    measured: tuple[Written, dict[str, Any]],
) -> None:
    """SYSC used processors, and no record says for what: its time may not dilute the ratio of the others."""
    written, page = measured
    figures = {figure["name"]: figure for section in page["sections"] for figure in section["figures"]}
    expected = (written.captured("SYSA") + written.captured("SYSB")) / (
        written.effective("SYSA") + written.effective("SYSB")
    )
    assert figures["capture"]["value"] == pytest.approx(expected, rel=1e-4)
    assert "SYSC" in figures["capture"]["detail"]
