"""Reports in files that overlap: each kept once, though no module tells its hash."""

from __future__ import annotations

import gzip
import hashlib
import re
from pathlib import Path
from typing import Any

import pytest

from plexlens.pdb import Outcome, Pdb, ingest

REPORT = """
<postprocessor>
 <metric id="CPU"><description>CPU Activity</description></metric>
 <resource><reshier>,SYS{system},SYSTEM</reshier><resname>SYS{system}</resname><restype>SYSTEM</restype></resource>
 <time-data>
  <display-start locale="en-US">08/09/2022-{hour:02}.00.00</display-start>
  <display-end locale="en-US">08/09/2022-{hour:02}.30.00</display-end>
 </time-data>
 <segment><name>General</name><part><name>First</name>
  <var-list><var><name>BUSY</name><value>{busy}</value></var><var><name>MODE</name><value></value></var></var-list>
 </part></segment>
</postprocessor>"""


def report(hour: int, busy: str = "12.5", system: int = 1) -> str:
    return REPORT.format(hour=hour, busy=busy, system=system)


def file(path: Path, *reports: str) -> Path:
    server = "<server><name>RMF-DDS-Server</name><version>ZOSV2R5</version></server>"
    path.write_text(f'<?xml version="1.0" encoding="UTF-8"?>\n<ddsml>{server}{"".join(reports)}\n</ddsml>\n')
    return path


def rows(pdb: Pdb, sql: str) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = pdb.connect().execute(sql).to_arrow_table().to_pylist()
    return listed


def busy(pdb: Pdb) -> list[tuple[int, str]]:
    asked = "SELECT hour(interval_start) AS hour, value FROM rmf_xml_value WHERE name = 'BUSY' ORDER BY ALL"
    return [(row["hour"], row["value"]) for row in rows(pdb, asked)]


def test_overlapping_files_keep_each_report_once(tmp_path: Path, pdb: Pdb) -> None:
    first = file(tmp_path / "a.xml", report(1, "10"), report(2, "20"))
    second = file(tmp_path / "b.xml", report(2, "20"), report(3, "30"))
    assert [result.outcome for result in ingest([first, second], pdb)] == [Outcome.ADDED] * 2
    assert [one.duplicates for one in pdb.ingests] == [0, 1]
    assert busy(pdb) == [(1, "10"), (2, "20"), (3, "30")]
    # What it says of the file as a whole is there for each file.
    assert len(rows(pdb, "SELECT 1 FROM rmf_xml_value WHERE value = 'ZOSV2R5'")) == 2
    # What the manifest counts is what the files hold.
    for name, info in pdb.tables().items():
        if info.files:
            assert rows(pdb, f"SELECT count(*) AS n FROM {name}")[0]["n"] == info.rows


def test_a_report_twice_in_one_file_is_kept_once(tmp_path: Path, pdb: Pdb) -> None:
    ingest([file(tmp_path / "a.xml", report(1), report(2), report(1))], pdb)
    assert pdb.ingests[0].duplicates == 1
    assert busy(pdb) == [(1, "12.5"), (2, "12.5")]


def test_a_packed_or_reformatted_copy_brings_nothing_new(tmp_path: Path, pdb: Pdb) -> None:
    first = file(tmp_path / "a.xml", report(1), report(2))
    packed = tmp_path / "a.xml.gz"
    packed.write_bytes(gzip.compress(first.read_bytes()))
    compact = tmp_path / "compact.xml"
    compact.write_text(re.sub(r">\s+<", "><", first.read_text()))
    results = ingest([first, packed, compact], pdb)
    assert [result.outcome for result in results] == [Outcome.ADDED, Outcome.NOTHING_NEW, Outcome.NOTHING_NEW]
    assert [one.duplicates for one in pdb.ingests] == [0, 2, 2]
    assert [len(pdb.manifest.files_of(one.id)) for one in pdb.ingests][1:] == [0, 0]
    assert busy(pdb) == [(1, "12.5"), (2, "12.5")]


@pytest.mark.parametrize("other", [report(1, "12.6"), report(2), report(1, system=2), report(1, "")])
def test_reports_that_say_something_else_are_kept(tmp_path: Path, pdb: Pdb, other: str) -> None:
    ingest([file(tmp_path / "a.xml", report(1)), file(tmp_path / "b.xml", other)], pdb)
    assert [one.duplicates for one in pdb.ingests] == [0, 0]
    assert len(busy(pdb)) == 2


def test_the_hash_is_the_sum_of_the_rows_md5(tmp_path: Path, pdb: Pdb) -> None:
    """Worked out again in plain Python: what one version of Plexlens notes, the next has to know again."""
    ingest([file(tmp_path / "a.xml", report(1))], pdb)
    columns = ["system", "sysplex", "interval_start", "interval_end", "report", "resource", "segment_no", "part_no"]
    columns += ["kind", "table_no", "row_no", "cell_no", "name", "value"]
    total = 0
    told = rows(pdb, f"SELECT {', '.join(columns)} FROM rmf_xml_value WHERE record_no = 1")
    for row in told:
        for name in ("interval_start", "interval_end"):
            row[name] = row[name] and f"{row[name]:%Y-%m-%d %H:%M:%S}+00"
        text = "\2".join("\1" if row[name] is None else str(row[name]) for name in columns)
        total += int.from_bytes(hashlib.md5(text.encode()).digest()[8:], "little")
    (noted,) = rows(pdb, 'SELECT hash, report, "values", record_no FROM rmf_xml_record')
    assert noted == {"hash": total % 2**64, "report": "CPU", "values": len(told), "record_no": 1}
    assert len(told) > 5


def test_little_memory_makes_no_difference(tmp_path: Path, pdb: Pdb) -> None:
    first = file(tmp_path / "a.xml", *(report(hour, str(hour)) for hour in range(0, 20)))
    second = file(tmp_path / "b.xml", *(report(hour, str(hour)) for hour in range(10, 24)))
    ingest([first], pdb, memory=1)
    ingest([second], pdb, memory=1)
    assert pdb.ingests[1].duplicates == 10
    assert busy(pdb) == [(hour, str(hour)) for hour in range(24)]


def test_answers_without_a_report_are_kept_where_the_messages_differ(tmp_path: Path, pdb: Pdb) -> None:
    answer = "<postprocessor><message id='GPM0745E'><description>No data</description></message></postprocessor>"
    remark = "<rmf-mfpmsg><mfpmsg id='ERB106I'>REPORTS({})</mfpmsg></rmf-mfpmsg>"
    paths = [file(tmp_path / f"{name}.xml", answer, remark.format(name)) for name in ("fcd", "pcie")]
    paths.append(file(tmp_path / "again.xml", answer, "\n", remark.format("fcd")))
    assert [result.outcome for result in ingest(paths, pdb)] == [Outcome.ADDED, Outcome.ADDED, Outcome.NOTHING_NEW]
