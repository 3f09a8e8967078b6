"""Imports go down the layers only; the check itself finds planted ones."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests.layers import circles, violations

ROOT = Path(__file__).parent.parent


def test_no_import_goes_up() -> None:
    assert violations(ROOT / "src" / "plexlens") == []


@pytest.mark.parametrize(
    ("path", "source", "expected"),
    [
        ("pdb/store.py", "from plexlens.report import build\n", "pdb imports report"),
        ("metrics/cpu.py", "import plexlens.cli\n", "metrics imports cli"),
        ("ingest/smf.py", "def f():\n    from plexlens import metrics\n", "ingest imports metrics"),
        ("ingest/deep/smf.py", "from ...pdb import Pdb\n", "ingest imports pdb"),
        ("compare/audit/audit.py", "from plexlens.report.model import Table\n", "compare imports report"),
        ("pools/lru.py", "from plexlens.compare.runs import Run\n", "pools imports compare"),
        ("odd/thing.py", "x = 1\n", "odd has no layer"),
        ("pools/curves.py", "from plexlens.pools.page.report import pools_report\n", "pools imports pools.page"),
        ("report/build.py", "from plexlens.pools.page import report\n", "report imports pools.page"),
        ("sharing/page/report.py", "from plexlens.capacity.page import report\n", "sharing.page imports capacity.page"),
        ("report/model/chart.py", "from plexlens.report.chart.axis import marks\n", "is not below it"),
        ("report/blocks/page.py", "from plexlens.report.writers.text import render_text\n", "is not below it"),
        ("compare/audit/audit.py", "from plexlens.compare.analysis.values import Numbers\n", "is not below it"),
        ("compare/runs/run.py", "from plexlens.compare.formulas import FORMULAS\n", "is not below it"),
        ("compare/runs/run.py", "from plexlens.compare.reference import main\n", "stands above the rooms"),
        (
            "compare/cellar/run.py",
            "from plexlens.compare.numbers.line import fit_line\n",
            "compare/cellar has no place",
        ),
    ],
)
def test_planted_import_is_found(tmp_path: Path, path: str, source: str, expected: str) -> None:
    file = tmp_path / path
    file.parent.mkdir(parents=True)
    file.write_text(source)
    (found,) = violations(tmp_path)
    assert expected in found
    assert str(file) in found


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("report/page.py", "from plexlens.metrics import GRAINS\nimport json\n"),
        ("metrics/cpu.py", "from plexlens.metrics.unit import COUNT\nfrom . import mq\n"),
        ("cli/app.py", "from plexlens import __version__, report\n"),
        ("compare/audit/audit.py", "from plexlens.compare.numbers.quantity import exact\n"),
        ("compare/audit/audit.py", "from plexlens.compare.audit.relations import tested\n"),
        ("pools/page/report.py", "from plexlens.report.model import Table\nfrom plexlens.pools.cost import Cost\n"),
        ("compare/page/runs.py", "from plexlens.compare.runs.run import Run\n"),
        ("report/writers/text.py", "from plexlens.report.model import Table\n"),
        ("compare/__init__.py", "from plexlens.compare.audit.audit import audit\n"),
    ],
)
def test_import_downwards_is_allowed(tmp_path: Path, path: str, source: str) -> None:
    file = tmp_path / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(source)
    assert violations(tmp_path) == []


def test_files_do_not_import_in_a_circle() -> None:
    assert circles(ROOT / "src" / "plexlens") == []


def test_a_planted_circle_is_found(tmp_path: Path) -> None:
    for name, other in (("line", "knee"), ("knee", "scalability"), ("scalability", "line"), ("quantity", "line")):
        file = tmp_path / "compare" / "numbers" / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"from plexlens.compare.numbers.{other} import it\n")
    (found,) = circles(tmp_path)
    assert {part.rpartition(".")[2] for part in found.split(" -> ")} == {"line", "knee", "scalability"}


def test_crates_depend_downwards() -> None:
    """The bindings use the libraries; no library uses the bindings."""
    for manifest in sorted((ROOT / "crates").glob("*/Cargo.toml")):
        tables = tomllib.loads(manifest.read_text())
        depends = {
            Path(entry["path"]).name
            for kind in ("dependencies", "dev-dependencies", "build-dependencies")
            for entry in tables.get(kind, {}).values()
            if isinstance(entry, dict) and "path" in entry
        }
        assert "python" not in depends, f"{manifest} depends on the bindings"
