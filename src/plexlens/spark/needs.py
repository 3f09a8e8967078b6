"""A Spark session, or what is missing for one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from plexlens.errors import UsageError

_INSTALL = "install it with `pip install 'plexlens[spark]'`"


def check() -> None:
    """See that PySpark and Java are there.

    Raises
    ------
    UsageError
        One of them is missing; the message says what to install.
    """
    if find_spec("pyspark") is None:
        raise UsageError(file="", what="PySpark is not installed", remedy=_INSTALL)
    for package in ("pandas", "py4j"):
        if find_spec(package) is None:
            raise UsageError(file="", what=f"{package}, which PySpark needs, is not installed", remedy=_INSTALL)
    home = os.environ.get("JAVA_HOME", "")
    java = str(Path(home, "bin", "java")) if home else "java"
    if shutil.which(java) is None:
        where = f"JAVA_HOME is {home}, where there is no bin/java" if home else "java is not on the path"
        remedy = "install Java 17 (Debian: openjdk-17-jre-headless), or set JAVA_HOME to where it is"
        raise UsageError(file="", what=f"Spark needs Java: {where}", remedy=remedy)


def session(master: str = "local[2]", settings: Mapping[str, str] | None = None) -> Any:
    """A Spark session whose clock is UTC.

    Parameters
    ----------
    master
        The cluster, as Spark names it: ``local[2]``, ``spark://host:7077``, ``yarn``.
    settings
        Settings of Spark by name, such as ``spark.executor.memory``.

    Returns
    -------
    pyspark.sql.SparkSession
        The session of this process, if it has one already; its clock is set to UTC.

    Raises
    ------
    UsageError
        PySpark or Java is missing.
    """
    check()
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master).appName("plexlens")
    for name, value in (settings or {}).items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    return spark
