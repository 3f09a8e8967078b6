"""The ways into a server that the laboratory measures: protocol, TLS and use of connections."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

#: Bytes of a request, and of its response.
PAYLOAD = 1024
#: Connections of a pool.
POOL = 4
KINDS = ("socket", "http", "soap")
#: Requests per second in the second half of a run; half of it in the first. A full handshake takes the most.
RATE, RATE_TLS = 60.0, 30.0

_SCHEMES = {("socket", False): "tcp", ("socket", True): "tls", ("http", False): "http", ("http", True): "https"}


@dataclass(frozen=True)
class Way:
    """A way in.

    Attributes
    ----------
    kind
        Server: ``socket`` (length-framed TCP), ``http`` or ``soap``.
    security
        ``none``, ``full`` (TLS, a whole handshake for each connection) or ``resumed``.
    style
        Use of connections: ``new``, ``persistent`` or ``pooled``.
    """

    kind: str
    security: str
    style: str

    @property
    def id(self) -> str:
        """Name of the way, as options and files have it."""
        return f"{self.kind}-{'plain' if self.security == 'none' else f'tls-{self.security}'}-{self.style}"

    @property
    def rate(self) -> float:
        """Requests per second in the second half of a run."""
        return RATE_TLS if self.security == "full" and self.style == "new" else RATE

    def plan(self, port: int, seconds: float, certificate: Path | None, seed: int) -> str:
        """The test plan of a run: half of the rate for half of the time, then all of it."""
        half, rate = seconds / 2, self.rate
        scheme = _SCHEMES["socket" if self.kind == "socket" else "http", self.security != "none"]
        lines = [f"seed = {seed}", "[server]", f'url = "{scheme}://127.0.0.1:{port}"']
        if certificate is not None:
            lines.append(f'ca = "{certificate.name}"')
        profile = [[0, rate / 2], [half, rate / 2], [half, rate], [seconds, rate]]
        lines += ["[open]", f"profile = {profile}", "[connection]", f'style = "{self.style}"']
        if self.style == "pooled":
            lines.append(f"pool = {POOL}")
        if self.security != "none":
            lines.append(f'tls = "{self.security}"')
        lines += ["[[request]]", 'name = "echo"', f"body_bytes = {PAYLOAD}"]
        if self.kind == "soap":
            lines += ['protocol = "soap"', 'action = "urn:echo"', 'expect = {contains = "xxxx"}']
        else:
            lines.append("expect = {echo = true}")
        return "\n".join([*lines, ""])


#: TLS is resumed where connections are new; others have one handshake each.
WAYS = tuple(
    Way(kind, security, style)
    for kind in KINDS
    for security in ("none", "full", "resumed")
    for style in ("new", "persistent", "pooled")
    if security != "resumed" or style == "new"
)
