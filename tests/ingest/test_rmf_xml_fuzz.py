"""Mutated files: rows and damage, or the one documented error; never anything else, never without end."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plexlens.ingest.printed import xml as rmf_xml
from tests.draws import draws
from tests.ingest.rmf_documents import (
    ddsml,
    heads,
    monitor3,
    part,
    postprocessor,
    row,
    segment,
    table,
    variable_list,
)

_CELLS = ["T:Partition Name", "T:PROC Type", "T:Total Dispatch Time", "N:Performance Index", "S:# Req", "T:Group"]
_BODY = segment(
    "Workload W Coupling Facility CF1",
    part(None, variable_list({"Workload": "W", "Policy": "P", "CPU": "1", "Period": "2"})),
    part("Transactions", variable_list({"Ended": "7", "Average": "1.5"})),
    part("Transaction Time (HHH.MM.SS)", variable_list({"Actual": "000.00.01.000000"})),
    part("Structure Name = S1", table(_CELLS, row("A", "CP", "00.00.01.000", "1.0", "12K", "G", refno="1"))),
)
DOCUMENT = ddsml(
    *[postprocessor(metric, _BODY) for metric in ("CPU", "WLMGL", "CF", "XCF", "PAGING")],
    monitor3("CPC", row("x", "1", refno="1") + heads("T:A", "N:B")),
    after='<rmf-mfpmsg><mfpmsg id="E1">text</mfpmsg></rmf-mfpmsg>',
).encode()

_PIECES = [
    b"<row>", b"</row>", b"<col>", b"</col>", b"<col/>", b"<var>", b"</var>", b"<name>", b"</name>",
    b"<value>9</value>",
    b"<segment>", b"</segment>", b"<part>", b"</part>", b"<table>", b"</table>", b"<column-headers>",
    b"</column-headers>", b"<message>", b"</message>", b"<time-data>", b"</time-data>", b"<resource>", b"<metric/>",
    b"<metric id='CF'/>", b"</ddsml>", b"<ddsml>", b"<?xml version='1.0'?>", b"&amp;", b"&x;", b"<!--", b"-->",
    b"<![CDATA[", b"]]>", b"<!DOCTYPE a>", b"99999999999999", b"1e400", b"-", b"99.59.59.999999", b"99/99/9999",
    b"12/31/9999-23.59.59", b"01/01/0001", b"\x00", b"\xff", b"\xe2\x82", b"\n", b"=N+2", b"1,234", b"K", b"99%",
    b" type='SUM'", b"FFFFFFFFFFFFFFFFFFFF", b"\xef\xbb\xbf", b"0" * 5000, b"999999:00:000",
]  # fmt: skip


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """The document with a few pieces cut out, put in, copied elsewhere or written over."""
    data = bytearray(DOCUMENT)
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, len(data)))
        length = draw(st.integers(0, 60))
        action = draw(st.sampled_from(["cut", "put", "copy", "bytes", "end"]))
        if action == "cut":
            del data[at : at + length]
        elif action == "put":
            data[at:at] = draw(st.sampled_from(_PIECES))
        elif action == "copy":
            data[at:at] = data[(source := draw(st.integers(0, len(data)))) : source + length]
        elif action == "bytes":
            data[at : at + length] = draw(st.binary(max_size=8))
        else:
            del data[at:]
    return bytes(data)


@st.composite
def reshuffled(draw: st.DrawFn) -> bytes:
    """Well-formed files whose elements stand where no grammar has them."""
    tags = ["row", "col", "var", "name", "value", "part", "segment", "table", "column-headers", "message", "metric",
            "resource", "time-data", "display-start", "report-interval", "restype", "reslabel", "description", "ddsml",
            "server", "mfpmsg", "caption", "odd"]  # fmt: skip
    texts = ["", "1", "CPU", "00.00.01", "04/06/2022-12.30.00", "N/A", "Structure Name", "Partition Name", "SYSTEM",
             "Performance Index", "Period", "< 00.00.01.000", "System", ",A,MVS_IMAGE", "20220101000000"]  # fmt: skip
    attributes = [
        "",
        ' id="CPU"',
        ' id="WLMGL"',
        ' id="CF"',
        ' id="XCF"',
        ' id="PAGING"',
        ' type="N"',
        ' unit="minutes"',
    ]

    def element(depth: int) -> str:
        tag, attribute = draw(st.sampled_from(tags)), draw(st.sampled_from(attributes))
        children = draw(st.integers(0, 0 if depth > 5 else 3))
        inside = "".join(element(depth + 1) + draw(st.sampled_from(texts)) for _ in range(children))
        return f"<{tag}{attribute}>{inside or draw(st.sampled_from(texts))}</{tag}>"

    reports = "".join(
        f"<{gatherer}>{element(0)}{element(0)}</{gatherer}>"
        for gatherer in draw(st.lists(st.sampled_from(["report", "postprocessor"]), min_size=1, max_size=3))
    )
    return f"<ddsml>{reports}</ddsml>".replace("< 00", "&lt; 00").encode()


def outcome(data: bytes) -> int | None:
    """Values read; None when the file is refused. Anything but the documented error escapes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mutated.xml"
        path.write_bytes(data)
        rmf_xml.sniff(data[:4096], path.name)
        reading = rmf_xml.read(path, source_id="fuzz")
        rows = 0
        try:
            for _, batch in reading:
                batch.validate(full=True)
                rows += batch.num_rows
        except rmf_xml.RmfXmlError as error:
            assert error.what
            assert error.remedy
            assert str(path) in str(error)
            return None
        assert reading.summary["values"] <= rows
        for damage in reading.damage:
            assert damage.detail
            assert damage.remedy
        return rows


LIMITS = settings(max_examples=draws(75, 3000), deadline=None, suppress_health_check=list(HealthCheck))


@LIMITS
@given(mutated())
def test_mutated_files(data: bytes) -> None:
    outcome(data)


@LIMITS
@given(reshuffled())
def test_elements_in_any_order(data: bytes) -> None:
    assert outcome(data) is not None


@LIMITS
@given(st.binary(max_size=200))
def test_any_bytes_are_refused(data: bytes) -> None:
    assert outcome(data) is None


def test_the_document_itself_is_read_whole() -> None:
    assert outcome(DOCUMENT)


def test_a_cut_anywhere_keeps_every_value_complete_before_it() -> None:
    """Cut at every byte after the first report: values that ended before the cut are all there."""
    first = DOCUMENT.index(b"</postprocessor>")
    for at in range(first, len(DOCUMENT), 97):
        complete = DOCUMENT[:at].count(b"</value>")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "cut.xml"
            path.write_bytes(DOCUMENT[:at])
            kinds = [kind for name, batch in rmf_xml.read(path, source_id="x") if name == "rmf_xml_value"
                     for kind in batch.column("kind").to_pylist()]  # fmt: skip
        assert kinds.count("var") == complete
