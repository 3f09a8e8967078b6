"""Arguments with which a trace is opened, for an executor that opens the same."""

from __future__ import annotations

import socket
from dataclasses import dataclass, replace
from pathlib import Path

from plexlens.errors import UnreadableInputError
from plexlens.pools.trace import Trace, open_trace


@dataclass(frozen=True)
class Opening:
    """Arguments of `plexlens.pools.trace.open_trace`, for opening the same trace on an executor."""

    sources: tuple[Path, ...]
    names: Path | None = None
    force: bool = False
    layouts: tuple[Path, ...] = ()
    subsystem: str = ""

    def open(self) -> Trace:
        """The trace."""
        return open_trace(
            self.sources, names=self.names, force=self.force, layouts=self.layouts, subsystem=self.subsystem
        )

    def absolute(self) -> Opening:
        """The same with paths from the root of the file system."""
        return replace(
            self,
            sources=tuple(path.absolute() for path in self.sources),
            names=None if self.names is None else self.names.absolute(),
            layouts=tuple(path.absolute() for path in self.layouts),
        )

    def check_seen(self) -> None:
        """See that this machine has the files.

        Raises
        ------
        UnreadableInputError
            One is not there.
        """
        paths = (*self.sources, *self.layouts, *([] if self.names is None else [self.names]))
        for path in paths:
            if not path.exists():
                raise UnreadableInputError(
                    file=str(path),
                    what=f"executor {socket.gethostname()} does not see it",
                    remedy="put the trace where this machine and every executor see it at the same path",
                )
