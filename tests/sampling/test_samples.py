"""Samples joined with a load test, by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from plexlens.errors import NothingUsableError, UnreadableInputError
from plexlens.sampling.samples import read_samples
from tests.cli.command import run

HEAD = "time,host,kind,name,number,started,cpu_seconds\n"


def moment(second: float) -> str:
    return f"2026-03-02T09:{int(second) // 60:02d}:{second % 60:06.3f}000Z"


def line(
    second: float, kind: str, name: str, number: str, seconds: float, *, host: str = "web1", started: str = "5"
) -> str:
    return f"{moment(second)},{host},{kind},{name},{number},{started},{seconds}\n"


def written(path: Path, *, host: str = "web1", factor: float = 1.0, until: int = 180) -> Path:
    """Samples each 10 s from 9:00:00. Per second: java 0.2 s in process 7, 0.1 s in process 8 from 9:01:00 to 9:02:00
    only, sshd none; the machine 0.5 s."""
    text = HEAD
    for second in range(0, until + 1, 10):
        text += line(second, "machine", "", "", 100 + 0.5 * second * factor, host=host, started="")
        text += line(second, "process", "java", "7", 40 + 0.2 * second * factor, host=host)
        if 60 < second <= 120:
            # It began after the sample of 9:01:00, and ends before that of 9:02:10.
            text += line(second, "process", "java", "8", 0.1 * (second - 60) * factor, host=host, started="99")
        if second == 0:
            text += line(second, "process", "sshd", "3", 1.5, host=host)
        text += line(second, "control group", "web", "", 7 + 0.25 * second * factor, host=host, started="")
    path.write_text(text)
    return path


def results(path: Path) -> Path:
    """Four requests per second from 9:00:00 to 9:03:00, each of 50 ms."""
    begin = 1772442000000
    lines = [f"{begin + 250 * number},50,buy,true" for number in range(720)]
    path.write_text("timeStamp,elapsed,label,success\n" + "\n".join(lines) + "\n")
    return path


def test_cpu_between_two_times(tmp_path: Path) -> None:
    samples = read_samples(written(tmp_path / "s.csv"))
    begin = samples.times[0]
    assert len(samples.times) == 19
    used = samples.cpu(begin, begin + 180)
    assert used["process", "java"] == pytest.approx(0.2 * 180 + 0.1 * 60)
    assert used["process", "sshd"] == 0
    assert used["machine", ""] == pytest.approx(90)
    # Between samples it is linear: 5 s of both processes.
    assert samples.cpu(begin + 72.5, begin + 77.5)["process", "java"] == pytest.approx(1.5)
    assert samples.longest_gap(begin, begin + 180) == pytest.approx(10)
    assert samples.longest_gap(begin + 2, begin + 5) == pytest.approx(3)


def test_cpu_per_request_by_hand(tmp_path: Path) -> None:
    written(tmp_path / "s.csv")
    results(tmp_path / "r.jtl")
    words = ("--warm-up", "30", "--to", "2026-03-02T09:02:30")
    done = run("run", "r.jtl", "--samples", "s.csv", *words, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    cost = json.loads(done.stdout)["cost"]
    assert (cost["requests"], cost["spaces"], cost["notes"]) == (480, [], [])
    found = {(share["kind"], share["name"]): share["cpu_per_request"] for share in cost["servers"]}
    # 120 s: process 7 used 24 s, process 8 used 6 s, over 480 requests.
    assert found == {
        ("process", "java"): pytest.approx(30 / 480),
        ("control group", "web"): pytest.approx(0.25 * 120 / 480),
        ("machine", "(in no sampled process)"): pytest.approx((60 - 30) / 480),
        ("machine", "(all)"): pytest.approx(60 / 480),
    }
    (busy,) = (share["processors_busy"] for share in cost["servers"] if share["name"] == "java")
    assert busy == pytest.approx(0.25)
    text = run("run", "r.jtl", "--samples", "s.csv", *words, cwd=tmp_path).stdout
    assert "480 requests began while the servers were sampled, from 2026-03-02 09:00:30 to 09:02:30 UTC" in text
    assert "62.5" in text


def test_several_servers_and_a_study(tmp_path: Path) -> None:
    written(tmp_path / "a.csv")
    written(tmp_path / "b.csv", host="web2", factor=2.0)
    results(tmp_path / "r.jtl")
    words = ("run", "r.jtl", "--samples", "a.csv", "--warm-up", "0", "--to", "2026-03-02T09:03:00")
    done = run(*words, "--samples", "b.csv", "--study", "ways", "--label", "both", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    shares = json.loads(done.stdout)["cost"]["servers"]
    java = {share["host"]: share["cpu_per_request"] for share in shares if share["name"] == "java"}
    assert java == {"web1": pytest.approx(42 / 720), "web2": pytest.approx(84 / 720)}
    # The last request is at 9:02:59.75, and the window ends with the steady part.
    done = run("study", "ways", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    head, row = (tmp_path / "ways" / "runs.csv").read_text().splitlines()
    values = dict(zip(head.split(","), row.split(","), strict=True))
    assert float(values["java CPU%"]) == pytest.approx(126 / 180 * 100, rel=1e-3)
    assert float(values["TOTAL ms CPU per transaction"]) == pytest.approx(126 / 720 * 1000, rel=1e-3)
    assert "samples of Linux servers" in (tmp_path / "ways" / "study.toml").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--samples", "s.csv", "--samples", "s.csv"), "it holds samples of web1, as a file before it does"),
        (("--samples", "s.csv", "--clock", "7200"), "samples do not cover the steady part of the test"),
        (("--samples", "r.jtl"), "its first line is not time,host,kind"),
        (("--samples", "none.csv"), "No such file"),
        (("--samples", "short.csv"), "it holds 1 sample, and CPU time is a difference of two"),
    ],
)
def test_wrong_use(tmp_path: Path, options: tuple[str, ...], message: str) -> None:
    written(tmp_path / "s.csv")
    written(tmp_path / "short.csv", until=0)
    results(tmp_path / "r.jtl")
    done = run("run", "r.jtl", *options, cwd=tmp_path)
    assert done.returncode not in (0, 1)
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_totals_have_no_requests_between_samples(tmp_path: Path) -> None:
    written(tmp_path / "s.csv")
    file = Path(__file__).parents[1] / "load" / "files" / "wrk-4.1.0.txt"
    done = run("run", str(file), "--samples", "s.csv", cwd=tmp_path)
    assert "keeps no line per request" in done.stderr


def test_damage_is_counted(tmp_path: Path) -> None:
    path = written(tmp_path / "s.csv")
    text = path.read_text()
    text += "cut,off\n"
    text += line(190, "process", "java", "7", 3.0)
    text += line(190, "planet", "x", "7", 3.0)
    text += line(100, "process", "java", "9", 3.0)
    text += line(190, "process", "java", "9", 1.0).replace(",1.0", ",nan")
    path.write_text(text)
    samples = read_samples(path)
    assert [(reason, number) for reason, number, _ in samples.left_out] == [
        ("line without 7 cells", 1),
        ("CPU seconds below those before", 1),
        ("line of an unknown kind", 1),
        ("line before the line above: the clock was set back", 1),
        ("line without a time or CPU seconds", 1),
    ]
    results(tmp_path / "r.jtl")
    done = run("run", "r.jtl", "--samples", "s.csv", cwd=tmp_path)
    assert "lines left out: 1, first at line" in done.stdout


def test_a_long_gap_is_said(tmp_path: Path) -> None:
    path = written(tmp_path / "s.csv")
    kept = [text for text in path.read_text().splitlines(keepends=True) if not "09:01:00" < text[11:19] < "09:02:00"]
    path.write_text("".join(kept))
    results(tmp_path / "r.jtl")
    done = run("run", "r.jtl", "--samples", "s.csv", cwd=tmp_path)
    assert "web1 has no sample for 60.0 s of the" in done.stdout


def test_two_servers_in_one_file(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text(
        HEAD + "".join(line(second, "machine", "", "", 1.0, host=f"web{second}", started="") for second in (1, 2))
    )
    with pytest.raises(NothingUsableError, match="several servers: web1, web2"):
        read_samples(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UnreadableInputError, match="cannot be read"):
        read_samples(path)
