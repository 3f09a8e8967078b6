"""The command line: argument parsing and wiring only.

Exit codes: 0 done, 1 findings at or above ``--fail-on``, 2 wrong use, 3 unreadable input, 4 nothing usable in it, 130
stopped by Ctrl-C.
With ``--json`` standard output holds one JSON object and nothing else; progress and messages go to standard error.

A command is a module of this package; it joins the application by being imported here, in the order of the help.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

from plexlens.cli.app import app

from plexlens.cli import (  # isort: skip
    report, ingest, sql, export, metrics, records, pools, layouts, findings, example, study, compare, ways_in, plan,  # noqa: F401
    sharing, simulate, serve, watch, pdb,  # noqa: F401
)  # fmt: skip
from plexlens.cli.examples import add_examples
from plexlens.cli.terminal import err
from plexlens.errors import PlexlensError, UnreadableInputError

__all__ = ["app", "main"]

add_examples(app)


class _StoppedError(BaseException):
    """Ctrl-C. Not ``KeyboardInterrupt``, which Typer ends with exit code 1: here that code means findings."""


def _stop(number: int, frame: FrameType | None) -> None:
    raise _StoppedError


def main() -> None:
    """Run the command line; every expected error gives a single message and its exit code, never a traceback."""
    before = signal.signal(signal.SIGINT, _stop)
    try:
        app()
    except _StoppedError:
        _fail("stopped by Ctrl-C; no file was left half written", 130)
    except PlexlensError as error:
        _fail(str(error), error.exit_code)
    except BrokenPipeError:
        # The reader of a pipe has seen enough; what is left to flush has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except MemoryError:
        _fail("there is not enough memory; give fewer or smaller files at a time", UnreadableInputError.exit_code)
    except Exception as error:
        if os.environ.get("PLEXLENS_TRACEBACK"):
            raise
        _fail(
            f"this is a defect of Plexlens ({type(error).__name__}: {error}); "
            "please report it with the output of the same command under PLEXLENS_TRACEBACK=1",
            70,
        )
    finally:
        signal.signal(signal.SIGINT, before)


def _fail(message: str, code: int) -> None:
    err.print(f"plexlens: {message}")
    sys.exit(code)
