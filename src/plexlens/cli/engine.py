"""The options that say which engine reads dumps and raw tables, or runs work in pieces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plexlens.cli.bundle import Option, bundle
from plexlens.cli.without_pandas import let_in
from plexlens.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plexlens.executors import Executors
    from plexlens.metrics.inputs import Inputs
    from plexlens.metrics.query import Query
    from plexlens.pdb import Pdb
    from plexlens.pdb.loading import LoadedBy
    from plexlens.progress import Progress


class Engine(StrEnum):
    """Engines that read dumps and raw tables."""

    EMBEDDED = "embedded"
    SPARK = "spark"


@dataclass(frozen=True)
class Computing:
    """The engine of a command.

    Attributes
    ----------
    master
        The cluster, as Spark names it; empty for the embedded engine.
    """

    master: str = ""

    def check(self, sources: Sequence[Path]) -> None:
        """See that the engine can read the sources, before any work.

        Raises
        ------
        UsageError
            It cannot: Spark reads a database, and needs PySpark and Java.
        """
        if not self.master:
            return
        from plexlens.spark.needs import check

        for source in sources:
            if not (source / "manifest.json").is_file():
                raise UsageError(
                    file=str(source),
                    what="--engine spark reads a performance database, and this is not a database",
                    remedy="add the files to a database first: plexlens ingest FILE... --pdb PDB",
                )
        let_in()
        check()

    def loaded_by(self, progress: Progress) -> LoadedBy | None:
        """Loads files for `plexlens.pdb.ingest`; None for the embedded engine."""
        if not self.master:
            return None
        from plexlens.spark.loading import loaded_by
        from plexlens.spark.needs import quiet_session, same_python

        progress(0, 0, f"starting Spark ({self.master})")
        same_python(self.master)
        return partial(loaded_by, quiet_session(self.master))

    def check_work(self) -> None:
        """See that the engine can run work in pieces, before any of it.

        Raises
        ------
        UsageError
            PySpark or Java is missing.
        """
        if not self.master:
            return
        from plexlens.spark.needs import check

        let_in()
        check()

    def executors(self, name: str, progress: Progress) -> Executors | None:
        """Executors for work in pieces, which Spark's pages call by this name; None for the embedded engine."""
        if not self.master:
            return None
        from plexlens.spark.needs import quiet_session, same_python
        from plexlens.spark.tasks import executors

        progress(0, 0, f"starting Spark ({self.master})")
        same_python(self.master)
        return executors(quiet_session(self.master), name)

    def brought(self, pdb: Pdb, progress: Progress) -> Callable[[Inputs, Query], Query] | None:
        """The function that brings facts of a database from Spark; None where the embedded engine computes them."""
        if not self.master:
            return None
        from plexlens.spark.facts import facts_of
        from plexlens.spark.needs import quiet_session

        progress(0, 0, f"starting Spark ({self.master})")
        return facts_of(quiet_session(self.master), pdb)


def _computing(*, engine: Engine, master: str) -> Computing:
    if engine is Engine.SPARK:
        return Computing(master or "local[*]")
    if master:
        raise UsageError(
            file="--master", what="the embedded engine has no cluster", remedy="give --engine spark with --master"
        )
    return Computing()


def _options(purpose: str) -> tuple[Option, ...]:
    """The options, for an engine of this purpose."""
    return (
        (
            "engine",
            Annotated[Engine, typer.Option("--engine", help=f"{purpose}; spark needs plexlens[spark] and Java.")],
            Engine.EMBEDDED,
        ),
        (
            "master",
            Annotated[
                str,
                typer.Option(
                    "--master",
                    metavar="MASTER",
                    help="The cluster of --engine spark: local[2], spark://HOST:7077, yarn; local[*] by default.",
                ),
            ],
            "",
        ),
    )


#: Gives a command the options of its engine; it gets them as one argument, ``computing``.
computes = bundle("computing", _options("Engine that reads the data"), _computing)

#: The same for a command that computes curves.
computes_curves = bundle("computing", _options("Engine that computes the curves"), _computing)

#: The same for a command that simulates.
simulates = bundle("computing", _options("Engine that runs the replications"), _computing)
