"""The structure of RMF XML: reports, segments, parts, tables, Monitor III, and what no grammar foresees."""

from __future__ import annotations

import gzip
import re
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
import zstandard

from plexlens.ingest.printed import xml as rmf_xml
from plexlens.ingest.source import COMMON_FIELDS, Reading
from tests.ingest.rmf_documents import (
    ddsml,
    heads,
    monitor3,
    part,
    postprocessor,
    read_bytes,
    read_text,
    reasons,
    row,
    segment,
    table,
    values,
    variable_list,
)

MIDNIGHT = datetime(2022, 7, 26, tzinfo=UTC)


def test_a_variable_bears_its_report_place_and_interval(tmp_path: Path) -> None:
    document = ddsml(
        postprocessor("IOQ", segment("One"), segment("Two", part("A"), part("B", variable_list({"Rate": "1.5"})))),
    )
    rows, reading = read_text(tmp_path, document)
    (value,) = values(rows, "var")
    line = document.splitlines()
    expected = {
        "system": "SYS1",
        "sysplex": None,
        "subsystem": None,
        "interval_start": MIDNIGHT,
        "interval_end": datetime(2022, 7, 26, 0, 30, tzinfo=UTC),
        "utc_offset": None,
        "source_id": "ingest-1",
        "record_no": 1,
        "report": "IOQ",
        "report_title": "IOQ Report",
        "report_type": "Interval",
        "gatherer": "postprocessor",
        "resource": "SYS1",
        "resource_type": "SYSTEM",
        "segment_no": 2,
        "segment": "Two",
        "part_no": 2,
        "part": "B",
        "name": "Rate",
        "value": "1.5",
        "value_type": "number",
        "number": 1.5,
        "table_no": None,
        "line": 1 + next(number for number, text in enumerate(line) if "Rate" in text),
    }
    assert {name: value[name] for name in expected} == expected
    assert reading.damage == []


def test_rows_begin_with_the_common_columns_and_schemas_never_change(tmp_path: Path) -> None:
    path = tmp_path / "report.xml"
    path.write_text(ddsml(*[postprocessor("CPU", segment("S", part("P", variable_list({"CPU": "8562"}))))] * 3))
    reading = rmf_xml.read(path, source_id="x")
    assert isinstance(reading, Reading)
    schemas: dict[str, pa.Schema] = {}
    for name, batch in reading:
        assert [field.name for field in batch.schema][: len(COMMON_FIELDS)] == [field.name for field in COMMON_FIELDS]
        assert schemas.setdefault(name, batch.schema).equals(batch.schema, check_metadata=True)
    assert set(schemas) == {"rmf_xml_value", "rmf_xml_cpu_control"}
    with pytest.raises(RuntimeError, match="once"):
        next(iter(reading))


def test_a_row_keeps_all_its_cells_in_order_under_their_heads(tmp_path: Path) -> None:
    document = ddsml(
        postprocessor(
            "CHAN",
            segment(
                "S",
                part(
                    "P",
                    table(["T:Name", "N:Rate", "N:Rate"], row("A", "1", "2", refno="1"), row("B", "", "4", refno="2")),
                    table(["T:Name"], row("C", refno="1", type="SUM")),
                ),
            ),
        )
    )
    rows, _ = read_text(tmp_path, document)
    columns = ("table_no", "row_no", "row_type", "row_label", "cell_no", "column_no", "column_type", "column_head")
    cells = [(*(cell[name] for name in columns), cell["value"], cell["number"]) for cell in values(rows, "cell")]
    assert cells == [
        (1, 1, None, "A", 1, 1, "T", "Name", "A", None),
        (1, 1, None, "A", 2, 2, "N", "Rate", "1", 1.0),
        (1, 1, None, "A", 3, 3, "N", "Rate", "2", 2.0),
        (1, 2, None, "B", 1, 1, "T", "Name", "B", None),
        (1, 2, None, "B", 2, 2, "N", "Rate", None, None),
        (1, 2, None, "B", 3, 3, "N", "Rate", "4", 4.0),
        (2, 1, "SUM", "C", 1, 1, "T", "Name", "C", None),
    ]
    assert [cell["value_type"] for cell in values(rows, "cell")][4] == "empty"
    assert [head["value"] for head in values(rows, "head")] == ["Name", "Rate", "Rate", "Name"]


def test_row_numbers_count_rows_whatever_refno_says(tmp_path: Path) -> None:
    document = ddsml(
        postprocessor("X", segment("S", part("P", table(["N:A"], row("1", refno="1"), row("2", refno="1")))))
    )
    rows, _ = read_text(tmp_path, document)
    assert [(cell["row_no"], cell["value"]) for cell in values(rows, "cell")] == [(1, "1"), (2, "2")]
    refnos = [(row["row_no"], row["value"]) for row in values(rows, "attribute") if row["name"] == "row@refno"]
    assert refnos == [(1, "1"), (2, "1")]


def test_several_reports_of_several_intervals_and_systems(tmp_path: Path) -> None:
    body = segment("S", part(None, variable_list({"N": "1"})))
    document = ddsml(
        postprocessor("CPU", body, system="SYSA"),
        postprocessor("CPU", body, system="SYSB", start="07/26/2022-00.30.00", end="07/26/2022-01.00.00"),
        postprocessor("IOQ", body, system=None, sysplex="PLEXA", start="07/25/2022-23.30.00"),
    )
    rows, reading = read_text(tmp_path, document)
    shown = [
        (value["record_no"], value["report"], value["system"], value["sysplex"], value["interval_start"].hour)
        for value in values(rows, "var")
    ]
    assert shown == [(1, "CPU", "SYSA", None, 0), (2, "CPU", "SYSB", None, 0), (3, "IOQ", None, "PLEXA", 23)]
    assert reading.summary["records"] == {"CPU": 2, "IOQ": 1}
    assert reading.summary["systems"] == ["SYSA", "SYSB"]
    assert reading.summary["sysplexes"] == ["PLEXA"]
    assert reading.summary["span"] == ["2022-07-25T23:30:00", "2022-07-26T01:00:00"]
    assert reading.summary["reports"] == 3
    assert reading.summary["values"] == len(rows["rmf_xml_value"])
    assert reading.summary["numbers"] == sum(value["number"] is not None for value in rows["rmf_xml_value"])


def test_sections_number_the_values_of_each_report(tmp_path: Path) -> None:
    body = segment("S", part("P", variable_list({"A": "1", "B": "2"}), table(["T:X"], row("y", refno="1"))))
    rows, _ = read_text(tmp_path, ddsml(postprocessor("A", body), postprocessor("B", body)))
    for record in (0, 1, 2):
        numbers = [value["section_no"] for value in values(rows) if value["record_no"] == record]
        assert numbers == list(range(1, len(numbers) + 1))


def test_what_belongs_to_the_file_bears_the_span_of_its_reports(tmp_path: Path) -> None:
    body = segment("S", part(None, variable_list({"N": "1"})))
    document = ddsml(
        postprocessor("CPU", body),
        postprocessor("CPU", body, start="07/26/2022-01.00.00", end="07/26/2022-02.00.00"),
        after='<rmf-mfpmsg><mfpmsg id="ERB103I">PPS:   STOD(0000,2400)</mfpmsg></rmf-mfpmsg>',
    )
    rows, _ = read_text(tmp_path, document)
    (message,) = values(rows, "mfpmsg")
    assert message["value"] == "PPS:   STOD(0000,2400)"
    assert (message["row_label"], message["number"], message["record_no"]) == ("ERB103I", None, 0)
    (level,) = [value for value in values(rows, "server") if value["name"] == "functionality"]
    for value in (message, level):
        assert value["interval_start"] == MIDNIGHT
        assert value["interval_end"] == datetime(2022, 7, 26, 2, tzinfo=UTC)
        assert value["system"] == "SYS1"
    assert level["number"] == 3500.0


@pytest.mark.parametrize("heads_first", [True, False])
def test_monitor3_rows_stand_in_the_report_and_heads_may_follow_them(tmp_path: Path, heads_first: bool) -> None:
    named = heads("T:CPCPPNAM", "N:CPCPDMSU")
    lines = row("LPAR1", "12", refno="1") + row("LPAR2", "34", refno="2")
    caption = "<caption><var><name>CPCHMOD</name><value>8562</value></var></caption>"
    body = caption + (named + lines if heads_first else lines + named)
    rows, reading = read_text(tmp_path, ddsml(monitor3("CPC", body)))
    cells = [(cell["row_no"], cell["column_head"], cell["value"], cell["number"]) for cell in values(rows, "cell")]
    assert cells == [
        (1, "CPCPPNAM", "LPAR1", None),
        (1, "CPCPDMSU", "12", 12.0),
        (2, "CPCPPNAM", "LPAR2", None),
        (2, "CPCPDMSU", "34", 34.0),
    ]
    (variable,) = values(rows, "var")
    assert (variable["name"], variable["number"], variable["segment_no"]) == ("CPCHMOD", 8562.0, None)
    first = values(rows, "cell")[0]
    assert first["gatherer"] == "monitor3"
    assert first["system"] == "SYS1"
    assert first["interval_start"] == datetime(2022, 8, 23, 15, 46, 40, tzinfo=UTC)
    assert first["interval_end"] == datetime(2022, 8, 23, 15, 48, 20, tzinfo=UTC)
    assert first["utc_offset"] == -4 * 3600.0
    assert reading.damage == []


def test_many_rows_before_their_heads_wait_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plexlens.ingest.printed.xml.rows._HELD_CELLS", 7)
    lines = "".join(row(f"J{number}", str(number), refno=str(number)) for number in range(50))
    rows, _ = read_text(tmp_path, ddsml(monitor3("DELAY", lines + heads("T:JOB", "N:DELAY"))))
    cells = [(cell["column_head"], cell["value"]) for cell in values(rows, "cell")]
    assert cells == [pair for number in range(50) for pair in (("JOB", f"J{number}"), ("DELAY", str(number)))]


@pytest.mark.parametrize(
    ("label", "kind", "system", "sysplex"),
    [
        (",SYS1,MVS_IMAGE", "MVS_IMAGE", "SYS1", None),
        (",PLEX1,SYSPLEX", "SYSPLEX", None, "PLEX1"),
        ("SYS1,*,PROCESSOR", "PROCESSOR", "SYS1", None),
        ("CF01,LOCK1,CF_STRUCTURE", "CF_STRUCTURE", None, None),
        ("", "MVS_IMAGE", None, None),
    ],
)
def test_monitor3_resources(tmp_path: Path, label: str, kind: str, system: str | None, sysplex: str | None) -> None:
    body = heads("T:A") + row("x", refno="1")
    rows, _ = read_text(tmp_path, ddsml(monitor3("X", body, label=label, kind=kind)))
    (cell,) = values(rows, "cell")
    assert (cell["system"], cell["sysplex"], cell["resource"]) == (system, sysplex, label or None)


def test_messages_of_reports_and_segments(tmp_path: Path) -> None:
    message = '<message id="ERB1I"><description>All data zero</description><severity>1</severity></message>'
    document = ddsml(postprocessor("WLMGL", segment("Workload BATCH", part(None, variable_list({"A": "b"})), message)))
    rows, _ = read_text(tmp_path, document)
    shown = [(m["segment"], m["row_label"], m["name"], m["value"], m["number"]) for m in values(rows, "message")]
    assert shown == [
        ("Workload BATCH", "ERB1I", "description", "All data zero", None),
        ("Workload BATCH", "ERB1I", "severity", "1", 1.0),
    ]


def test_nothing_that_no_grammar_foresees_is_dropped(tmp_path: Path) -> None:
    document = ddsml(
        postprocessor(
            "NEW",
            "<extra a='1'><deep>2<b>3</b>4</deep></extra>",
            segment("S", "<odd>5</odd>", part("P", "<list><item n='6'>7</item><item>8</item></list>")),
            "9",
            "<segment><name>T</name><name>10</name><part><var-list><var><name>V</name><value>11</value>"
            "<value>12</value><limit>13</limit></var><var><value>14</value></var>15</var-list>"
            "<table><row>16<col>17</col>18</row><row><col><b>19</b></col><col>20</col></row></table></part></segment>",
        ),
        "<novelty><thing>21</thing></novelty>",
        after="22",
    )
    rows, _ = read_text(tmp_path, document)
    found = [value["value"] for value in values(rows)]
    for number in range(1, 23):
        assert found.count(str(number)) == 1, number
    named = {value["value"]: (value["kind"], value["name"]) for value in values(rows)}
    assert named["2"] == ("text", "deep")
    assert named["3"] == ("other", "extra/deep/b")
    assert named["5"] == ("other", "segment/odd")
    assert named["6"] == ("attribute", "item@n")
    assert named["13"] == ("var", "V/limit")
    assert named["20"][0] == "cell"
    assert {value["gatherer"] for value in values(rows) if value["value"] == "21"} == {"novelty"}
    (last,) = [value for value in values(rows, "cell") if value["value"] == "20"]
    assert last["cell_no"] == 2


def test_namespaces_and_prefixes(tmp_path: Path) -> None:
    document = (
        '<d:ddsml xmlns:d="urn:rmf" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
        'xsi:noNamespaceSchemaLocation="include/ddsml.xsd">'
        + postprocessor("CPU", segment("S", part("P", variable_list({"N": "1"})))).replace("</", "\0")
        .replace("<", "<d:").replace("\0", "</d:")
        + "</d:ddsml>"
    )  # fmt: skip
    rows, reading = read_text(tmp_path, document)
    assert [value["name"] for value in values(rows, "var")] == ["N"]
    assert reading.summary["records"] == {"CPU": 1}
    located = [value["value"] for value in values(rows, "attribute") if value["name"].startswith("ddsml@xsi:")]
    assert located == ["include/ddsml.xsd"]
    assert rmf_xml.sniff(document.encode(), "x")


def test_white_space_in_a_value_is_kept_and_at_its_ends_taken_off(tmp_path: Path) -> None:
    document = ddsml(postprocessor("X", segment("  S\n", part("\tP ", variable_list({" A  B ": "\n  N Y  N\t"})))))
    rows, _ = read_text(tmp_path, document)
    (value,) = values(rows, "var")
    assert (value["segment"], value["part"], value["name"], value["value"]) == ("S", "P", "A  B", "N Y  N")


def test_character_references_and_cdata(tmp_path: Path) -> None:
    document = ddsml(postprocessor("X", segment("S", part("P", variable_list({"&lt;=N": "12"})))))
    document = document.replace("<value>12</value>", "<value>&#49;<![CDATA[2 < 3]]> &amp; &gt;</value>")
    rows, _ = read_text(tmp_path, document.replace("&amp;lt;", "&lt;"))
    (value,) = values(rows, "var")
    assert (value["name"], value["value"]) == ("<=N", "12 < 3 & >")


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_compressed_files(tmp_path: Path, pack) -> None:  # type: ignore[no-untyped-def]
    data = ddsml(postprocessor("X", segment("S", part("P", variable_list({"A": "1"}))))).encode()
    plain, _ = read_bytes(tmp_path, data)
    packed, _ = read_bytes(tmp_path, pack(data), "report.xml.gz")
    assert packed == plain


def test_documents_strung_together_are_read_one_after_the_other(tmp_path: Path) -> None:
    first = ddsml(postprocessor("A", segment("S", part("P", variable_list({"A": "1"})))))
    second = ddsml(postprocessor("B", segment("S", part("P", variable_list({"B": "2"})))))
    rows, reading = read_text(tmp_path, first + second + second)
    shown = [(value["record_no"], value["report"], value["name"]) for value in values(rows, "var")]
    assert shown == [(1, "A", "A"), (2, "B", "B"), (3, "B", "B")]
    lines = [value["line"] for value in values(rows, "var")]
    whole = (first + second + second).splitlines()
    assert ["<name>A</name>" in whole[lines[0] - 1], "<name>B</name>" in whole[lines[1] - 1]] == [True, True]
    assert "<name>B</name>" in whole[lines[2] - 1]
    assert lines[1] != lines[2]
    assert reading.damage == []


def test_the_interval_end_may_be_told_by_its_length(tmp_path: Path) -> None:
    document = ddsml(postprocessor("X", segment("S", part("P", variable_list({"A": "1"})))))
    start = document.index("<display-end")
    document = document[:start] + document[document.index("</display-end>") + len("</display-end>") :]
    rows, reading = read_text(tmp_path, document)
    assert values(rows, "var")[0]["interval_end"] == datetime(2022, 7, 26, 0, 30, tzinfo=UTC)
    assert reading.damage == []


def test_times_that_come_after_the_data_still_reach_it(tmp_path: Path) -> None:
    document = ddsml(postprocessor("CPU", segment("S", part("P", variable_list({"CPU": "8562"})))))
    head, data = document.index("<resource>"), document.index("<segment>")
    end = document.index("</postprocessor>")
    late = document[:head] + document[data:end] + document[head:data] + document[end:]
    rows, reading = read_text(tmp_path, late)
    assert values(rows, "var")[0]["interval_start"] == MIDNIGHT
    assert rows["rmf_xml_cpu_control"][0]["interval_start"] == MIDNIGHT
    assert rows["rmf_xml_cpu_control"][0]["system"] == "SYS1"
    assert reading.damage == []


def test_new_heads_in_a_table_begin_another(tmp_path: Path) -> None:
    body = heads("T:A") + row("1", refno="1") + heads("T:B") + row("2", refno="1")
    rows, _ = read_text(tmp_path, ddsml(postprocessor("X", segment("S", part("P", f"<table>{body}</table>")))))
    cells = [(cell["table_no"], cell["row_no"], cell["column_head"], cell["value"]) for cell in values(rows, "cell")]
    assert cells == [(1, 1, "A", "1"), (2, 1, "B", "2")]


def test_cells_and_heads_that_do_not_match_are_told(tmp_path: Path) -> None:
    lines = row("1", "2", "3", refno="1") + row("4", refno="2") + row("5", "", refno="3") + row("6", refno="4")
    rows, reading = read_text(
        tmp_path, ddsml(postprocessor("X", segment("S", part("P", table(["N:A", "N:B"], lines)))))
    )
    assert reasons(reading) == [("cells without heading", "info"), ("cells missing", "info")]
    assert "2 rows" in reading.damage[1].detail
    (extra,) = [cell for cell in values(rows, "cell") if cell["value"] == "3"]
    assert (extra["column_no"], extra["column_head"], extra["number"]) == (None, None, 3.0)


def test_first_batches_come_before_the_file_is_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plexlens.ingest.printed.xml.rows.VALUE_ROWS", 500)
    body = segment("S", part("P", table(["T:A", "N:B"], *[row("x", str(n), refno=str(n)) for n in range(200)])))
    path = tmp_path / "long.xml"
    path.write_text(ddsml(*[postprocessor("IOQ", body)] * 60))
    size = path.stat().st_size
    reading = rmf_xml.read(path, source_id="x")
    positions, rows = [], []
    for _, batch in reading:
        positions.append(reading.position)
        rows.append(batch.num_rows)
    assert positions[0] < size / 4
    assert positions == sorted(positions)
    assert reading.position == size
    # A batch is what one piece of the file gave, however long the file.
    assert max(rows) < sum(rows) / 4


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"<?xml version='1.0'?>\n<ddsml>", True),
        (b"<!-- made by hand -->\n<ddsml xmlns:xsi='x'>", True),
        (b"\xef\xbb\xbf<DDSML>", True),
        ("<?xml version='1.0' encoding='UTF-16'?><ddsml>".encode("utf-16"), True),
        ("<?xml version='1.0'?><ddsml>".encode("cp037"), True),
        (b"<ddsmlx>", False),
        (b"<html><body>ddsml</body></html>", False),
        (b"", False),
        (bytes(range(256)), False),
        (b"\x1f\x8b\x00\x00", False),
    ],
)
def test_sniff(head: bytes, expected: bool) -> None:
    assert rmf_xml.sniff(head, "anything") is expected


def test_monitor_3_is_told_in_local_time_and_kept_in_utc(tmp_path: Path) -> None:
    """`plexlens records` showed 15:46 of a range that the report prints as 11:46."""
    rows, reading = read_text(tmp_path, ddsml(monitor3("CPC", heads("T:A", "N:B") + row("x", "1"))))
    assert reading.summary["span"] == ["2022-08-23T11:46:40", "2022-08-23T11:48:20"]
    assert {value["utc_offset"] for value in values(rows)} == {-14400.0}
    assert {value["interval_start"] for value in values(rows)} == {datetime(2022, 8, 23, 15, 46, 40, tzinfo=UTC)}


def test_a_report_that_gives_utc_alone_is_not_taken_for_local(tmp_path: Path) -> None:
    document = ddsml(monitor3("CPC", heads("T:A", "N:B") + row("x", "1")))
    document = re.sub(r"<local-start>.*</local-end>", "", re.sub(r"<display-start.*</display-start>", "", document))
    rows, _ = read_text(tmp_path, document)
    assert {value["utc_offset"] for value in values(rows)} == {0.0}
    assert {value["interval_start"] for value in values(rows)} == {datetime(2022, 8, 23, 15, 46, 40, tzinfo=UTC)}
