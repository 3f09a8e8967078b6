"""Questions in SQL answered in the process of the test: the same code without the time to start a process for each.

Limits of memory and rights that are taken away for good would stay with the test: tests of these start the process.
"""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from plexlens.serve import asked


def _run(words: list[str], *, input: bytes, **_: Any) -> subprocess.CompletedProcess[bytes]:
    """The result of `subprocess.run` for a process that answers a question."""
    out = io.BytesIO()
    with pytest.MonkeyPatch.context() as patch:
        ends = SimpleNamespace(buffer=io.BytesIO(input)), SimpleNamespace(buffer=out)
        patch.setattr(asked, "sys", SimpleNamespace(stdin=ends[0], stdout=ends[1], executable=sys.executable))
        asked.main()
    return subprocess.CompletedProcess(words, 0, out.getvalue(), b"")


@contextmanager
def questions_in_this_process() -> Iterator[None]:
    """Until the end of the block, a question starts no process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asked, "subprocess", SimpleNamespace(run=_run, TimeoutExpired=subprocess.TimeoutExpired))
        patch.setattr(asked, "_bound", lambda extra: None)
        yield
