"""A Spark session for the tests of this folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec
from shutil import which
from typing import Any

import pytest

from plexlens.spark import session


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    if find_spec("pyspark") is None or which("java") is None:
        pytest.skip("`make spark-test` installs PySpark; it needs Java")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.memory": "2g",
    }
    if jars := os.environ.get("PLEXLENS_S3A_JARS"):
        settings["spark.jars"] = jars
    made = session("local[2]", settings)
    made.sparkContext.setLogLevel("OFF")
    yield made
    made.stop()
