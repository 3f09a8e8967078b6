"""Copies under other names: no name is left in any code page, and every metric is the same."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from plexlens.hand_over.holds import TREATMENTS, holdings, known_words
from plexlens.layouts_path import layouts_path
from plexlens.pdb import Pdb, ingest
from tests.cli.command import run
from tests.example_file import write_example, write_part_of_example
from tests.ingest import test_text_db2_display, text_rmf_documents
from tests.ingest.text_report_documents import fixed_records, statistics, statistics_pages

KNOWN = known_words()
CODE_PAGES = ("cp037", "cp1047", "cp500", "ascii", "utf-8", "utf-16-le", "utf-16-be")
#: Shorter names occur among numbers by chance.
SHORTEST = 5


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("copies")
    write_example(folder / "example.smf")
    return folder


def names_of(path: Path) -> Iterator[str]:
    """Names in a dump, as ingest decodes them: columns of which the lines of smf.csv say that they are names."""
    named = {(one.layout, one.field.lower()) for one in holdings() if one.holds not in TREATMENTS and not one.when}
    with Pdb.temporary() as pdb:
        ingest([path], pdb)
        connection = pdb.connect()
        tables = connection.execute("select table_name, column_name from information_schema.columns").fetchall()
        for table, column in tables:
            if (table, column) in named:
                rows = connection.execute(f'select distinct "{column}"::varchar from "{table}"').fetchall()
                yield from (name for (name,) in rows if name)


def left(data: bytes, names: set[str]) -> list[tuple[str, str]]:
    found = []
    for name in names:
        for page in CODE_PAGES:
            try:
                form = name.encode(page)
            except UnicodeEncodeError:
                continue
            except LookupError:
                # Letters, digits and national characters of 1047 are those of 037.
                form = name.encode("cp037")
            if form in data:
                found.append((name, page))
    return found


def words(names: Iterator[str]) -> set[str]:
    """Words of names that must go: not those of IBM's products, nor numbers."""
    cut = {word for name in names for word in re.findall(r"[A-Za-z0-9#@$]+", name)}
    gone = {word.removesuffix(KNOWN.ending(word)) for word in cut if word not in KNOWN}
    # The names of CICS's own fields stay: RMITCPIP has TCPIP in it.
    fields = (layouts_path() / "smf110_1_performance.csv").read_text()
    return {word for word in gone if len(word) >= SHORTEST and any(map(str.isalpha, word)) and word not in fields}


def copied(folder: Path, source: Path, to: str, *more: str) -> Path:
    done = run("anonymise", source, "-o", to, "--key", f"{to}.key", "--account", f"{to}.json", *more, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / to


def prove(folder: Path, source: Path, copy: Path) -> dict[str, Any]:
    done = run("verify", "--same-metrics", source, copy, "--key", f"{copy}.key", "--json", cwd=folder)
    told: dict[str, Any] = json.loads(done.stdout)
    assert told["differences"] == []
    assert done.returncode == 0
    return told


def test_the_example_keeps_its_metrics_and_loses_its_names(folder: Path) -> None:
    source = folder / "example.smf"
    copy = copied(folder, source, "copy.smf")
    names = words(names_of(source))
    assert len(names) > 20
    assert left(source.read_bytes(), names), "the search finds nothing in the original either"
    assert left(copy.read_bytes(), names) == []
    told = prove(folder, source, copy)
    assert told["numbers"] > 10_000
    assert told["findings"] > 5
    account = json.loads((folder / "copy.smf.json").read_text())
    (one,) = account["sources"]
    done = {(line["layout"], line["field"]): line["done"] for line in one["fields"]}
    assert done["smf74_4_request", "R744SNAM"] == "replaced"
    assert done["rmf_product_section", "SMF7xMVS"] == "kept"
    assert done["rmf_product_section", "SMF7xDAT"] == "moved"
    assert "DSNDB2I1" not in json.dumps(one["fields"])


def test_times_move_by_the_days_asked(folder: Path) -> None:
    copied(folder, folder / "example.smf", "moved.smf", "--shift", "-28")
    spans = []
    for name in ("example.smf", "moved.smf"):
        with Pdb.temporary() as pdb:
            ingest([folder / name], pdb)
            statement = "select epoch(min(interval_start)), epoch(max(interval_start)), count(*) from smf74_4_request"
            spans.append(pdb.connect().execute(statement).fetchone())
    assert spans[0] is not None
    assert spans[1] == (spans[0][0] - 28 * 86_400, spans[0][1] - 28 * 86_400, spans[0][2])


def test_a_changed_number_is_found(folder: Path) -> None:
    # What the comparison evaluates grows with the types of records: one is enough to find a number in.
    write_part_of_example(folder / "cpu.smf", 70)
    copy = copied(folder, folder / "cpu.smf", "changed.smf")
    data = bytearray(copy.read_bytes())
    # A byte of the first record whose section is long: one of the counters of a 70-1.
    at = next(at for at in range(600, len(data)) if data[at] == 0x01 and data[at - 1] == 0 and data[at - 2] == 0)
    for place in range(at, len(data)):
        changed = bytes(data[:place]) + bytes([data[place] ^ 0x10]) + bytes(data[place + 1 :])
        copy.write_bytes(changed)
        done = run("verify", "--same-metrics", "cpu.smf", copy, "--key", f"{copy}.key", cwd=folder)
        if done.returncode == 1:
            assert "differences in" in done.stdout
            return
        if place > at + 40:
            break
    pytest.fail("no change of 40 bytes was found")


@pytest.mark.parametrize("name", ["TEST115.dat", "TEST116.dat", "TESTCHL.dat"])
def test_real_dumps(name: str, shared_data: Path, tmp_path: Path) -> None:
    source = shared_data / "mq" / name
    copy = copied(tmp_path, source, "copy.smf")
    names = words(names_of(source))
    assert names
    assert left(copy.read_bytes(), names) == []
    assert prove(tmp_path, source, copy)["numbers"] > 100


@pytest.mark.parametrize(
    ("name", "gone"),
    [
        ("cf.xml", "VIPLEX ICF7 ICF8"),
        ("cpu.xml", "RPRT VIRPT ZVMPROD KVMOCP1 ICF1LP7 000000000005ED28"),
        ("xcf.xml", "RPRT SYSRMF ARCPLEX0 CICS56 GSKSRVGP"),
        ("paging.xml", "RPRT IEAOPT00"),
        ("wlmgl.xml", "VIPLEX QS390POL QS390DEF STCHIGH STCMED QLUSER1 03/20/2020 08/09/2022"),
    ],
)
def test_real_reports(name: str, gone: str, shared_data: Path, tmp_path: Path) -> None:
    source = shared_data / "rmf" / name
    copy = copied(tmp_path, source, "copy.xml")
    text, before = copy.read_text(), source.read_text()
    for word in gone.split():
        assert word in before
        assert word not in text
    assert prove(tmp_path, source, copy)["numbers"] > 50


REPORTS = {
    "statistics": (statistics(), "DB2A DSNLOC1 DSNGRP 03/15/23"),
    "processors": (text_rmf_documents.CPU, "SYSA"),
    "partitions": (text_rmf_documents.PARTITION, "SYSA SYSB SYSC CAPGRP1 07/27/2021"),
    "workload": (text_rmf_documents.WORKLOAD, "SYSA PLEX1 DAYPOL RNOTHING CICSHI BATLOW"),
    "coupling": (text_rmf_documents.COUPLING, "SYSA SYSB PLEX1 DSNGRP CF01"),
    "display": (test_text_db2_display.DETAILED, "DB2A DSN8D13A DSN8S13E XEMP1"),
    "modes": (text_rmf_documents.TCB_MODES, "IYK2Z1V1 CJB3 CI07CJB1 12/17/2004"),
}


@pytest.mark.parametrize("name", REPORTS)
def test_text_reports(name: str, tmp_path: Path) -> None:
    text, gone = REPORTS[name]
    source = tmp_path / "report.txt"
    source.write_text(text)
    copy = copied(tmp_path, source, "copy.txt")
    made = copy.read_text()
    for word in gone.split():
        assert word in text
        assert word not in made
    # Columns stay where they are.
    assert [len(line) for line in made.splitlines()] == [len(line) for line in text.splitlines()]
    assert prove(tmp_path, source, copy)["numbers"] > 50


def test_the_moment_of_a_display_moves(tmp_path: Path) -> None:
    source = tmp_path / "display.txt"
    source.write_text(test_text_db2_display.DETAILED)
    copy = copied(tmp_path, source, "copy.txt", "--shift", "-70")
    # 15 March is the 74th day of the year; the day keeps its width.
    assert "SINCE 14:57:55 JAN  4, 2023" in copy.read_text()
    prove(tmp_path, source, copy)


def test_print_records_in_ebcdic(tmp_path: Path) -> None:
    source = tmp_path / "report.bin"
    source.write_bytes(fixed_records(statistics_pages()))
    copy = copied(tmp_path, source, "copy.bin")
    data = copy.read_bytes()
    assert len(data) == source.stat().st_size
    assert "DSNLOC1".encode("cp037") in source.read_bytes()
    assert left(data, {"DSNLOC1", "DSNGRP"}) == []
    prove(tmp_path, source, copy)


def test_a_simulated_group(tmp_path: Path) -> None:
    scenario = layouts_path().parent / "scenarios" / "three-members.toml"
    done = run("simulate", scenario, "--seconds", "10", "-o", "group.smf", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    source = tmp_path / "group.smf"
    copy = copied(tmp_path, source, "copy.smf")
    # The policy SIMULATE is a name; the machine model SIMULATED is not, and stays.
    names = words(names_of(source)) - {"SIMULATE"}
    assert left(copy.read_bytes(), names) == []
    assert prove(tmp_path, source, copy)["numbers"] > 10_000


def test_systems_have_one_name_in_dumps_and_reports(folder: Path, shared_data: Path) -> None:
    done = run(
        *("anonymise", shared_data / "rmf" / "cpu.xml", shared_data / "rmf" / "paging.xml", "-o", "several"),
        *("--key", "several.key"),
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    made = sorted((folder / "several").iterdir())
    assert [path.name for path in made] == ["source-1.xml", "source-2.xml"]
    found = [re.search(r"<resname>\s*(\w+)", path.read_text()) for path in made]
    assert found[0] and found[1]
    assert found[0][1] == found[1][1] != "RPRT"
    done = run("reveal", found[0][1], "--key", "several.key", cwd=folder)
    assert done.stdout == "RPRT\n"


def test_refusals(folder: Path) -> None:
    example = (folder / "example.smf").read_bytes()
    unknown = bytearray(example)
    length = int.from_bytes(unknown[:2])
    unknown[length + 5] = 81
    (folder / "unknown.smf").write_bytes(bytes(unknown))
    done = run("anonymise", "unknown.smf", "-o", "none.smf", "--key", "none.key", cwd=folder)
    assert done.returncode == 3
    assert "records whose fields are not known: 1 of type 81" in done.stderr
    assert "--drop-unknown" in done.stderr
    assert not (folder / "none.smf").exists()
    assert not (folder / "none.key").exists()
    done = run("anonymise", "unknown.smf", "-o", "some.smf", "--key", "some.key", "--drop-unknown", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "left out: 1 of type 81" in done.stdout
    for words_, code, said in (
        ("anonymise example.smf -o example.smf", 2, "it cannot write to it"),
        ("anonymise example.smf -o a.smf --key example.smf", 2, "it cannot write to it"),
        ("anonymise missing.smf -o a.smf", 3, "missing.smf"),
        ("verify example.smf copy.smf", 3, "--same-metrics compares two sources"),
        ("verify small.zip --key none.key", 2, "--key and --catalogue are of --same-metrics"),
        ("verify --same-metrics example.smf", 2, "ORIGINAL COPY"),
        ("verify --same-metrics example.smf example.smf --key missing.key", 3, "key file cannot be read"),
        ("reveal X --key example.smf", 3, "not a key file"),
    ):
        done = run(*words_.split(), cwd=folder)
        assert (done.returncode, said in done.stderr) == (code, True), (words_, done.stderr)
        assert "Traceback" not in done.stderr


def test_a_source_is_the_same_as_itself(folder: Path) -> None:
    # Of one type: that all metrics of the example are compared is proved with its copy.
    write_part_of_example(folder / "itself.smf", 70)
    done = run("verify", "--same-metrics", "itself.smf", "itself.smf", cwd=folder)
    assert done.returncode == 0
    assert done.stdout.startswith("the same: ")
