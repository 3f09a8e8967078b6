"""The examples of docs/api.md give what it shows."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from plexlens.example import write_example

PAGE = Path(__file__).parents[2] / "docs" / "api.md"
_BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_examples_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_example(tmp_path / "example.smf")
    monkeypatch.chdir(tmp_path)
    blocks = _BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    text = "\n\n".join(blocks)
    test = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
    assert len(test.examples) == len(re.findall(r"^>>> ", text, re.MULTILINE)) > 10
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=flags)
    runner.run(test, out=said.append)
    assert runner.failures == 0, "".join(said)
