"""Files that are cut, broken, mislabelled or no RMF XML at all: each told in words, and nothing complete is lost."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from plexlens.errors import PlexlensError
from plexlens.ingest.printed import xml as rmf_xml
from plexlens.ingest.source import DAMAGE_SCHEMA, damage_batch
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

CPU = segment("CPU Activity", part(None, variable_list({"CPU": "8562", "Model": "Z02"})))
WORKLOADS = [
    segment(
        f"Workload W{number}",
        part(None, variable_list({"Workload": f"W{number}"})),
        part("Transactions", variable_list({"Ended": str(number)})),
    )
    for number in range(1, 4)
]


def refusal(folder: Path, data: bytes) -> rmf_xml.RmfXmlError:
    """The error that reading these bytes raises."""
    with pytest.raises(rmf_xml.RmfXmlError) as caught:
        read_bytes(folder, data)
    error = caught.value
    assert isinstance(error, PlexlensError)
    assert error.file.endswith("report.xml")
    assert error.what
    assert error.remedy
    assert "report.xml: " in str(error)
    return error


def test_a_cut_file_keeps_what_was_complete(tmp_path: Path) -> None:
    whole = ddsml(postprocessor("WLMGL", *WORKLOADS))
    at = whole.index("<value>3</value>") + 3
    cut = whole[:at]
    rows, reading = read_text(tmp_path, cut)
    assert [value["value"] for value in values(rows, "var")] == ["W1", "1", "W2", "2", "W3"]
    assert [value["value"] for value in values(rows, "text")] == ["Ended"]
    assert [period["class_name"] for period in rows["rmf_xml_workload_period"]] == ["W1", "W2"]
    (damage,) = reading.damage
    assert (damage.reason, damage.severity, damage.record_no) == ("not well-formed", "data loss", 1)
    line = cut.count("\n") + 1
    assert damage.detail.startswith(f"line {line}: ")
    assert "inside ddsml/postprocessor/segment/part/var-list/var" in damage.detail
    assert "segment 'Workload W3' has no rows in the report's own table" in damage.detail
    assert damage.offset is not None
    assert damage.offset <= len(cut.encode())
    assert damage.file.endswith("report.xml")
    assert damage.source_id == "ingest-1"


def test_a_cut_row_keeps_its_complete_cells(tmp_path: Path) -> None:
    whole = ddsml(monitor3("CPC", heads("T:A", "N:B", "N:C") + row("x", "1", "2", refno="1") + row("y", "3", "4")))
    rows, reading = read_text(tmp_path, whole[: whole.index("<col>4") + 5])
    assert [cell["value"] for cell in values(rows, "cell")] == ["x", "1", "2", "y", "3"]
    assert ("not well-formed", "data loss") in reasons(reading)


def test_rows_without_their_heads_survive_a_cut(tmp_path: Path) -> None:
    whole = ddsml(monitor3("CPC", row("x", "1", refno="1") + heads("T:A", "N:B")))
    rows, reading = read_text(tmp_path, whole[: whole.index("<column-headers>")])
    assert [(cell["value"], cell["column_head"]) for cell in values(rows, "cell")] == [("x", None), ("1", None)]
    assert ("not well-formed", "data loss") in reasons(reading)


@pytest.mark.parametrize("place", ["<value>2</value>", "<segment><name>Workload W2"])
def test_a_file_broken_in_the_middle_keeps_what_came_before(tmp_path: Path, place: str) -> None:
    whole = ddsml(postprocessor("WLMGL", *WORKLOADS))
    at = whole.index(place)
    rows, reading = read_text(tmp_path, whole[:at] + "</nonsense>" + whole[at:])
    assert rows["rmf_xml_workload_period"][0]["ended_transactions"] == 1.0
    assert reasons(reading) == [("not well-formed", "data loss")]
    assert "mismatched tag" in reading.damage[0].detail


def test_an_offset_is_that_of_the_broken_byte(tmp_path: Path) -> None:
    whole = ddsml(postprocessor("CPU", CPU)).encode()
    at = whole.index(b"<value>Z02") + 8
    broken = whole[:at] + b"\x01" + whole[at:]
    _, reading = read_bytes(tmp_path, broken)
    assert reading.damage[0].offset == at
    _, packed = read_bytes(tmp_path, gzip.compress(broken))
    assert packed.damage[0].offset is None


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "the file is empty"),
        (b" \r\n\x00\x00\x1a", "only blanks and zero bytes"),
        (b"<xml>No Report</xml>", "the outermost element is <xml>, not <ddsml>"),
        (b"<?xml version='1.0'?>\n<ddsml", "not well-formed XML before its first report: unclosed token"),
        (b"<ddsml><server><name>x</name></server></ddsml>", "there is no report in the file"),
        (b"<ddsml>", "not well-formed XML before its first report: no element found"),
        (b'{"report": []}', "it is JSON, not XML"),
        (b"HTTP/1.1 401 Unauthorized\r\n", "it is text that begins 'HTTP/1.1 401 Unauthorized"[:40]),
        (bytes([14, 82, 0, 0]) * 20, "not XML"),
        (b"<!DOCTYPE HTML PUBLIC '-//W3C'>\n<HTML><HEAD><TITLE>401\n Unauthorized</TITLE>", "'401 Unauthorized'"),
        (b"<!doctype html><p>", "it is a web page, not a report"),
        (b"<?xml version='1.0'?><html><head><title>Error 500</title></head></html>", "titled 'Error 500'"),
    ],
)
def test_what_is_no_rmf_xml_is_refused_in_words(tmp_path: Path, data: bytes, what: str) -> None:
    assert what in str(refusal(tmp_path, data))


def test_a_wrong_root_names_its_line(tmp_path: Path) -> None:
    assert refusal(tmp_path, b"<?xml version='1.0'?>\n\n<root/>").line == 3


def test_a_message_in_place_of_reports_is_shown(tmp_path: Path) -> None:
    data = b"<ddsml><message id='GPM0626I'><description>No such metric</description></message></ddsml>"
    assert "but a message: GPM0626I No such metric" in str(refusal(tmp_path, data))


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.xml", tmp_path):
        with pytest.raises(rmf_xml.RmfXmlError, match="cannot be read"):
            list(rmf_xml.read(path, source_id="x"))


def test_a_report_of_nothing_but_a_message(tmp_path: Path) -> None:
    document = ddsml(
        '<postprocessor><message id="GPM0745E"><description>No reportable data</description>'
        "<severity>3</severity></message></postprocessor>"
    )
    rows, reading = read_text(tmp_path, document)
    (damage,) = reading.damage
    assert (damage.reason, damage.severity) == ("no data in report", "error")
    assert "GPM0745E No reportable data (severity 3)" in damage.detail
    assert [message["value"] for message in values(rows, "message")] == ["No reportable data", "3"]
    assert damage.remedy


def test_reports_without_times_are_told(tmp_path: Path) -> None:
    document = ddsml(postprocessor("CPU", CPU), postprocessor("CPU", CPU, start="yesterday"))
    start = document.index("<time-data>")
    end = document.index("</time-data>") + len("</time-data>")
    rows, reading = read_text(tmp_path, document[:start] + document[end:])
    assert reasons(reading) == [("interval unknown", "error")] * 2
    assert [damage.record_no for damage in reading.damage] == [1, 2]
    assert "yesterday" in reading.damage[1].detail
    assert [value["number"] for value in values(rows, "var")] == [8562.0, None] * 2
    assert {value["interval_start"] for value in values(rows, "var")} == {None}


def test_a_report_longer_than_it_may_be_held_without_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plexlens.ingest.printed.xml.report_rows._HELD_VALUES", 30)
    lines = [row("x", str(number), refno=str(number)) for number in range(40)]
    document = ddsml(postprocessor("X", segment("S", part("P", table(["T:A", "N:B"], *lines)))))
    start, end = document.index("<resource>"), document.index("<segment>")
    head = document[start:end]
    late = document[:start] + document[end:].replace("</postprocessor>", head + "</postprocessor>")
    rows, reading = read_text(tmp_path, late)
    assert reasons(reading) == [("interval unknown", "error")]
    assert [cell["value"] for cell in values(rows, "cell")][1::2] == [str(number) for number in range(40)]


def test_entity_declarations_are_refused(tmp_path: Path) -> None:
    bomb = (
        "<?xml version='1.0'?><!DOCTYPE ddsml [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;'>]>"
        "<ddsml><report><metric id='X'><description>&b;</description></metric></report></ddsml>"
    )
    assert "declares an entity, 'a'" in str(refusal(tmp_path, bomb.encode()))


def test_external_entities_and_dtds_are_not_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("<!ENTITY leak 'leaked'>")
    external = (
        f"<?xml version='1.0'?><!DOCTYPE ddsml SYSTEM '{secret.as_uri()}'>"
        "<ddsml><report><metric id='X'><description>a&leak;b</description></metric><row><col>1</col></row>"
        "</report></ddsml>"
    )
    rows, reading = read_text(tmp_path, external)
    assert "leaked" not in str(rows)
    assert ("entity not expanded", "data loss") in reasons(reading)
    assert "&leak;" in next(damage for damage in reading.damage if damage.reason == "entity not expanded").detail
    declared = f"<!DOCTYPE ddsml [<!ENTITY e SYSTEM '{secret.as_uri()}'>]><ddsml><report>&e;</report></ddsml>"
    assert "declares an entity, 'e'" in str(refusal(tmp_path, declared.encode()))


def test_an_entity_that_nobody_defined_loses_itself_alone(tmp_path: Path) -> None:
    document = ddsml(postprocessor("X", segment("S", part("P", variable_list({"A": "7", "B": "8"})))))
    rows, reading = read_text(tmp_path, document.replace("<value>7", "<value>&nbsp;7"))
    assert [value["value"] for value in values(rows, "var")] == ["7", "8"]
    assert reasons(reading) == [("entity not expanded", "data loss")]


def test_limits_of_depth_tag_and_text(tmp_path: Path) -> None:
    deep = "<ddsml>" + "<a>" * 300
    assert "nested deeper than 256" in str(refusal(tmp_path, deep.encode()))
    long_tag = b"<ddsml><report><row a='" + b"x" * (2 << 20)
    assert "a tag is longer" in str(refusal(tmp_path, long_tag))
    long_text = b"<ddsml><report><row><col>" + b"x" * (2 << 20)
    assert "the text of <col> is longer" in str(refusal(tmp_path, long_text))


def test_padding_after_the_document(tmp_path: Path) -> None:
    document = ddsml(postprocessor("CPU", CPU)).encode()
    plain, _ = read_bytes(tmp_path, document)
    for tail in (b"\x1a", b"\x00" * 1000, b"\n\n  \x00\x00\n"):
        rows, reading = read_bytes(tmp_path, document + tail)
        assert rows == plain
        assert reasons(reading) == [("padding after document", "info")]
    rows, reading = read_bytes(tmp_path, document + b"  \n\n")
    assert reading.damage == []


@pytest.mark.parametrize("fill", [65500, 65536 - 3, 65536])
def test_a_second_document_at_the_end_of_a_piece(tmp_path: Path, fill: int) -> None:
    first = ddsml(postprocessor("A", CPU)).encode()
    padded = first[:-1] + b" " * (fill - len(first)) + b"\n"
    second = ddsml(postprocessor("B", segment("S", part("P", variable_list({"V": "1"}))))).encode()
    for gap in (b"", b"\x00\x00\x00"):
        rows, reading = read_bytes(tmp_path, padded + gap + second)
        assert [value["report"] for value in values(rows, "var")] == ["A", "A", "B"], reading.damage


def test_a_further_document_of_another_kind(tmp_path: Path) -> None:
    document = ddsml(postprocessor("CPU", CPU))
    rows, reading = read_text(tmp_path, document + "<html><p>1</p></html>" + document)
    assert reading.summary["reports"] == 2
    assert len(values(rows, "var")) == 4
    assert reasons(reading) == [("not RMF XML", "data loss")]


def test_rubbish_after_the_document(tmp_path: Path) -> None:
    rows, reading = read_text(tmp_path, ddsml(postprocessor("CPU", CPU)) + "rubbish")
    assert reasons(reading) == [("not well-formed", "data loss")]
    assert len(values(rows, "var")) == 2


def test_broken_compression_keeps_what_was_unpacked(tmp_path: Path) -> None:
    lines = [row(f"J{number * 7919 % 100003}", str(number), refno=str(number)) for number in range(30000)]
    packed = gzip.compress(ddsml(postprocessor("X", segment("S", part("P", table(["T:A", "N:B"], *lines))))).encode())
    rows, reading = read_bytes(tmp_path, packed[: len(packed) * 2 // 3])
    assert len(values(rows, "cell")) > 10000
    assert ("not well-formed", "data loss") in reasons(reading)
    assert "it cannot be read" in str(refusal(tmp_path, b"\x1f\x8b" + b"rubbish" * 10))


def test_a_variable_named_twice_is_kept_twice_and_told(tmp_path: Path) -> None:
    parts = part("Transactions", variable_list({"MPL": "4.00"}) .replace("</var-list>",
                 "<var><name>MPL</name><value>0</value></var></var-list>"))  # fmt: skip
    document = ddsml(postprocessor("WLMGL", segment("Workload W", parts)))
    rows, reading = read_text(tmp_path, document)
    assert [value["number"] for value in values(rows, "var")] == [4.0, 0.0]
    assert rows["rmf_xml_workload_period"][0]["multiprogramming_level"] == 4.0
    assert reasons(reading) == [("duplicate variable", "info")]


def test_a_report_with_twins_under_unknown_names_is_told(tmp_path: Path) -> None:
    document = ddsml(postprocessor("PAGING", segment("Something new", part("P", variable_list({"A": "1"})))))
    rows, reading = read_text(tmp_path, document)
    assert reasons(reading) == [("no rows in own table", "info")]
    assert len(values(rows, "var")) == 1


def test_damage_beyond_a_thousand_rows_of_a_kind_is_counted(tmp_path: Path) -> None:
    body = segment("S", part("P", *[table(["T:A"], row("x", "y"))] * 1203))
    _, reading = read_text(tmp_path, ddsml(postprocessor("X", body)))
    assert len(reading.damage) == 1000
    assert reading.summary["damage"] == {"cells without heading": 1203}


def test_damage_becomes_a_table(tmp_path: Path) -> None:
    _, reading = read_text(tmp_path, ddsml(postprocessor("CPU", CPU, start="?")))
    batch = damage_batch(reading.damage)
    assert batch.schema.equals(DAMAGE_SCHEMA)
    (row_of_it,) = batch.to_pylist()
    assert row_of_it["reason"] == "interval unknown"
    assert row_of_it["severity"] == "error"
    assert str(reading.damage[0]).count("interval unknown") == 1
