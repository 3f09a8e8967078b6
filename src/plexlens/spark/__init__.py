"""Plexlens on Spark: dumps decoded in executors, and the metric views of the catalogue in Spark's SQL.

The extra ``plexlens[spark]`` installs PySpark; Spark needs Java 17.
Of Plexlens, only ``--engine spark`` of ``report`` and ``ingest`` imports this package.
"""

from typing import Any

from plexlens.spark.needs import check, session
from plexlens.spark.views import Registered, register

__all__ = ["Registered", "add_source", "register", "session"]


def add_source(spark: Any) -> None:
    """Let a session read dumps: ``spark.read.format("plexlens").option("table", "smf74_4_request").load("/dumps")``.

    Executors reach object storage by the variables ``AWS_...`` that this process has now.

    Raises
    ------
    UsageError
        PySpark or Java is missing.
    """
    check()
    from plexlens.spark.dumps import source_here

    spark.dataSource.register(source_here())
