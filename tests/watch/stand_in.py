"""A stand-in for the RMF Distributed Data Server: its documents in the public form, values made here, and its bad days.

It has a clock of its own, which can run faster than ours, be set, and change its local time. A fault is what happens to
the next request that asks for it.
"""

from __future__ import annotations

import base64
import gzip
import ssl
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

STAMP = "%Y%m%d%H%M%S"
LENGTH = timedelta(seconds=100)
USER, PASSWORD = "WATCHER", "s3cret#pass"
#: What may happen to a request.
FAULTS = (
    "401", "500", "503", "404", "html", "json", "redirect", "cut", "cut chunk", "no answer", "slow", "trickle",
    "endless", "not well-formed", "other root", "message", "empty", "bomb",
)  # fmt: skip

#: A small answer that expands to 8 MiB.
_BOMB = gzip.compress(bytes(8 << 20))


class StandIn:
    """A server on a port of the loopback interface.

    Parameters
    ----------
    start
        Where its clock begins.
    speed
        Seconds of its clock per second.
    systems
        Names of its systems.
    holds
        How far back it has intervals.
    """

    def __init__(
        self,
        start: datetime = datetime(2026, 3, 2, 8, 0, tzinfo=UTC),
        *,
        speed: float = 0.0,
        systems: Iterable[str] = ("SYS1", "SYS2"),
        holds: timedelta = timedelta(hours=48),
        tls: tuple[Path, Path] | None = None,
        path: str = "",
    ) -> None:
        self.systems = list(systems)
        self.speed, self.holds, self.tls, self.path = speed, holds, tls, path
        self.begins = start - timedelta(days=3)
        self.offset: Callable[[datetime], timedelta] = lambda moment: timedelta(hours=-5)
        self.fault: Callable[[str, dict[str, str]], str] = lambda document, asked: ""
        self.tells_date = True
        self.packs = False
        self.lost: Callable[[datetime, str], bool] = lambda moment, system: False
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.given: Counter[str] = Counter()
        self.seen: list[str] = []
        self._clock, self._real = start, time.monotonic()
        self._server: ThreadingHTTPServer | None = None
        self.port = 0
        self.start()

    # -- its life ---------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Listen, on the same port as before."""
        stand_in = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                stand_in._answer(self)

            def log_message(self, *arguments: Any) -> None:
                pass

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request: Any, client_address: Any) -> None:
                pass

        self._server = Quiet(("127.0.0.1", self.port), Handler)
        self.port = self._server.server_address[1]
        if self.tls is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*self.tls)
            self._server.socket = context.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        """Listen no more."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def __enter__(self) -> StandIn:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    @property
    def address(self) -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}{self.path}"

    @property
    def now(self) -> datetime:
        """Its clock, in UTC."""
        return self._clock + timedelta(seconds=(time.monotonic() - self._real) * self.speed)

    def advance(self, by: timedelta = LENGTH) -> None:
        """Move its clock on, or back."""
        self._clock += by

    # -- its intervals ----------------------------------------------------------------------------------------------

    def newest(self) -> datetime:
        """Start of the newest interval."""
        whole = (self.now - self.begins) // LENGTH
        return self.begins + (whole - 1) * LENGTH

    def intervals(self, since: datetime, until: datetime) -> list[str]:
        """Starts of the intervals within a time, as stamps."""
        first = -((self.begins - since) // LENGTH)
        starts = (self.begins + number * LENGTH for number in range(first, (until - self.begins) // LENGTH))
        return [f"{start:{STAMP}}" for start in starts if start >= since]

    def _utc_of(self, local: datetime) -> datetime:
        """The moment of a local time; of two with the same clock time the later one."""
        found = [local - offset for offset in {self.offset(local - timedelta(hours=hours)) for hours in range(-15, 16)}]
        right = [moment for moment in found if moment + self.offset(moment) == local]
        return max(right or found)

    # -- its answers ------------------------------------------------------------------------------------------------

    def _answer(self, request: BaseHTTPRequestHandler) -> None:
        parts = urlsplit(request.path)
        asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
        document = parts.path.removeprefix(f"{self.path}/gpm/")
        self.asked.append((document, asked))
        self.seen.append(f"{request.path} {request.headers}")
        fault = self.fault(document, asked)
        expected = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        if request.headers.get("Authorization") != f"Basic {expected}":
            fault = "401"
        if fault:
            self.given[fault] += 1
            self._fail(request, fault)
            return
        body = self._document(document, asked)
        if body is None:
            self._send(request, b"no such document", status=404, kind="text/plain")
        else:
            self.given["answer"] += 1
            self._send(request, body.encode())

    def _send(
        self, request: BaseHTTPRequestHandler, body: bytes, *, status: int = 200, kind: str = "text/xml", **headers: str
    ) -> None:
        request.send_response_only(status)
        if self.tells_date:
            request.send_header("Date", f"{self.now:%a, %d %b %Y %H:%M:%S GMT}")
        if self.packs and status == 200:
            body = gzip.compress(body)
            request.send_header("Content-Encoding", "gzip")
        request.send_header("Content-Type", kind)
        request.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(body)

    def _fail(self, request: BaseHTTPRequestHandler, fault: str) -> None:
        request.close_connection = True
        whole = (self._document("rmfm3.xml", {"report": "CPC", "resource": ",SYS1,MVS_IMAGE"}) or "").encode()
        if fault in ("401", "404", "500", "503"):
            self._send(request, b"<html>no</html>", status=int(fault), kind="text/html")
        elif fault == "html":
            self._send(request, b"<html>log on</html>", kind="text/html")
        elif fault == "json":
            self._send(request, b"{}", kind="application/json")
        elif fault == "redirect":
            self._send(request, b"", status=302, Location="https://elsewhere.example/gpm/rmfm3.xml")
        elif fault == "not well-formed":
            self._send(request, whole[: len(whole) // 2])
        elif fault == "other root":
            self._send(request, b"<report/>")
        elif fault == "empty":
            self._send(request, b"")
        elif fault == "bomb":
            self._bomb(request)
        elif fault == "message":
            self._send(request, _ddsml(_message("GPM0600E", "The Distributed Data Server is being started")).encode())
        elif fault == "no answer":
            request.connection.close()
        else:
            self._begin(request, fault, whole)

    def _begin(self, request: BaseHTTPRequestHandler, fault: str, whole: bytes) -> None:
        """Answers that begin well."""
        request.send_response_only(200)
        request.send_header("Content-Type", "text/xml")
        if fault == "cut chunk":
            request.send_header("Transfer-Encoding", "chunked")
            request.end_headers()
            request.wfile.write(b"%x\r\n" % len(whole) + whole[:100])
            return
        if fault != "endless":
            request.send_header("Content-Length", str(len(whole)))
        request.end_headers()
        try:
            if fault == "cut":
                request.wfile.write(whole[: len(whole) // 2])
            elif fault == "slow":
                time.sleep(5)
            elif fault == "trickle":
                for at in range(len(whole)):
                    request.wfile.write(whole[at : at + 1])
                    time.sleep(0.05)
            else:
                while True:
                    request.wfile.write(b" " * (1 << 16))
        except OSError:
            pass

    def _bomb(self, request: BaseHTTPRequestHandler) -> None:
        body = _BOMB
        request.send_response_only(200)
        request.send_header("Content-Type", "text/xml")
        request.send_header("Content-Encoding", "gzip")
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    def _document(self, document: str, asked: dict[str, str]) -> str | None:
        if document == "root.xml":
            return _resources([(",PLEX1,SYSPLEX", "SYSPLEX")])
        if document == "contained.xml" and asked.get("resource") == ",PLEX1,SYSPLEX":
            systems = [(f",{name},MVS_IMAGE", "MVS_IMAGE") for name in self.systems]
            return _resources([*systems, (",CF1,COUPLING_FACILITY", "COUPLING_FACILITY")])
        if document == "perform.xml":
            rows = "".join(f"<row><col>{name}</col><col>1.0</col></row>" for name in self.systems)
            return _ddsml(self._report("8D0D60", asked["resource"], self.newest(), rows))
        if document == "rmfm3.xml":
            return _ddsml(self._monitor3(asked))
        if document == "rmfpp.xml":
            return self._postprocessor(asked)
        return None

    def _monitor3(self, asked: dict[str, str]) -> str:
        resource = asked["resource"]
        system = resource.split(",")[1]
        start = self.newest()
        if "range" in asked:
            first, last = (datetime.strptime(text, STAMP).replace(tzinfo=UTC) for text in asked["range"].split(","))
            middle = self._utc_of(first + (last - first) / 2)
            start = self.begins + (middle - self.begins) // LENGTH * LENGTH
        is_there = self.newest() >= start >= self.now - self.holds and not self.lost(start, system)
        if not is_there:
            said = _message("GPM0507I", "DDS could not retrieve valid data for the specified date and time range")
            return self._report(asked["report"], resource, start, said)
        if system not in (*self.systems, "PLEX1"):
            said = _message("GPM0731I", f"The specified system '{system}' is not a member of the sysplex")
            return self._report(asked["report"], resource, start, said)
        return self._report(asked["report"], resource, start, _values(asked["report"], system, start))

    def _report(self, metric: str, resource: str, start: datetime, body: str) -> str:
        end = start + LENGTH
        local, till = start + self.offset(start), end + self.offset(start)
        return (
            f'<report><metric id="{metric}"><description>{metric}</description><format>report</format></metric>'
            f"<resource><reslabel>{resource}</reslabel><restype>{resource.rpartition(',')[2]}</restype></resource>"
            f"<time-data><local-start>{local:{STAMP}}</local-start><local-end>{till:{STAMP}}</local-end>"
            f"<utc-start>{start:{STAMP}}</utc-start><utc-end>{end:{STAMP}}</utc-end>"
            f'<gatherer-interval unit="seconds">{LENGTH.seconds}</gatherer-interval>'
            f'<data-range unit="seconds">{LENGTH.seconds}</data-range></time-data>{body}</report>'
        )

    def _postprocessor(self, asked: dict[str, str]) -> str:
        first, last = asked["date"].split(",")
        local = self.now + self.offset(self.now)
        at = datetime.strptime(first, "%Y%m%d").replace(tzinfo=UTC)
        until = datetime.strptime(last, "%Y%m%d").replace(tzinfo=UTC) + timedelta(days=1)
        reports = []
        while at + timedelta(minutes=15) <= min(until, local):
            end = at + timedelta(minutes=15)
            reports.append(
                f'<postprocessor><metric id="{asked["reports"]}"><description>Report</description><type>Interval</type>'
                f"</metric><resource><resname>SYS1</resname><restype>SYSTEM</restype></resource><time-data>"
                f'<display-start locale="en-us">{at:%m/%d/%Y-%H.%M.%S}</display-start>'
                f'<display-end locale="en-us">{end:%m/%d/%Y-%H.%M.%S}</display-end>'
                f'<report-interval unit="minutes">15:00:000</report-interval></time-data>'
                f"<segment><name>S</name><part><name>P</name><var-list><var><name>At</name>"
                f"<value>{at:%H%M}</value></var></var-list></part></segment></postprocessor>"
            )
            at = end
        said = _message("GPM0721I", "No data for the specified date") if not reports else ""
        return _ddsml("".join(reports) or f"<postprocessor>{said}</postprocessor>")


def value_of(start: datetime, system: str) -> int:
    """The share of time, in tenths of a percent, that the processors of a system are busy in an interval."""
    return (int(start.timestamp()) // 100 * 7 + 31 * int(system[-1])) % 900 + 50


def _values(report: str, system: str, start: datetime) -> str:
    if report == "CPC":
        busy = value_of(start, system) / 10
        named = {"CPCHPNAM": f"LP{system[-1]}", "CPCHMOD": "8562", "CPCHCPU": "ABCDE", "CPCHCPNO": "4"}
        inside = "".join(f"<var><name>{name}</name><value>{value}</value></var>" for name, value in named.items())
        other = "2" if system[-1] == "1" else "1"
        rows = "".join(
            f"<row><col>{name}</col><col>4.0</col><col>{share}</col></row>"
            for name, share in (("*CP", ""), (f"LP{system[-1]}", busy), (f"LP{other}", value_of(start, other) / 10))
        )
        heads = "".join(f'<col type="T">{name}</col>' for name in ("CPCPPNAM", "CPCPLPNO", "CPCPLTOU"))
        return f"<caption>{inside}</caption>{rows}<column-headers>{heads}</column-headers>"
    cells = f"<row><col>{report}</col><col>{value_of(start, '1')}</col></row>"
    return f'{cells}<column-headers><col type="T">NAME</col><col type="N">VALUE</col></column-headers>'


def _ddsml(body: str) -> str:
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<ddsml><server><name>RMF-DDS-Server</name></server>{body}</ddsml>\n'
    )


def _message(name: str, text: str) -> str:
    return f'<message id="{name}"><description>{text}</description><severity>3</severity></message>'


def _resources(listed: Iterable[tuple[str, str]]) -> str:
    inside = "".join(
        f"<resource><reslabel>{label}</reslabel><restype>{kind}</restype><expandable>YES</expandable></resource>"
        for label, kind in listed
    )
    return _ddsml(f"<contained-resources-list><contained>{inside}</contained></contained-resources-list>")
