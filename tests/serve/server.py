"""The server as a process, as a user starts it."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Server:
    """A running server."""

    process: subprocess.Popen[str]
    address: str

    def end(self) -> tuple[int, str, str]:
        """Stop it as Ctrl-C does; its exit code and what it said."""
        self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, out, err


@contextmanager
def serving(pdb: Path, *options: str) -> Iterator[Server]:
    """A server over a database on a free port."""
    words = [sys.executable, "-m", "plexlens.cli", "serve", str(pdb), "--port", "0", *options]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"open (\S+)", line)
        assert found, line + process.communicate(timeout=10)[1]
        yield Server(process, found[1])
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()
