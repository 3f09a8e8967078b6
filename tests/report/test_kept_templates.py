"""Byte code of templates: taken where it is that of the template, made anew otherwise."""

from __future__ import annotations

import sys
from pathlib import Path

import jinja2
import pytest

from plexlens.report.writers.kept_templates import KeptTemplates


def rendered(text: str, folder: Path, *made_by: Path) -> str:
    environment = jinja2.Environment(
        loader=jinja2.DictLoader({"page": text}), autoescape=True, bytecode_cache=KeptTemplates(folder, *made_by)
    )
    return environment.get_template("page").render(name="A & B")


@pytest.fixture(autouse=True)
def _writes_byte_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)


def test_kept_byte_code_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert rendered("Hello {{ name }}", tmp_path / "kept") == "Hello A &amp; B"
    assert len(list((tmp_path / "kept").iterdir())) == 1

    def refuse(*_: object) -> None:
        raise AssertionError("compiled again")

    monkeypatch.setattr(jinja2.Environment, "compile", refuse)
    assert rendered("Hello {{ name }}", tmp_path / "kept") == "Hello A &amp; B"


def test_another_source_is_compiled_anew(tmp_path: Path) -> None:
    rendered("Hello {{ name }}", tmp_path)
    assert rendered("Bye {{ name }}", tmp_path) == "Bye A &amp; B"


def test_another_way_to_compile_is_compiled_anew(tmp_path: Path) -> None:
    options = tmp_path / "options"
    options.write_text("one")
    first = KeptTemplates(tmp_path, options).get_source_checksum("x")
    options.write_text("two")
    assert KeptTemplates(tmp_path, options).get_source_checksum("x") != first


def test_damaged_byte_code_is_no_error(tmp_path: Path) -> None:
    rendered("Hello {{ name }}", tmp_path)
    (kept,) = tmp_path.iterdir()
    kept.write_bytes(kept.read_bytes()[:-20])
    assert rendered("Hello {{ name }}", tmp_path) == "Hello A &amp; B"


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert rendered("Hello {{ name }}", tmp_path / "file" / "kept") == "Hello A &amp; B"


def test_nothing_is_kept_where_python_keeps_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    rendered("Hello {{ name }}", tmp_path / "kept")
    assert not (tmp_path / "kept").exists()
