"""A real S3 server, and a proxy that disturbs it, for the tests of this folder."""

from __future__ import annotations

import http.client
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from plexlens.ingest import kinds
from tests.pdb import fake_source
from tests.storage.proxy import Proxy, proxy_of

SECRET = "Sec/ret+that-no-message-has"


@pytest.fixture(scope="session")
def port() -> Iterator[int]:
    if find_spec("obstore") is None or find_spec("moto") is None:
        pytest.skip("`make storage-test` installs obstore and moto")
    command = [sys.executable, str(Path(__file__).with_name("server.py"))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        assert server.stdin is not None
        yield int(server.stdout.readline())
        server.stdin.close()


@pytest.fixture(scope="session")
def session_proxy(port: int) -> Iterator[Proxy]:
    with proxy_of("127.0.0.1", port) as proxy:
        yield proxy


@pytest.fixture
def proxy(session_proxy: Proxy, port: int, monkeypatch: pytest.MonkeyPatch) -> Proxy:
    """The proxy, which forwards everything as yet, in front of an empty server; the environment leads to it."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    for method, path in (("POST", "/moto-api/reset"), ("PUT", "/data")):
        connection.request(method, path)
        assert connection.getresponse().read() is not None
    connection.close()
    for name, value in {
        "AWS_ENDPOINT_URL": session_proxy.address,
        "AWS_ACCESS_KEY_ID": "AKIAKEYTHATNOMESSAGEHAS",
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_REGION": "us-east-1",
        "PLEXLENS_S3_TIMEOUT": "20",
        "PLEXLENS_S3_TRIES": "3",
    }.items():
        monkeypatch.setenv(name, value)
    from plexlens.pdb import object_store

    object_store.bucket_of.cache_clear()
    session_proxy.requests = []
    return session_proxy


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "SOURCES", (fake_source.KIND,))
