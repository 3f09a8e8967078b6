"""The commands of the README and the docs run as printed."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from plexlens.example import write_example

ROOT = Path(__file__).parents[2]
PAGES = ["README.md", *(str(page.relative_to(ROOT)) for page in sorted((ROOT / "docs").glob("*.md")))]
_BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"^    plexlens .*$", re.MULTILINE)


def commands(page: str) -> list[str]:
    """The lines of a page's console blocks that begin with a prompt, in order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [line[2:] for block in _BLOCK.findall(text) for line in block.splitlines() if line.startswith("$ ")]


def test_every_command_of_the_readme_is_one_that_runs() -> None:
    """An indented command looks the same to a reader, and no test would run it."""
    assert _INDENTED.findall((ROOT / "README.md").read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)])
def test_commands_run(page: str, tmp_path: Path) -> None:
    if page == "README.md":
        # It says that it makes its files itself; it is read in the folder of the sources.
        (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    else:
        write_example(tmp_path / "example.smf")
    binaries = str(Path(sys.executable).parent)
    environment = os.environ | {"PATH": os.pathsep.join([binaries, os.environ["PATH"]])}
    for command in commands(page):
        done = subprocess.run(
            shlex.split(command),
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, f"{page}: {command}\n{done.stderr}"
        assert "Traceback" not in done.stderr


def test_links_between_pages_hold() -> None:
    """Every relative link of the README and the docs names a file that is there."""
    broken = []
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
            if not (ROOT / page).parent.joinpath(target).exists():
                broken.append(f"{page}: {target}")
    assert broken == []
