"""Every grain of the catalogue as a temporary view of Spark, by the statements that DuckDB runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from plexlens.errors import NothingUsableError
from plexlens.metrics.catalogue import GRAINS
from plexlens.metrics.explained import explained
from plexlens.metrics.inputs import Inputs
from plexlens.pdb import Pdb
from plexlens.pdb.engine import add_table, arrow, connect, quoted, tables_of
from plexlens.spark.needs import check, check_folder
from plexlens.spark.widening import in_numbers, spark_schema, widened


@dataclass(frozen=True, slots=True)
class Registered:
    """The temporary views that `register` made.

    Attributes
    ----------
    tables : tuple of str
        Raw tables.
    grains : tuple of str
        Metric views.
    without_source : dict of str to str
        Grains that have no view, and what to ingest for them.
    """

    tables: tuple[str, ...]
    grains: tuple[str, ...]
    without_source: dict[str, str]


def register(spark: Any, source: str | Path | Mapping[str, Any]) -> Registered:
    """Make a temporary view of each raw table and of each grain of the catalogue that has a source.

    A view has the columns and rows of the view of the same name in ``plexlens sql``. Spark evaluates it when it is
    asked. The session's clock is set to UTC. A temporary view of the same name is replaced.

    Parameters
    ----------
    spark
        The Spark session.
    source
        Folder of a performance database, which each executor has to see at the same path; or raw tables by name, as
        Spark data frames. Of raw tables alone, implausible values are not left out, and reports in local time are
        not placed: a database has both noted.

    Returns
    -------
    Registered
        The names of the views, and the grains that have no view.

    Raises
    ------
    UsageError
        PySpark or Java is missing, or the folder is not a performance database.
    NothingUsableError
        There is no raw table.
    """
    check_folder(source)
    check()
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    if isinstance(source, Mapping):
        connection = connect()
        for name, frame in source.items():
            _add_empty(connection, name, frame)
            in_numbers(frame).createOrReplaceTempView(name)
        names, file = tuple(source), "the tables given"
    else:
        pdb = Pdb.open(Path(source))
        connection, file = pdb.connect(), str(source)
        names = tables_of(connection)
        add_raw_tables(spark, pdb, connection, names)
    if not names:
        raise NothingUsableError(file=file, what="there is no raw table", remedy="ingest a dump, or give tables")
    inputs = Inputs(connection)
    grains, without = [], {}
    for name in GRAINS:
        try:
            statement = explained(inputs, name, "spark", file=file)
        except NothingUsableError as error:
            without[name] = error.remedy
            continue
        spark.sql(statement).createOrReplaceTempView(name)
        grains.append(name)
    return Registered(tuple(names), tuple(grains), without)


def _add_empty(connection: Any, name: str, frame: Any) -> None:
    """Create an empty DuckDB table with the columns of a data frame, from which statements are generated."""
    from pyspark.sql.pandas.types import to_arrow_schema

    add_table(connection, name, to_arrow_schema(frame.schema).empty_table())


def add_raw_tables(spark: Any, pdb: Pdb, connection: Any, names: tuple[str, ...]) -> None:
    """Make a temporary view of each raw table of a database in a folder."""
    groups: dict[str, dict[int, list[str]]] = {}
    for file in pdb.manifest.every_file():
        path = str((pdb.path / file.path).absolute())
        groups.setdefault(file.table, {}).setdefault(file.variant, []).append(path)
    for name in names:
        if name not in groups:
            # Made of the manifest, or without a row.
            frame = _frame_of(spark, arrow(connection, f"select * from {quoted(name)}"))
        else:
            # The files of a variant have the same columns; those that one variant lacks are null in it.
            frames = [
                spark.read.schema(spark_schema(pq.read_schema(paths[0]))).parquet(*paths)
                for _, paths in sorted(groups[name].items())
            ]
            frame = reduce(lambda union, frame: union.unionByName(frame, allowMissingColumns=True), frames)
        in_numbers(frame).createOrReplaceTempView(name)


def _frame_of(spark: Any, table: pa.Table) -> Any:
    return spark.createDataFrame(table.cast(widened(table.schema)), schema=spark_schema(table.schema))
