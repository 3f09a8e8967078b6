"""``plexlens report --fail-on`` and ``--rules``, ``plexlens findings list``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from plexlens.findings import load_rules
from tests.cli.command import run
from tests.ingest.text_report_documents import statistics

#: The one rule that is high in the report below.
HIGH = "db2.pool_prefetch_no_buffer"


@pytest.fixture(scope="module")
def pdb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A printed statistics report of a Db2; its gravest finding is a high one: prefetch without buffers."""
    folder = tmp_path_factory.mktemp("statistics")
    (folder / "statistics.txt").write_text(statistics(), encoding="utf-8")
    assert run("ingest", "statistics.txt", "--pdb", "pdb", cwd=folder).returncode == 0
    return folder / "pdb"


def site(folder: Path, *lines: str) -> Path:
    (folder / "ours").mkdir()
    (folder / "ours" / "ours.toml").write_text("\n".join(("[[rule]]", *lines, "")), encoding="utf-8")
    return folder / "ours"


@pytest.mark.parametrize(("level", "code"), [("low", 1), ("medium", 1), ("high", 1), ("critical", 0)])
def test_fail_on(pdb: Path, tmp_path: Path, level: str, code: int) -> None:
    done = run("report", pdb, "-o", "out.html", "--fail-on", level, cwd=tmp_path)
    assert done.returncode == code
    # The report is written all the same.
    assert 'id="findings"' in (tmp_path / "out.html").read_text(encoding="utf-8")
    assert (f"severity {level} or higher (--fail-on)" in done.stderr) == (code == 1)


@pytest.mark.parametrize(("level", "code"), [("medium", 1), ("high", 0)])
def test_rules_of_a_site_decide_too(pdb: Path, tmp_path: Path, level: str, code: int) -> None:
    ours = site(tmp_path, f'id = "{HIGH}"', "disabled = true")
    done = run("report", pdb, "-o", "out.html", "--rules", ours, "--fail-on", level, cwd=tmp_path)
    assert done.returncode == code


def test_without_fail_on_findings_are_no_failure(pdb: Path, tmp_path: Path) -> None:
    done = run("report", pdb, "--json", cwd=tmp_path)
    assert done.returncode == 0
    found = json.loads(done.stdout)["findings"]
    fired = {one["rule"]: one for one in found["fired"]}
    # The report prints 7 prefetches disabled for want of a buffer, in a pool of 80,000.
    assert fired[HIGH]["severity"] == "high"
    assert fired[HIGH]["entity"] == {"subsystem": "DB2A", "pool": "BP2"}
    assert fired[HIGH]["evidence"][0]["value"] == 7.0
    # z/OS has paged buffers of the pool out: enlarging it is not commanded, and the finding says why.
    assert (fired[HIGH]["command"], fired[HIGH]["undo"]) == (None, None)
    assert "db2.pool_page_ins" in " ".join(fired[HIGH]["remarks"])
    assert fired["db2.pool_page_ins"]["command"] == "-ALTER BUFFERPOOL(BP2) VPSIZE(72000)"
    assert fired["db2.pool_page_ins"]["undo"] == "-ALTER BUFFERPOOL(BP2) VPSIZE(80000)"
    assert [one["rank"] for one in found["fired"]] == list(range(1, len(found["fired"]) + 1))
    # Every rule comes out: it fired, passed, or says what it lacks.
    fired_rules = {one["rule"] for lead in found["fired"] for one in (lead, *lead["contributing"])}
    told = fired_rules | {one["rule"] for part in ("passed", "not_checked") for one in found[part]}
    assert told == {rule.id for rule in load_rules()}
    assert all(one["reason"] for one in found["not_checked"])


def test_findings_come_first_in_plain_text(pdb: Path, tmp_path: Path) -> None:
    done = run("report", pdb, "--format", "text", cwd=tmp_path)
    assert done.returncode == 0
    text = done.stdout
    first = text.index("PREFETCH DISABLED FOR WANT OF BUFFERS (1 object, ")
    assert "HIGH: " in text[first - 10 : first]
    command = "       -ALTER BUFFERPOOL(BP2) VPSIZE({})\n"
    assert command.format(72000) + "   To undo it:\n" + command.format(80000) in text
    assert text.index("F I N D I N G S") < first < text.index("RULES COULD NOT BE CHECKED")


def test_a_bad_rule_file_ends_before_the_work(pdb: Path, tmp_path: Path) -> None:
    ours = site(tmp_path, 'id = "paging.demand"', 'condition = "uic > 3"')
    done = run("report", pdb, "-o", "out.html", "--rules", ours, cwd=tmp_path)
    assert done.returncode == 2
    assert "ours.toml: line 3: rule paging.demand, condition: character 7: 3 meets a value in s" in done.stderr
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


def test_one_rule_is_shown_whole(tmp_path: Path) -> None:
    done = run("findings", "show", "db2.pool_read_rate", cwd=tmp_path)
    assert done.returncode == 0
    for text in ("read_ios_per_second > 100", "smf100_ifcid2_qbst", "Responsive Systems", "releases    all", "undo "):
        assert text in done.stdout
    done = run("findings", "show", "db2.pool_read_rate", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["id"] == "db2.pool_read_rate"


def test_a_rule_that_is_not_there_is_answered_with_near_ones(tmp_path: Path) -> None:
    done = run("findings", "show", "db2.pool_readrate", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "there is no rule db2.pool_readrate" in done.stderr
    assert "db2.pool_read_rate" in done.stderr


def test_a_site_suppresses_what_would_fail(pdb: Path, tmp_path: Path) -> None:
    (tmp_path / "site.toml").write_text(f'[[suppress]]\nrule = "{HIGH}"\nreason = "known"\n', encoding="utf-8")
    done = run("report", pdb, "-o", "out.html", "--site", "site.toml", "--fail-on", "high", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "1 finding suppressed by the site" in (tmp_path / "out.html").read_text(encoding="utf-8")
    (tmp_path / "site.toml").write_text('[[suppress]]\nrule = "db2.nothing"\nreason = "x"\n', encoding="utf-8")
    done = run("report", pdb, "-o", "bad.html", "--site", "site.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert "site.toml: line 1: suppress, rule: no rule has the id db2.nothing" in done.stderr
