"""A slow, obvious decode of SMF 100 (Db2 statistics), independent of the product.

It reads no layout file and imports nothing of plexlens. Places are typed as a published REXX program steps through the
records: to the next field, so many bytes on. Only fields that the program reads are here; places that are inferred are
not, since nothing could contradict them.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.oracle.slow_forms import UTC, Row, text, utc_clock, whole
from tests.oracle.slow_mq import Record, by_table

#: A field: bytes from the start of the field before to this one, length, name; a name in capitals is text.
Step = tuple[int, int, str]

QWSA: list[Step] = [(0, 4, "QWSAPROC"), (4, 8, "qwsaejst"), (8, 8, "qwsasrbt"), (16, 8, "qwsapsrb"),
                    (8, 8, "qwsapsrb_ziip")]  # fmt: skip
Q3ST: list[Step] = [(4, 4, "q3stsign"), (4, 4, "q3stcthd"), (4, 4, "q3stterm"), (8, 4, "q3stprep"), (4, 4, "q3stcomm"),
                    (4, 4, "q3stabrt"), (28, 4, "q3stcthw"), (8, 4, "q3sthwib"), (4, 4, "q3sthwif"),
                    (4, 4, "q3sthwct")]  # fmt: skip
QWSD: list[Step] = [(0, 4, "qwsdckpt")]
QVLS: list[Step] = [(52, 4, "qvlslc14"), (20, 4, "qvlslc19"), (20, 4, "qvlslc24"), (28, 4, "qvlslc31"),
                    (4, 4, "qvlslc32")]  # fmt: skip
QJST: list[Step] = [(4, 4, "QJSTEID"), (4, 4, "qjstwrw"), (4, 4, "qjstwrnw"), (4, 4, "qjstwrf"), (4, 4, "qjstwtb"),
                    (4, 4, "qjstrbuf"), (4, 4, "qjstract"), (4, 4, "qjstrarh"), (4, 4, "qjsttvc"),
                    (4, 4, "qjstbsds"), (4, 4, "qjstbffl"), (8, 4, "qjstalr"), (8, 4, "qjstciof"), (4, 4, "qjstllcp"),
                    ]  # fmt: skip
QTXA: list[Step] = [(0, 4, "qtxadea"), (4, 4, "qtxasloc"), (4, 4, "qtxatim"), (4, 4, "qtxales"), (4, 4, "qtxalex"),
                    (4, 4, "qtxanpl"), (24, 4, "qtxaslat"), (4, 4, "qtxasoth"), (4, 4, "qtxalock"),
                    (4, 4, "qtxaunlk"), (4, 4, "qtxaqry"), (4, 4, "qtxachg"), (8, 4, "qtxairlm"), (4, 4, "qtxaclno"),
                    (8, 4, "qtxadrno")]  # fmt: skip
QTGS: list[Step] = [(12, 4, "qtgslslm"), (4, 4, "qtgscslm"), (4, 4, "qtgsuslm"), (4, 4, "qtgsiglo"),
                    (4, 4, "qtgssglo"), (4, 4, "qtgsflse"), (16, 4, "qtgskids")]  # fmt: skip
QXST: list[Step] = [(4, 4, "QXEYE"), (4, 8, "qxselect"), (8, 8, "qxinsrt"), (8, 8, "qxupdte"), (8, 8, "qxdelet"),
                    (160, 8, "qxfetch"), (112, 8, "qxnsmiap"), (8, 8, "qxmrmiap"), (248, 8, "qxstfnd"),
                    (8, 8, "qxstnfnd"), (8, 8, "qxstiprp"), (8, 8, "qxstnprp"), (8, 8, "qxstdexp"),
                    (496, 8, "qxwfrids"), (8, 8, "qxwfridt"), (8, 8, "qxhjincs"), (8, 8, "qxhjinct"),
                    (136, 8, "qxsistor"), (32, 8, "qxrwsinsrtdalg1"), (8, 8, "qxrwsinsrtdalg2")]  # fmt: skip
QBST: list[Step] = [(0, 4, "qbstpid"), (8, 8, "qbstget"), (8, 8, "qbstrio"), (40, 8, "qbstpws"), (8, 8, "qbstwio"),
                    (16, 8, "qbstrpi"), (8, 8, "qbstwpi"), (8, 8, "qbstdso"), (8, 8, "qbstimw"), (16, 8, "qbstspp"),
                    (56, 8, "qbstpio"), (8, 8, "qbstwkpd"), (8, 8, "qbstmax"), (32, 8, "qbstwfr"), (8, 8, "qbstwft"),
                    (8, 8, "qbstwfd"), (8, 8, "qbstwff"), (32, 8, "qbstpco"), (8, 8, "qbstcio"), (8, 8, "qbstvpl"),
                    (8, 8, "qbstdpp"), (8, 8, "qbstlpp"), (8, 8, "qbstdio"), (8, 8, "qbstlio"), (8, 8, "qbstsgt"),
                    (8, 8, "qbstsio"), (24, 8, "qbstjis"), (88, 8, "qbstsmin"), (8, 8, "qbstsmax"),
                    (8, 8, "qbsthst"), (8, 8, "qbstrhs")]  # fmt: skip
QBGL: list[Step] = [(0, 4, "qbglgn"), (8, 8, "qbglgg"), (8, 8, "qbglxd"), (8, 8, "qbglxr"), (24, 8, "qbglsw"),
                    (56, 8, "qbglaw"), (8, 8, "qbglrc"), (32, 8, "qbglwf"), (104, 8, "qbgl2f"),
                    (136, 8, "qbglwa")]  # fmt: skip
QBSP: list[Step] = [(0, 4, "qbsppid"), (8, 8, "qbspius"), (16, 8, "qbspsus"), (16, 8, "qbspdrr"), (8, 8, "qbspdrs"),
                    (8, 8, "qbspdra"), (8, 8, "qbspgrr"), (8, 8, "qbspgrs"), (8, 8, "qbspgra"),
                    (8, 8, "qbspmvi")]  # fmt: skip
SPACE: list[Step] = [(0, 4, "QW0225AN"), (4, 4, "qw0225rg"), (12, 4, "qw0225el"), (4, 4, "qw0225eh"),
                     (12, 4, "qw0225cr"), (4, 4, "qw0225mv"), (4, 4, "qw0225so"), (4, 4, "qw0225gs"),
                     (8, 4, "qw0225vr"), (4, 4, "qw0225fx"), (4, 4, "qw0225gm"), (4, 4, "qw0225av"),
                     (40, 8, "qw0225rl"), (8, 8, "qw0225ax")]  # fmt: skip
THREADS: list[Step] = [(0, 4, "qw0225at"), (4, 4, "qw0225db")]
COMMON: list[Step] = [(136, 8, "qw0225shrinreal"), (32, 8, "qw0225shrstg_real"), (8, 8, "qw0225shrstg_aux"),
                      (8, 8, "qw0225shrstkstg_real"), (8, 8, "qw0225shrstkstg_aux"), (8, 8, "qw0225comstg_real"),
                      (8, 8, "qw0225comstg_aux"), (40, 4, "qw0225_realavail"), (40, 4, "qw0225_lmwrite_real"),
                      (4, 4, "qw0225_lmwrite_aux"), (4, 4, "qw0225_lmctrl_real"),
                      (4, 4, "qw0225_lmctrl_aux")]  # fmt: skip

#: TOD units in a second: QWSA's times are in them.
_TIMES = {"qwsaejst", "qwsasrbt", "qwsapsrb", "qwsapsrb_ziip"}


@dataclass(frozen=True)
class Part:
    """A triplet of a record, the first being number 0 at offset 28, and what it points at."""

    triplet: int
    table: str
    steps: list[Step]


#: IFCID to its sections.
PARTS = {
    1: [
        Part(1, "smf100_ifcid1_qwsa", QWSA),
        Part(4, "smf100_ifcid1_q3st", Q3ST),
        Part(6, "smf100_ifcid1_qwsd", QWSD),
        Part(7, "smf100_ifcid1_qvls", QVLS),
        Part(11, "smf100_ifcid1_qjst", QJST),
    ],
    2: [
        Part(1, "smf100_ifcid2_qxst", QXST),
        Part(3, "smf100_ifcid2_qbst", QBST),
        Part(5, "smf100_ifcid2_qtxa", QTXA),
        Part(7, "smf100_ifcid2_qbgl", QBGL),
        Part(8, "smf100_ifcid2_qtgs", QTGS),
        Part(12, "smf100_ifcid2_qbsp", QBSP),
    ],
    225: [
        Part(1, "smf100_ifcid225_space", SPACE),
        Part(2, "smf100_ifcid225_threads", THREADS),
        Part(3, "smf100_ifcid225_common", COMMON),
    ],
}


def walk(steps: list[Step], section: bytes) -> Row:
    """Values of a section; a field that does not end inside it is None."""
    row: Row = {}
    at = 0
    for on, length, name in steps:
        at += on
        raw = section[at : at + length]
        if len(raw) < length:
            row[name.lower()] = None
        elif name.isupper():
            row[name.lower()] = text(raw)
        else:
            row[name] = whole(raw) / 4_096_000_000 if name in _TIMES else whole(raw)
    return row


def entries(record: Record, triplet: int) -> Iterator[bytes]:
    """The entries of a triplet; those of length zero each follow their own length."""
    offset, length, count = record.triplets().get(triplet, (0, 0, 0))
    for _ in range(count):
        if length:
            yield record.data[offset : offset + length]
            offset += length
        else:
            own = whole(record.data[offset : offset + 2])
            yield record.data[offset + 2 : offset + 2 + own]
            offset += 2 + own


def sections(record: Record) -> Iterator[tuple[str, Row]]:
    """Every section of a record, as table name and row."""
    if record.data[5] != 100:
        return
    product = next(entries(record, 0))
    built = utc_clock(whole(product[16:24]))
    common: Row = {
        "system": text(record.data[14:18]),
        "subsystem": text(product[12:16]),
        "sysplex": None,
        "interval_start": None,
        "interval_end": built,
        "utc_offset": None,
        "record_no": record.number,
    }
    if isinstance(built, datetime.datetime):
        quarters = round((record.local_time().replace(tzinfo=UTC) - built).total_seconds() / 900)
        common["utc_offset"] = 900.0 * quarters
    header: Row = {"qwhsrn": product[7], "qwhsiseq": whole(product[24:28]), "qwhsiid": whole(product[4:6])}
    yield "smf100_qwhs", common | {"section_no": 1} | header
    for part in PARTS.get(whole(product[4:6]), []):
        for number, entry in enumerate(entries(record, part.triplet), start=1):
            yield part.table, common | {"section_no": number} | walk(part.steps, entry)


def tables(path: Path) -> dict[str, list[Row]]:
    """All rows of a file by table, in file order."""
    return by_table(path, sections)
