"""``plexlens report --fail-on`` and ``--rules``, ``plexlens findings list``."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from plexlens.example import write_example
from plexlens.findings import load_rules


def run(*words: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "plexlens.cli", *map(str, words)],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


@pytest.fixture(scope="module")
def pdb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example dump, whose gravest finding is a high one."""
    folder = tmp_path_factory.mktemp("example")
    write_example(folder / "example.smf")
    assert run("ingest", "example.smf", "--pdb", "pdb", cwd=folder).returncode == 0
    return folder / "pdb"


@pytest.mark.parametrize(("level", "code"), [("low", 1), ("high", 1), ("critical", 0)])
def test_fail_on(pdb: Path, tmp_path: Path, level: str, code: int) -> None:
    done = run("report", pdb, "-o", "out.html", "--fail-on", level, cwd=tmp_path)
    assert done.returncode == code
    # The report is written all the same.
    assert 'id="findings"' in (tmp_path / "out.html").read_text(encoding="utf-8")
    assert ("findings of severity" in done.stderr) == (code == 1)


def test_without_fail_on_findings_are_no_failure(pdb: Path, tmp_path: Path) -> None:
    done = run("report", pdb, "--json", cwd=tmp_path)
    assert done.returncode == 0
    found = json.loads(done.stdout)["findings"]
    assert "workload.ziip_overflow" in {one["rule"] for one in found["fired"]}


def test_rules_of_a_site_decide_too(pdb: Path, tmp_path: Path) -> None:
    (tmp_path / "ours").mkdir()
    off = '[[rule]]\nid = "workload.ziip_overflow"\ndisabled = true\n'
    (tmp_path / "ours" / "off.toml").write_text(off)
    done = run("report", pdb, "-o", "out.html", "--rules", "ours", "--fail-on", "high", cwd=tmp_path)
    assert done.returncode == 0


def test_a_bad_rule_file_ends_before_the_work(pdb: Path, tmp_path: Path) -> None:
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours" / "bad.toml").write_text('[[rule]]\nid = "paging.demand"\ncondition = "uic > 3"\n')
    done = run("report", pdb, "-o", "out.html", "--rules", "ours", cwd=tmp_path)
    assert done.returncode == 2
    assert "bad.toml: line 3: rule paging.demand, condition: character 7: 3 meets a value in s" in done.stderr
    assert not (tmp_path / "out.html").exists()


def test_wrong_severity_is_wrong_use(pdb: Path, tmp_path: Path) -> None:
    done = run("report", pdb, "--fail-on", "severe", cwd=tmp_path)
    assert done.returncode == 2
    assert "critical" in done.stderr


def test_the_rules_are_listed(tmp_path: Path) -> None:
    done = run("findings", "list", cwd=tmp_path)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert len(lines) == len(load_rules()) + 2
    assert any(line.startswith("mq.pool_no_buffer ") and "no_buffer > 0" in line for line in lines)


def test_the_rules_are_listed_as_json(tmp_path: Path) -> None:
    done = run("findings", "list", "--json", cwd=tmp_path)
    assert [one["id"] for one in json.loads(done.stdout)["rules"]] == [rule.id for rule in load_rules()]
