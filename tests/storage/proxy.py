"""A proxy in front of an S3 server that does to requests what a network and a busy server do to them."""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote


@dataclass(frozen=True)
class Request:
    """What a rule sees of a request: `number` counts them from 1."""

    number: int
    method: str
    path: str

    @property
    def key(self) -> str:
        """The object, without the bucket and the query."""
        return unquote(self.path.partition("?")[0]).lstrip("/").partition("/")[2]

    @property
    def writes(self) -> bool:
        return self.method in ("PUT", "POST", "DELETE")


@dataclass(frozen=True)
class Fate:
    """What becomes of a request: it is delayed, answered with a status instead, or its answer is lost or cut short."""

    delay: float = 0.0
    status: int = 0
    code: str = "SlowDown"
    loses_answer: bool = False
    cut_to: int | None = None
    without: tuple[str, ...] = ()


Rule = Callable[[Request], Fate | None]


@dataclass
class Proxy:
    """The requests that came, and the rule for those to come."""

    address: str
    rule: Rule = lambda request: None
    requests: list[Request] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def ruled(self, rule: Rule) -> Iterator[list[Request]]:
        """Apply a rule to the requests of a block; they are listed."""
        self.requests, self.rule = [], rule
        try:
            yield self.requests
        finally:
            self.rule = lambda request: None

    def read(self, listed: list[Request]) -> set[str]:
        """The Parquet objects whose contents were asked for."""
        return {one.key for one in listed if one.method == "GET" and one.key.endswith(".parquet")}


@contextmanager
def proxy_of(host: str, port: int) -> Iterator[Proxy]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_one(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            with proxy.lock:
                request = Request(len(proxy.requests) + 1, self.command, self.path)
                proxy.requests.append(request)
            fate = proxy.rule(request) or Fate()
            time.sleep(fate.delay)
            if fate.status:
                self.reply(fate.status, f"<Error><Code>{fate.code}</Code></Error>".encode(), [])
                return
            headers = {name: value for name, value in self.headers.items() if name.lower() not in fate.without}
            connection = http.client.HTTPConnection(host, port, timeout=60)
            connection.request(self.command, self.path, body, headers)
            answer = connection.getresponse()
            content, kept = answer.read(), answer.getheaders()
            connection.close()
            if fate.loses_answer:
                self.close_connection = True
                self.connection.close()
                return
            self.reply(answer.status, content, kept, fate.cut_to)

        def reply(self, status: int, content: bytes, headers: list[tuple[str, str]], cut_to: int | None = None) -> None:
            try:
                self.send_response(status)
                sized = False
                for name, value in headers:
                    if name.lower() in ("connection", "transfer-encoding", "date", "server"):
                        continue
                    sized = sized or name.lower() == "content-length"
                    self.send_header(name, value)
                if not sized:
                    self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(content[:cut_to])
                if cut_to is not None:
                    self.close_connection = True
            except OSError:
                # Who asked has gone.
                self.close_connection = True

        do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_one  # noqa: N815 names of the library

        def log_message(self, *words: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    proxy = Proxy(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        server.shutdown()
        server.server_close()
