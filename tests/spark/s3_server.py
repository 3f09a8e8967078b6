"""A real S3 server with an empty bucket ``data``, for the tests of this folder."""

from __future__ import annotations

import http.client
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest


@contextmanager
def s3_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The server, to which the environment leads in the block."""
    if find_spec("obstore") is None or find_spec("moto") is None:
        pytest.skip("an S3 server needs obstore and moto (requirements-storage.lock)")
    from plexlens.pdb import object_store

    command = [sys.executable, str(Path(__file__).parents[1] / "storage" / "server.py")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        port = int(process.stdout.readline())
        connection = http.client.HTTPConnection("127.0.0.1", port)
        connection.request("PUT", "/data")
        assert connection.getresponse().status == 200
        connection.close()
        for name, value in {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_REGION": "us-east-1",
        }.items():
            monkeypatch.setenv(name, value)
        object_store.bucket_of.cache_clear()
        yield
        process.stdin.close()
    object_store.bucket_of.cache_clear()
