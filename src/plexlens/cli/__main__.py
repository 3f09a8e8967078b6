"""The program: `plexlens`, and `python -m plexlens.cli`."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

# Python looks for unused cycles each 700 objects: while modules are loaded, which make no cycles, that takes a tenth of
# the start of a command.
gc.set_threshold(20_000)

from plexlens.cli import main  # noqa: E402


class _WithoutPandas:
    """No command uses pandas, but pyarrow imports it for its first array, which takes longer than some commands."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name == "pandas":
            raise ModuleNotFoundError("no command uses pandas", name=name)
        return None


def program() -> None:
    """Run the command line as a process, with settings that hold for all of it."""
    sys.meta_path.insert(0, _WithoutPandas())
    # numpy starts threads for its matrices, which wait in a loop; no command has a matrix worth a second thread.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main()


if __name__ == "__main__":
    program()
