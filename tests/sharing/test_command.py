"""`plexlens sharing` as a user meets it: what it prints where, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from plexlens.simulate import read_scenario, run_scenario, write_smf
from tests.cli.command import run

TWO_MEMBERS = Path(__file__).parents[1] / "simulate" / "two-members.toml"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the dump of a group of two members, and its database."""
    made = tmp_path_factory.mktemp("sharing")
    write_smf(run_scenario(read_scenario(TWO_MEMBERS).with_run(seconds=40.0)), made / "two.smf")
    assert run("ingest", "two.smf", "--pdb", "two.pdb", cwd=made).returncode == 0
    return made


def test_one_object_on_standard_output(folder: Path) -> None:
    done = run("sharing", "two.smf", "--json", "--sync-path", "5", "--speed", "SYS2=2", cwd=folder)
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert found["stated"]["paths"]["sync_path"] == pytest.approx(5e-6)
    assert found["stated"]["speeds"] == {"SYS2": 2.0}
    assert {one["system"] for one in found["systems"]} == {"SYS1", "SYS2"}
    # 5 µs on SYS1, half of it on SYS2, and whatever the coupling facility took.
    for line in found["lines"]:
        if line["structure"]:
            path = line["synchronous"] * 5e-6 + line["asynchronous"] * 20e-6
            assert line["path_seconds"] == pytest.approx(path if line["system"] == "SYS1" else path / 2)
    total = found["total"]
    assert total["base_seconds"] + total["cpu_seconds"] == pytest.approx(total["busy_seconds"])
    assert sum(one["cpu_seconds"] for one in found["parts"].values()) == pytest.approx(total["cpu_seconds"])


def test_a_page_and_a_text(folder: Path) -> None:
    done = run("sharing", "two.pdb", "-o", "sharing.html", cwd=folder)
    assert (done.returncode, done.stdout) == (0, "")
    page = (folder / "sharing.html").read_text(encoding="utf-8")
    for words in ("From base to measured", "By address space", "By transaction class", "Delay by transaction class"):
        assert words in page
    done = run("sharing", "two.pdb", cwd=folder)
    assert "FROM BASE TO MEASURED" in done.stdout


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("--sync-path=-1",), "--sync-path -1 is not a time"),
        (("--speed", "fast"), "--speed fast is not a factor"),
        (("--speed", "SYS1=0"), "--speed SYS1=0 is not a speed"),
        (("--speed", "SYS3=2"), "the data has no system SYS3; its systems are SYS1, SYS2"),
    ],
)
def test_wrong_use(folder: Path, words: tuple[str, ...], what: str) -> None:
    done = run("sharing", "two.pdb", *words, cwd=folder)
    assert done.returncode == 2
    assert what in done.stderr
