"""The hooks refuse what cannot be parsed, in a repository of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools.commits import fault, message_faults

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.py", b"def f():\nreturn 1\n", "a.py:2: expected an indented block"),
        ("a.py", b"x = 'caf\xe9'\n", "a.py: not UTF-8"),
        ("a.toml", b"[run\nseed = 1\n", "a.toml: Expected"),
        ("a.json", b'{"a": }', "a.json: Expecting value"),
        ("a.md", b"one\n<<<<<<< HEAD\ntwo\n", "a.md:2: a conflict marker"),
        ("a.rs", b"fn f( {\n", "a.rs: error"),
    ],
)
def test_what_cannot_be_parsed_is_named(name: str, content: bytes, message: str) -> None:
    found = fault(name, content)
    assert found is not None
    assert found.startswith(message)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.py", b"x = 1\n"),
        ("a.smf", b"\xff\xfe\x00"),
        ("a.md", b"=======\nheading\n=======\n"),
        ("a.rs", b"fn  f(){ }\n"),
    ],
)
def test_what_can_be_parsed_passes(name: str, content: bytes) -> None:
    assert fault(name, content) is None


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("pools: sizes in pages\n\nAs the manual counts them. No number moves.\n", 0),
        ("pools: sizes in pages\n", 1),
        ("pools, report: sizes in pages; names\n\nBecause.\n", 1),
        ("Sizes\n\nBecause.\n", 1),
        (f"pools: {'x' * 100}\n# a comment\n", 2),
    ],
)
def test_a_message_says_what_and_why(text: str, faults: int) -> None:
    assert len(message_faults(text)) == faults


def test_the_hooks_and_the_range_in_a_repository(tmp_path: Path) -> None:
    """A commit that cannot be parsed is refused; one made without the hooks is found in the range."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "GIT_CONFIG_GLOBAL": os.devnull}

    def git(*words: str, fails: bool = False) -> str:
        identity = ("-c", "user.name=n", "-c", "user.email=e@example.org", "-c", f"core.hooksPath={ROOT / '.ci/hooks'}")
        done = subprocess.run(
            ["git", *identity, *words], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert (done.returncode != 0) == fails, done.stderr
        return done.stdout + done.stderr

    git("init", "-q")
    good = ("-m", "area: what", "-m", "Why.")
    (tmp_path / "a.py").write_text("X = 1\n")
    git("add", "a.py")
    assert "area: what changes" in git("commit", "-m", "no area", fails=True)
    git("commit", "-q", *good)
    (tmp_path / "a.py").write_text("def f():\nX = 1\n")
    git("add", "a.py")
    # What is staged counts, not what lies in the folder.
    (tmp_path / "a.py").write_text("X = 2\n")
    assert "a.py:2" in git("commit", *good, fails=True)
    git("commit", "-q", "--no-verify", *good)
    git("add", "a.py")
    git("commit", "-q", *good)
    done = subprocess.run(
        [sys.executable, "-m", "tools.commits", "HEAD~2..HEAD"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.endswith("a.py:2: expected an indented block after function definition on line 1")
