"""RMF XML reports as printed: every number of a document is a cell of the page, whatever the report.

The oracle is a walk of the document with lxml that knows the elements alone, nothing of reports.
"""

from __future__ import annotations

import json
import random
import tomllib
from collections import Counter
from html import unescape
from pathlib import Path
from typing import Any

import lxml.etree
import lxml.html
import pytest

from plexlens.metrics.inputs import Inputs
from plexlens.pdb import Pdb, ingest
from plexlens.report import Report, render_html, render_text, to_json
from plexlens.report.blocks.readings import readings_of
from plexlens.report.build import build
from plexlens.report.model import PrintedNumber, Table
from plexlens.report.pages.rmf_reports import PAGE
from tests.ingest import rmf_documents as rmf

KINDS = tomllib.loads((Path(rmf.__file__).parent / "rmf_report_kinds.toml").read_text())["kind"]

#: Elements with addresses in the server's own notation, which the page leaves out.
NOT_SHOWN = {"reslabelurl", "local-prev", "local-next"}

FORMS = ("{n}", "{n}.{d:02}", "{n}K", "{n}.{d:02}M", "0{n:04}", "00.{m:02}.{m:02}.{t:03}", "NAME{n}", "N/A", "****", "")


def report_of(*paths: Path) -> Report:
    """The page of these files, and no other page."""
    with Pdb.temporary() as pdb:
        ingest(list(paths), pdb)
        connection = pdb.connect()
        return build(Inputs(connection), readings_of(connection), pages=(PAGE,))


def numbers_of(path: Path) -> Counter[str]:
    """Every text of the document with a digit in it that stands in an element without children.

    Names of segments and parts are headings: they may stand over several tables, and are not numbers.
    """
    texts: Counter[str] = Counter()
    for element in lxml.etree.parse(str(path)).getroot().iter(tag=lxml.etree.Element):
        parent = element.getparent()
        if element.tag == "name" and parent is not None and parent.tag in ("segment", "part"):
            continue
        text = " ".join((element.text or "").split())
        if not len(element) and element.tag not in NOT_SHOWN and any(sign.isdigit() for sign in text):
            texts[text] += 1
    return texts


def rendered(report: Report) -> str:
    """The page without the places where a long word of a heading may be broken."""
    return render_html(report).replace("&shy;", "")


def cells_of(report: Report) -> Counter[str]:
    page = lxml.html.document_fromstring(rendered(report))
    section = page.get_element_by_id("rmf_reports")
    return Counter(" ".join(cell.text_content().split()) for cell in section.iter("td", "th", "h3", "summary"))


def value(random_: random.Random) -> str:
    form = random_.choice(FORMS)
    return form.format(n=random_.randrange(1, 99999), d=random_.randrange(100), m=random_.randrange(60), t=7)


def document(kind: dict[str, Any], random_: random.Random, rows: int) -> str:
    """A report of a public kind with values of its own."""
    segments, bodies = [], []
    for segment in kind.get("segment", []):
        parts = []
        for part in segment.get("part", []):
            content = ""
            if "variables" in part:
                content += rmf.variable_list({name: value(random_) for name in part["variables"]})
            if "heads" in part:
                heads = [f"{random_.choice('TNSM')}:{head}" for head in part["heads"]]
                lines = [rmf.row(*(value(random_) for _ in heads)) for _ in range(rows)]
                content += rmf.table(heads, *lines) if kind["monitor"] == 1 else rmf.heads(*heads) + "".join(lines)
            parts.append(rmf.part(part.get("name"), content))
            bodies.append(content)
        segments.append(rmf.segment(segment.get("name", ""), *parts))
    if kind["monitor"] == 3:
        return rmf.ddsml(rmf.monitor3(kind["metric"], "".join(bodies)))
    return rmf.ddsml(rmf.postprocessor(kind["metric"], *segments, option=kind.get("options", "")))


@pytest.mark.parametrize("kind", KINDS, ids=[f"{kind['metric']}-{kind['monitor']}" for kind in KINDS])
@pytest.mark.parametrize("rows", [0, 3])
def test_every_number_of_every_public_kind_is_on_the_page(kind: dict[str, Any], rows: int, tmp_path: Path) -> None:
    path = tmp_path / "report.xml"
    path.write_text(document(kind, random.Random(f"{kind['metric']}{rows}"), rows))
    report = report_of(path)
    assert numbers_of(path) - cells_of(report) == Counter()
    page = unescape(rendered(report))
    for part in (part for segment in kind["segment"] for part in segment.get("part", [])):
        for head in (*part.get("heads", ()), *part.get("variables", ())):
            assert head in page


def _two_intervals(tmp_path: Path) -> Path:
    path = tmp_path / "two.xml"
    path.write_text(
        rmf.ddsml(
            *(
                rmf.postprocessor(
                    "IOQ",
                    rmf.segment(
                        "Logical Control Unit (LCU) Data",
                        rmf.part(None, rmf.table(["T:LCU", "N:Rate"], rmf.row("0011", rate), rmf.row("", ""))),
                    ),
                    rmf.segment(
                        "System Information", rmf.part(None, rmf.variable_list({"Mode": "LPAR", "Load": load}))
                    ),
                    start=f"07/26/2022-0{hour}.00.00",
                    end=f"07/26/2022-0{hour}.30.00",
                )
                for hour, rate, load in ((2, "2.25", "7"), (1, "1.5", "6"))
            )
        )
    )
    return path


def _tables(report: Report) -> dict[str, Table]:
    return {block.title: block for block in report.section("rmf_reports").blocks if isinstance(block, Table)}


def test_intervals_stand_in_one_table_in_order_of_time(tmp_path: Path) -> None:
    tables = _tables(report_of(_two_intervals(tmp_path)))
    table = tables["Logical Control Unit (LCU) Data"]
    assert [column.title for column in table.columns] == ["Start", "LCU", "Rate"]
    assert table.rows == (
        ("07/26/2022-01.00.00", "0011", PrintedNumber("1.5", 1.5)),
        ("07/26/2022-01.00.00", None, None),
        ("07/26/2022-02.00.00", "0011", PrintedNumber("2.25", 2.25)),
        ("07/26/2022-02.00.00", None, None),
    )
    assert [table.all_numbers(place) for place in range(3)] == [False, False, True]
    assert tables["System Information"].rows == (
        ("07/26/2022-01.00.00", "LPAR", PrintedNumber("6", 6.0)),
        ("07/26/2022-02.00.00", "LPAR", PrintedNumber("7", 7.0)),
    )
    assert {table.group for table in tables.values()} == {"IOQ: IOQ Report", "Files and servers"}


def test_numbers_stand_right_in_page_and_text_and_keep_both_forms_in_json(tmp_path: Path) -> None:
    path = tmp_path / "one.xml"
    body = rmf.part(None, rmf.variable_list({"Storage Configured": "25152M", "Mode": "On", "Rate": "7"}))
    path.write_text(rmf.ddsml(rmf.postprocessor("CACHE", rmf.segment("Cache", body))))
    report = report_of(path)
    page = lxml.html.document_fromstring(rendered(report))
    cell = {c.text_content().strip(): c.get("class") for c in page.iter("td")}
    assert cell["25152M"] == cell["7"] == "num"
    assert cell["On"] == "text"
    lines = render_text(report).splitlines()
    assert next(line for line in lines if line.startswith(" Rate")).endswith(" 7")
    assert next(line for line in lines if line.startswith(" Mode")).endswith("On")
    tables = {t["title"]: t for s in to_json(report)["sections"] for t in s["tables"]}
    assert json.loads(json.dumps(tables["Cache"]["rows"]))[0] == {
        "name": "Storage Configured",
        "value": {"printed": "25152M", "value": 25152.0 * 1024 * 1024},
    }


def test_left_out_reports_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plexlens.report.blocks.printed_reports.MOST_VALUES", 1)
    reports = _tables(report_of(_two_intervals(tmp_path)))["Reports"]
    assert (len(reports.rows), reports.total_rows, reports.left_out) == (1, 2, 1)
    assert "07/26/2022-02.00.00" in reports.rows[0]
    assert "1 earlier are left out" in reports.note
    assert "report = 'IOQ'" in reports.query


def test_a_report_without_data_shows_why(tmp_path: Path) -> None:
    path = tmp_path / "none.xml"
    message = "<message id='GPM0745E'><description>No reportable data</description><severity>3</severity></message>"
    remark = "<rmf-mfpmsg><mfpmsg id='ERB106I'> PPS: REPORTS(FCD), SMF RECORD 74</mfpmsg></rmf-mfpmsg>"
    path.write_text(rmf.ddsml(f"<postprocessor>{message}</postprocessor>", after=remark))
    tables = _tables(report_of(path))
    assert tables["Messages"].rows == (("GPM0745E", "No reportable data", PrintedNumber("3", 3.0)),)
    assert tables["Messages of the Postprocessor"].rows == (
        ("none.xml", "ERB106I", "PPS: REPORTS(FCD), SMF RECORD 74"),
    )


def test_names_from_files_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "odd.xml"
    name = "x' or 1=1 -- <b>"
    report = rmf.postprocessor("QUO&apos;TE", rmf.segment(name, rmf.part(name, rmf.variable_list({name: "1"}))))
    path.write_text(rmf.ddsml(report))
    page = lxml.html.document_fromstring(rendered(report_of(path)))
    assert not page.xpath("//main//b")
    assert any(name in cell.text_content() for cell in page.iter("th"))


def test_a_database_without_such_reports_has_no_such_page(tmp_path: Path) -> None:
    with Pdb.temporary() as pdb:
        connection = pdb.connect()
        report = build(Inputs(connection), readings_of(connection), pages=(PAGE,))
    assert "rmf_reports" not in [section.id for section in report.sections]
