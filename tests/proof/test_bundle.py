"""A bundle: the page of its records, the same bytes each time, and every change of a number or a record found."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from plexlens.proof.difference import compared
from tests.cli.command import run
from tests.proof.bundles import Files, forged, manifest_of, put_together, taken_apart, with_value


def test_the_page_is_that_of_report(folder: Path, files: Files) -> None:
    done = run("report", "small.smf", "-o", "plain.html", "--json", cwd=folder)
    result = compared(json.loads(files["page.json"]), json.loads(done.stdout))
    assert result.differences == []
    assert result.numbers > 1000
    assert files["page.html"] == (folder / "plain.html").read_bytes()


def test_numbers_are_computed_again(folder: Path) -> None:
    done = run("verify", "small.zip", "small.smf", cwd=folder)
    assert done.returncode == 0, done.stdout
    assert done.stdout.startswith("the same: 1,")
    assert "read again" in done.stdout
    assert "definitions: those of this Plexlens" in done.stdout


def test_the_same_sources_give_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    # By way of a database, whose days and files differ from those of a dump read at once.
    for command in (("ingest", "small.smf", "--pdb", tmp_path / "pdb"), ("report", tmp_path / "pdb", "--bundle")):
        more = (tmp_path / "again.zip",) if command[-1] == "--bundle" else ()
        assert run(*command, *more, cwd=folder).returncode == 0
    assert (tmp_path / "again.zip").read_bytes() == (folder / "small.zip").read_bytes()


def test_a_bundle_names_no_place_and_no_time_of_its_making(folder: Path, files: Files) -> None:
    content = manifest_of(files)
    assert [source["path"] for source in content["sources"]] == [""]
    assert str(folder).encode() not in (folder / "small.zip").read_bytes()


def test_a_changed_record_is_told_by_the_numbers_that_follow_from_it(folder: Path, files: Files) -> None:
    table = "smf74_4_request"
    put_together(folder / "record.zip", with_value(files, table, "r744ssrc", 3, lambda value: value + 7))
    rows = pq.read_table(io.BytesIO(files[f"records/{table}.parquet"])).to_pylist()
    # The service time of the summary is the time of all synchronous requests over their number.
    seconds, requests = (sum(row[name] for row in rows) for name in ("r744sstm", "r744ssrc"))
    done = run("verify", "record.zip", "--json", cwd=folder)
    assert done.returncode == 1
    told = json.loads(done.stdout)
    first = told["differences"][0]
    assert first["place"] == "page Summary (summary), figure Synchronous service time (cf_sync_time), value"
    assert float(first["page"]) == pytest.approx(seconds / requests, rel=1e-12)
    assert float(first["records"]) == pytest.approx(seconds / (requests + 7), rel=1e-12)
    # Row 3 is a structure as SYS1 used it; its rate is over all intervals of SYS1, also those without the structure.
    assert (rows[3]["system"], rows[3]["r744snam"]) == ("SYS1", "DSNDB2T_GBP2")
    places = {one["place"]: one for one in told["differences"]}
    (row,) = (place for place in places if "(T1CF1LP, DSNDB2T_GBP2, SYS1, cache), column requests_per_second" in place)
    assert row.startswith("page Coupling facilities (coupling), table Structures, by system")
    one = places[row]
    intervals = {(line["interval_start"], line["interval_end"]) for line in rows if line["system"] == "SYS1"}
    length = sum((end - start).total_seconds() for start, end in intervals)
    assert float(one["records"]) - float(one["page"]) == pytest.approx(7 / length, rel=1e-9)
    assert one["definition"] == "coupling_structure.requests_per_second"
    assert told["page_is_same"] is False
    done = run("verify", "record.zip", cwd=folder)
    assert "coupling_structure.sync_service_time = R744SSTM / R744SSRC" in done.stdout


def test_a_changed_page_is_told(folder: Path, files: Files) -> None:
    page = json.loads(files["page.json"])
    section = next(section for section in page["sections"] if section["id"] == "coupling")
    table = next(table for table in section["tables"] if table["name"] == "coupling_structures")
    said = table["rows"][1]["requests_per_second"]
    table["rows"][1]["requests_per_second"] = said / 2
    put_together(folder / "page.zip", forged(files | {"page.json": json.dumps(page).encode()}))
    done = run("verify", "page.zip", cwd=folder)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[0].startswith("1 of 1,")
    assert "table Structures (coupling_structures), row 2 (" in lines[1]
    assert f"column requests_per_second: the page says {said / 2!r} 1/s, the records give {said!r} 1/s" in lines[1]


def test_the_page_that_people_read_is_compared_too(folder: Path, files: Files) -> None:
    page = files["page.html"]
    at = page.index(b"DSNDB2T_GBP2")
    put_together(folder / "html.zip", forged(files | {"page.html": page[:at] + b"DSNDB2T_GBP3" + page[at + 12 :]}))
    done = run("verify", "html.zip", cwd=folder)
    assert done.returncode == 1
    line = page[:at].count(b"\n") + 1
    assert f"page.html is not the page of these records: it differs from line {line} on" in done.stdout


def test_other_definitions_are_used_and_told(folder: Path, files: Files) -> None:
    name = "definitions/catalogue/coupling/structure.toml"
    text = files[name].decode()
    formula = 'formula = "sync_seconds / sync_requests"'
    assert formula in text
    changed = text.replace(formula, 'formula = "2 * sync_seconds / sync_requests"')
    put_together(folder / "formula.zip", forged(files | {name: changed.encode()}))
    done = run("verify", "formula.zip", cwd=folder)
    assert done.returncode == 1
    first = done.stdout.splitlines()[1]
    said, given = (float(first.split(word)[1].split()[0]) for word in ("the page says ", "the records give "))
    assert given == pytest.approx(2 * said, rel=1e-12)
    assert f"definitions that are not those of this Plexlens 0.1.0: {name}" in done.stdout
    # The process computes by its own definitions afterwards.
    assert run("verify", "small.zip", cwd=folder).returncode == 0


def test_records_are_compared_with_their_files(folder: Path, files: Files) -> None:
    # A number that no page shows: the page is the same, the records are not.
    changed = with_value(files, "smf_record", "hash", 2, lambda value: value ^ 1)
    put_together(folder / "hidden.zip", changed)
    assert run("verify", "hidden.zip", cwd=folder).returncode == 0
    done = run("verify", "hidden.zip", "small.smf", cwd=folder)
    assert done.returncode == 1
    assert "the records are not those of the files: table smf_record" in done.stdout
    assert "record_no 3, column hash: " in done.stdout
    done = run("verify", "small.zip", "example.smf", cwd=folder)
    assert done.returncode == 2
    assert "small.smf: the bundle is of this file" in done.stderr


def test_options_are_part_of_the_bundle(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "own.toml").write_text(
        '[[rule]]\nid = "coupling.own"\ngrain = "coupling_structure"\ntitle = "Own rule"\nseverity = "low"\n'
    )
    site = tmp_path / "site.toml"
    site.write_text(
        '[shifts]\nday = "00:00-24:00"\n\n[[suppress]]\nrule = "coupling.*"\nuntil = 2001-01-01\nreason = "decided"\n'
    )
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "more.toml").write_text(
        'grain = "coupling_structure"\n\n[metric.sync_service_time]\nformula = "3 * sync_seconds / sync_requests"\n'
    )
    done = run(
        *(
            "report",
            "small.smf",
            "--bundle",
            tmp_path / "b.zip",
            "--title",
            "Évry",
            "--system",
            "SYS*",
            "--shift",
            "day",
        ),
        *("--from", "1996-05-29T13:00", "--site", site, "--catalogue", tmp_path / "own"),
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    content = manifest_of(taken_apart(tmp_path / "b.zip"))
    assert content["title"] == "Évry"
    assert content["selection"]["systems"] == ["SYS*"]
    assert content["judged_on"]
    assert content["catalogue"] == ["definitions/catalogue", "definitions/catalogue-1"]
    done = run("verify", tmp_path / "b.zip", cwd=folder)
    assert done.returncode == 0, done.stdout
    assert "and the site's own in definitions/catalogue-1, definitions/site.toml" in done.stdout


def test_files_that_were_not_read_stay_on_the_page(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.smf").write_bytes(b"")
    (tmp_path / "copy.smf").write_bytes((folder / "small.smf").read_bytes())
    done = run("report", folder / "small.smf", "copy.smf", "empty.smf", "--bundle", "b.zip", cwd=tmp_path)
    assert done.returncode == 4
    assert [one["state"] for one in manifest_of(taken_apart(tmp_path / "b.zip"))["others"]] == [
        "held already",
        "not read",
    ]
    assert run("verify", "b.zip", cwd=tmp_path).returncode == 0
