"""The command line: argument parsing and wiring only.

Exit codes: 0 done, 1 findings at or above ``--fail-on``, 2 wrong use, 3 unreadable input, 4 nothing usable in it, 130
stopped by Ctrl-C.
With ``--json`` standard output holds one JSON object and nothing else; progress and messages go to standard error.

A command is a module of this package and has its name. A process loads its own command alone; `plexlens.cli.every`
loads all of them, in the order of the help.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import FrameType

import typer

from plexlens.cli.app import app, narrowed
from plexlens.cli.terminal import err
from plexlens.errors import OutputError, PlexlensError, UnreadableInputError
from plexlens.whole_file import of_device, refused

__all__ = ["main"]


class _StoppedError(BaseException):
    """Ctrl-C. Not ``KeyboardInterrupt``, which Typer ends with exit code 1: here that code means findings."""


def _stop(number: int, frame: FrameType | None) -> None:
    raise _StoppedError


def main() -> None:
    """Run the command line; every expected error gives a single message and its exit code, never a traceback."""
    before = signal.signal(signal.SIGINT, _stop)
    try:
        _run()
    except _StoppedError:
        _fail("stopped by Ctrl-C; no file was left half written", 130)
    except PlexlensError as error:
        _fail(str(error), error.exit_code)
    except BrokenPipeError:
        # The reader of a pipe has seen enough; what is left to flush has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        if not of_device(error):
            _defect(error)
        _fail(str(_not_taken(error)), OutputError.exit_code)
    except MemoryError:
        _fail("there is not enough memory; give fewer or smaller files at a time", UnreadableInputError.exit_code)
    except Exception as error:
        _of_storage(error)
        _defect(error)
    finally:
        signal.signal(signal.SIGINT, before)


def _run() -> None:
    """Run the command, and flush its output before the exit code reports success."""
    try:
        words = sys.argv[1:]
        (_own(words) or narrowed(_every(), words))()
    except SystemExit:
        sys.stdout.flush()
        raise


def _own(words: Sequence[str]) -> typer.Typer | None:
    """The application with the command alone that the words begin with; None if they begin with none.

    The modules of all commands take longer to load than some commands take to run.
    """
    if not words or not words[0].replace("-", "").isalpha():
        return None
    module = f"{__name__}.{words[0].replace('-', '_')}"
    try:
        import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
    own = narrowed(app, words)
    if own is app:
        return None
    if "--help" in words:
        from plexlens.cli.examples import add_examples

        add_examples(own)
    return own


def _every() -> typer.Typer:
    from plexlens.cli import every

    return every.app


def _not_taken(error: OSError) -> PlexlensError:
    """The error for a full or failing device behind standard output; writers of files name theirs."""
    if error.filename is not None:
        return refused(Path(error.filename), error)
    # What is left to print has nowhere to go.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    what = f"it cannot be written: {os.strerror(of_device(error))}; what it holds so far is not whole"
    return OutputError(file="standard output", what=what, remedy="free space, or send it to another disk")


def _of_storage(error: Exception) -> None:
    """End with the failure of object storage behind the error of an engine, if there is one."""
    if "plexlens.pdb.object_store" in sys.modules:
        from plexlens.pdb.place import cause_of

        if (failure := cause_of(error)) is not None:
            _fail(str(failure), failure.exit_code)


def _defect(error: Exception) -> None:
    if os.environ.get("PLEXLENS_TRACEBACK"):
        raise error
    _fail(
        f"this is a defect of Plexlens ({type(error).__name__}: {error}); "
        "please report it with the output of the same command under PLEXLENS_TRACEBACK=1",
        70,
    )


def _fail(message: str, code: int) -> None:
    err.print(f"plexlens: {message}")
    sys.exit(code)
