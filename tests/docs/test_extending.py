"""What docs/extending.md says of metrics and grains is done as it says, and gives what it should."""

from __future__ import annotations

import re
import struct
import textwrap
from pathlib import Path
from typing import Any

import pytest

from plexlens.compare import load_study
from plexlens.compare.analysis.analysis import analyse
from plexlens.compare.audit.audit import audit
from plexlens.errors import UsageError
from plexlens.findings import check, load_rules
from plexlens.ingest import kinds
from plexlens.ingest.source import Reading
from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import evaluate
from plexlens.metrics.inputs import Inputs
from plexlens.pdb import Pdb, ingest
from plexlens.pdb.engine import rows_of as rows_in
from plexlens.report import to_json
from plexlens.report.blocks.readings import Readings
from plexlens.report.build import build
from tests.compare.test_own_study import indented
from tests.ingest.rmf_documents import ddsml, part, postprocessor, segment, table
from tests.ingest.rmf_documents import row as row_of
from tests.ingest.text_report_documents import db2_heading
from tests.metrics.raw import inputs, row, rows_of
from tests.records import dump, record

ROOT = Path(__file__).parents[2]


def block(heading: str, language: str = "toml") -> str:
    """The first block of a language under a heading."""
    text = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
    section = text[text.index(f"\n## {heading}\n") :]
    found = re.search(rf"```{language}\n(.*?)```", section, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.fixture(autouse=True)
def _catalogue_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GRAINS, "_catalogue", None)


def test_a_metric_is_five_lines(tmp_path: Path) -> None:
    added = block("A metric")
    assert len(added.splitlines()) == 5
    (tmp_path / "structure.toml").write_text(f'grain = "coupling_structure"\n{added}', encoding="utf-8")
    GRAINS.load([tmp_path])
    grain = GRAINS["coupling_structure"]
    assert grain.metric("bytes_per_request").words == "(R744SWED + R744SRED) / (R744SSRC + R744SARC)"
    # The test that the page shows, as it stands there.
    names: dict[str, Any] = {"inputs": inputs, "row": row, "rows_of": rows_of, "evaluate": evaluate, "STRUCTURE": grain}
    exec(textwrap.dedent(block("A metric", "python")), names)
    names["test_data_moved_per_request"]()


def test_a_grain_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "queue.toml").write_text(block("A grain"), encoding="utf-8")
    GRAINS.load([tmp_path])
    grain = GRAINS["shop_queue"]
    assert list(GRAINS)[-1] == "shop_queue"
    assert grain.metric("service_time").words == "SHPSRV / SHPREQ"
    fields = {"shpname": "IN", "shptype": 2, "shpwtb": 1.0}
    tables = inputs(
        smf250_queue=[
            row(1, **fields, shpreq=100.0, shpsrv=2.0, shpmax=0.5, shpwta=3.0),
            row(2, interval=1, **fields, shpreq=300.0, shpsrv=4.0, shpmax=0.25, shpwta=7.0),
        ]
    )
    first, second = sorted(rows_of(evaluate(tables, grain)), key=lambda one: one["time"])
    assert (first["queue"], first["kind"], first["interval_seconds"]) == ("IN", "online", 900.0)
    # 2 / 100 and 4 / 300; together 6 / 400. The longest of both; waiting 2 and 6, on the average 4.
    assert first["service_time"] == 0.02
    assert second["service_time"] == pytest.approx(4 / 300)
    (whole,) = rows_of(evaluate(tables, grain, time="all"))
    assert whole["service_time"] == pytest.approx(0.015)
    assert (whole["longest_seconds"], whole["waiting"], whole["requests"]) == (0.5, 4.0, 400.0)


def test_a_record_type_is_files_of_layouts(tmp_path: Path) -> None:
    header, queue, record_map = csv_blocks("A record type")
    site = tmp_path / "site"
    (site / "records").mkdir(parents=True)
    for name, text in (("smf250_header", header), ("smf250_queue", queue), ("records/smf250", record_map)):
        (site / f"{name}.csv").write_text(text, encoding="utf-8")
    # By the offsets of the blocks: a standard header of 24 bytes, the triplet at 28, entries of 20 bytes at 36.
    entries = [
        name.ljust(8).encode("cp037") + struct.pack(">B3xII", kind, requests, milliseconds)
        for name, kind, requests, milliseconds in (("IN", 2, 100, 2000), ("OUT", 1, 7, 500))
    ]
    body = bytes(4) + struct.pack(">IHH", 36, 20, 2) + b"".join(entries)
    # `record` writes 18 bytes of header; subsystem and subtype follow.
    path = tmp_path / "shop.smf"
    path.write_bytes(dump(record(250, "SYS1", b"\x40" * 4 + bytes(2) + body)))
    with Pdb.temporary() as pdb:
        ingest([path], pdb, layouts=(site,))
        found = rows_in(pdb.connect(), "select shpname, shptype, shpreq, shpsrv, system from smf250_queue order by 1")
    assert [tuple(row.values()) for row in found] == [("IN", 2, 100, 2.0, "SYS1"), ("OUT", 1, 7, 0.5, "SYS1")]


def _queues() -> Inputs:
    """Service times of 2 / 100 and 4 / 300 s: 20 and 13.3 ms; together 6 / 400, 15 ms."""
    fields = {"shpname": "IN", "shptype": 2}
    return inputs(
        smf250_queue=[
            row(1, **fields, shpreq=100.0, shpsrv=2.0, shpmax=0.5, shpwta=3.0, shpwtb=1.0),
            row(2, interval=1, **fields, shpreq=300.0, shpsrv=4.0, shpmax=0.25, shpwta=7.0, shpwtb=1.0),
        ]
    )


def test_a_rule_is_an_entry(tmp_path: Path) -> None:
    (tmp_path / "grains").mkdir()
    (tmp_path / "grains" / "queue.toml").write_text(block("A grain"), encoding="utf-8")
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "shop.toml").write_text(block("A rule"), encoding="utf-8")
    GRAINS.load([tmp_path / "grains"])
    (rule,) = [one for one in load_rules([tmp_path / "rules"]) if one.id.startswith("shop.")]
    (finding,) = check(_queues(), rules=[rule]).fired
    assert (finding.intervals, finding.holding) == (2, 1)
    assert finding.sentence == "A request of IN takes 20.000 ms."


def test_a_page_is_a_module(tmp_path: Path) -> None:
    (tmp_path / "queue.toml").write_text(block("A grain"), encoding="utf-8")
    GRAINS.load([tmp_path])
    names: dict[str, Any] = {}
    exec(compile(block("A page of the report", "python"), "shop.py", "exec"), names)
    report = build(_queues(), Readings(), pages=(names["PAGE"],))
    (section,) = [one for one in to_json(report)["sections"] if one["id"] == "shop"]
    assert section["missing"] == []
    (figure,) = [one for each in to_json(report)["sections"] for one in each["figures"]]
    assert (figure["name"], figure["value"]) == ("shop_slowest", pytest.approx(0.015))
    (listed,) = section["tables"][0]["rows"]
    assert (listed["queue"], listed["requests"]) == ("IN", 400.0)
    (chart,) = section["charts"]
    assert chart["series"][0]["values"] == pytest.approx([0.02, 4 / 300])


def test_a_message_says_place_fault_and_remedy() -> None:
    text = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
    section = text[text.index("\n## A message\n") :]
    code = re.search(r"```python\n(.*?)```", section, re.DOTALL)
    printed = re.search(r"prints `plexlens: (.*?)`", section)
    assert code is not None and printed is not None
    with pytest.raises(UsageError) as raised:
        exec(code[1], {"UsageError": UsageError})
    assert str(raised.value) == printed[1]
    assert raised.value.exit_code == 2


def test_a_study_of_ones_own_has_an_analysis(tmp_path: Path) -> None:
    readme = (ROOT / "studies" / "README.md").read_text(encoding="utf-8")
    _, runs, study, *_ = indented(readme)
    for name, text in (("runs.csv", runs), ("study.toml", study), ("analysis.toml", block("A study"))):
        (tmp_path / name).write_text(text, encoding="utf-8")
    (finding,) = analyse(audit(load_study(str(tmp_path)))).findings
    # 1.486 and 1.321 ms: 1 - 1.321 / 1.486 = 11.1 %.
    assert finding.text == "A transaction needs 11.1 % less processor time."


def test_every_key_of_a_source_is_described() -> None:
    from plexlens.metrics.catalogue.draft import SOURCE_KEYS

    text = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
    table = text[text.index("| key of `[[source]]`") :]
    listed = table[: table.index("\n\n")]
    assert [key for key in SOURCE_KEYS if f"`{key}`" not in listed and key not in ("python", "arguments")] == []


def csv_blocks(heading: str) -> list[str]:
    """The CSV blocks of a section."""
    text = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
    section = text[text.index(f"\n## {heading}\n") :]
    return re.findall(r"```csv\n(.*?)```", section[: section.index("\n## ", 1)], re.DOTALL)


def test_a_printed_report_is_a_file_and_a_line(tmp_path: Path) -> None:
    from plexlens.ingest.printed import text, xml

    tables, function, blocks, plan = csv_blocks("A printed report")
    section = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
    line = re.search(r"with the line `(text_shop_plan,[^`]*)`", section)
    assert line is not None
    folder = tmp_path / "site" / "printed"
    folder.mkdir(parents=True)
    files = {"tables": tables + line[1] + "\n", "rmf_pcie_function": function, "blocks": blocks, "shop_plan": plan}
    for name, content in files.items():
        (folder / f"{name}.csv").write_text(content, encoding="utf-8")
    site = (tmp_path / "site",)

    heads = ("T:Function ID", "T:Status", "N:Load Rate", "N:Average Latency")
    report = postprocessor(
        "PCIE", segment("PCIE", part("Functions", table(heads, row_of("001E", "A", "2.5", "0.125"))))
    )
    document = tmp_path / "pcie.xml"
    document.write_text(ddsml(report), encoding="utf-8")
    (found,) = rows_read(xml.read(document, source_id="s", site=site))["rmf_xml_pcie_function"]
    # 2.5 a second over half an hour; 0.125 ms.
    assert (found["function_id"], found["loads"], found["latency_seconds"]) == ("001E", 4500.0, 0.000125)
    assert "rmf_xml_pcie_function" not in rows_read(xml.read(document, source_id="s"))

    printed = tmp_path / "plans.txt"
    heading = "PLAN/PACKAGE PROCESSING      QUANTITY  /SECOND  /THREAD  /COMMIT\n" + "-" * 66 + "\n"
    values = "PLAN ALLOCATION ATTEMPTS       62.00     0.07     0.05     0.01\nPLAN ALLOCATIONS 61.00 0.07 0.05 0.01\n"
    printed.write_text(db2_heading("1-1") + heading + values, encoding="utf-8")
    (plans,) = rows_read(text.read(printed, source_id="s", site=site))["text_shop_plan"]
    assert (plans["allocations"], plans["allocated"], plans["interval_seconds"]) == (62.0, 61.0, 900.0)
    assert plans["subsystem"] == "DB2A"


def rows_read(reading: Reading) -> dict[str, list[dict[str, Any]]]:
    rows: dict[str, list[dict[str, Any]]] = {}
    for name, batch in reading:
        rows.setdefault(name, []).extend(batch.to_pylist())
    return rows


def test_a_source_is_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names: dict[str, Any] = {"__name__": "shop_csv"}
    exec(block("A source", "python"), names)
    kind = kinds.SourceKind("shop", "a file of the queue monitor", names["sniff"], names["QueueReading"])
    monkeypatch.setattr(kinds, "SOURCES", (kind, *kinds.SOURCES))
    path = tmp_path / "q.csv"
    path.write_text(
        "system,start,end,queue,requests\n"
        "SYS1,2026-03-02T10:00,2026-03-02T10:15,IN,100\n"
        "SYS1,2026-03-02T10:00,2026-03-02T10:15,OUT,many\n"
        "SYS1,2026-03-02T10:15\n"
        "SYS1,2026-03-02T10:15,2026-03-02T10:30,IN,7\n"
    )
    with Pdb.temporary() as pdb:
        ingest([path], pdb)
        rows = rows_in(pdb.connect(), "select record_no, queue, requests, interval_end from shop_queue order by 1")
        damage = rows_in(pdb.connect(), "select record_no, detail from damage order by 1")
    assert [(row["record_no"], row["queue"], row["requests"]) for row in rows] == [(1, "IN", 100.0), (4, "IN", 7.0)]
    assert [row["interval_end"].minute for row in rows] == [15, 30]
    # Lines of the file, its heading included.
    assert [(row["record_no"], row["detail"].split(":")[0]) for row in damage] == [(2, "line 3"), (3, "line 4")]
