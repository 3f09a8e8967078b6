"""The command line in this process: the same as in one of its own, without the time to start it."""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass
from pathlib import Path

import pytest

from plexlens.cli import main
from plexlens.metrics import GRAINS


@dataclass(frozen=True)
class Done:
    """How a command ended, and what it wrote."""

    returncode: int
    stdout: str
    stderr: str


def run(*words: str | Path, cwd: Path) -> Done:
    """Run a command in a folder."""
    out, err = io.StringIO(), io.StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        # A command's catalogue is its own; the next one, in a process of its own, would not have it.
        patch.setattr(GRAINS, "_catalogue", GRAINS.catalogue)
        patch.chdir(cwd)
        patch.setattr("sys.argv", ["plexlens", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
            raise SystemExit(0)
    code = ended.value.code
    assert isinstance(code, int) or code is None
    return Done(code or 0, out.getvalue(), err.getvalue())
