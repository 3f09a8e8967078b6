"""Files of watched folders that have settled: of the same size and time in two looks, one after the other."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

#: Ending of the file that says why another file was set aside.
REASON = ".reason"


@dataclass(frozen=True)
class State:
    """Size and times of a file. Whatever changes the file or its permissions changes one of them."""

    size: int
    modified: int
    changed: int


class Folders:
    """Folders under watch. No clock counts: files of any date, and a clock that is set back, are the same to it.

    Parameters
    ----------
    folders
        The folders; folders in them are watched too, except performance databases and hidden ones.
    tell
        Told what is wrong with a folder, once until it is right again.
    """

    def __init__(self, folders: Sequence[Path], tell: Callable[[str], None]) -> None:
        self._folders = tuple(folders)
        self._tell = tell
        self._before: dict[Path, State] = {}
        self._done: dict[Path, State] = {}
        self._wrong: set[str] = set()

    @property
    def are_there(self) -> bool:
        """Whether any folder is watched."""
        return bool(self._folders)

    def look(self) -> list[Path]:
        """Files that have settled since the look before and are not done with, by name."""
        now: dict[Path, State] = {}
        wrong: set[str] = set()
        for folder in self._folders:
            now.update(self._files(folder, wrong))
        for message in sorted(wrong - self._wrong):
            self._tell(message)
        self._wrong = wrong
        settled = [path for path, state in now.items() if self._before.get(path) == state]
        self._before = now
        self._done = {path: state for path, state in self._done.items() if path in now}
        return sorted(path for path in settled if now[path].size and self._done.get(path) != now[path])

    def unsettled(self) -> list[Path]:
        """Files of the last look that are neither done with nor empty."""
        return sorted(path for path, state in self._before.items() if state.size and self._done.get(path) != state)

    def done(self, path: Path) -> None:
        """Note that a file is not to be given again until it changes."""
        self._done[path] = self._before[path]

    def _files(self, folder: Path, wrong: set[str]) -> Iterator[tuple[Path, State]]:
        def refuse(error: OSError) -> None:
            wrong.add(
                f"{error.filename}: the folder cannot be read: {error.strerror}; the watch tries again at the next scan"
            )

        for above, inner, names in os.walk(folder, onerror=refuse):
            if "manifest.json" in names:
                inner.clear()
                continue
            inner[:] = sorted(name for name in inner if not name.startswith("."))
            for name in names:
                path = Path(above) / name
                if name.startswith(".") or name.endswith(REASON):
                    continue
                try:
                    status = path.stat()
                except OSError:
                    # It went away between the list and the look.
                    continue
                if path.is_file():
                    yield path, State(status.st_size, status.st_mtime_ns, status.st_ctime_ns)
