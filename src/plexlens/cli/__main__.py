"""The program: `plexlens`, and `python -m plexlens.cli`."""

from __future__ import annotations

import gc
import os

# Python looks for unused cycles each 700 objects: while modules are loaded, which make no cycles, that takes a tenth of
# the start of a command.
gc.set_threshold(100_000)

from plexlens.cli import main  # noqa: E402
from plexlens.cli.without_pandas import leave_out  # noqa: E402


def program() -> None:
    """Run the command line as a process, with settings that hold for all of it."""
    leave_out()
    # numpy starts threads for its matrices, which wait in a loop; no command has a matrix worth a second thread.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        main()
    finally:
        # At its end Python looks through all modules for cycles, whose memory the system takes back in any case.
        gc.freeze()


if __name__ == "__main__":
    program()
