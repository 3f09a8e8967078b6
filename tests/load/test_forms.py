"""Result files of real tools against the summaries that the tools printed of the same runs."""

from __future__ import annotations

import csv
import gzip
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from plexlens.errors import EmptyInputError, NothingUsableError, PlexlensError, UnknownSourceError, UnreadableInputError
from plexlens.ingest.load_test import LoadTest, read
from plexlens.load import run_of

FILES = Path(__file__).parent / "files"


def whole(test: LoadTest) -> tuple[int, int, float, float, float]:
    """Requests, failures, and mean, shortest and longest response in ms."""
    assert test.requests is not None
    response = test.requests["response_seconds"].to_pylist()
    failed = sum(test.requests["is_error"].to_pylist())
    return len(response), failed, sum(response) / len(response) * 1e3, min(response) * 1e3, max(response) * 1e3


def test_jmeter_csv_agrees_with_its_summary() -> None:
    """``summary = 80 in 00:00:02 = 33.4/s Avg: 55 Min: 14 Max: 95 Err: 2 (2.50%)``."""
    test = read(FILES / "jmeter-5.6.3.csv")
    requests, failed, mean, shortest, longest = whole(test)
    assert (requests, failed, int(mean), round(shortest), round(longest)) == (80, 2, 55, 14, 95)
    assert test.left_out == ()
    assert not test.scheduled


def test_jmeter_xml_agrees_with_its_summary() -> None:
    """``summary = 80 in 00:00:02 = 34.0/s Avg: 55 Min: 5 Max: 91 Err: 4 (5.00%)``."""
    requests, failed, mean, shortest, longest = whole(read(FILES / "jmeter-5.6.3.xml"))
    assert (requests, failed, int(mean), round(shortest), round(longest)) == (80, 4, 55, 5, 91)


def test_gatling_agrees_with_its_report() -> None:
    """Its report: 60 requests, 4 KO, from 4 to 275 ms, mean 32; 30 each of inquiry and update."""
    test = read(FILES / "gatling-3.9.5.log")
    requests, failed, mean, shortest, longest = whole(test)
    assert (requests, failed, round(mean), round(shortest), round(longest)) == (60, 4, 32, 4, 275)
    assert {line.transaction: (line.requests, line.errors) for line in run_of(test, warm_up_seconds=0).lines} == {
        "inquiry": (30, 3),
        "update": (30, 1),
        "(all)": (60, 4),
    }


def test_tsung_agrees_with_its_log() -> None:
    """Its log: ``stats: request 0 0 0 65.599 1.496 21.689343749999995 32``: longest, shortest, mean, number."""
    requests, failed, mean, shortest, longest = whole(read(FILES / "tsung-1.7.0.dump"))
    assert requests == 32
    assert mean == pytest.approx(21.68934375)
    assert (shortest, longest) == (pytest.approx(1.496), pytest.approx(65.599))
    with (FILES / "tsung-1.7.0.dump").open() as stream:
        assert failed == sum(row["HTTP status"] != "200" for row in csv.DictReader(stream, delimiter=";"))


def test_locust_has_the_totals_of_its_file_and_the_course_adds_up() -> None:
    test = read(FILES / "locust_stats_history.csv")
    with (FILES / "locust_stats.csv").open() as stream:
        printed = {row["Name"]: row for row in csv.DictReader(stream)}
    lines = {line.transaction: line for line in run_of(test).lines}
    assert lines.keys() == {"inquiry", "update", "(all)"}
    for name, row in (("inquiry", printed["inquiry"]), ("update", printed["update"]), ("(all)", printed["Aggregated"])):
        line = lines[name]
        assert (line.requests, line.errors) == (int(row["Request Count"]), int(row["Failure Count"]))
        assert line.mean == pytest.approx(float(row["Average Response Time"]) / 1e3)
        assert line.percentiles[95.0] == float(row["95%"]) / 1e3
        assert line.rate == pytest.approx(float(row["Requests/s"]))
    with (FILES / "locust_stats_history.csv").open() as stream:
        last = {row["Name"]: int(row["Total Request Count"]) for row in csv.DictReader(stream)}
    for name in ("inquiry", "update"):
        assert sum(point.requests for point in test.course if point.transaction == name) == last[name]


def test_wrk_has_what_it_printed() -> None:
    text = (FILES / "wrk-4.1.0.txt").read_text()
    (line,) = run_of(read(FILES / "wrk-4.1.0.txt")).lines
    assert f"{line.requests} requests in {line.seconds:.2f}s" in text
    assert f"Non-2xx or 3xx responses: {line.errors}" in text
    assert line.rate == pytest.approx(float(text.split("Requests/sec:")[1].split()[0]), rel=0.01)
    assert line.mean is not None
    assert f"{line.mean * 1e3:.2f}ms" in text
    assert f"99%   {line.percentiles[99.0] * 1e3:.2f}ms" in text


def test_requests_of_wrk_that_were_reset_are_requests() -> None:
    """Of a server that answers each 20th request and resets the others: ``400 requests``, ``read 7608``."""
    (line,) = run_of(read(FILES / "wrk-4.1.0-reset.txt")).lines
    assert (line.requests, line.errors) == (8008, 7608)
    assert line.error_share == pytest.approx(0.95, abs=1e-3)


def test_timeouts_of_wrk_are_told_and_are_no_requests(tmp_path: Path) -> None:
    """wrk counts a request that waits anew at each look, so that timeouts are no number of requests."""
    text = (FILES / "wrk-4.1.0-reset.txt").read_text().replace("timeout 0", "timeout 9")
    path = tmp_path / "wrk.txt"
    path.write_text(text)
    test = read(path)
    assert [(number, reason[:7]) for reason, number, _ in test.left_out] == [(9, "timeout")]
    assert run_of(test).whole.requests == 8008


def test_wrk2_has_what_it_printed_counted_from_the_schedule() -> None:
    """wrk2 at commit 44a94c17, 50 requests per second; percentiles are over the 98 requests after its calibration."""
    text = (FILES / "wrk2.txt").read_text()
    test = read(FILES / "wrk2.txt")
    assert (test.tool, test.scheduled) == ("wrk2", True)
    (line,) = run_of(test).lines
    assert f"{line.requests} requests in {line.seconds:.2f}s" in text
    assert f"Non-2xx or 3xx responses: {line.errors}" in text
    assert line.rate == pytest.approx(float(text.split("Requests/sec:")[1].split()[0]), rel=0.01)
    assert line.percentiles == {}
    # The same percentiles in the detailed spectrum, which Plexlens does not read; the summary rounds to 10 us.
    spectrum = {
        float(share) * 100: float(value) / 1e3
        for value, share, _ in re.findall(r"^ +([\d.]+) +(0\.\d+) +(\d+) +[\d.]+$", text, re.MULTILINE)
    }
    assert line.from_schedule[50.0] == pytest.approx(spectrum[50.0], abs=1e-5)
    assert line.from_schedule[75.0] == pytest.approx(spectrum[75.0], abs=1e-5)
    mean = re.search(r"Mean += +([\d.]+)", text)
    assert mean is not None
    assert line.mean == pytest.approx(float(mean[1]) / 1e3, abs=1e-5)
    (left_out,) = test.left_out
    assert ("did not keep" in left_out[0], left_out[1]) == (True, line.requests - 98)


#: What k6 1.8.1 itself summed up, by ``--summary-export``: requests, failures, and milliseconds.
K6_SUMMARY = {
    "count": 102,
    "failed": 11,
    "avg": 51.25020413725489,
    "min": 22.291897,
    "med": 46.351996,
    "p(90)": 49.5758363,
    "p(95)": 50.26911295,
    "max": 301.149051,
}


@pytest.mark.parametrize("form", ["json", "csv"])
def test_k6_agrees_with_its_own_summary(form: str) -> None:
    """k6 1.8.1 against a small server: four of its requests ran into their time limit, seven got a status of 500."""
    test = read(FILES / f"k6-1.8.1.{form}.gz")
    assert test.left_out == ()
    line = run_of(test, warm_up_seconds=0).whole
    assert (line.requests, line.errors) == (K6_SUMMARY["count"], K6_SUMMARY["failed"])
    assert test.requests is not None
    response = test.requests["response_seconds"].to_numpy()
    assert 1e3 * response.min() == pytest.approx(K6_SUMMARY["min"], abs=1e-5)
    assert 1e3 * response.max() == pytest.approx(K6_SUMMARY["max"], abs=1e-5)
    assert line.mean == pytest.approx(K6_SUMMARY["avg"] / 1e3, abs=1e-8)
    for percent, name in ((50.0, "med"), (90.0, "p(90)"), (95.0, "p(95)")):
        assert line.percentiles[percent] == pytest.approx(K6_SUMMARY[name] / 1e3, abs=1e-8)


K6 = """{"type":"Metric","data":{"name":"http_reqs","type":"counter"},"metric":"http_reqs"}
{"metric":"http_reqs","type":"Point","data":{"time":"2026-03-02T09:00:00.5Z","value":1,"tags":{"name":"inquiry"}}}
{"metric":"http_req_duration","type":"Point","data":{"time":"2026-03-02T09:00:00.5Z","value":12.5,"tags":{"expected_response":"true","group":"","name":"inquiry","status":"200"}}}
{"metric":"http_req_duration","type":"Point","data":{"time":"2026-03-02T10:00:01+01:00","value":30,"tags":{"expected_response":"false","name":"inquiry","status":"503"}}}
{"metric":"http_req_duration","type":"Point","data":{"time":"yesterday","value":30,"tags":{"name":"inquiry"}}}
no json
"""


def test_k6_json_by_hand(tmp_path: Path) -> None:
    """Points of the documented form: the time is that of the end, durations are in ms."""
    path = tmp_path / "k6.json"
    path.write_text(K6)
    test = read(path)
    assert test.requests is not None
    rows = test.requests.to_pylist()
    assert [(row["started"].isoformat(), row["response_seconds"], row["is_error"]) for row in rows] == [
        ("2026-03-02T09:00:00.487500+00:00", 0.0125, False),
        ("2026-03-02T09:00:00.970000+00:00", 0.03, True),
    ]
    assert {reason: (number, place) for reason, number, place in test.left_out} == {
        "no time": (1, "line 5"),
        "line without a JSON object": (1, "line 6"),
    }


def test_k6_csv_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "k6.csv"
    path.write_text(
        "metric_name,timestamp,metric_value,check,error,error_code,expected_response,group,method,name,status\n"
        "http_reqs,1772442001,1.000000,,,,true,,GET,inquiry,200\n"
        "http_req_duration,1772442001,250.000000,,,,true,,GET,inquiry,200\n"
        "http_req_duration,1772442002,100.000000,,timeout,1050,false,,GET,inquiry,0\n"
    )
    test = read(path)
    assert test.requests is not None
    assert test.requests["response_seconds"].to_pylist() == [0.25, 0.1]
    assert test.requests["is_error"].to_pylist() == [False, True]
    assert test.requests["started"].to_pylist()[0].timestamp() == 1772442000.75


def test_a_table_of_requests_gives_the_wait_before_a_late_request(tmp_path: Path) -> None:
    """Scheduled each second; the second request begins 3 s late since the first took 4 s."""
    path = tmp_path / "wsim.csv"
    path.write_text(
        "transaction,scheduled,started,response_seconds,error\n"
        "INQ,2026-03-02T09:00:00+00:00,2026-03-02T09:00:00+00:00,4.0,\n"
        "INQ,2026-03-02T09:00:01+00:00,2026-03-02T09:00:04+00:00,0.5,\n"
        "INQ,2026-03-02T09:00:05+00:00,2026-03-02T09:00:05+00:00,0.5,abend\n"
    )
    test = read(path)
    assert test.scheduled
    line = run_of(test, warm_up_seconds=0).whole
    assert (line.requests, line.errors, line.percentiles[50.0]) == (3, 1, 0.5)
    # From the schedule: 4.0, 3.5 and 0.5 seconds.
    assert line.from_schedule[50.0] == 3.5


def test_totals_of_transaction_controllers_are_not_requests(tmp_path: Path) -> None:
    path = tmp_path / "controller.csv"
    path.write_text(
        "timeStamp,elapsed,label,responseCode,responseMessage,failureMessage,success\n"
        "1772442000000,30,inquiry,200,OK,,true\n"
        '1772442000000,30,order,,"Number of samples in transaction : 1, number of failing samples : 0",'
        '"Number of samples in transaction : 1, number of failing samples : 0",true\n'
    )
    test = read(path)
    assert test.requests is not None
    assert test.requests["transaction"].to_pylist() == ["inquiry"]
    assert test.left_out[0][:2] == ("total of a transaction controller, whose requests are counted", 1)


def test_requests_inside_requests_are_counted_once(tmp_path: Path) -> None:
    path = tmp_path / "nested.xml"
    path.write_text(
        '<?xml version="1.0"?><testResults version="1.2">'
        '<sample t="50" ts="1772442000000" s="true" lb="order"><httpSample t="20" ts="1772442000000" s="true" lb="a"/>'
        '<httpSample t="30" ts="1772442000020" s="true" lb="b"/></sample></testResults>'
    )
    test = read(path)
    assert test.requests is not None
    assert test.requests["transaction"].to_pylist() == ["order"]
    assert test.left_out == (("request inside another request, which is counted as a whole", 2, ""),)


def test_compressed_files_are_read(tmp_path: Path) -> None:
    path = tmp_path / "test.jtl.gz"
    path.write_bytes(gzip.compress((FILES / "jmeter-5.6.3.csv").read_bytes()))
    assert whole(read(path)) == whole(read(FILES / "jmeter-5.6.3.csv"))


@pytest.mark.parametrize(
    "name", ["jmeter-5.6.3.csv", "jmeter-5.6.3.xml", "gatling-3.9.5.log", "gatling-3.15.1.log", "tsung-1.7.0.dump"]
)
def test_a_file_cut_anywhere_gives_its_whole_lines_or_says_why_not(name: str, tmp_path: Path) -> None:
    data = (FILES / name).read_bytes()
    everything = whole(read(FILES / name))[0]
    path = tmp_path / name
    for size in range(0, len(data), 97):
        path.write_bytes(data[:size])
        try:
            test = read(path)
        except (EmptyInputError, NothingUsableError, UnknownSourceError) as error:
            assert error.remedy
            continue
        assert test.requests is not None
        assert everything >= test.requests.num_rows >= data[:size].count(b"\n") * 0.2 - 4


def test_the_cut_document_says_where(tmp_path: Path) -> None:
    data = (FILES / "jmeter-5.6.3.xml").read_bytes()
    path = tmp_path / "cut.xml"
    path.write_bytes(data[: len(data) // 2])
    test = read(path)
    assert test.requests is not None
    assert 30 <= test.requests.num_rows <= 45
    ((reason, number, place),) = test.left_out
    assert reason.startswith("not well-formed (")
    assert (number, place[:5]) == (1, "line ")


def test_a_document_type_is_refused(tmp_path: Path) -> None:
    """Entities of a document type can grow without bound."""
    path = tmp_path / "bomb.xml"
    path.write_text(
        '<!DOCTYPE x [<!ENTITY a "b">]><testResults><sample t="1" ts="1772442000000" lb="&a;"/></testResults>'
    )
    with pytest.raises(NothingUsableError, match="document type"):
        read(path)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("timeStamp,elapsed,label\n", "no request can be used"),
        ("timeStamp,elapsed,label\nsoon,30,a\n", r"no time \(1, first at line 2\)"),
        ("timeStamp,elapsed,label\n1772442000000,fast,a\n", "no response time"),
        ("timeStamp,elapsed,label\n1772442000000,-5,a\n", "response time below zero"),
        ("timeStamp,elapsed,label\n1772442000000\n", "line with too few cells"),
        ("timeStamp,elapsed,label\n1772442000,30,a\n", "no time"),
        ("timeStamp,elapsed,label\n1772442000000,inf,a\n", "no response time"),
        # 1e22 seconds: a test that ended in 2026 cannot have begun so long before.
        ("timeStamp,elapsed,label\n1772442000000,1e25,a\n", r"response time above three years \(1, first at line 2\)"),
    ],
)
def test_lines_without_meaning_are_counted(text: str, what: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(NothingUsableError, match=what):
        read(path)


@pytest.mark.parametrize(("file", "number", "wrong"), [
    ("wrk-4.1.0.txt", r"requests in [\d.]+", "requests in 1..2"),
    ("wrk-4.1.0.txt", r"\d+ requests in", "9" * 5000 + " requests in"),
    ("wrk-4.1.0.txt", r"50%", "5.0.0%"),
    ("locust_stats.csv", r"(?m)^(GET,[^,]*),\d+", r"\1,nan"),
])  # fmt: skip
def test_numbers_of_a_summary_that_are_none_are_left_out(file: str, number: str, wrong: str, tmp_path: Path) -> None:
    text, count = re.subn(number, wrong, (FILES / file).read_text(), count=1)
    assert count == 1
    path = tmp_path / file
    path.write_text(text)
    try:
        read(path)
    except PlexlensError as error:
        assert file in str(error)


def test_another_file_names_the_tools(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("nothing of the kind\n")
    with pytest.raises(UnknownSourceError, match=r"JMeter \(CSV\)"):
        read(path)
    binary = tmp_path / "simulation.log"
    binary.write_bytes(bytes(range(256)) * 4)
    with pytest.raises(UnknownSourceError, match=r"Gatling \(binary simulation.log\)"):
        read(binary)


def test_a_site_adds_a_form(tmp_path: Path) -> None:
    """A tool of the site: seconds since 1970, response in seconds, a word for the outcome."""
    folder = tmp_path / "layouts" / "load_test"
    folder.mkdir(parents=True)
    (folder / "forms.csv").write_text(
        "form,tool,scan,delimiter,heads,rows,scheduled,source\nshop,Shop driver,delimited,|,at took what,,no,ours\n"
    )
    (folder / "request.csv").write_text(
        "column,type,unit,meaning,shop\nstarted,time,,begin,at s\nresponse_seconds,number,seconds,response,took s\n"
        "transaction,text,,name,what\nis_error,flag,,failed,outcome != good\n"
    )
    path = tmp_path / "shop.txt"
    path.write_text("at|took|what|outcome\n1772442000.25|0.5|pay|good\n1772442001|0.25|pay|bad\n")
    test = read(path, (tmp_path / "layouts",))
    assert test.tool == "Shop driver"
    assert whole(test) == (2, 1, 375.0, 250.0, 500.0)


@pytest.mark.parametrize(
    ("file", "before", "after", "what"),
    [
        ("forms.csv", "delimited", "binary", "scan 'binary' has no meaning"),
        ("forms.csv", ",no,", ",perhaps,", "scheduled 'perhaps' has no meaning"),
        ("forms.csv", "form,tool", "forms,tool", "no column form"),
        ("forms.csv", "\nshop,", "\nother,", "request.csv has no column other"),
        ("request.csv", "at s", "at days", "unit 'days' has no meaning"),
        ("request.csv", "time,", "moment,", "type 'moment' has no meaning"),
        ("request.csv", "!= good", "like good", "cannot be read as a condition"),
        ("request.csv", "took s", "", "no start or no response time"),
    ],
)
def test_a_wrong_layout_is_refused_with_its_line(file: str, before: str, after: str, what: str, tmp_path: Path) -> None:
    test_a_site_adds_a_form(tmp_path)
    path = tmp_path / "layouts" / "load_test" / file
    text = path.read_text()
    assert before in text
    other = tmp_path / "other" / "load_test"
    other.mkdir(parents=True)
    for name in ("forms.csv", "request.csv"):
        (other / name).write_text((path.parent / name).read_text())
    (other / file).write_text(text.replace(before, after, 1))
    with pytest.raises(UnreadableInputError, match=what) as caught:
        read(tmp_path / "shop.txt", (tmp_path / "other",))
    assert caught.value.line is not None
    assert caught.value.remedy


def test_the_document_of_jmeter_read_slowly() -> None:
    """Every request of the file, by another reader of XML."""
    test = read(FILES / "jmeter-5.6.3.xml")
    assert test.requests is not None
    elements = list(ElementTree.parse(FILES / "jmeter-5.6.3.xml").getroot())
    slow = sorted(
        (int(one.get("ts", "")), one.get("lb"), int(one.get("t", "")), one.get("s") != "true") for one in elements
    )
    fast = sorted(
        (
            round(row["started"].timestamp() * 1e3),
            row["transaction"],
            round(row["response_seconds"] * 1e3),
            row["is_error"],
        )
        for row in test.requests.to_pylist()
    )
    assert fast == slow
