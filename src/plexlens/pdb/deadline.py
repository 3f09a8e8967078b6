"""Statements that would never end: one way to stop them, for every command that runs SQL of others."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress

import duckdb

from plexlens.pdb.engine import Connection, noticed

#: Seconds between two interrupts.
_AGAIN = 0.05


class OverTimeError(Exception):
    """The statements took longer than they may, and were stopped."""


def _none() -> Iterable[Connection]:
    return ()


@contextmanager
def ended_after(seconds: float | None, connections: Callable[[], Iterable[Connection]] = _none) -> Iterator[None]:
    """Stop what runs within when its time is over.

    Parameters
    ----------
    seconds
        Elapsed time; None for any.
    connections
        Those that are there already, asked for when the time is over. Those that are made within are known.

    Raises
    ------
    OverTimeError
        The time was over, and a statement was stopped.
    """
    if seconds is None:
        yield
        return
    done, late = threading.Event(), threading.Event()
    with noticed() as later:

        def stop() -> None:
            if done.wait(seconds):
                return
            late.set()
            # The engine forgets an interrupt that comes between two statements.
            while not done.wait(_AGAIN):
                for connection in (*connections(), *later):
                    with suppress(duckdb.Error):
                        connection.interrupt()

        watch = threading.Thread(target=stop, name="deadline", daemon=True)
        watch.start()
        try:
            yield
        except Exception as error:
            if late.is_set():
                raise OverTimeError from error
            raise
        finally:
            done.set()
            watch.join()
