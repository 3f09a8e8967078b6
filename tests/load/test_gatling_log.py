"""Gatling's binary log: a file of the tool against its report, and records written by hand."""

from __future__ import annotations

import struct
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plexlens.errors import NothingUsableError, UnknownSourceError
from plexlens.ingest.load_test import LoadTest, gatling_log, read
from plexlens.load import run_of
from tests.draws import draws

FILES = Path(__file__).parent / "files"
#: 2 March 2026, 9:00 UTC, in ms since 1970.
START = 1_772_442_000_000


def integer(value: int) -> bytes:
    return struct.pack(">i", value)


def text(value: str) -> bytes:
    """A text as Gatling writes it: Latin-1 if it can be, else UTF-16."""
    if not value:
        return integer(0)
    try:
        raw, coder = value.encode("latin-1"), b"\0"
    except UnicodeEncodeError:
        raw, coder = value.encode("utf-16-le"), b"\1"
    return integer(len(raw)) + raw + coder


class Log:
    """A log that is written record by record."""

    def __init__(self, version: str = "3.15.1") -> None:
        self.numbers: dict[str, int] = {}
        self.data = b"\0" + text(version) + text("site.Orders") + struct.pack(">q", START) + text("")
        self.data += integer(2) + text("orders") + text("Änderung") + integer(1) + integer(3) + b"\1\2\3"

    def known(self, value: str) -> bytes:
        """A text with its number, or the number alone."""
        if value in self.numbers:
            return integer(-self.numbers[value])
        self.numbers[value] = len(self.numbers) + 1
        return integer(self.numbers[value]) + text(value)

    def groups(self, names: list[str]) -> bytes:
        return integer(len(names)) + b"".join([self.known(name) for name in names])

    def request(self, name: str, start: int, end: int, *, message: str = "", groups: list[str] | None = None) -> None:
        record = b"\1" + self.groups(groups or []) + self.known(name) + integer(start) + integer(end)
        self.data += record + (b"\0" if message else b"\1") + self.known(message)

    def others(self, group: str, message: str) -> None:
        """A record of a user, of a group and of an error."""
        self.data += b"\2" + integer(0) + b"\1" + integer(5)
        self.data += b"\3" + self.groups([group]) + integer(5) + integer(90) + integer(80) + b"\1"
        self.data += b"\4" + self.known(message) + integer(70)

    def read(self, folder: Path) -> LoadTest:
        path = folder / "simulation.log"
        path.write_bytes(self.data)
        return read(path)


def test_a_log_agrees_with_its_report() -> None:
    """Its report: 128 requests, 41 KO, 0 to 1,209 ms, mean 91; 32 refused connections, 9 answers with status 500."""
    test = read(FILES / "gatling-3.15.1.log")
    assert test.tool == "Gatling (binary simulation.log)"
    assert (test.left_out, test.scheduled) == ((), False)
    assert test.requests is not None
    rows = test.requests.to_pylist()
    milliseconds = [row["response_seconds"] * 1e3 for row in rows]
    assert (len(rows), sum(row["is_error"] for row in rows)) == (128, 41)
    assert (round(min(milliseconds)), round(max(milliseconds)), round(sum(milliseconds) / 128)) == (0, 1209, 91)
    assert Counter(row["message"] for row in rows if row["is_error"]) == {
        "j.n.ConnectException: finishConnect(..) failed with error(-111): Connection refused": 32,
        "status.find.is(200), found 500": 9,
    }
    # 32 users, each with four requests, two of them in groups.
    assert {line.transaction: line.requests for line in run_of(test, warm_up_seconds=0).lines} == {
        "inquiry": 32, "update": 32, "Zahlung € bestätigen": 32, "down": 32, "(all)": 128,
    }  # fmt: skip
    assert Counter(row["group_name"] for row in rows) == {None: 64, "order": 32, "order,pay": 32}


_NAMES = st.text(st.sampled_from("abz 9\n\té€漢"), max_size=12)


@settings(deadline=None, max_examples=draws(60))
@given(
    st.lists(
        st.tuples(_NAMES, st.integers(0, 10**6), st.integers(0, 10**5), _NAMES, st.lists(_NAMES, max_size=3)),
        min_size=1, max_size=30,
    ),
    st.integers(1, 200),
)  # fmt: skip
def test_written_requests_are_read_in_pieces_of_any_size(
    tmp_path_factory: pytest.TempPathFactory, written: list[tuple[str, int, int, str, list[str]]], piece: int
) -> None:
    log = Log()
    for name, start, length, message, groups in written:
        log.request(name, start, start + length, message=message, groups=groups)
        log.others("".join(groups), message)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gatling_log, "_CHUNK", piece)
        test = log.read(tmp_path_factory.mktemp("log"))
    assert test.requests is not None
    assert test.left_out == ()
    found = [
        (row["transaction"], row["started"].timestamp() * 1e3 - START, row["response_seconds"] * 1e3, row["is_error"])
        for row in test.requests.to_pylist()
    ]
    expected = [(name or "(no name)", start, length, bool(message)) for name, start, length, message, _ in written]
    for row, (name, start, length, failed) in zip(found, sorted(expected, key=lambda row: row[1]), strict=True):
        assert row == (name, pytest.approx(start, abs=1e-3), pytest.approx(length, abs=1e-3), failed)


def test_a_message_without_a_request_is_counted(tmp_path: Path) -> None:
    """Its end is the smallest number of 64 bits, of which the start of the run was subtracted and 32 bits kept."""
    (end,) = struct.unpack(">i", struct.pack(">Q", (-(1 << 63) - START) % (1 << 64))[4:])
    log = Log()
    log.request("push", 10, end)
    log.request("pay", 20, 30)
    test = log.read(tmp_path)
    assert test.requests is not None
    assert test.requests["transaction"].to_pylist() == ["pay"]
    assert test.left_out == (("message that came without a request", 1, "record 2"),)


def test_a_cut_log_gives_its_whole_requests(tmp_path: Path) -> None:
    log = Log()
    log.request("pay", 20, 30)
    whole = len(log.data)
    log.request("pay", 40, 60)
    for size in range(whole + 1, len(log.data)):
        path = tmp_path / "cut.log"
        path.write_bytes(log.data[:size])
        test = read(path)
        assert test.requests is not None
        assert test.requests.num_rows == 1
        assert test.left_out == (("record that is cut at the end of the file", 1, "record 3"),)


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (b"\x09", "a record of kind 9 begins, which Gatling 3.13 to 3.15 do not write"),
        (b"\1" + integer(0) + integer(-7), "which refers to text 7, which was not written before"),
        (b"\1" + integer(1 << 20), "with a list of 1,048,576 entries"),
        (b"\4" + integer(9) + integer(1 << 30), "with a text of 1,073,741,824 bytes"),
        (b"\4" + integer(9) + integer(-3), "with a text of -3 bytes"),
    ],
)
def test_damage_ends_the_log_and_says_where(record: bytes, reason: str, tmp_path: Path) -> None:
    log = Log()
    log.request("pay", 20, 30)
    at = len(log.data)
    log.data += record + bytes(40)
    test = log.read(tmp_path)
    assert test.requests is not None
    assert test.requests.num_rows == 1
    ((what, number, place),) = test.left_out
    assert what.startswith(f"rest of the file from byte {at:,} on, ")
    assert what.endswith(reason)
    assert (number, place) == (1, "record 3")


def test_a_log_without_requests_says_so(tmp_path: Path) -> None:
    with pytest.raises(NothingUsableError, match="no request can be used"):
        Log().read(tmp_path)
    with pytest.raises(UnknownSourceError):
        Log("x").read(tmp_path)
