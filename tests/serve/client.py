"""Requests to an application without a network: the bytes that a client would send, and what comes back."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from lxml import html
from starlette.types import ASGIApp, Message


@dataclass(frozen=True)
class Answer:
    """An answer."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def page(self) -> html.HtmlElement:
        return html.fromstring(self.text)

    @property
    def words(self) -> str:
        """What a reader sees, with single blanks."""
        return " ".join(self.page.text_content().split())


def ask(
    app: ASGIApp,
    address: str,
    *,
    method: str = "GET",
    headers: Sequence[tuple[str, str]] = (("host", "127.0.0.1:8711"),),
    body: bytes = b"",
) -> Answer:
    """The answer to a request; ``address`` is a path with its query, as sent."""
    path, _, query = address.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote_to_bytes(path).decode("utf-8", "surrogateescape"),
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": query.encode(),
        "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers],
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", 8711),
    }
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    async def run() -> None:
        try:
            await app(scope, receive, send)
        except Exception:
            # Starlette answers a defect and raises it again for the server's log.
            if not sent:
                raise

    asyncio.run(run())
    start = sent[0]
    told = {name.decode("latin-1"): value.decode("latin-1") for name, value in start["headers"]}
    return Answer(start["status"], told, b"".join(message.get("body", b"") for message in sent[1:]))
