"""Every grain of the catalogue as a temporary view of Spark, by the statements that DuckDB runs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow as pa

from plexlens.errors import NothingUsableError
from plexlens.metrics.catalogue import GRAINS
from plexlens.metrics.explained import explained
from plexlens.metrics.inputs import Inputs
from plexlens.pdb import Pdb
from plexlens.pdb.engine import add_table, arrow, connect, quoted, tables_of
from plexlens.pdb.place import is_object
from plexlens.pdb.rewriting import opened
from plexlens.spark.needs import check
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
        Folder of a performance database, which each executor has to see at the same path, or its address in object
        storage; or raw tables by name, as Spark data frames. Of raw tables alone, implausible values are not left out,
        and reports in local time are not placed: a database has both noted.

    Returns
    -------
    Registered
        The names of the views, and the grains that have no view.

    Raises
    ------
    UsageError
        PySpark or Java is missing, or there is no performance database.
    NothingUsableError
        There is no raw table.
    """
    check()
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    if isinstance(source, Mapping):
        connection = connect()
        for name, frame in source.items():
            _add_empty(connection, name, frame)
            in_numbers(frame).createOrReplaceTempView(name)
        names, file = tuple(source), "the tables given"
    else:
        pdb = Pdb.open(source)
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
    """Make a temporary view of each raw table of a database."""
    groups: dict[str, dict[int, list[Path]]] = {}
    for file in pdb.manifest.every_file():
        groups.setdefault(file.table, {}).setdefault(file.variant, []).append(pdb.path / file.path)
    options = s3a_options(os.environ) if is_object(pdb.path) else {}
    for name in names:
        if name not in groups:
            # Made of the manifest, or without a row.
            frame = _frame_of(spark, arrow(connection, f"select * from {quoted(name)}"))
        else:
            # The files of a variant have the same columns; those that one variant lacks are null in it.
            frames = [
                spark.read.options(**options)
                .schema(spark_schema(opened(paths[0]).schema_arrow))
                .parquet(*(_for_spark(path) for path in paths))
                for _, paths in sorted(groups[name].items())
            ]
            frame = reduce(lambda union, frame: union.unionByName(frame, allowMissingColumns=True), frames)
        in_numbers(frame).createOrReplaceTempView(name)


#: Options of Hadoop's S3 file system by the variables that they come from.
_S3A = {
    "AWS_ENDPOINT_URL": "fs.s3a.endpoint",
    "AWS_DEFAULT_REGION": "fs.s3a.endpoint.region",
    "AWS_REGION": "fs.s3a.endpoint.region",
    "AWS_ACCESS_KEY_ID": "fs.s3a.access.key",
    "AWS_SECRET_ACCESS_KEY": "fs.s3a.secret.key",
    "AWS_SESSION_TOKEN": "fs.s3a.session.token",
}


def s3a_options(environment: Mapping[str, str]) -> dict[str, str]:
    """Options of Hadoop's S3 file system for the server and the credentials that the variables ``AWS_...`` name.

    Executors get them with the statement, so that they need no variables of their own; Spark hides keys and tokens
    where it shows a statement (``spark.redaction.regex``). A server other than Amazon's is asked by paths, because its
    buckets seldom have names of their own.
    """
    options = {option: environment[name] for name, option in _S3A.items() if environment.get(name)}
    if "fs.s3a.endpoint" in options:
        options["fs.s3a.path.style.access"] = "true"
    return options


def _for_spark(path: Path) -> str:
    """A file as Spark names it: its file system for S3 is ``s3a``."""
    return str(path).replace("s3://", "s3a://", 1) if is_object(path) else str(path.absolute())


def _frame_of(spark: Any, table: pa.Table) -> Any:
    return spark.createDataFrame(table.cast(widened(table.schema)), schema=spark_schema(table.schema))
