"""The report of pools: every analysis is there, every number is defined, and the page can be read everywhere."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from plexlens.ingest.page_trace.delays import ObjectDelay
from plexlens.pools.cost import default_cost
from plexlens.pools.curves import curves_of
from plexlens.pools.observation import observe
from plexlens.pools.page.report import PoolsAnalysis, pools_report
from plexlens.pools.prediction import Engine, Prediction
from plexlens.pools.responses import responses_of
from plexlens.pools.search.case import Limits
from plexlens.pools.search.optimiser import Optimiser
from plexlens.pools.settings import Configuration, PoolSettings
from plexlens.pools.trace import open_trace
from plexlens.report.model import Advice, Block, ColumnKind, KeyFigures, Note, Report, Table
from plexlens.report.model.xy import XYChart
from plexlens.report.writers.html import render_html
from plexlens.report.writers.json_object import to_json
from plexlens.report.writers.text import render_text
from tests.conftest import REPOSITORY
from tests.pools.test_responses import pair
from tests.report import browser as chromium

SETTINGS = (PoolSettings("BP1", 200), PoolSettings("BP2", 300))


def trace_file(folder: Path, *, timed: bool = True) -> Path:
    """Ten minutes: four objects asked for at random, one with partitions, and two scans."""
    generator = random.Random(1)
    objects = {
        "PAYDB.PAYTS": ("BP1", 400), "PAYDB.PAYIX": ("BP1", 60), "CUSDB.CUSTTS": ("BP2", 900),
        "ORDDB.ORDTS": ("BP2", 150), "HISDB.HIST": ("BP2", 0), "LOGDB.AUDIT": ("BP1", 0),
    }  # fmt: skip
    scans = dict.fromkeys(objects, 0)
    rows = []
    for at in range(6000):
        name = generator.choices(list(objects), [5, 4, 5, 3, 2, 1])[0]
        pool, pages = objects[name]
        scans[name] += 1
        page = min(int(generator.paretovariate(0.9)) - 1, 10**6) % pages if pages else scans[name] % 3000
        partition = 1 + page % 2 if name == "CUSDB.CUSTTS" else 0
        function = "set_write" if generator.random() < 0.1 else "getpage"
        rows.append(
            {
                "time": at * 100_000, "pool": pool, "object": name, "partition": partition, "page": page,
                "function": function, "access": "random" if pages else "sequential",
            }
        )  # fmt: skip
    table = pa.Table.from_pylist(rows)
    path = folder / "trace.parquet"
    pa.parquet.write_table(table if timed else table.drop_columns("time"), path)
    return path


@pytest.fixture(scope="module")
def analysis(tmp_path_factory: pytest.TempPathFactory) -> PoolsAnalysis:
    trace = open_trace([trace_file(tmp_path_factory.mktemp("pools"))])
    observation = observe(trace, Configuration({one.name: one for one in SETTINGS}), looks=20)
    numbers = {one.name: one.object for one in observation.objects()}
    delays = (
        ObjectDelay(1, numbers["PAYDB.PAYTS"], 0, "IFCID 6 and 7", 1000, 2.0, 0.8),
        ObjectDelay(1, numbers["PAYDB.PAYIX"], 0, "IFCID 6 and 7", 1050, 1.0, 0.02),
    )
    configuration = Configuration({pool.name: pool for pool in SETTINGS})
    optimiser = Optimiser(
        trace, configuration, cost=default_cost(), limits=Limits(budgets={"": 4 << 20}, least_buffers=50, new_pools=1)
    )
    return PoolsAnalysis(
        sources=("trace.parquet",),
        facts=trace.facts,
        observation=replace(observation, delays=delays),
        cost=replace(default_cost(), notes=("CPU of a synchronous read I/O is not fitted but assumed: no interval",)),
        curves=curves_of(trace),
        recommendation=optimiser.run(),
        responses=responses_of(pair()),
        notes=("of BP1 only the size is recorded",),
    )


@pytest.fixture(scope="module")
def report(analysis: PoolsAnalysis) -> Report:
    return pools_report(analysis)


def blocks(report: Report, kind: type[Block]) -> list[Block]:
    return [block for section in report.sections for block in section.blocks if isinstance(block, kind)]


def table(report: Report, name: str) -> list[dict[str, object]]:
    (found,) = [one for one in blocks(report, Table) if isinstance(one, Table) and one.name == name]
    assert isinstance(found, Table)
    names = [column.name for column in found.columns]
    return [dict(zip(names, row, strict=True)) for row in found.rows]


def test_each_analysis_has_its_section(report: Report) -> None:
    assert [section.id for section in report.sections] == [
        "summary", "recommendation", "curves", "pools", "objects", "working-sets", "clusters", "residency", "delay",
        "cost", "assumed",
    ]  # fmt: skip
    assert all(section.blocks for section in report.sections)
    names = [block.name for section in report.sections for block in section.blocks if hasattr(block, "name")]
    assert len(names) == len(set(names))


def test_every_number_leads_to_one_definition(report: Report) -> None:
    used: set[str] = set()
    for found in blocks(report, Table) + [a.evidence for a in blocks(report, Advice) if isinstance(a, Advice)]:
        assert isinstance(found, Table)
        for column in found.columns:
            if column.kind is ColumnKind.NUMBER:
                assert column.definition in report.definitions, (found.name, column.name)
                used.add(column.definition)
    for figures in blocks(report, KeyFigures):
        assert isinstance(figures, KeyFigures)
        for figure in figures.figures:
            assert figure.definition in report.definitions, figure.name
            used.add(figure.definition)
    for chart in blocks(report, XYChart):
        assert isinstance(chart, XYChart)
        assert chart.definition in report.definitions
        used |= {chart.definition, chart.x_definition} - {""}
    assert used == set(report.definitions)
    for one in report.definitions.values():
        assert one.source, one.id
        assert one.formula or one.rollup, one.id


def test_the_tables_agree_with_the_trace(report: Report, analysis: PoolsAnalysis) -> None:
    pools = {row["pool"]: row for row in table(report, "pools")}
    objects = table(report, "objects")
    seconds = 599.9
    for name, row in pools.items():
        own = [one for one in objects if one["pool"] == name]
        assert row["objects"] == len(own)
        for column in ("getpages_per_second", "read_ios_per_second", "cpu_per_day", "delay_per_day"):
            assert row[column] == pytest.approx(sum(float(str(one[column])) for one in own)), column
    rates = [float(str(row["read_ios_per_second"])) for row in objects]
    assert rates == sorted(rates, reverse=True)
    total = analysis.facts.references["getpage"] / seconds
    assert sum(float(str(row["getpages_per_second"])) for row in pools.values()) == pytest.approx(total)
    # PAYTS waits 2 ms for a read as recorded, PAYIX 1/1.05 ms, the others 2 ms as assumed.
    (index,) = [row for row in objects if row["object"] == "PAYDB.PAYIX"]
    reads = float(str(index["sync_reads_per_second"])) * seconds
    assert index["elapsed_seconds"] == pytest.approx(reads / 1050)
    assert index["delay_per_day"] == pytest.approx(reads / 1050 * 86400 / seconds)
    (customers,) = [row for row in objects if row["object"] == "CUSDB.CUSTTS"]
    assert customers["partitions"] == 2
    assert {row["object"] for row in table(report, "partitions")} == {"CUSDB.CUSTTS.1", "CUSDB.CUSTTS.2"}


def test_hit_ratios_are_shown_and_order_nothing(report: Report) -> None:
    for name in ("pools", "objects"):
        (found,) = [one for one in blocks(report, Table) if isinstance(one, Table) and one.name == name]
        assert isinstance(found, Table)
        assert found.sorted_by == ("read_ios_per_second", True)
    assert "Not used for decisions" in report.definitions["pool_object.application_hit_ratio"].caveat
    assert "Not used for decisions" in report.definitions["pool_object.system_hit_ratio"].caveat


def test_curves_carry_the_sizes_that_matter(report: Report, analysis: PoolsAnalysis) -> None:
    charts = {one.name: one for one in blocks(report, XYChart) if isinstance(one, XYChart)}
    assert analysis.recommendation is not None
    for curve in analysis.curves:
        whole, layers = charts[f"curve_{curve.pool}"], charts[f"shares_{curve.pool}"]
        said = " ".join(mark.label for mark in whole.marks)
        settings = analysis.recommendation.after.configuration.pools
        assert f"now {200 if curve.pool == 'BP1' else 300:,}" in said.replace("now, knee", "now")
        assert "knee" in said
        if curve.pool in settings:
            assert "recommended" in said
            assert {mark.x for mark in whole.marks} >= {settings[curve.pool].size}
        assert layers.stacked
        assert layers.marks == whole.marks
        # The layers together are the curve: every miss is some object's. Shares are kept at sizes 1.6 % apart.
        for at, (size, misses) in enumerate(whole.series[0].points):
            together = sum(series.points[at][1] or 0.0 for series in layers.series)
            assert together == pytest.approx(misses, rel=0.03, abs=0.02), size
        assert "CUSDB.CUSTTS" in [series.name for series in layers.series] or curve.pool == "BP1"


def test_steps_have_their_commands_and_the_way_back(report: Report, analysis: PoolsAnalysis) -> None:
    assert analysis.recommendation is not None
    advice = {one.name: one for one in blocks(report, Advice) if isinstance(one, Advice)}
    worth = [step for step in analysis.recommendation.steps if step.worth]
    assert worth
    for number, step in enumerate(analysis.recommendation.steps, 1):
        told = advice[f"step_{number}"]
        assert told.command.splitlines() == list(step.script.change)
        assert told.undo.splitlines() == list(step.script.reverse)
        assert told.severity == ("worth it" if step.worth else "not worthwhile")
        assert told.folded != step.worth
        assert told.cost.startswith("saves ")
    if len(worth) > 1:
        assert advice["all_steps"].command.splitlines() == list(analysis.recommendation.script.change)
    changes = {row["pool"]: row for row in table(report, "pool_changes")}
    for name, row in changes.items():
        before = analysis.recommendation.before.pools.get(str(name))
        after = analysis.recommendation.after.pools.get(str(name))
        assert row["reads_saved"] == pytest.approx(
            ((before.read_ios if before else 0) - (after.read_ios if after else 0)) / 599.9
        )


def test_twice_the_delay_is_seen_and_explained(report: Report) -> None:
    (told, *_) = [note.text for note in report.section("delay").blocks if isinstance(note, Note)]
    assert "PAYDB.PAYTS and PAYDB.PAYIX: 9,000 I/Os and 9,500" in told
    assert "read hit ratio 60.0 % and 96.0 %" in told
    (row,) = table(report, "contrasts")
    assert row["ratio"] == pytest.approx(2.0)
    responses = table(report, "responses")
    assert responses[0]["object"] == "PAYDB.PAYTS"
    assert responses[0]["read_hit_fraction"] == pytest.approx(0.6)
    # The same metric as the page of DASD shows: one definition.
    assert report.definitions["data_set.response_time"].formula == "S42DSR1U x S42DSION / S42DSION"
    delays = table(report, "delays")
    assert [(row["object"], row["sync_delay"], row["sync_delay_longest"]) for row in delays] == [
        ("PAYDB.PAYTS", pytest.approx(0.002), 0.8),
        ("PAYDB.PAYIX", pytest.approx(1 / 1050), 0.02),
    ]


def test_prices_and_losses_are_told(report: Report, analysis: PoolsAnalysis) -> None:
    rows = table(report, "cost_assumptions")
    assert [row["value"] for row in rows][:3] == ["33.0 µs", "33.0 µs", "8.0 %"]
    assert all(row["origin"] == "stated" for row in rows)
    texts = [block.text for block in report.section("assumed").blocks if isinstance(block, Note)]
    assert "Of BP1 only the size is recorded." in texts
    assert report.alerts == ()
    lossy = replace(analysis.facts, lost=1000, lost_share=1 / 7)
    (alert,) = pools_report(replace(analysis, facts=lossy)).alerts
    assert "1,000 of 7,000 references (14.3%) were lost" in alert.text


def test_a_change_that_was_asked_for(analysis: PoolsAnalysis) -> None:
    found = analysis.recommendation
    assert found is not None
    asked = Prediction(
        ("trace.parquet",), 599.9, (), found.before, found.after, {}, Engine("simulation"),
        commands=("-ALTER BUFFERPOOL(BP1) VPSIZE(400)",), reverse=("-ALTER BUFFERPOOL(BP1) VPSIZE(200)",),
    )  # fmt: skip
    report = pools_report(replace(analysis, recommendation=None, prediction=asked))
    section = report.section("change")
    (advice,) = [block for block in section.blocks if isinstance(block, Advice)]
    assert advice.command == "-ALTER BUFFERPOOL(BP1) VPSIZE(400)"
    assert advice.undo == "-ALTER BUFFERPOOL(BP1) VPSIZE(200)"
    nothing = pools_report(replace(analysis, recommendation=None, prediction=replace(asked, after=found.before)))
    assert any("no effect" in b.text for b in nothing.section("change").blocks if isinstance(b, Note))


def test_a_trace_without_times_has_counts(tmp_path: Path) -> None:
    trace = open_trace([trace_file(tmp_path, timed=False)])
    observation = observe(trace, Configuration({one.name: one for one in SETTINGS}), looks=5)
    report = pools_report(
        PoolsAnalysis(("t",), trace.facts, observation, default_cost(), curves=curves_of(trace, sizes=[100, 1000]))
    )
    rows = table(report, "objects")
    assert "read_ios" in rows[0]
    assert "read_ios_per_second" not in rows[0]
    assert any("no times" in b.text for b in report.section("residency").blocks if isinstance(b, Note))
    json.dumps(to_json(report), allow_nan=False)
    assert render_text(report, 80)
    assert render_html(report)


def test_text_and_json_hold_it_too(report: Report) -> None:
    text = render_text(report, 132)
    assert "B U F F E R   P O O L   R E P O R T" in text
    assert "-ALTER BUFFERPOOL" in text
    assert "Fires when" not in text
    assert max(map(len, text.splitlines())) <= 132
    told = to_json(report)
    json.dumps(told, allow_nan=False)
    curves = next(section for section in told["sections"] if section["id"] == "curves")
    assert {chart["name"] for chart in curves["xy_charts"]} >= {"curve_BP1", "shares_BP1", "curve_BP2", "shares_BP2"}


@pytest.fixture(scope="module")
def page(report: Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "pools.html"
    path.write_text(render_html(report), encoding="utf-8")
    return path


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_in_a_browser(browser: chromium.Browser, page: Path, width: int, dark: bool) -> None:
    browser.open(page, width=width, dark=dark)
    assert browser.messages() == []
    browser.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert browser.run("return document.documentElement.scrollWidth") <= width
    ids = browser.run("return [...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))
    broken = browser.run(
        "return [...document.querySelectorAll('a[href^=\"#\"]')].map(a => decodeURIComponent(a.hash.slice(1)))"
        ".filter(id => !document.getElementById(id))"
    )
    assert broken == []
    folder = REPOSITORY / ".build" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    browser.screenshot(folder / f"pools-{width}-{'dark' if dark else 'light'}.png")
