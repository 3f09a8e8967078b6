"""The Python examples of docs/api.md and docs/export.md give what the pages show."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from tests.cli.command import run as command
from tests.example_file import write_example

DOCS = Path(__file__).parents[2] / "docs"
_BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("page", "least"), [("api.md", 10), ("export.md", 3)])
def test_examples_of_the_page(page: str, least: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_example(tmp_path / "example.smf")
    if page == "export.md":
        assert command("ingest", "example.smf", "--pdb", "pdb", cwd=tmp_path).returncode == 0
        assert command("export", "pdb", "-o", "views", cwd=tmp_path).returncode == 0
    monkeypatch.chdir(tmp_path)
    blocks = _BLOCK.findall((DOCS / page).read_text(encoding="utf-8"))
    text = "\n\n".join(blocks)
    test = doctest.DocTestParser().get_doctest(text, {}, page, page, 0)
    assert len(test.examples) == len(re.findall(r"^>>> ", text, re.MULTILINE)) >= least
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=flags)
    runner.run(test, out=said.append)
    assert runner.failures == 0, "".join(said)
