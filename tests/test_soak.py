"""Tests that do more in a soak are among those that `make soak` runs."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parent

#: How a file of tests asks for more in a soak: by itself, or by the comparison of tests/metrics/rolled/answers.py.
_MORE = re.compile(r"from tests\.draws import|from tests\.metrics\.rolled\.answers import .*\bdifferences\b")

#: How `make soak` finds tests: by a mark, which conftest.py gives to those of Hypothesis.
_MARKED = ("mark.drawn", "@given(")


def test_the_soak_has_every_test_that_does_more_in_it() -> None:
    makefile = (TESTS.parent / "Makefile").read_text(encoding="utf-8")
    paths = [path for path in TESTS.rglob("test_*.py") if path != Path(__file__)]
    files = {str(path.relative_to(TESTS.parent)): path.read_text(encoding="utf-8") for path in paths}
    more = {name for name, text in files.items() if _MORE.search(text)}
    assert len(more) > 20
    marked = {name for name, text in files.items() if any(words in text for words in _MARKED)}
    assert [name for name in sorted(more - marked) if name not in makefile] == []
