"""The process that runs writers which are cut short, as the tests of crashes ask it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]

Run = Callable[..., dict[str, Any]]


@contextmanager
def crash_server() -> Iterator[Run]:
    """A running `tests.pdb.crash_server`; called with a command, it returns the answer.

    `faults.c` stands between it and the C library, and is compiled here.
    """
    if sys.platform != "linux":
        pytest.skip("system calls are counted and refused on Linux only")
    with (
        tempfile.TemporaryDirectory(prefix="plexlens-faults-") as folder,
        _server(Path(folder) / "faults.so") as server,
    ):
        assert server.stdin is not None
        assert server.stdout is not None

        def ask(**command: Any) -> dict[str, Any]:
            server.stdin.write(json.dumps(command) + "\n")
            server.stdin.flush()
            answer: dict[str, Any] = json.loads(server.stdout.readline())
            return answer

        yield ask
        server.stdin.close()


def _server(faults: Path) -> subprocess.Popen[str]:
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-O1", "-o", faults, Path(__file__).with_name("faults.c"), "-ldl"], check=True
    )
    return subprocess.Popen(
        [sys.executable, "-m", "tests.pdb.crash_server"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        # No threads before a fork.
        env={**os.environ, "LD_PRELOAD": str(faults), "OPENBLAS_NUM_THREADS": "1"},
    )
