"""OpenMetrics text, read by prometheus_client's own parser."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

import plexlens as px
from plexlens.export.openmetrics import family_names, openmetrics
from plexlens.metrics import GRAINS
from plexlens.metrics.question import Answer, Question
from tests.cli.command import run
from tests.example_file import write_example


def families(text: str) -> dict[str, Any]:
    """Families by name; the parser refuses what breaks the rules of OpenMetrics."""
    read = list(text_string_to_metric_families(text))
    assert len({family.name for family in read}) == len(read)
    return {family.name: family for family in read}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("openmetrics")
    write_example(folder / "example.smf")
    assert run("ingest", "example.smf", "--pdb", "pdb", cwd=folder).returncode == 0
    return folder


def printed(folder: Path, *words: str) -> dict[str, Any]:
    done = run("export", "pdb", "--format", "openmetrics", *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    return families(done.stdout)


def test_every_grain_is_read_by_the_parser(folder: Path) -> None:
    """The parser checks names, units as suffixes, escapes, duplicates and the end mark."""
    read = printed(folder)
    grains = {name for name in GRAINS if any(family.startswith(f"plexlens_{name}_") for family in read)}
    assert {"coupling_structure", "cpu_system", "db2_pool", "workload_period"} <= grains
    assert len(read) > 100


def test_values_are_those_of_the_last_interval_of_each_system(folder: Path) -> None:
    """Oracle: the fields of the records of the latest interval, by a query that knows no metric."""
    read = printed(folder, "--grain", "coupling_structure", "--metric", "sync_service_time")
    family = read["plexlens_coupling_structure_sync_service_seconds"]
    assert (family.type, family.unit) == ("gauge", "seconds")
    assert family.documentation == "Coupling facility structures: Synchronous service time = R744SSTM / R744SSRC"
    with px.open(folder / "pdb") as pdb:
        raw = pdb.sql(
            "select system, r744snam, r744sstm / r744ssrc as value from smf74_4_request r where r744ssrc > 0 and"
            " interval_start > (select max(interval_start) - interval 1 minute from smf74_4_request s"
            " where s.system = r.system)"
        ).arrow()
    expected = {(row["system"], row["r744snam"]): row["value"] for row in raw.to_pylist()}
    found = {(one.labels["system"], one.labels["structure"]): one.value for one in family.samples}
    assert len(found) > 5
    assert found == pytest.approx(expected, rel=1e-9)
    assert all(one.timestamp is None for one in family.samples)


def test_attributes_and_the_program_are_info_metrics(folder: Path) -> None:
    read = printed(folder, "--grain", "coupling_structure")
    (build,) = read["plexlens_build"].samples
    assert build.labels["version"]
    info = read["plexlens_coupling_structure"]
    assert info.type == "info"
    kinds = {one.labels["structure"]: one.labels["structure_type"] for one in info.samples}
    assert kinds["DSNDB2I1_LOCK1"] == "lock"
    assert all(one.value == 1 for one in info.samples)


def test_time_stamps_are_ends_of_intervals(folder: Path) -> None:
    read = printed(folder, "--grain", "cpu_system", "--metric", "mvs_busy", "--timestamps")
    stamped = {one.labels["system"]: float(one.timestamp) for one in read["plexlens_cpu_system_mvs_busy_ratio"].samples}
    ends = {one.labels["system"]: one.value for one in read["plexlens_interval_end_timestamp_seconds"].samples}
    assert stamped == pytest.approx(ends)
    with px.open(folder / "pdb") as pdb:
        raw = pdb.sql("select system, max(epoch(interval_end)) as e from smf70_1_cpu_control group by 1").to_json()
    assert ends == pytest.approx({row["system"]: row["e"] for row in raw}, abs=1)


def made(rows: Iterable[dict[str, Any]], *, zone: str | None = "UTC") -> Answer:
    """An answer of coupling_structure with these rows."""
    question = Question.of("coupling_structure", by=["system", "structure"], columns=["requests_per_second"])
    schema = pa.schema(
        [("system", pa.string()), ("structure", pa.string()), ("time", pa.timestamp("us", zone)),
         ("requests_per_second", pa.float64())]
    )  # fmt: skip
    table = pa.Table.from_pylist(list(rows), schema)
    ends = {row["time"]: row["time"].replace(minute=15) for row in rows}
    return Answer(question, table, ends)


MORNING, NOON = datetime(2024, 5, 1, 9, tzinfo=UTC), datetime(2024, 5, 1, 12, tzinfo=UTC)


def test_names_of_any_kind_come_back_from_the_parser() -> None:
    name = 'A"B\\C\nD'
    text = openmetrics([made([{"system": "S", "structure": name, "time": NOON, "requests_per_second": 2.5}])])
    (sample,) = families(text)["plexlens_coupling_structure_requests_per_second"].samples
    assert (sample.labels["structure"], sample.value) == (name, 2.5)


#: Names that would break a line, a label, an escape or the end of the text, if they were written as they are.
HOSTILE = (
    *(
        '"',
        '""',
        "\\",
        "\\\\",
        'A\\"',
        "A\\n",
        "\\\n",
        "\n",
        "\n\n",
        "A\nB",
        "\r",
        "\r\n",
        "\t",
        "\x00",
        "\x01\x1f\x7f",
    ),
    *("{", "}", "{}", "}} 1", 'A"} 99', 'A",structure="B', "a=b", ",", "#", "# EOF", "\n# EOF\n", "# TYPE x counter"),
    *("\x85", "\u2028", "\u2029", "\ufeff", "\u202eABC", "\U0001f600", " A ", "é", "1e3", "NaN", "\\x41", "A" * 2000),
)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_come_back_as_they_were(name: str) -> None:
    rows = [
        {"system": system, "structure": structure, "time": NOON, "requests_per_second": value}
        for value, (system, structure) in enumerate([(name, name), (name, "B"), ("S", name), ("S", "B")])
    ]
    text = openmetrics([made(rows)])
    # As another program receives it.
    read = families(text.encode("utf-8").decode("utf-8"))
    samples = read["plexlens_coupling_structure_requests_per_second"].samples
    assert {(one.labels["system"], one.labels["structure"]): one.value for one in samples} == {
        (row["system"], row["structure"]): row["requests_per_second"] for row in rows
    }
    assert text.count("\n# EOF\n") == 1 and text.endswith("\n# EOF\n")


def test_no_name_and_an_empty_name_do_not_make_the_same_sample_twice() -> None:
    rows = [
        {"system": "S", "structure": structure, "time": NOON, "requests_per_second": 1.0}
        for structure in (None, "", "A")
    ]
    text = openmetrics([made(rows)])
    samples = families(text)["plexlens_coupling_structure_requests_per_second"].samples
    assert {one.labels["structure"] for one in samples} == {"(none)", "", "A"}
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert len(set(lines)) == len(lines)


def test_each_system_has_its_own_last_interval_and_unknown_values_are_left_out() -> None:
    rows = [
        {"system": "OLD", "structure": "A", "time": MORNING, "requests_per_second": 1.0},
        {"system": "NEW", "structure": "A", "time": MORNING, "requests_per_second": 2.0},
        {"system": "NEW", "structure": "B", "time": NOON, "requests_per_second": 3.0},
        {"system": "NEW", "structure": "C", "time": NOON, "requests_per_second": None},
    ]
    family = families(openmetrics([made(rows)]))["plexlens_coupling_structure_requests_per_second"]
    assert {(one.labels["system"], one.labels["structure"]): one.value for one in family.samples} == {
        ("OLD", "A"): 1.0,
        ("NEW", "B"): 3.0,
    }


def test_local_time_of_unknown_offset_gives_no_time_stamp() -> None:
    local = NOON.replace(tzinfo=None)
    rows = [{"system": "S", "structure": "A", "time": local, "requests_per_second": 1.0}]
    read = families(openmetrics([made(rows, zone=None)], timestamps=True))
    (sample,) = read["plexlens_coupling_structure_requests_per_second"].samples
    assert sample.timestamp is None
    assert read["plexlens_interval_end_timestamp_seconds"].samples == []


def test_names_are_valid_and_different_across_the_catalogue() -> None:
    seen: dict[str, str] = {}
    for grain in GRAINS.values():
        columns = {one.name: one.unit.base for one in grain.metrics} | {one.name: one.unit.base for one in grain.facts}
        for column, (name, unit) in family_names(columns, grain.name).items():
            assert re.fullmatch(r"[a-z][a-z0-9_]*", name)
            assert name.endswith(unit)
            assert not name.endswith(("_total", "_count", "_sum", "_bucket", "_info", "_created")) or not unit
            assert seen.setdefault(name, f"{grain.name}.{column}") == f"{grain.name}.{column}"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("--format", "openmetrics", "-o", "last.csv"),
            "last.csv: the ending .csv names a format other than OpenMetrics",
        ),
        (("--format", "openmetrics", "--every", "hour"), "last interval"),
        (("--format", "openmetrics", "--json"), "last interval"),
        (("--timestamps", "-o", "v"), "applies only to OpenMetrics"),
        (("--format", "openmetrics", "-o", "pdb/metrics.prom"), "holds only its own files"),
        (("--format", "openmetrics", "-o", "example.smf"), "cannot write to it"),
    ],
)
def test_a_wrong_use_says_what_to_do(folder: Path, words: tuple[str, ...], said: str) -> None:
    source = "example.smf" if "example.smf" in words else "pdb"
    done = run("export", source, *words, cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
