"""Segments that were saved without their document, and a SQL view for each table that a report prints."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from plexlens.errors import UnreadableInputError
from plexlens.ingest import inventory
from plexlens.ingest.printed import xml as rmf_xml
from plexlens.pdb import Pdb, ingest
from plexlens.pdb.report_views import attach_report_views
from tests.cli.command import run
from tests.report.test_printed_reports import cells_of, numbers_of, report_of

SEGMENTS = """
<segment id="1"><name>Members of groups</name>
 <part id="2"><name>Members on SYSA</name>
  <table id="3">
   <column-headers><col type="T">Group</col><col type="N">Sent</col><col type="N">Sent</col></column-headers>
   <row refno="1"><col>GRPA</col><col>17</col><col>1.5</col></row>
   <row refno="2"><col>GRPB</col><col>23</col><col>N/A</col></row>
  </table>
  <var-list><var><name>Members</name><value>41</value></var></var-list>
 </part>
</segment>
"""
WHOLE = f"""<?xml version="1.0"?>
<ddsml><server><name>RMF</name></server><postprocessor>
<metric id="XMEM" option="A"><description>Members</description></metric>
<resource><resname>SYSA</resname><restype>SYSTEM</restype></resource>
<time-data><display-start>07/27/2022-08.00.00</display-start><display-end>07/27/2022-08.30.00</display-end></time-data>
{SEGMENTS}</postprocessor></ddsml>"""


@pytest.fixture
def fragment(tmp_path: Path) -> Path:
    path = tmp_path / "part.xml"
    path.write_text(f"<xml>{SEGMENTS}</xml>")
    return path


def test_segments_without_their_document_are_read(fragment: Path) -> None:
    assert rmf_xml.sniff(fragment.read_bytes(), fragment.name)
    listed = inventory.of_file(fragment)
    assert listed.records == {("FRAGMENT", ""): 1}
    assert set(listed.damage_counts) == {"part of a report", "interval unknown"}
    assert "None" not in "\n".join(inventory.to_lines([listed]))
    assert numbers_of(fragment) - cells_of(report_of(fragment)) == Counter()
    assert numbers_of(fragment)["17"] == 1


@pytest.mark.parametrize("text", ["<xml>No Report</xml>", "<xml><note>1</note></xml>", "<xml/>"])
def test_xml_without_segments_is_no_report(text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text(text)
    with pytest.raises(UnreadableInputError):
        inventory.of_file(path)


def test_a_broken_fragment_keeps_what_is_complete(fragment: Path) -> None:
    text = fragment.read_text()
    fragment.write_text(text[: text.index('<row refno="2">') + 40])
    listed = inventory.of_file(fragment)
    assert listed.damage_counts["not well-formed"] == 1
    assert cells_of(report_of(fragment))["17"] == 1


def database_of(tmp_path: Path) -> Path:
    path = tmp_path / "whole.xml"
    path.write_text(WHOLE)
    pdb = Pdb.create(tmp_path / "p")
    ingest(path, pdb)
    return pdb.path


def test_each_table_of_a_report_is_a_view(tmp_path: Path) -> None:
    connection = Pdb.open(database_of(tmp_path)).connect()
    assert attach_report_views(connection) == ("rmf_xmem_a_members_on_sysa", "rmf_xmem_a_variables")
    rows = connection.execute(
        'select system, row_no, "Group", "Sent", "Sent 2" from rmf_xmem_a_members_on_sysa'
    ).fetchall()
    assert rows == [("SYSA", 1, "GRPA", 17.0, 1.5), ("SYSA", 2, "GRPB", 23.0, None)]
    assert connection.execute("select name, value, number from rmf_xmem_a_variables").fetchall() == [
        ("Members", "41", 41.0)
    ]


def test_sql_lists_and_reads_the_views_and_selects(tmp_path: Path) -> None:
    pdb = database_of(tmp_path)
    done = run("sql", str(pdb), "show tables", "--json", cwd=tmp_path)
    assert "rmf_xmem_a_variables" in {row["name"] for row in json.loads(done.stdout)}
    query = "select count(*) as n from rmf_xmem_a_members_on_sysa"
    for system, code in (("SYSA", 0), ("SYSB", 4)):
        done = run("sql", str(pdb), query, "--json", "--system", system, cwd=tmp_path)
        assert done.returncode == code, done.stderr
        if not code:
            assert json.loads(done.stdout) == [{"n": 2}]


def test_a_report_that_no_metric_knows_has_its_time_in_the_heading(tmp_path: Path) -> None:
    path = tmp_path / "whole.xml"
    path.write_text(WHOLE)
    report = report_of(path)
    assert (str(report.start), str(report.end)) == ("2022-07-27 08:00:00", "2022-07-27 08:30:00")
