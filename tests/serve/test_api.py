"""The JSON of metric views, the text for Prometheus, and the example dashboard of Grafana against them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from starlette.types import ASGIApp

from plexlens.metrics import GRAINS
from plexlens.serve.app import application
from plexlens.serve.guard import Door
from plexlens.serve.workspace import Workspace
from tests.cli.command import run
from tests.conftest import REPOSITORY
from tests.serve.client import ask

ROWS = "/api/v1/views/coupling_structure/rows"


def _json(app: ASGIApp, address: str, status: int = 200) -> Any:
    answer = ask(app, address)
    assert answer.status == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    return json.loads(answer.text)


def _sql(pdb: Path, query: str) -> list[dict[str, Any]]:
    done = run("sql", pdb, query, "--json", cwd=pdb.parent)
    assert done.returncode == 0, done.stderr
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    return rows


def test_each_view_and_its_columns(app: ASGIApp) -> None:
    told = _json(app, _json(app, "/api/v1")["views"])
    names = [one["name"] for one in told["views"]]
    assert {"coupling_structure", "cpu_system", "workload_period", "db2_pool"} <= set(names)
    for one in told["views"]:
        columns = {column["name"]: column for column in _json(app, one["columns"])["columns"]}
        grain = GRAINS[one["name"]]
        assert {metric.name for metric in grain.metrics} <= columns.keys()
        for metric in grain.metrics:
            assert columns[metric.name]["unit"] == metric.unit.base
            assert columns[metric.name]["kind"] == "metric"
    assert {one["system"] for one in told["systems"]} >= {"SYS1", "SYS2"}


@pytest.mark.parametrize("name", ["coupling_structure", "workload_period", "db2_pool", "cics_transaction"])
def test_rows_are_those_of_the_view(app: ASGIApp, pdb: Path, name: str) -> None:
    """Against the view of `plexlens sql`, whose rows are joined by name here."""
    told = _json(app, f"/api/v1/views/{name}/rows?limit=100000")
    view = _sql(pdb, f"select * from {name}")
    assert told["total"] == len(told["rows"]) == len(view)
    keys = ["system", *(key.name for key in GRAINS[name].keys)]

    def named(row: dict[str, Any], time: Any) -> tuple[str, ...]:
        return (*(str(row[key]) for key in keys), str(time)[:16].replace(" ", "T"))

    mine = {named(row, row["time"]): row for row in told["rows"]}
    for row in view:
        found = mine[named(row, row["interval"])]
        for metric in GRAINS[name].metrics:
            value = row[metric.name]
            assert found[metric.name] == (value if value is None else pytest.approx(value, rel=1e-9)), metric.name


def test_filters_times_and_limits(app: ASGIApp) -> None:
    whole = _json(app, f"{ROWS}?by=structure&metric=requests_per_second")
    times = sorted({row["time"] for row in whole["rows"]})
    assert [row["time"] for row in whole["rows"]] == sorted(row["time"] for row in whole["rows"])
    assert all(time.endswith("Z") for time in times)
    last = _json(app, f"{ROWS}?by=structure&metric=requests_per_second&limit=2")
    assert last["rows"] == whole["rows"][-2:]
    assert (last["total"], last["left_out"]) == (whole["total"], whole["total"] - 2)
    # One value, several values of a key, and a time in milliseconds as Grafana writes it.
    names = sorted({row["structure"] for row in whole["rows"]})[:2]
    one = _json(app, f"{ROWS}?by=structure&metric=requests_per_second&where=structure%3D{names[0]}")
    assert one["rows"] == [row for row in whole["rows"] if row["structure"] == names[0]]
    wheres = "&".join(f"where=structure%3D{name}" for name in names)
    both = _json(app, f"{ROWS}?by=structure&metric=requests_per_second&{wheres}")
    assert both["rows"] == [row for row in whole["rows"] if row["structure"] in names]
    from datetime import datetime

    moment = datetime.fromisoformat(times[len(times) // 2].replace("Z", "+00:00"))
    by_iso = _json(app, f"{ROWS}?by=structure&from={quote(moment.isoformat())}")
    assert by_iso["rows"] == _json(app, f"{ROWS}?by=structure&from={int(moment.timestamp() * 1000)}")["rows"]
    assert {row["time"] for row in by_iso["rows"]} == {time for time in times if time >= times[len(times) // 2]}
    assert len(_json(app, f"{ROWS}?by=&every=whole")["rows"]) == 1


@pytest.mark.parametrize(
    ("address", "status", "parameter", "said"),
    [
        ("/api/v1/views/nope", 404, None, "no metric view 'nope'"),
        ("/api/v1/views/nope/rows", 404, None, "no metric view 'nope'"),
        ("/api/v1/nope", 404, None, "nothing is at this address"),
        ("/api/v2/views", 404, None, "nothing is at this address"),
        ("/api/v1?x=1", 400, None, "no parameter 'x'"),
        ("/api/v1/views?by=system", 400, None, "no parameter 'by'"),
        (f"{ROWS}?by=nope", 400, "by", "there is no 'nope'"),
        (f"{ROWS}?metric=requests_per_secnd", 400, "metric", "there is no 'requests_per_secnd'"),
        (f"{ROWS}?every=fortnight", 400, "every", "there is no 'fortnight'"),
        (f"{ROWS}?limit=0", 400, "limit", "not a number from 1 to 100,000"),
        (f"{ROWS}?limit=1e9", 400, "limit", "not a number from 1 to 100,000"),
        (f"{ROWS}?limit=1&limit=2", 400, "limit", "given twice"),
        (f"{ROWS}?where=structure", 400, "where", "is not KEY=VALUE"),
        (f"{ROWS}?where=nope%3D1", 400, "where", "is not KEY=VALUE"),
        (f"{ROWS}?from=yesterday", 400, None, "yesterday"),
        (f"{ROWS}?from=99999999999999", 404, None, "nothing matches from 5138-11-16"),
        (f"{ROWS}?shift=never", 400, None, "never"),
        (f"{ROWS}?from=2030-01-01", 404, None, "nothing matches from 2030-01-01"),
        (f"{ROWS}?system=%00", 400, "system", "control characters"),
        ("/metrics?grain=nope", 400, None, "there is no 'nope'"),
        ("/metrics?timestamps=maybe", 400, None, "there is no 'maybe'"),
    ],
)
def test_wrong_parameters_say_what_is_wrong(
    app: ASGIApp, address: str, status: int, parameter: str | None, said: str
) -> None:
    if address.startswith("/metrics"):
        answer = ask(app, address)
        assert answer.status == status
        assert said in answer.text
        return
    error = _json(app, address, status)["error"]
    assert error["status"] == status
    assert error["parameter"] == parameter
    assert said in error["what"]
    assert error["remedy"]


def test_the_text_for_prometheus_is_that_of_the_last_day(app: ASGIApp, workspace: Workspace, pdb: Path) -> None:
    """Systems that fell silent long ago are not in it: of the example's, only the latest is."""
    answer = ask(app, "/metrics")
    assert answer.status == 200
    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    read = {family.name: family for family in text_string_to_metric_families(answer.text)}
    last = max(one.last for one in workspace.extent.systems if one.last)
    samples = [sample for family in read.values() for sample in family.samples]
    shown = {sample.labels["system"] for sample in samples if "system" in sample.labels}
    late = {one.system for one in workspace.extent.systems if one.last and (last - one.last).days < 1}
    assert shown == late
    done = run("export", pdb, "--format", "openmetrics", "--system", ",".join(late), cwd=pdb.parent)
    assert answer.text == done.stdout


def test_programs_show_the_token_in_a_header(workspace: Workspace) -> None:
    app = application(workspace, Door(token="a token of one's own", port=8711))
    for address in ("/metrics", "/api/v1/views", "/"):
        host = ("host", "127.0.0.1:8711")
        assert ask(app, address).status == 401
        assert ask(app, address, headers=(host, ("authorization", "Bearer wrong"))).status == 401
        assert ask(app, address, headers=(host, ("authorization", "Basic a token of one's own"))).status == 401
        assert ask(app, address, headers=(host, ("authorization", "Bearer "))).status == 401
        answer = ask(app, address, headers=(host, ("authorization", "Bearer a token of one's own")))
        assert answer.status == 200
        # Another site's page cannot use it, and another name of the machine neither.
        foreign = (host, ("authorization", "Bearer a token of one's own"), ("sec-fetch-site", "cross-site"))
        assert ask(app, address, headers=foreign).status == 403
    assert ask(app, "/api/v1", headers=(("host", "evil.example"), ("authorization", "Bearer x"))).status == 421


def _targets(dashboard: Any) -> list[Any]:
    variables = [
        one["query"]["infinityQuery"] for one in dashboard["templating"]["list"] if isinstance(one["query"], dict)
    ]
    return variables + [target for panel in dashboard["panels"] for target in panel["targets"]]


def test_the_dashboard_asks_what_the_server_answers(two_weeks_app: ASGIApp) -> None:
    """Every address of it answers with rows; each selector is a member of a row, with the type that it says."""
    dashboard = json.loads((REPOSITORY / "docs" / "grafana" / "plexlens.json").read_text())
    targets = _targets(dashboard)
    assert len(targets) > 5
    kinds = {"string": str, "timestamp": str, "number": int | float}
    for target in targets:
        address = target["url"].replace("${__from}", "631152000000").replace("${__to}", "1893456000000")
        rows = _json(two_weeks_app, address.replace("${system}", "*"))[target["root_selector"]]
        assert rows, address
        for column in target["columns"]:
            values = [row[column["selector"]] for row in rows]
            known = [value for value in values if value is not None]
            assert known, column
            assert all(isinstance(value, kinds[column["type"]]) for value in known), column
