"""The notebooks of docs/notebooks: their cells run from top to bottom, and what they show is there.

The cells run in this process as a kernel runs them: one after the other in one namespace, in a folder of their own; the
last expression of a cell is shown by its HTML where it has one.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs/notebooks").glob("*.ipynb"))


def shown_by(source: str, names: dict[str, Any]) -> tuple[str, str]:
    """Run a cell; return what it prints, and the HTML or text of its last expression."""
    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    out = io.StringIO()
    value = None
    with contextlib.redirect_stdout(out):
        exec(compile(ast.Module(body, []), "cell", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    html = getattr(value, "_repr_html_", None)
    return out.getvalue(), html() if html is not None else "" if value is None else repr(value)


def test_there_is_a_notebook_for_each_study() -> None:
    named = "".join(path.read_text(encoding="utf-8") for path in NOTEBOOKS)
    for study in ("cics-2012", "sysplex-1996", "vmesa-1992", "zxml-2008", "pools-2014"):
        assert f'px.study(\\"{study}\\"' in named


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_a_notebook_is_small_and_without_outputs(path: Path) -> None:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert set(notebook) == {"cells", "metadata", "nbformat", "nbformat_minor"}
    for cell in notebook["cells"]:
        keys = {"cell_type", "id", "metadata", "source"}
        if cell["cell_type"] == "code":
            assert (cell["outputs"], cell["execution_count"]) == ([], None)
            keys |= {"outputs", "execution_count"}
        assert set(cell) == keys
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    assert path.stat().st_size < 10_000


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_a_notebook_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # Cells look for the scenarios of the repository from the package.
    monkeypatch.setattr(sys, "argv", ["kernel"])
    names: dict[str, Any] = {"__name__": "__main__"}
    pages = 0
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            printed, shown = shown_by("".join(cell["source"]), names)
            assert printed or shown or cell["source"][-1].startswith(("pdb", "from", "import")), cell["source"]
            pages += "<" in shown and ("</iframe>" in shown or "</table>" in shown or "</svg>" in shown)
    assert pages >= 1
    for name in ("pdb",):
        if name in names:
            names[name].close()
