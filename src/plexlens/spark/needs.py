"""A Spark session, or what is missing for one."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from plexlens.errors import PlexlensError, UnreadableInputError, UsageError
from plexlens.pdb.place import is_object

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


def same_python(master: str) -> None:
    """Have Spark on this machine run the Python of this process; Spark itself takes the ``python3`` of the path.

    On a cluster, what PYSPARK_PYTHON names counts, or the ``python3`` of each executor.
    """
    if master.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)


def quiet_session(master: str) -> Any:
    """A session for a command, which prints its own messages: without the page and the bars of Spark.

    Raises
    ------
    UsageError
        PySpark or Java is missing, or there is no such cluster.
    """
    settings = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "OFF"}
    try:
        return session(master, settings)
    except UsageError:
        raise
    except Exception as error:
        raise UsageError(
            file=master, what=f"Spark does not start: {said(error)}", remedy="check --master, and Spark's own log"
        ) from error


@contextmanager
def reading(database: Any) -> Iterator[None]:
    """Turn what Spark raises within, while it reads a database, into an error with a place and a next step.

    Raises
    ------
    UnreadableInputError
        Spark cannot read a file of it, or an executor is lost.
    """
    try:
        yield
    except PlexlensError:
        raise
    except Exception as error:
        raise UnreadableInputError(
            file=str(database),
            what=f"Spark does not read it: {said(error)}",
            remedy=f"{_remedy(database, error)}, or leave out --engine spark",
        ) from error


def _remedy(database: Any, error: Exception) -> str:
    if not is_object(database):
        return "see that every executor has this folder at the same path, run plexlens pdb verify"
    if "S3AFileSystem not found" in str(error):
        return "give Spark the package org.apache.hadoop:hadoop-aws of its Hadoop (spark.jars.packages)"
    return "see that every executor reaches the bucket and has its credentials, run plexlens pdb verify"


def without_plexlens(error: Exception) -> UsageError | None:
    """The error where an executor lacks Plexlens, or this part of it; None where Spark failed otherwise."""
    if "No module named 'plexlens" not in str(error):
        return None
    return UsageError(
        file="",
        what="executors have no Plexlens, or not this version",
        remedy="install it on each of them, in the Python that the variable PYSPARK_PYTHON names",
    )


#: How Spark names the task that ended a job, and where it ran.
_LOST = re.compile(r".*most recent failure: Lost task \S+ in stage \S+ \(TID \d+\) \((?P<where>[^)]*)\): (?P<what>.*)")

#: The last line of Python's stack, after the lines of calls, which are indented.
_RAISED = re.compile(r"PythonException: Traceback \(most recent call last\):\n(?:[ \t].*\n)*(?P<what>\S.*)")

#: Begin and end of Spark's messages, which do not give the cause.
_AROUND = re.compile(r"^(?:[\w.$]+Exception: )+|Consider setting .*$")


def said(error: Exception) -> str:
    """Message of Spark without the call and the stack of Java: it has many kinds of error, some of the Java gateway.

    A task that was lost has its end and its place instead; if an exception of Python ended it, that exception.
    """
    lines = [line.strip().removeprefix(": ") for line in str(error).splitlines()]
    messages = (line for line in lines if line and not line.startswith(("An error occurred while calling", "at ")))
    message = next(messages, type(error).__name__)
    if (lost := _LOST.match(message)) is not None:
        raised = _RAISED.search(str(error))
        what = raised["what"] if raised is not None else _AROUND.sub("", lost["what"])
        return f"{what.strip().rstrip('.')} ({lost['where']})"
    return message


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
