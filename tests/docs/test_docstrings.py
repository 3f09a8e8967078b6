"""Every example of a docstring gives what it shows."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path

import pytest

from tests.example_file import write_example

ROOT = Path(__file__).parents[2]
_PROMPT = re.compile(r"^\s*(?:>>> |#: >>> )", re.MULTILINE)


def _module(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[1:] if parts[0] == "src" else parts).removesuffix(".__init__")


MODULES = [
    _module(path)
    for top in ("src/plexlens", "tools")
    for path in sorted((ROOT / top).rglob("*.py"))
    if _PROMPT.search(path.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder with the example dump; each prompt of the file belongs to an example that was found."""
    write_example(tmp_path / "example.smf")
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name)
    assert module.__file__ is not None
    prompts = len(_PROMPT.findall(Path(module.__file__).read_text(encoding="utf-8")))
    done = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert done.failed == 0
    assert done.attempted == prompts


def test_there_are_examples() -> None:
    assert len(MODULES) > 10
