"""The reference of metrics: complete, unambiguous, up to date; and every definition against the tables it reads."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from plexlens import _core
from plexlens.ingest.printed.catalogue import catalogue as printed
from plexlens.layouts_path import layout_folders
from plexlens.metrics import GRAINS
from plexlens.metrics.definition import IDENTITY, Fact, Grain, Metric, Rollup
from plexlens.metrics.evaluate import facts
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.reference import anchor, cell, document, grain_text, main, unit_text
from plexlens.metrics.source_rows import source_select
from plexlens.metrics.source_sql import with_parts
from plexlens.metrics.unit import COUNT, FRACTION, MILLISECONDS, RATIO, SECONDS, Unit
from plexlens.pdb.engine import add_table, columns_of, connect
from plexlens.pdb.schema import stored_schema

#: Columns that rolling up adds.
ADDED = {"time", "intervals", "first_interval", "last_interval"}

#: A document is IBM's, a study has a year, a page an address.
CITES = re.compile(r"\b(IBM|SMF|RMF|z/OS|VM|Db2|PR/SM)\b|\(\d{4}\)|\.com\b")

every_grain = pytest.mark.parametrize("grain", GRAINS.values(), ids=lambda grain: grain.name)


def columns(grain: Grain) -> tuple[Fact | Metric, ...]:
    return (*grain.facts, *grain.metrics)


def cells(text: str, name: str) -> list[str]:
    """The cells of the row with that anchor, Markdown's escapes taken off."""
    (line,) = [line for line in text.splitlines() if line.startswith(f'| <a id="{name}"></a>')]
    return [re.sub(r"\\(.)", r"\1", part.strip()) for part in re.split(r"(?<!\\)\|", line)[1:-1]]


# --- definitions -----------------------------------------------------------------------------------------------------


@every_grain
def test_definitions_say_everything(grain: Grain) -> None:
    assert grain.title.strip()
    assert grain.row.strip()
    assert grain.sources
    for column in columns(grain):
        assert column.title.strip(), column.name
        assert column.unit.base.strip(), column.name
        assert CITES.search(column.source), f"{column.name} cites nothing: {column.source!r}"
    for metric in grain.metrics:
        assert metric.words.strip(), metric.name


@every_grain
def test_names_are_unique(grain: Grain) -> None:
    """A key may bear the name of an identity column, which it then is; nothing else may meet another name."""
    names = [key.name for key in grain.keys if key.name not in IDENTITY]
    names += [attribute.name for attribute in grain.attributes]
    names += [column.name for column in columns(grain)]
    assert sorted(names) == sorted(set(names))
    reserved = {*IDENTITY, *ADDED, *(f"{a.name}_{end}" for a in grain.attributes for end in ("low", "high"))}
    assert not reserved & set(names)
    for name in names:
        assert re.fullmatch(r"[a-z][a-z0-9_]*", name), name


NAMES_OF_THEIR_OWN = {
    "dasd": {"data_set", "channel"},
    "web": {"api_request"},
    "jobs": {"address_space", "job", "job_step"},
}


@every_grain
def test_names_start_with_the_family(grain: Grain) -> None:
    """The name says where a grain is defined, but for objects that have one name everywhere."""
    assert grain.name.startswith(f"{grain.family}_") or grain.name in NAMES_OF_THEIR_OWN.get(grain.family, set())


# --- what definitions read -------------------------------------------------------------------------------------------


class Watched(Inputs):
    """Inputs that note every column asked for which its table does not have."""

    def __init__(self, connection: Any) -> None:
        super().__init__(connection)
        self.unknown: list[str] = []

    def table(self, name: str, *columns: str, text: tuple[str, ...] = ()) -> Any:
        there = set(self.connection.table(name).columns)
        self.unknown += [f"{name}.{column}" for column in (*columns, *text) if column not in there]
        return super().table(name, *columns, text=text)


def every_table() -> dict[str, pa.Schema]:
    """Every table that dumps and reports can fill, as a performance database holds it."""
    catalogue = _core.Catalogue(layout_folders())
    # Layouts of z/VM have no record map of SMF.
    monitor = [name for name in catalogue.sections() if name.startswith("vm_")]
    schemas = {name: catalogue.schema(name) for name in [*catalogue.tables(), *monitor]}
    schemas |= {name: table.schema() for name, table in printed().tables.items()}
    return {name: stored_schema(schema) for name, schema in schemas.items()}


@pytest.fixture(scope="module")
def empty_tables() -> Any:
    """Every table, without rows."""
    connection = connect()
    for name, schema in every_table().items():
        add_table(connection, name, schema.empty_table())
    return connection


@every_grain
def test_sources_read_columns_that_exist(empty_tables: Any, grain: Grain) -> None:
    """A misspelt field would read as null for ever."""
    watched = Watched(empty_tables)
    for source in grain.sources:
        assert watched.has(*source.needs), source.kind
    found: pa.Table = facts(watched, grain).arrow()
    assert found.num_rows == 0
    assert watched.unknown == []


@every_grain
def test_every_fact_has_a_source(empty_tables: Any, grain: Grain) -> None:
    """What no source fills is a column that is always null."""
    raw = Inputs(empty_tables)
    filled: set[str] = set()
    for source in grain.sources:
        made = source_select(raw, grain, source)
        filled |= columns_of(raw.connection, f"({with_parts(made.parts, made.select)})").keys()
    wanted = {*(k.name for k in grain.keys), *(a.name for a in grain.attributes), *(f.name for f in grain.facts)}
    assert wanted <= filled


# --- the document ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def text() -> str:
    return document()


@every_grain
def test_every_fact_and_metric_has_its_row(text: str, grain: Grain) -> None:
    for column in columns(grain):
        row = cells(text, anchor(grain, column))
        assert row[0].endswith(f"`{column.name}`")
        assert row[1] == column.title
        assert row[2] == unit_text(column.unit) != ""
        if isinstance(column, Metric):
            assert row[3:] == [column.words, column.source, " ".join(column.caveat.split())]
        else:
            rule = f"{column.rollup.across}, {column.rollup.over}"
            if column.of is not None:
                rule += "; of " + (" and ".join(column.of) if column.of else "the observer")
            assert row[3:] == [rule, column.source]


def test_anchors_are_unique_and_links_lead_to_them(text: str) -> None:
    anchors = re.findall(r'<a id="([^"]+)">', text)
    assert sorted(anchors) == sorted(set(anchors))
    links = re.findall(r"\]\(#([^)]+)\)", text)
    assert links == list(GRAINS)
    assert set(links) <= set(anchors)


@pytest.mark.parametrize(
    ("unit", "shown"),
    [
        (SECONDS, "s"),
        (MILLISECONDS, "ms (s)"),
        (FRACTION, "% (fraction, at most 100 %)"),
        (COUNT, "count"),
        (RATIO, "ratio"),
        (Unit("", "text"), "text"),
    ],
)
def test_units_name_the_base_unit_where_it_is_another(unit: Unit, shown: str) -> None:
    assert unit_text(unit) == shown


def test_cells_hold_one_line_and_no_markup() -> None:
    assert cell("a | b\n  * c < [d]") == r"a \| b \* c \< \[d\]"


def test_a_grain_without_metrics_has_its_facts() -> None:
    grain = Grain("x_y", "Y", "one y", (), (Fact("n", "N", COUNT, Rollup.PEAK, "SMF 1 N"),), (), ())
    assert grain_text(grain).splitlines()[-1] == '| <a id="x_y-n"></a>`n` | N | count | max, max | SMF 1 N |'


def test_check_finds_a_stale_reference(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "metrics.md"
    assert main(["--check", str(path)]) == 1
    assert capsys.readouterr().err == f"{path} is missing; run make docs\n"
    assert main([str(path)]) == 0
    assert main(["--check", str(path)]) == 0
    assert capsys.readouterr() == ("", "")
    path.write_text(path.read_text(encoding="utf-8").replace("caveat", "cave", 1), encoding="utf-8")
    assert main(["--check", str(path)]) == 1
    assert capsys.readouterr().err == f"{path} is stale; run make docs\n"
    # What is checked is not written.
    assert main(["--check", str(path)]) == 1
