"""docs/studies.md: up to date, complete, and refused where it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from plexlens.compare import study_names
from tests.compare.audited import audited
from tools.study_reference import document, main


@pytest.fixture(scope="module")
def text() -> str:
    return document()


def test_every_table_has_its_row_with_the_numbers_of_the_audit(text: str) -> None:
    for name in study_names():
        for one in audited(name).tables:
            (line,) = [
                line
                for line in text.split(f'<a id="{name}"></a>')[1].split('<a id="', maxsplit=1)[0].splitlines()
                if line.startswith(f"| `{one.table.id}` |")
            ]
            counts = [cell.strip() for cell in line.split(" | ")]
            numbers = (len(one.compared), one.agree, len(one.disagree), len(one.conventions), len(one.tested))
            assert counts[-6:] == [*map(str, numbers), f"{len(one.broken)} |"]
            assert one.agree + len(one.disagree) + len(one.conventions) == len(one.compared)


def test_every_disagreement_stands_with_its_arithmetic(text: str) -> None:
    for name in study_names():
        for one in audited(name).tables:
            for cell in one.disagree:
                assert cell.arithmetic.split(" = ")[-1].replace("*", "\\*").replace("[", "\\[")[:20] in text


def test_curves_checks_and_contradictions_are_in_it(text: str) -> None:
    assert "predicted 222.88 commands/s, printed 236.35, an error of -5.7%" in text
    assert "printed 3.3 requests; 51.34 / 13.2" in text


def test_check_tells_stale_from_fresh(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.study_reference.document", lambda: "a document\n")
    path = tmp_path / "studies.md"
    assert main([str(path), "--check"]) == 1
    assert "missing" in capsys.readouterr().err
    assert main([str(path)]) == 0
    assert main([str(path), "--check"]) == 0
    path.write_text(path.read_text() + "more\n")
    assert main([str(path), "--check"]) == 1
    assert "stale" in capsys.readouterr().err
