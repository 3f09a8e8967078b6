"""Facts of a database computed by Spark, for reports and rules that evaluate them in this process.

Facts are where a database becomes small: Spark reads the raw tables and computes the facts of a grain at its own
grain; roll-ups, metrics, rules and pages run on them in DuckDB, as for any other report.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from plexlens.metrics.engine_table import fresh_name
from plexlens.metrics.explained import explained_facts
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.query import Query
from plexlens.pdb import Pdb
from plexlens.pdb.engine import add_table, tables_of
from plexlens.spark.needs import reading
from plexlens.spark.views import add_raw_tables


def facts_of(spark: Any, pdb: Pdb) -> Callable[[Inputs, Query], Query]:
    """The function that brings facts of a database from Spark, for `plexlens.metrics.inputs.Inputs.brought`.

    Parameters
    ----------
    spark
        The session; the raw tables become temporary views of it.
    pdb
        The database, in a folder that each executor sees at the same path, or in object storage.
    """
    connection = pdb.connect()
    with reading(pdb.path):
        add_raw_tables(spark, pdb, connection, tables_of(connection))
    return partial(_brought, spark, pdb)


def _brought(spark: Any, pdb: Pdb, inputs: Inputs, rows: Query) -> Query:
    """The rows of a statement, computed by Spark, as a temporary table of the connection.

    Raises
    ------
    UnreadableInputError
        Spark does not compute them.
    """
    name = fresh_name("facts_of_spark")
    statement = explained_facts(inputs, rows, "spark")
    with reading(pdb.path):
        computed = spark.sql(statement).toArrow()
    add_table(inputs.connection, name, computed, temporary=True)
    timed = None if rows.timed is None else _brought(spark, pdb, inputs, rows.timed)
    return Query(inputs.connection, name, rows.columns, timed)
