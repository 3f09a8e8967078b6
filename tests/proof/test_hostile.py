"""Bundles that are damaged, or made to do harm: refused with what, where and what next, and nothing is written."""

from __future__ import annotations

import io
import json
import random
import struct
import time
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.command import run
from tests.proof.bundles import Files, forged, manifest_of, put_together, with_manifest

TABLE = "records/smf74_4_request.parquet"


def refused(folder: Path, name: str, code: int = 3) -> str:
    """What verify says about a bundle that it refuses."""
    done = run("verify", name, cwd=folder)
    assert done.returncode == code, (done.stdout, done.stderr)
    assert done.stdout == ""
    assert done.stderr.splitlines()[-1].startswith("plexlens: ")
    assert name in done.stderr
    # What is wrong, and what to do.
    assert ";" in done.stderr
    return done.stderr


def test_what_is_not_a_bundle(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "text.zip").write_text("no archive")
    assert "it is not a ZIP file" in refused(tmp_path, "text.zip")
    (tmp_path / "empty.zip").write_bytes(b"")
    assert "it is not a ZIP file" in refused(tmp_path, "empty.zip")
    whole = (folder / "small.zip").read_bytes()
    (tmp_path / "cut.zip").write_bytes(whole[: len(whole) // 2])
    assert "it is not a ZIP file" in refused(tmp_path, "cut.zip")
    put_together(tmp_path / "other.zip", {"contents.csv": b"a"})
    assert "without manifest.json" in refused(tmp_path, "other.zip")
    assert "cannot be read" in refused(tmp_path, "missing.zip")
    for text in (b"[]", b"{", b'{"kind": "plexlens"}', b"\xff", b"[" * 100_000):
        put_together(tmp_path / "manifest.zip", {"manifest.json": text})
        assert "manifest.json is not as a bundle has it" in refused(tmp_path, "manifest.zip")


def test_a_folder_is_not_a_bundle(tmp_path: Path) -> None:
    done = run("verify", tmp_path, cwd=tmp_path)
    assert done.returncode == 2
    assert "a bundle is a ZIP file" in done.stderr


def test_later_versions_are_refused(files: Files, tmp_path: Path) -> None:
    for change in ({"version": 2}, {"plexlens": "99.1"}):
        put_together(
            tmp_path / "later.zip", with_manifest(files, lambda content, change=change: content.update(change))
        )
        said = refused(tmp_path, "later.zip", 2)
        assert "wrote this bundle" in said
        assert "install Plexlens" in said


def test_members_are_those_that_the_manifest_names(files: Files, tmp_path: Path) -> None:
    put_together(tmp_path / "less.zip", {name: data for name, data in files.items() if name != TABLE})
    assert f"{TABLE} is missing" in refused(tmp_path, "less.zip")
    put_together(tmp_path / "more.zip", files | {"../evil.txt": b"evil"})
    assert "'../evil.txt', which its manifest does not name" in refused(tmp_path, "more.zip")
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(tmp_path / "twice.zip", "w") as archive:
        for name, data in [*files.items(), (TABLE, files[TABLE])]:
            archive.writestr(name, data)
    assert f"two files called '{TABLE}'" in refused(tmp_path, "twice.zip")
    put_together(
        tmp_path / "changed.zip",
        files | {TABLE: files[TABLE][:200] + bytes([files[TABLE][200] ^ 1]) + files[TABLE][201:]},
    )
    said = refused(tmp_path, "changed.zip")
    assert f"{TABLE} is not the file that the manifest names: its SHA-256 is" in said
    assert "ask for the bundle again" in said
    put_together(tmp_path / "longer.zip", files | {TABLE: files[TABLE] + b"\0"})
    assert f"{TABLE} has {len(files[TABLE]) + 1:,} bytes" in refused(tmp_path, "longer.zip")


@pytest.mark.parametrize("name", ["../evil.toml", "/evil.toml", "definitions/../../evil.toml", "C:\\evil", "a//b"])
def test_names_that_lead_elsewhere(name: str, files: Files, tmp_path: Path) -> None:
    put_together(tmp_path / "slip.zip", forged(files | {name: b"evil"}))
    assert "is not the name of a file in a bundle" in refused(tmp_path, "slip.zip")
    assert not (tmp_path.parent / "evil.toml").exists()


def test_bombs(files: Files, tmp_path: Path) -> None:
    # Files of zeros, 300 MB in all, which are some 300 KB in the ZIP file.
    bomb = {f"definitions/{number}.toml": bytes(100 << 20) for number in range(3)}
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in forged({"manifest.json": files["manifest.json"]} | bomb).items():
            archive.writestr(name, data)
    assert (tmp_path / "bomb.zip").stat().st_size < 400_000
    assert "its files have 314,572,800 bytes" in refused(tmp_path, "bomb.zip")
    with zipfile.ZipFile(tmp_path / "first.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", bytes(100 << 20))
    assert "manifest.json has 104,857,600 bytes" in refused(tmp_path, "first.zip")


def test_a_table_of_many_rows_in_few_bytes(files: Files, tmp_path: Path) -> None:
    many = pa.table({"source_id": pa.array(["0123456789abcdef"] * 2_000_000)})
    out = io.BytesIO()
    pq.write_table(many, out, compression="zstd")
    assert len(out.getvalue()) < 20_000
    content = with_manifest(files, lambda content: content["tables"].update(smf74_4_request=2_000_000))
    put_together(tmp_path / "rows.zip", forged(content | {TABLE: out.getvalue()}))
    assert "would expand to 2,000,000 rows" in refused(tmp_path, "rows.zip")


def test_records_that_are_none(files: Files, tmp_path: Path) -> None:
    put_together(tmp_path / "text.zip", forged(files | {TABLE: b"no records"}))
    assert f"{TABLE} is not a Parquet file" in refused(tmp_path, "text.zip")
    put_together(
        tmp_path / "rows.zip", with_manifest(files, lambda content: content["tables"].update(smf74_4_request=1))
    )
    assert "the manifest says 1" in refused(tmp_path, "rows.zip")
    out = io.BytesIO()
    pq.write_table(pa.table({"source_id": ["a"], "x": [[1]]}), out)
    content = with_manifest(files, lambda content: content["tables"].update(smf74_4_request=1))
    put_together(tmp_path / "type.zip", forged(content | {TABLE: out.getvalue()}))
    refused(tmp_path, "type.zip")


STRUCTURES = "definitions/catalogue/coupling/structure_smf.sql"


@pytest.mark.parametrize("reader", ["read_text('{}')", "read_csv('{}')", "'{}'", "glob('{}')"])
def test_definitions_cannot_read_files(reader: str, files: Files, tmp_path: Path) -> None:
    """SQL that gives the rows of before, if it may read a file beside the bundle."""
    secret = tmp_path / "secret.csv"
    secret.write_text("password\nopensesame\n")
    sql = files[STRUCTURES].decode().strip().rstrip(";")
    text = f"select * from (\n{sql}\n) where (select count(*) from {reader.format(secret)}) > 0"
    put_together(tmp_path / "sql.zip", forged(files | {STRUCTURES: text.encode()}))
    done = run("verify", "sql.zip", cwd=tmp_path)
    assert done.returncode == 3, done.stdout
    assert "Permission" in done.stderr or "disabled" in done.stderr
    assert "opensesame" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    "sql",
    [
        "copy (select 1) to '{folder}/written.csv'",
        "attach '{folder}/new.db'",
        "select 1; set enable_external_access = true",
    ],
)
def test_definitions_cannot_write_files(sql: str, files: Files, tmp_path: Path) -> None:
    put_together(tmp_path / "sql.zip", forged(files | {STRUCTURES: sql.format(folder=tmp_path).encode()}))
    done = run("verify", "sql.zip", cwd=tmp_path)
    assert done.returncode == 3, done.stdout
    assert "cannot be used" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["sql.zip"]


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        (
            "select * from ({sql}) where (select count(*) from range(10000000) a, range(10000000) b"
            " where a.range < b.range) > 0",
            "its definitions took more than 5 s and were stopped; ask its sender what it computes; --time-limit",
        ),
        (
            "select * from ({sql}) where (select len(list(a.range)) from range(1000000000) a) > 0",
            "its definitions need more memory than they may use; ask its sender what it computes; --memory",
        ),
    ],
)
def test_definitions_that_never_end_are_stopped(sql: str, told: str, files: Files, tmp_path: Path) -> None:
    text = sql.format(sql=files[STRUCTURES].decode().strip().rstrip(";"))
    put_together(tmp_path / "sql.zip", forged(files | {STRUCTURES: text.encode()}))
    began = time.monotonic()
    done = run("verify", "sql.zip", "--time-limit", "5", "--memory", "256MiB", cwd=tmp_path)
    assert time.monotonic() - began < 40
    assert done.returncode == 3
    assert told in done.stderr


def test_definitions_that_are_wrong(files: Files, tmp_path: Path) -> None:
    for name, text in (
        ("definitions/catalogue/coupling/structure.toml", b"grain = "),
        ("definitions/rules/coupling.toml", b"[[rule]]\nid = 7\n"),
    ):
        put_together(tmp_path / "wrong.zip", forged(files | {name: text}))
        done = run("verify", "wrong.zip", cwd=tmp_path)
        assert done.returncode in (2, 3), (name, done.stdout)
        assert done.stderr


VALUES = (None, 7, -1, 1.5, "x", [], {}, [None], ["x"], {"x": None}, True, 1 << 70)


def test_manifests_with_any_value(files: Files, tmp_path: Path) -> None:
    """Each key of the manifest with each kind of value: refused, or as good as before."""
    content = manifest_of(files)
    ways: list[tuple[str | int, ...]] = [(key,) for key in content if key != "title"]
    ways += [("selection", key) for key in content["selection"]]
    ways += [
        ("sources", 0, key) for key in content["sources"][0] if key not in ("file", "kind", "options", "incomplete")
    ]
    tried = 0
    for way in ways:
        *outer, last = way
        for value in VALUES:
            inner: Any = json.loads(files["manifest.json"])
            whole = inner
            for key in outer:
                inner = inner[key]
            if type(inner[last]) is type(value) or (inner[last] is None and isinstance(value, str)):
                continue
            inner[last] = value
            put_together(tmp_path / "value.zip", {"manifest.json": json.dumps(whole).encode()})
            said = refused(tmp_path, "value.zip", 3)
            tried += 1
            assert "manifest.json is not as a bundle has it" in said or "is missing" in said, (way, value, said)
    assert tried > 150


def test_damaged_bytes(folder: Path, tmp_path: Path) -> None:
    whole, draw = (folder / "small.zip").read_bytes(), random.Random(21)
    for _ in range(60):
        data = bytearray(whole)
        for _ in range(draw.choice((1, 1, 4))):
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
        (tmp_path / "damaged.zip").write_bytes(data)
        done = run("verify", "damaged.zip", cwd=tmp_path)
        # Dates and attributes of members are not part of what is proved.
        assert done.returncode in (0, 2, 3), done.stdout


def test_forged_records_with_damaged_bytes(files: Files, tmp_path: Path) -> None:
    draw = random.Random(22)
    for _ in range(6):
        data = bytearray(files[TABLE])
        data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
        put_together(tmp_path / "damaged.zip", forged(files | {TABLE: bytes(data)}))
        done = run("verify", "damaged.zip", cwd=tmp_path)
        assert done.returncode in (0, 1, 3), done.stderr


def test_encrypted_members(folder: Path, tmp_path: Path) -> None:
    data = bytearray((folder / "small.zip").read_bytes())
    at = data.index(b"PK\x01\x02")
    struct.pack_into("<H", data, at + 8, 1)
    (tmp_path / "locked.zip").write_bytes(data)
    assert "is encrypted" in refused(tmp_path, "locked.zip")
