"""A slow, obvious decode of SMF 101 and 102, independent of the product, and the writing of such records by hand.

It reads no layout file and imports nothing of plexlens, so that the two can disagree. Offsets are typed from the lists
of fields that `layouts/README.md` names as sources; most of those after byte 176 of QWAC are inferred, there as here.
"""

from __future__ import annotations

import datetime
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.oracle.slow_forms import (
    SECONDS_1900_TO_1970,
    TOD_UNITS_IN_A_SECOND,
    UTC,
    Field,
    Row,
    Value,
    decode,
    structure,
    text,
    whole,
)
from tests.oracle.slow_mq import Record, by_table, chained

QWHS = structure("""
0 u2 qwhslen
2 u1 qwhstyp qwhsrmid
4 u2 qwhsiid
6 u1 qwhsnsda qwhsrn
8 u4 qwhsace
12 text4 qwhsssid
16 utc qwhsstck
24 u4 qwhsiseq qwhswseq qwhsmtn
36 text16 qwhslocn
52 text8 qwhsnid qwhslunm
68 hex6 qwhsluuv
74 u2 qwhslucc
""")
QWHC = structure("""
0 u2 qwhclen
2 u1 qwhctyp
4 text8 qwhcaid
12 text12 qwhccv
24 text8 qwhccn qwhcplan qwhcopid
48 u4 qwhcatyp
52 hex22 qwhctokn
76 text16 qwhceuid
92 text32 qwhceutx
124 text18 qwhceuwn
""")
QWHU = structure("""
0 u2 qwhulen
2 u1 qwhutyp
4 tod qwhucpu
12 u2 qwhucnt
""")
QWHD = structure("""
0 u2 qwhdlen
2 u1 qwhdtyp
4 text16 qwhdrqnm
20 utc qwhdtstp
28 text16 qwhdsvnm
44 text8 qwhdprid
""")
QWHA = structure("""
0 u2 qwhalen
2 u1 qwhatyp
4 text8 qwhamemn qwhadsgn
""")
QWAC = structure("""
0 utc qwacbsc qwacesc
16 tod qwacbjst qwacejst qwacbsrb qwacesrb
48 u4 qwacrinv
52 hex16 qwacnid
68 u4 qwaccomm qwacabrt
76 tod qwacasc qwacajst qwacasrb qwacawti qwacawtl
116 u4 qwacarna qwacarne
124 tod qwacawtr qwacawtw qwacawte qwacalog
156 u4 qwacarnl qwacarnr qwacarnw qwacarns qwacalct
176 tod qwacawtp qwacawtg qwacawtj
200 u4 qwacarnh qwacarng qwacarnj qwacpkgn
216 tod qwacspcp qwacsptt qwacspeb qwaccast
248 u4 qwaccanm qwacspne qwaclrn
264 u8 qwaclrab
272 tod qwacudcp qwacudtt qwacudst qwacudeb
304 u4 qwacudne
312 tod qwactrtt qwactret qwactrte qwactree qwacspea qwacudea qwacawtk qwacawtm qwacawtn qwacawto qwacawtq
400 u4 qwacarnk qwacarnm qwacarnn qwacarno qwacarnq
424 text8 qwacwlme
432 tod qwacawlg qwacalbw
448 u4 qwacarlg qwacalbc
456 tod qwaccls1_ziip qwaccls2_ziip qwactrtt_ziip qwacziip_eligible
488 tod qwacspnf_cp qwacspnf_ziip qwacudfnf_cp qwacudfnf_ziip
520 tod qwacawlh
528 u4 qwacarlh
536 tod qwacaacw
544 u4 qwacaacc
552 tod qwac_pipe_wait
560 u4 qwac_pipewait_count
""")
QWAX = structure("""
0 tod qwaxalog qwaxawdr qwaxawcl qwaxawar qwaxocse qwaxslse qwaxdsse qwaxotse qwaxawfc qwaxixlt
80 u4 qwaxalct qwaxarnd qwaxarnc qwaxanar qwaxocne qwaxslne qwaxdsne qwaxotne qwaxfcct qwaxixle
""")
QXST = structure("""
0 u2 qxid qxlen
4 text4 qxeye
8 u8 qxselect qxinsrt qxupdte qxdelet qxdesc qxprep qxopen
192 u8 qxfetch
304 u8 qxnsmiap qxmrmiap
560 u8 qxstfnd qxstnfnd qxstiprp qxstnprp qxstdexp
""")
QXST_4 = structure("""
0 u2 qxid qxlen
4 text4 qxeye
8 u4 qxselect qxinsrt qxupdte qxdelet qxdesc qxprep qxopen
100 u4 qxfetch
156 u4 qxnsmiap qxmrmiap
284 u4 qxstfnd qxstnfnd qxstiprp qxstnprp qxstdexp
""")
QBAC = structure("""
0 u4 qbacpid
8 u8 qbacget qbacrio qbacseq qbacsws qbacimw qbaclpf qbacngt qbacsio qbacdpf
""")
QBAC_4 = structure("""
0 u4 qbacpid qbacget qbacrio qbacseq qbacsws qbacimw qbaclpf qbacngt qbacsio qbacdpf
""")
QTXA = structure("""
0 u4 qtxadea qtxasloc qtxatim qtxales qtxalex qtxanpl
44 u4 qtxaslat qtxasoth qtxalock qtxaunlk qtxaqry qtxachg
72 u4 qtxairlm qtxaclno qtxaclun qtxadrno qtxadrun
""")
QLAC = structure("""
0 text16 qlaclocn
16 text8 qlacprid
24 u4 qlacsqls qlacsqlr qlacrows qlacrowr qlacbyts qlacbytr qlacmsgs qlacmsgr qlaccoms qlaccomr
""")
QMDA = structure("""
0 text3 qmdaptyp
3 text2 qmdapver qmdaprel
7 text1 qmdapmod
8 text16 qmdalocn
24 text8 qmdanetn qmdalunm qmdacnam qmdactyp
56 text12 qmdacorr
68 text8 qmdaauth qmdaplan
""")
QBGA = structure("""
0 u4 qbgagn qbgagg qbgaxd qbgaxr qbgamd qbgamr qbgasw qbgawc qbgaaw
""")
QTGA = structure("""
0 u4 qtgalplk qtgacplk qtgauplk qtgalslm qtgacslm qtgauslm qtgantfy qtgaiglo qtgasglo qtgaflse qtgadrta
""")
QPAC = structure("""
0 text16 qpaclocn
16 text18 qpaccoln qpacpkid
52 hex8 qpaccont
60 u4 qpacsqlc
64 tod qpacsct qpactjst
80 u4 qpacarna
88 tod qpacawti qpacawtl qpacawtr qpacawtw qpacawte qpacalog qpacawdr qpacawcl qpacawar qpacawtp qpacawtg qpacawtj
184 u4 qpacarne qpacarnl qpacarnr qpacarnw qpacarns qpacalct qpacarnd qpacarnc qpacanar qpacarnh qpacarng qpacarnj
232 text18 qpacaanm
256 tod qpacalbw
264 u4 qpacalbc
272 tod qpaczitm qpacawlh
288 u4 qpacarlh
""")
IFCID_6 = structure("""
0 u2 qw0006db qw0006ob
4 u4 qw0006bp qw0006pn
12 text1 qw0006f
16 u4 qw0006ac
""")
IFCID_7 = structure("""
0 u2 qw0007db qw0007ob
4 u4 qw0007mm qw0007ac qw0007np
""")
IFCID_10 = structure("""
0 u2 qw0010db qw0010ob
4 u4 qw0010bp qw0010pn qw0010np qw0010ac
""")
IFCID_105 = structure("""
0 u2 qw0105db qw0105ob
4 text8 qw0105dn qw0105tn
""")
IFCID_107 = structure("""
0 u2 qw0107db qw0107ob
4 text8 qw0107dn qw0107tn
20 text1 qw0107f
24 text44 qw0107ds
""")
IFCID_198 = structure("""
0 u2 qw0198db qw0198ob
4 u1 qw0198bp
5 text1 qw0198fc qw0198ps qw0198at
8 u4 qw0198pn qw0198ac
17 u1 qw0198p
20 u4 qw0198pt
""")
IFCID_199 = structure("""
0 u2 qw0199db qw0199ob
4 u4 qw0199bp qw0199dn
12 text1 qw0199ty
16 u4 qw0199sr
20 usec4 qw0199sa qw0199sm
28 u4 qw0199ar qw0199ap
36 usec4 qw0199aa qw0199am
44 u4 qw0199vc qw0199vd
""")


@dataclass(frozen=True)
class Part:
    """A kind of section of a record: number of its triplet, its table, its structure for entries of that length."""

    triplet: int
    table: str
    fields: Sequence[Field]
    shortest: int = 0
    longest: int = 32_767


PARTS: dict[tuple[int, int], tuple[Part, ...]] = {
    (101, 3): (
        Part(1, "smf101_ifcid3_qwac", QWAC),
        Part(2, "smf101_ifcid3_qxst", QXST, shortest=900),
        Part(2, "smf101_ifcid3_qxst", QXST_4, longest=899),
        Part(3, "smf101_ifcid3_qbac", QBAC, shortest=80),
        Part(3, "smf101_ifcid3_qbac", QBAC_4, longest=79),
        Part(4, "smf101_ifcid3_qtxa", QTXA),
        Part(5, "smf101_ifcid3_qlac", QLAC),
        Part(6, "smf101_ifcid3_qmda", QMDA),
        Part(9, "smf101_ifcid3_qbga", QBGA),
        Part(10, "smf101_ifcid3_qtga", QTGA),
        Part(12, "smf101_ifcid3_qwax", QWAX),
    ),
    (101, 239): (Part(1, "smf101_ifcid239_qpac", QPAC),),
    (102, 6): (Part(1, "smf102_ifcid6", IFCID_6),),
    (102, 7): (Part(1, "smf102_ifcid7", IFCID_7),),
    (102, 10): (Part(1, "smf102_ifcid10", IFCID_10),),
    (102, 105): (Part(1, "smf102_ifcid105", IFCID_105),),
    (102, 107): (Part(1, "smf102_ifcid107", IFCID_107),),
    (102, 198): (Part(1, "smf102_ifcid198", IFCID_198),),
    (102, 199): (Part(1, "smf102_ifcid199", IFCID_199),),
}

#: Headers of the product section: type, table without what begins its name, structure.
HEADERS = ((2, "qwhc", QWHC), (8, "qwhu", QWHU), (16, "qwhd", QWHD), (32, "qwha", QWHA))


def header_table(record_type: int, name: str) -> str:
    """The table of a product section header; accounting has its own, so that joins stay small."""
    return f"smf101_{name}" if record_type == 101 and name != "qwha" else f"db2_{name}"


# --- reading ---------------------------------------------------------------------------------------------------------


def entries(data: bytes, offset: int, length: int, count: int) -> Iterator[bytes]:
    """The entries of a triplet; length zero means that each stands after its own length."""
    for _ in range(count):
        size = length
        if length == 0:
            size = whole(data[offset : offset + 2])
            offset += 2
        yield data[offset : offset + size]
        offset += size


def product_headers(record: Record) -> dict[int, bytes]:
    """Headers of the product section by type, QWHS (type 1) first."""
    offset, length, count = record.triplets()[0]
    (section,) = entries(record.data, offset, length, count)
    return chained(section)


def identity(record: Record, qwhs: Row) -> Row:
    """System, Db2, when the record was built, local time offset."""
    built = qwhs["qwhsstck"]
    assert isinstance(built, datetime.datetime)
    quarters = round((record.local_time() - built.replace(tzinfo=None)).total_seconds() / 900)
    return {
        "system": text(record.data[14:18]),
        "sysplex": None,
        "subsystem": qwhs["qwhsssid"],
        "interval_start": None,
        "interval_end": built,
        "utc_offset": 900.0 * quarters,
        "record_no": record.number,
    }


def sections(record: Record) -> Iterator[tuple[str, Row]]:
    """Every section of a record, as table name and row."""
    record_type = record.data[5]
    if record_type not in (101, 102):
        return
    headers = product_headers(record)
    qwhs = decode(list(QWHS), headers[1])
    common = identity(record, qwhs)
    yield header_table(record_type, "qwhs"), common | {"section_no": 1} | qwhs
    for number, name, fields in HEADERS:
        if number in headers and not (record_type == 101 and name == "qwha"):
            yield header_table(record_type, name), common | {"section_no": 1} | decode(list(fields), headers[number])
    triplets = record.triplets()
    for part in PARTS.get((record_type, int(str(qwhs["qwhsiid"]))), ()):
        for number, entry in enumerate(entries(record.data, *triplets.get(part.triplet, (0, 0, 0))), 1):
            if part.shortest <= len(entry) <= part.longest:
                yield part.table, common | {"section_no": number} | decode(list(part.fields), entry)


def tables(path: Path) -> dict[str, list[Row]]:
    """All rows of a file by table, in file order."""
    return by_table(path, sections)


# --- writing ---------------------------------------------------------------------------------------------------------


def tod(moment: datetime.datetime) -> int:
    """TOD clock value of a moment."""
    microseconds = (moment - datetime.datetime(1970, 1, 1, tzinfo=UTC)) // datetime.timedelta(microseconds=1)
    return (microseconds + SECONDS_1900_TO_1970 * 1_000_000) * 4096


def raw(field: Field, value: Value) -> bytes:
    """Bytes of one value."""
    if isinstance(value, str):
        return value.encode("cp037").ljust(field.length, b"\x40")
    if isinstance(value, bytes):
        return value.ljust(field.length, b"\x00")
    if isinstance(value, datetime.datetime):
        number = tod(value)
    elif field.form == "tod":
        assert isinstance(value, int | float)
        number = round(value * TOD_UNITS_IN_A_SECOND)
    elif field.form == "usec4":
        assert isinstance(value, int | float)
        number = round(value * 1_000_000)
    else:
        assert isinstance(value, int)
        number = value
    return number.to_bytes(field.length, "big")


def section(fields: Sequence[Field], values: Mapping[str, Value], length: int | None = None) -> bytes:
    """A section with these values, zeros (blanks in text) elsewhere; cut or padded to ``length``."""
    unknown = set(values) - {field.name for field in fields}
    assert not unknown, f"no such fields: {unknown}"
    last = fields[-1]
    result = bytearray(last.offset + last.length)
    for field in fields:
        value = values.get(field.name, "" if field.form == "text" else None)
        if value is not None:
            result[field.offset : field.offset + field.length] = raw(field, value)
    size = len(result) if length is None else length
    return bytes(result[:size].ljust(size, b"\x00"))


def record(
    record_type: int,
    ifcid: int,
    built: datetime.datetime,
    parts: Mapping[int, Sequence[bytes]],
    *,
    headers: Mapping[str, Mapping[str, Value]] | None = None,
    release: int = 0xC1,
    subsystem: str = "DB2A",
    own_lengths: bool = False,
    triplets: int = 13,
    number: int = 0,
) -> bytes:
    """A record with its descriptor word.

    Parameters
    ----------
    record_type, ifcid
        101 or 102, and what it holds.
    built
        When it was built, UTC; its header says the same, so that the system's local time is UTC.
    parts
        Entries by number of the triplet, from 1.
    headers
        Fields of further headers of the product section by name: ``qwhc``, ``qwhd`` and so on.
    release
        QWHSRN.
    subsystem
        Name of the Db2.
    own_lengths
        Whether each entry stands after its own length, with a length of zero in the triplet.
    triplets
        How many triplets follow the product section's.
    number
        Sequence number; records that are otherwise alike are not duplicates.
    """
    chain: Row = {
        "qwhsiid": ifcid,
        "qwhsrn": release,
        "qwhsssid": subsystem,
        "qwhsstck": built,
        "qwhsnsda": triplets + 1,
    }
    product = section(QWHS, chain | {"qwhslen": 76, "qwhstyp": 1, "qwhswseq": number})
    for kind, name, fields in HEADERS:
        if headers and name in headers:
            length = fields[-1].offset + fields[-1].length
            product += section(fields, {f"{name}len": length, f"{name}typ": kind} | dict(headers[name]))
    at = 28 + 8 * (triplets + 1)
    places = [struct.pack(">IHH", at, len(product), 1)]
    body = product
    for triplet in range(1, triplets + 1):
        held = parts.get(triplet, ())
        if not held:
            places.append(bytes(8))
            continue
        offset = at + len(body)
        for entry in held:
            body += (len(entry).to_bytes(2, "big") if own_lengths else b"") + entry
        assert own_lengths or len({len(entry) for entry in held}) == 1
        places.append(struct.pack(">IHH", offset, 0 if own_lengths else len(held[0]), len(held)))
    midnight = built.replace(hour=0, minute=0, second=0, microsecond=0)
    hundredths = (built - midnight) // datetime.timedelta(milliseconds=10)
    years = built.year - 1900
    date = bytes.fromhex(f"{years // 100:02}{years % 100:02}{built.timetuple().tm_yday:03}f")
    subtype = 1 if ifcid == 239 else 0
    head = bytes([0x5E, record_type]) + hundredths.to_bytes(4, "big") + date + "SYS1".encode("cp037")
    head += subsystem.ljust(4).encode("cp037") + subtype.to_bytes(2, "big") + bytes(4)
    data = head + b"".join(places) + body
    return struct.pack(">HH", len(data) + 4, 0) + data
