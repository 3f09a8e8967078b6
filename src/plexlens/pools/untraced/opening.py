"""Statistics of pools in dumps, a performance database, or printed output."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from plexlens.errors import UsageError
from plexlens.pdb import Pdb, ingest
from plexlens.pdb.engine import Connection
from plexlens.pools.dump_statistics import statistics_of
from plexlens.pools.trace_sources import is_printed

#: Data sets and the names of their numbers: IFCID 199, 105 and 107.
_DATA_SETS = ("smf102_ifcid199", "smf102_ifcid105", "smf102_ifcid107")


@contextmanager
def opened(sources: Sequence[Path], layouts: Sequence[Path] = ()) -> Iterator[Connection]:
    """A connection to the statistics of these sources, as `plexlens.pdb.Pdb.connect` gives.

    Raises
    ------
    UsageError
        Printed output or a database among other sources.
    UnreadableInputError
        A source cannot be read.
    """
    folders = [path for path in sources if path.is_dir()]
    printed = [path for path in sources if is_printed(path)]
    if len(sources) > max(len(printed), 1) and (printed or folders):
        path = (printed or folders)[0]
        what = "printed output" if printed else "a performance database"
        remedy = "give it with --settings" if printed else "give it alone"
        raise UsageError(file=str(path), what=f"{what} among other sources", remedy=remedy)
    if folders:
        yield Pdb.open(folders[0]).connect()
    elif printed:
        with Pdb.temporary() as pdb:
            ingest(printed, pdb)
            yield pdb.connect()
    else:
        yield statistics_of(sources, layouts, also=_DATA_SETS)
