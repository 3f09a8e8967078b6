"""A Distributed Data Server under watch: each interval once, whatever the server does."""

from __future__ import annotations

import subprocess
import sys
import threading
import types
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from plexlens.errors import PlexlensError, UsageError
from plexlens.findings import load_rules
from plexlens.pdb import Pdb
from plexlens.pdb.lock import writer_lock
from plexlens.pdb.opening import DumpReading
from plexlens.watch.dds.address import Address, Credentials, credentials_of, parse_address
from plexlens.watch.dds.answer import AnswerError, Interval, reports_of, resources_of
from plexlens.watch.dds.client import Client, DdsError, Trouble
from plexlens.watch.dds.coverage import Coverage, name_of
from plexlens.watch.dds.pace import Pace
from plexlens.watch.dds.questions import named_reports
from plexlens.watch.dds.server import Server
from plexlens.watch.judging import Judge
from plexlens.watch.passing_on import Receivers
from plexlens.watch.settling import Folders
from plexlens.watch.watcher import Watcher
from tests.watch.stand_in import FAULTS, LENGTH, PASSWORD, STAMP, USER, StandIn, value_of

START = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)


@pytest.fixture
def stand_in() -> Iterator[StandIn]:
    with StandIn() as made:
        yield made


def client(stand_in: StandIn, **limits: float) -> Client:
    return Client(parse_address(stand_in.address), Credentials(USER, PASSWORD), **limits)  # type: ignore[arg-type]


class Watch:
    """A watch of a stand-in into a database; its clock moves only when told."""

    def __init__(
        self, stand_in: StandIn, folder: Path, *, reports: tuple[str, ...] = ("CPC",), **named: object
    ) -> None:
        self.time = 0.0
        self.said: list[str] = []
        self.pdb = Pdb.open_or_create(folder / "pdb")
        self.server = Server(
            client(stand_in, seconds=0.5, largest=1 << 20),
            [ingest.file for ingest in self.pdb.ingests],
            reports=reports,
            tell=self.said.append,
            pace=Pace(clock=lambda: self.time, chance=lambda: 1.0),
            **named,  # type: ignore[arg-type]
        )
        self.watcher = Watcher(
            Folders([], self.said.append),
            self.pdb,
            Judge(self.pdb, load_rules()),
            Receivers(lambda line: None, self.said.append),
            reading=DumpReading(),
            tell=self.said.append,
            servers=[self.server],
        )
        # No rule is evaluated here: test_watch.py does.
        self.watcher.judge.rules = ()

    def look(self, times: int = 1) -> None:
        for _ in range(times):
            self.time += self.server.pause
            self.watcher._ask_servers(threading.Event())


def held(folder: Path, report: str = "CPC") -> list[tuple[str, str]]:
    """System and start of each report in the database, as often as it is there."""
    with Pdb.open(folder / "pdb").connect() as connection:
        rows = connection.execute(
            "select system, strftime(interval_start, '%Y%m%d%H%M%S') from rmf_xml_record where report = ? order by all",
            [report],
        ).fetchall()
    return [(system, start) for system, start in rows]


def expected(stand_in: StandIn, since: datetime, *systems: str) -> list[tuple[str, str]]:
    """Every interval from a moment to the newest one, once for each system."""
    starts = stand_in.intervals(since, stand_in.newest() + LENGTH)
    return [(system, start) for system in systems or ("SYS1", "SYS2") for start in starts]


def test_the_newest_interval_is_taken_once(stand_in: StandIn, tmp_path: Path) -> None:
    watch = Watch(stand_in, tmp_path)
    watch.look(3)
    assert (
        held(tmp_path)
        == expected(stand_in, START - LENGTH)
        == [
            ("SYS1", "20260302075820"),
            ("SYS2", "20260302075820"),
        ]
    )
    stand_in.advance()
    watch.look(3)
    assert held(tmp_path) == expected(stand_in, START - LENGTH)
    assert watch.server.counts.intervals == 2


def test_values_are_those_of_the_interval(stand_in: StandIn, tmp_path: Path) -> None:
    watch = Watch(stand_in, tmp_path)
    for _ in range(4):
        watch.look()
        stand_in.advance()
    with watch.pdb.connect() as connection:
        found = connection.execute(
            "select epoch(interval_start), partition_name, logical_total_percent from rmf_xml_m3_partition "
            "where partition_name = own_partition_name"
        ).fetchall()
    assert len(found) == 8
    for start, name, share in found:
        assert share == value_of(datetime.fromtimestamp(start, UTC), name) / 10


def test_missed_intervals_are_caught_up_in_few_ingests(stand_in: StandIn, tmp_path: Path) -> None:
    Watch(stand_in, tmp_path).look()
    stand_in.advance(LENGTH * 50)
    # A restart: what is held is read from the database.
    watch = Watch(stand_in, tmp_path)
    watch.look(4)
    assert held(tmp_path) == expected(stand_in, START - LENGTH)
    # The newest one, then 20, 20 and 9.
    assert len(watch.pdb.ingests) == 5


def test_intervals_further_back_than_asked_for_are_left(stand_in: StandIn, tmp_path: Path) -> None:
    Watch(stand_in, tmp_path).look()
    stand_in.advance(timedelta(hours=3))
    watch = Watch(stand_in, tmp_path, catch_up=timedelta(hours=1))
    watch.look(6)
    # An hour is 36 intervals.
    assert len(held(tmp_path)) == 2 * (1 + 36)


def test_what_the_server_no_longer_holds_is_counted(stand_in: StandIn, tmp_path: Path) -> None:
    Watch(stand_in, tmp_path).look()
    stand_in.holds = LENGTH * 10
    stand_in.advance(LENGTH * 30)
    watch = Watch(stand_in, tmp_path)
    watch.look(6)
    assert watch.server.counts.missed == 20
    assert sum("cannot be had" in said and "GPM0507I" in said for said in watch.said) >= 1
    assert len(held(tmp_path)) == 2 * (1 + 10)
    # It is not asked for over and over.
    before = len(stand_in.asked)
    watch.look(2)
    assert len(stand_in.asked) - before == 2


def test_a_system_that_was_away_leaves_the_others(stand_in: StandIn, tmp_path: Path) -> None:
    Watch(stand_in, tmp_path).look()
    away = set(stand_in.intervals(START, START + LENGTH * 3))
    stand_in.lost = lambda moment, system: system == "SYS2" and f"{moment:{STAMP}}" in away
    stand_in.advance(LENGTH * 6)
    watch = Watch(stand_in, tmp_path)
    watch.look(4)
    everything = expected(stand_in, START - LENGTH)
    assert held(tmp_path) == [one for one in everything if one[0] == "SYS1" or one[1] not in away]
    assert watch.server.counts.unanswered == 3
    assert sum("CPC of SYS2 is missing" in said for said in watch.said) == 1


def test_a_system_that_is_late_is_waited_for(stand_in: StandIn, tmp_path: Path) -> None:
    late = {"SYS2"}
    stand_in.lost = lambda moment, system: system in late
    watch = Watch(stand_in, tmp_path)
    watch.look()
    assert not watch.pdb.ingests
    late.clear()
    before = len(stand_in.asked)
    watch.look()
    assert held(tmp_path) == expected(stand_in, START - LENGTH)
    # Only what was missing is asked for again: the newest interval, and one report.
    assert len(stand_in.asked) - before == 2


def test_it_is_asked_when_an_interval_is_due(stand_in: StandIn, tmp_path: Path) -> None:
    stand_in.advance(timedelta(seconds=30))
    watch = Watch(stand_in, tmp_path)
    watch.look()
    # 70 s to the end of the next one, 5 s for its delivery, at most 5 s so that watches do not ask at once.
    assert watch.server.pause == pytest.approx(80.0)
    stand_in.tells_date = False
    watch.look()
    # The clock of the server is unknown: half an interval.
    assert watch.server.pause == pytest.approx(50.0)


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault != "401"])
def test_after_a_bad_answer_nothing_is_lost_or_doubled(stand_in: StandIn, tmp_path: Path, fault: str) -> None:
    watch = Watch(stand_in, tmp_path)
    watch.look()
    hits: list[str] = []

    def twice(document: str, asked: dict[str, str]) -> str:
        """Each document fails, the first times it is asked for."""
        key = f"{document} {asked.get('resource')}"
        hits.append(key)
        return fault if hits.count(key) <= 2 else ""

    stand_in.advance()
    stand_in.fault = twice
    stand_in.packs = True
    watch.look(8)
    stand_in.advance()
    watch.look(8)
    assert held(tmp_path) == expected(stand_in, START - LENGTH)
    assert watch.server.counts.failures > 0
    assert any("it answers again" in said for said in watch.said)
    assert not any(PASSWORD in said for said in watch.said)


def test_a_report_that_never_comes_holds_up_nothing(stand_in: StandIn, tmp_path: Path) -> None:
    stand_in.fault = lambda document, asked: "500" if asked.get("report") == "DELAY" else ""
    watch = Watch(stand_in, tmp_path, reports=("CPC", "DELAY"))
    watch.look(3)
    assert held(tmp_path) == expected(stand_in, START - LENGTH)
    assert watch.server.counts.unanswered == 2
    assert sum("DELAY of SYS" in said and "500" in said for said in watch.said) == 1


def test_back_off_grows_to_a_quarter_of_an_hour(stand_in: StandIn, tmp_path: Path) -> None:
    watch = Watch(stand_in, tmp_path)
    stand_in.stop()
    pauses = []
    for _ in range(10):
        watch.look()
        pauses.append(watch.server.pause)
    assert pauses == [5, 10, 20, 40, 80, 160, 320, 640, 900, 900]
    assert sum("there is no connection" in said for said in watch.said) == 1
    stand_in.start()
    watch.look()
    assert held(tmp_path) == expected(stand_in, START - LENGTH)


def test_a_user_who_is_refused_is_sent_twice_and_no_more(stand_in: StandIn, tmp_path: Path) -> None:
    watch = Watch(stand_in, tmp_path)
    watch.look()
    stand_in.fault = lambda document, asked: "401"
    before = len(stand_in.asked)
    watch.look()
    assert watch.server.pause == 900.0
    stand_in.fault = lambda document, asked: ""
    stand_in.advance()
    watch.look()
    assert held(tmp_path) == expected(stand_in, START - LENGTH)
    stand_in.fault = lambda document, asked: "401"
    before = len(stand_in.asked)
    watch.look(5)
    assert len(stand_in.asked) - before == 2
    assert watch.server.is_over
    assert any("is not revoked" in said for said in watch.said)


def test_a_wrong_password_at_the_start_ends_at_once(stand_in: StandIn, tmp_path: Path) -> None:
    watch = Watch(stand_in, tmp_path)
    watch.server.client._credentials = Credentials(USER, "wrong")
    with pytest.raises(DdsError, match="user WATCHER or the password is not accepted") as caught:
        watch.look()
    assert caught.value.exit_code == 3
    assert len(stand_in.asked) == 1


@pytest.mark.parametrize("fault", ["html", "json", "redirect", "404"])
def test_a_restart_during_a_bad_answer_goes_on_if_the_server_is_known(
    stand_in: StandIn, tmp_path: Path, fault: str
) -> None:
    stand_in.fault = lambda document, asked: fault
    with pytest.raises(DdsError):
        Watch(stand_in, tmp_path).look()
    stand_in.fault = lambda document, asked: ""
    Watch(stand_in, tmp_path).look(2)
    stand_in.advance()
    stand_in.fault = lambda document, asked: fault
    watch = Watch(stand_in, tmp_path)
    watch.look()
    stand_in.fault = lambda document, asked: ""
    watch.look(3)
    assert held(tmp_path) == expected(stand_in, START - LENGTH)
    assert any("it answers again" in said for said in watch.said)


def test_intervals_around_a_change_of_local_time(stand_in: StandIn, tmp_path: Path) -> None:
    """Spring: 02:00 becomes 03:00; missed intervals on both sides are asked for with the offset of their time."""
    change = START + LENGTH * 20
    stand_in.offset = lambda moment: timedelta(hours=-5 if moment < change else -4)
    Watch(stand_in, tmp_path).look()
    stand_in.advance(LENGTH * 40)
    watch = Watch(stand_in, tmp_path)
    watch.look(6)
    assert held(tmp_path) == expected(stand_in, START - LENGTH)


def test_the_hour_that_comes_twice(stand_in: StandIn, tmp_path: Path) -> None:
    """Autumn: while the watch runs, each interval of the repeated time is taken. Here it is a quarter of an hour."""
    change = START + LENGTH * 4
    stand_in.offset = lambda moment: timedelta(hours=-5, minutes=15 if moment < change else 0)
    watch = Watch(stand_in, tmp_path)
    for _ in range(16):
        watch.look()
        stand_in.advance()
    # The last one has come since the last look.
    assert held(tmp_path) == [
        one for one in expected(stand_in, START - LENGTH) if one[1] != f"{stand_in.newest():{STAMP}}"
    ]


def test_a_clock_that_is_set_back_is_told_once(stand_in: StandIn, tmp_path: Path) -> None:
    watch = Watch(stand_in, tmp_path)
    watch.look()
    for _ in range(5):
        stand_in.advance()
        watch.look()
    before = held(tmp_path)
    stand_in.advance(-LENGTH * 4)
    for _ in range(3):
        watch.look()
        stand_in.advance()
    assert held(tmp_path) == before
    assert sum("its clock was set back" in said for said in watch.said) == 1
    stand_in.advance(LENGTH * 6)
    watch.look(2)
    assert held(tmp_path) == expected(stand_in, START - LENGTH)


def test_intervals_of_another_grid_are_taken_as_they_are(stand_in: StandIn, tmp_path: Path) -> None:
    """The gatherer was started anew in between: its intervals begin 30 s later than reckoned."""
    Watch(stand_in, tmp_path).look()
    stand_in.begins += timedelta(seconds=30)
    stand_in.advance(LENGTH * 10)
    watch = Watch(stand_in, tmp_path)
    watch.look(4)
    found = {start for _, start in held(tmp_path)}
    assert found == {"20260302075820"} | set(stand_in.intervals(START, stand_in.newest() + LENGTH))
    assert len(held(tmp_path)) == 2 * len(found)


def test_a_locked_database_is_waited_for_without_asking_again(stand_in: StandIn, tmp_path: Path) -> None:
    watch = Watch(stand_in, tmp_path)
    with writer_lock(tmp_path / "pdb" / "lock", pdb=tmp_path / "pdb"):
        watch.look(2)
    assert sum("is writing into this PDB" in said for said in watch.said) == 1
    before = len(stand_in.asked)
    watch.look()
    assert held(tmp_path) == expected(stand_in, START - LENGTH)
    assert [document for document, _ in stand_in.asked[before:]] == ["perform.xml"]


def test_only_systems_that_are_named(stand_in: StandIn, tmp_path: Path) -> None:
    watch = Watch(stand_in, tmp_path, systems=("*2",))
    watch.look()
    assert held(tmp_path) == expected(stand_in, START - LENGTH, "SYS2")
    other = Watch(stand_in, tmp_path, systems=("PROD*",))
    with pytest.raises(DdsError, match=r"no system is called PROD\*; there are SYS1, SYS2"):
        other.look()


def test_reports_of_the_sysplex_are_asked_of_it(stand_in: StandIn, tmp_path: Path) -> None:
    Watch(stand_in, tmp_path, reports=("SYSSUM", "CPC")).look()
    asked = [(asked["report"], asked["resource"]) for document, asked in stand_in.asked if document == "rmfm3.xml"]
    assert asked[0] == ("SYSSUM", ",PLEX1,SYSPLEX")
    assert ("CPC", ",SYS1,MVS_IMAGE") in asked


def test_days_of_the_postprocessor_bring_each_report_once(stand_in: StandIn, tmp_path: Path) -> None:
    watch = Watch(stand_in, tmp_path, postprocessor=("CPU",))
    watch.look()
    for _ in range(3):
        # 03:00 local time at first; at 22:30 in the evening, and twice on the next day.
        stand_in.advance(timedelta(hours=9, minutes=45))
        watch.time += 1000
        watch.look()
    dates = [asked["date"] for document, asked in stand_in.asked if document == "rmfpp.xml"]
    assert dates == ["20260302,20260302", "20260302,20260302", "20260302,20260302", "20260302,20260303"]
    reports = held(tmp_path, "CPU")
    assert len(reports) == len(set(reports)) == 96 + 33
    # After a restart the day that was reached last is asked for.
    again = Watch(stand_in, tmp_path, postprocessor=("CPU",))
    again.look()
    assert stand_in.asked[-1][1]["date"] == "20260303,20260303"


def test_the_path_of_a_gateway_is_kept(tmp_path: Path) -> None:
    with StandIn(path="/rmf/plex1") as stand_in:
        Watch(stand_in, tmp_path).look()
        assert stand_in.given["answer"] > 0


def certificate(folder: Path, name: str, host: str = "127.0.0.1") -> tuple[Path, Path]:
    """A certificate that signs itself, and its key."""
    chain, key = folder / f"{name}.pem", folder / f"{name}.key"
    words = f"req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN={name} -keyout {key} -out {chain}"
    subprocess.run(
        ["openssl", *words.split(), "-addext", f"subjectAltName=IP:{host}"], cwd=folder, check=True, capture_output=True
    )
    return chain, key


def test_tls_is_checked(tmp_path: Path) -> None:
    good, wrong = certificate(tmp_path, "good"), certificate(tmp_path, "wrong", "127.0.0.2")
    credentials = Credentials(USER, PASSWORD)
    with StandIn(tls=good) as stand_in:
        address = parse_address(stand_in.address)
        assert Client(address, credentials, authorities=good[0]).get("root.xml").body
        with pytest.raises(DdsError, match="its certificate is not accepted") as caught:
            Client(address, credentials).get("root.xml")
        assert caught.value.trouble is Trouble.WRONG
        assert "--ca FILE" in caught.value.remedy
        plain = Address("http", address.host, address.port)
        with pytest.raises(DdsError):
            Client(plain, credentials, seconds=1.0).get("root.xml")
    with StandIn(tls=wrong) as stand_in, pytest.raises(DdsError, match="its certificate is not accepted: IP address"):
        Client(parse_address(stand_in.address), credentials, authorities=wrong[0]).get("root.xml")
    with StandIn() as stand_in, pytest.raises(DdsError, match="no TLS connection"):
        Client(Address("https", "127.0.0.1", stand_in.port), credentials).get("root.xml")
    with pytest.raises(UsageError, match="no certificates can be read"):
        Client(address, credentials, authorities=tmp_path / "good.key")


LIMITS = {
    "slow": "was not answered within 0.5 s",
    "trickle": "was not answered within 0.5 s",
    "endless": "is larger than 1 MiB",
    "bomb": "is larger than 1 MiB",
    "cut": "broke off",
    "cut chunk": "broke off",
    "html": "is text/html and not XML",
    "json": "is application/json and not XML",
    "redirect": r"leads to https://elsewhere\.example, and redirections are not followed",
    "404": "has no such document",
    "503": "was answered with 503",
    "no answer": "broke off or is not HTTP|there is no connection",
}


@pytest.mark.parametrize(("fault", "text"), LIMITS.items())
def test_limits_and_messages(stand_in: StandIn, fault: str, text: str) -> None:
    stand_in.fault = lambda document, asked: fault
    with pytest.raises(DdsError, match=text) as caught:
        client(stand_in, seconds=0.5, largest=1 << 20).get("perform.xml", resource=",PLEX1,SYSPLEX", id="8D0D60")
    assert str(caught.value).startswith(f"http://127.0.0.1:{stand_in.port}: ")
    assert caught.value.remedy


def test_packed_answers_are_expanded(stand_in: StandIn) -> None:
    stand_in.packs = True
    assert b"<ddsml>" in client(stand_in).get("root.xml").body


WRONG_ADDRESSES: dict[str, str] = {
    "ftp://host": "begins with none of http://HOST, https://HOST",
    "https://": "begins with none",
    "https://host:port": "not the address",
    "https://host:8803/gpm/rmfm3.xml?report=CPC": "must end before reports and resources",
    "https://ME:secret@host:8803": "can be read by everyone",
}


@pytest.mark.parametrize(("text", "message"), WRONG_ADDRESSES.items())
def test_addresses_that_are_none(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        parse_address(text)
    assert "secret" not in str(caught.value)


def test_addresses() -> None:
    assert str(parse_address("https://plex.example")) == "https://plex.example:8803"
    assert str(parse_address("http://[::1]:80/gpm/")) == "http://[::1]:80"
    assert parse_address("https://gate.example:443/rmf/gpm").path == "/rmf"


def test_user_and_password_come_together() -> None:
    address = parse_address("https://plex.example")
    assert credentials_of(address, {}) is None
    both = credentials_of(address, {"PLEXLENS_DDS_USER": "ME", "PLEXLENS_DDS_PASSWORD": "secret"})
    assert both is not None
    assert "secret" not in repr(both)
    # Base64 of ME:secret, worked out by the program base64.
    assert both.header() == "Basic TUU6c2VjcmV0"
    for one in ({"PLEXLENS_DDS_USER": "ME"}, {"PLEXLENS_DDS_PASSWORD": "secret"}):
        with pytest.raises(UsageError, match="is not"):
            credentials_of(address, one)
    with pytest.raises(UsageError, match="line end"):
        credentials_of(address, {"PLEXLENS_DDS_USER": "ME", "PLEXLENS_DDS_PASSWORD": "a\r\nHost: b"})


def test_a_password_from_the_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    keyring = types.ModuleType("keyring")
    keyring.__spec__ = ModuleSpec("keyring", None)
    keyring.get_password = lambda service, user: f"{service}/{user}"  # type: ignore[attr-defined]
    # Set by the patch, and not imported: an imported module would stay for the tests after this one.
    monkeypatch.setitem(sys.modules, "keyring", keyring)
    found = credentials_of(parse_address("https://plex.example"), {"PLEXLENS_DDS_USER": "ME"})
    assert found == Credentials("ME", "plexlens plex.example/ME")


def moment(number: int) -> datetime:
    return START + timedelta(seconds=number)


def span(first: int, last: int) -> Interval:
    return Interval(moment(first), moment(last))


def test_what_is_missing() -> None:
    held = Coverage([span(0, 100), span(300, 400), span(100, 200)])
    length = timedelta(seconds=100)
    assert held.missing(moment(0), moment(600), length) == [span(200, 300), span(400, 500), span(500, 600)]
    # Counted back from the newest one; what is left over is a piece of its own.
    assert held.missing(moment(300), moment(630), length) == [span(400, 430), span(430, 530), span(530, 630)]
    assert held.missing(moment(0), moment(200), length) == []
    assert held.overlaps(span(150, 350))
    assert not held.overlaps(span(200, 300))


def test_names_of_ingests_tell_what_is_held() -> None:
    server = "https://plex.example:8803"
    names = [
        name_of(server, span(0, 100), timedelta(hours=-5)),
        name_of("https://other:8803", span(100, 200), timedelta(0)),
        name_of(server, span(300, 400), timedelta(hours=5, minutes=30)),
        "/data/day.smf",
    ]
    held = Coverage.of_names(server, names)
    assert (held.first, held.last) == (moment(0), moment(400))
    assert held.offset_before(moment(-1)) is None
    assert held.offset_before(moment(200)) == timedelta(hours=-5)
    assert held.offset_before(moment(300)) == timedelta(hours=5, minutes=30)


BAD_ANSWERS: dict[str, tuple[bytes, str]] = {
    "entities": (b'<!DOCTYPE a [<!ENTITY b "c">]><ddsml/>', "declares entities"),
    "cut": (b"<ddsml><report>", "not well-formed"),
    "html": (b"<html/>", "outermost element is <html>"),
    "nothing": (b"<ddsml></ddsml>", "no report"),
    "message": (
        b'<ddsml><message id="GPM0600E"><description>not now</description></message></ddsml>',
        "GPM0600E not now",
    ),
    "bytes": (b"\xff\xfe\x00", "not well-formed"),
}


@pytest.mark.parametrize(("body", "text"), BAD_ANSWERS.values(), ids=BAD_ANSWERS)
def test_bad_answers(body: bytes, text: str) -> None:
    with pytest.raises(AnswerError, match=text):
        reports_of(body)
    with pytest.raises(AnswerError):
        resources_of(body)


def test_times_that_are_none_are_no_interval() -> None:
    for start, end in (
        ("20260302", "20260303"),
        ("20260302080000", "20260302080000"),
        ("20260302080000", "20990101000000"),
    ):
        times = f"<time-data><utc-start>{start}</utc-start><utc-end>{end}</utc-end></time-data>"
        body = f"<ddsml><report>{times}</report></ddsml>"
        assert reports_of(body.encode())[0].interval is None


def test_names_of_reports() -> None:
    assert named_reports(["cpc, channel", "CPC"]) == ("CPC", "CHANNEL")
    with pytest.raises(UsageError, match="not the name of a report"):
        named_reports(["CPC&resource=x"])


def test_a_server_without_authentication_that_wants_a_user(stand_in: StandIn) -> None:
    with pytest.raises(PlexlensError, match="it wants a user"):
        Client(parse_address(stand_in.address)).get("root.xml")
