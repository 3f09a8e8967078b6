"""Which tests a change concerns, on a small tree made here, and how they are taken within a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.changed_tests import DATA, ROOT, choose, distances

FILES = {
    "src/plexlens/metrics/__init__.py": "from plexlens.metrics.unit import UNIT\n",
    "src/plexlens/metrics/unit.py": "UNIT = 1\n",
    "src/plexlens/pools/lru.py": "def f():\n    from ..metrics.unit import UNIT\n    return UNIT\n",
    "src/plexlens/cli/app.py": "from plexlens.pools import lru\n",
    "src/plexlens/findings/rules/db2.toml": "",
    "tools/page.py": "import plexlens.cli.app\n",
    "tests/records.py": "",
    "tests/metrics/test_unit.py": "from plexlens.metrics.unit import UNIT\n",
    "tests/pools/conftest.py": "from tests import records\n",
    "tests/pools/test_lru.py": "from plexlens.pools.lru import f\n",
    "tests/cli/test_app.py": "from plexlens.cli import app\n",
    "tests/cli/test_page.py": "from tools.page import app\n",
    "tests/findings/test_rules.py": "import json\n",
    "tests/findings/cases/db2.toml": "",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        (
            "src/plexlens/metrics/unit.py",
            {"metrics/test_unit.py": 1, "pools/test_lru.py": 2, "cli/test_app.py": 3, "cli/test_page.py": 4},
        ),
        ("src/plexlens/pools/lru.py", {"pools/test_lru.py": 1, "cli/test_app.py": 2, "cli/test_page.py": 3}),
        ("tests/cli/test_app.py", {"cli/test_app.py": 0}),
        ("tests/records.py", {"pools/test_lru.py": 2}),
        ("src/plexlens/findings/rules/db2.toml", {"findings/test_rules.py": 1}),
        ("tests/findings/cases/db2.toml", {"findings/test_rules.py": 1}),
        ("LICENSE", {}),
    ],
)
def test_tests_follow_imports(tree: Path, changed: str, expected: dict[str, int]) -> None:
    assert distances([changed], tree) == {f"tests/{name}": distance for name, distance in expected.items()}


def test_the_shortest_way_counts(tree: Path) -> None:
    found = distances(["src/plexlens/metrics/unit.py", "src/plexlens/cli/app.py"], tree)
    assert found["tests/cli/test_app.py"] == 1
    assert found["tests/metrics/test_unit.py"] == 1


def test_near_tests_come_first_and_the_time_is_kept() -> None:
    times = {"a.py::quick": 2.0, "a.py::slow": 50.0, "b.py::one": 20.0, "c.py::one": 1.0, "d.py::one": 300.0}
    chosen = choose({"a.py": 1, "b.py": 1, "c.py": 3, "d.py": 2, "new.py": 2}, times, 30.0)
    # b.py whole, of a.py what still fits, new.py at five seconds, c.py; d.py does not fit.
    assert chosen.run == ["b.py", "a.py::quick", "new.py", "c.py"]
    assert chosen.seconds == 28.0
    assert chosen.left_out == {"a.py::slow": 50.0, "d.py::one": 300.0}


def test_a_test_that_changed_runs_whatever_it_takes() -> None:
    assert choose({"d.py": 0}, {"d.py::one": 300.0}, 30.0).run == ["d.py"]


def test_what_the_table_of_data_names_is_there() -> None:
    names = [*DATA, *(test for tests in DATA.values() for test in tests)]
    assert [name for name in names if not (ROOT / name).exists()] == []
