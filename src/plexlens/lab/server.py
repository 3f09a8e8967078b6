"""Servers of the standard library that echo: ``python -m plexlens.lab.server KIND --account FILE``.

A server prints its port, and ends when its standard input does, so that it never outlives the laboratory.
"""

from __future__ import annotations

import argparse
import socketserver
import ssl
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from itertools import count
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from plexlens.driver.account import Account

#: Seconds between lines of the server's own account.
NOTED = 0.1
_ENVELOPE = "http://schemas.xmlsoap.org/soap/envelope/"


class Served:
    """Number of requests served so far."""

    def __init__(self) -> None:
        self._numbers: Iterator[int] = count(1)
        self.number = 0

    def add(self) -> None:
        """Count a request."""
        self.number = next(self._numbers)


class Framed(socketserver.StreamRequestHandler):
    """Sends back each message with its length."""

    disable_nagle_algorithm = True

    def handle(self) -> None:
        """Serve the requests of a connection."""
        while len(head := self.rfile.read(4)) == 4:
            body = self.rfile.read(int.from_bytes(head, "big"))
            self.wfile.write(head + body)
            self.server.served.add()  # type: ignore[attr-defined]


class Http(BaseHTTPRequestHandler):
    """Sends back the body of a POST."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    # One write per response: heads and body apart would wait for each other.
    wbufsize = -1

    def do_POST(self) -> None:
        """Serve a request."""
        body = self.answer(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.send_header("Content-Type", self.headers["Content-Type"] or "application/octet-stream")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.server.served.add()  # type: ignore[attr-defined]

    def answer(self, body: bytes) -> bytes:
        """The body of the response."""
        return body

    def log_message(self, format: str, *arguments: Any) -> None:
        """Print nothing per request."""


class Soap(Http):
    """Reads an envelope, and sends the text of its body in a new envelope."""

    def answer(self, body: bytes) -> bytes:
        """The envelope of the response."""
        content = ElementTree.fromstring(body).find(f"{{{_ENVELOPE}}}Body")
        root = ElementTree.Element(f"{{{_ENVELOPE}}}Envelope")
        result = ElementTree.SubElement(ElementTree.SubElement(root, f"{{{_ENVELOPE}}}Body"), "result")
        result.text = "" if content is None else "".join(content.itertext())
        return ElementTree.tostring(root)


HANDLERS = {"socket": Framed, "http": Http, "soap": Soap}


class Server(socketserver.ThreadingTCPServer):
    """A thread for each connection; TLS is negotiated there, so that nobody waits for the handshake of another."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 512

    def __init__(self, kind: str, context: ssl.SSLContext | None) -> None:
        self.served = Served()
        self._context = context
        super().__init__(("127.0.0.1", 0), HANDLERS[kind])

    def finish_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection."""
        if self._context is None:
            super().finish_request(request, client_address)
            return
        with self._context.wrap_socket(request, server_side=True) as secured:
            super().finish_request(secured, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print nothing: a client that goes away is the client's business."""


def main() -> None:
    """Serve until standard input ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=sorted(HANDLERS))
    parser.add_argument("--account", type=Path, required=True)
    parser.add_argument("--certificate", type=Path)
    parser.add_argument("--key", type=Path)
    options = parser.parse_args()
    context = None
    if options.certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(options.certificate, options.key)
    with Server(options.kind, context) as server:
        account = Account(options.account)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 5.0}, daemon=True).start()
        ends = threading.Thread(target=sys.stdin.read, daemon=True)
        ends.start()
        print(server.server_address[1], flush=True)
        while ends.is_alive():
            account.note(server.served.number)
            time.sleep(NOTED)


if __name__ == "__main__":
    main()
