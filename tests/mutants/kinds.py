"""The inputs that are mutated besides dumps: good ones of each kind, and how each is read."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from plexlens import _core
from plexlens.compare import load_study, studies_path
from plexlens.compare.audit.audit import audit
from plexlens.errors import PlexlensError
from plexlens.ingest import load_test, page_trace
from plexlens.layouts_path import layout_folders
from plexlens.metrics.catalogue import Catalogue
from plexlens.simulate.scenario import parse_scenario
from plexlens.watch.dds import answer
from tests.compare.test_own_study import README, indented
from tests.ingest import test_rmf_xml_fuzz, test_text_fuzz
from tests.ingest.test_page_trace import TEXT as TRACE
from tests.metrics.test_catalogue_errors import GOOD as GRAIN

ROOT = Path(__file__).parents[2]
_, RUNS, STUDY, _ = indented((studies_path() / README).read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Kind:
    """A kind of input.

    Attributes
    ----------
    name
        As the record of a run has it.
    originals
        Inputs that are read without error.
    read
        Reads a copy in a folder of its own; whether it was taken. Anything but a documented error escapes.
    """

    name: str
    originals: Sequence[bytes]
    read: Callable[[bytes, Path], bool]


def _told(error: PlexlensError) -> bool:
    """Whether an error says what is wrong and what to do; it is an answer then, and the input is refused."""
    assert error.what
    assert error.remedy
    return False


def _xml(data: bytes, folder: Path) -> bool:
    return test_rmf_xml_fuzz.outcome(data) is not None


def _text(data: bytes, folder: Path) -> bool:
    return test_text_fuzz.outcome(data) is not None


def _trace(suffix: str) -> Callable[[bytes, Path], bool]:
    def read(data: bytes, folder: Path) -> bool:
        path = folder / f"trace{suffix}"
        path.write_bytes(data)
        try:
            for batch in page_trace.read(path):
                batch.validate(full=True)
                assert [(field.name, str(field.type)) for field in batch.schema] == _core.TRACE_COLUMNS
        except PlexlensError as error:
            return _told(error)
        return True

    return read


def _catalogue(data: bytes, folder: Path) -> bool:
    (folder / "queue.toml").write_bytes(data)
    try:
        Catalogue([folder])["shop_queue"]
    except KeyError:
        return False
    except PlexlensError as error:
        return _told(error)
    return True


def _layout(data: bytes, folder: Path) -> bool:
    (folder / "smf74_4_request.csv").write_bytes(data)
    try:
        _core.Catalogue([*layout_folders(), folder])
    except _core.SmfError as error:
        assert "smf74_4_request" in str(error)
        assert error.remedy
        return False
    return True


def _scenario(data: bytes, folder: Path) -> bool:
    try:
        # As a file is read: bytes that are not UTF-8 are refused before.
        parse_scenario(data.decode("utf-8", "replace"), file="mutant.toml")
    except PlexlensError as error:
        return _told(error)
    return True


def _dds(data: bytes, folder: Path) -> bool:
    taken = 0
    for read in (answer.reports_of, answer.resources_of, answer.check_postprocessor):
        try:
            read(data)
            taken += 1
        except answer.AnswerError as error:
            assert str(error)
    return bool(taken)


def _load_test(data: bytes, folder: Path) -> bool:
    path = folder / "results"
    path.write_bytes(data)
    try:
        load_test.read(path)
    except PlexlensError as error:
        return _told(error)
    return True


def _study(mutated: str) -> Callable[[bytes, Path], bool]:
    """Reads and works out the study of studies/README.md, of which one file is a mutant."""

    def read(data: bytes, folder: Path) -> bool:
        study = folder / "study"
        study.mkdir(exist_ok=True)
        for file, text in (("runs.csv", RUNS), ("study.toml", STUDY)):
            (study / file).write_bytes(data if file == mutated else text.encode())
        try:
            audit(load_study(str(study)))
        except PlexlensError as error:
            return _told(error)
        return True

    return read


def _packed(folder: Path) -> list[bytes]:
    """A trace as Parquet, and as libCacheSim's oracleGeneral: time, object, size, next access."""
    table = pa.table({"page": pa.array(range(50), pa.uint64()), "time": pa.array(range(50), pa.int64())})
    pa.parquet.write_table(table, folder / "trace.parquet")
    return [(folder / "trace.parquet").read_bytes()]


def _answers() -> list[bytes]:
    report = b"""<?xml version="1.0" encoding="UTF-8"?><ddsml><server><name>RMF-DDS-Server</name></server><report>
<metric id="CPC"><description>CPC</description></metric><resource><reslabel>,SYS1,MVS_IMAGE</reslabel></resource>
<time-data><local-start>20240301091500</local-start><local-end>20240301091640</local-end>
<utc-start>20240301081500</utc-start><utc-end>20240301081640</utc-end><display-start locale="en_us">03/01/2024-09.15.00
</display-start></time-data><row refno="1"><col>A</col><col>1.5</col></row></report></ddsml>"""
    contained = b"""<ddsml><contained-resources-list><contained><resource><reslabel>,SYS1,MVS_IMAGE</reslabel><restype>
MVS_IMAGE</restype></resource></contained></contained-resources-list></ddsml>"""
    return [report, contained, test_rmf_xml_fuzz.DOCUMENT]


def _load_tests() -> list[bytes]:
    """Results of every tool; logs of HdrHistogram where the package that decodes them is installed."""
    files = sorted((ROOT / "tests/load/files").iterdir())
    return [path.read_bytes() for path in files if path.suffix != ".hlog" or find_spec("hdrh")]


def kinds(folder: Path) -> list[Kind]:
    """Every kind; `folder` takes what has to be written to be made."""
    oracle = b"".join(struct.pack("<IQIq", time, time % 7, 4096, -1) for time in range(60))
    return [
        Kind("RMF XML", [test_rmf_xml_fuzz.DOCUMENT], _xml),
        Kind("text reports", [text.encode() for text in test_text_fuzz.DOCUMENTS], _text),
        Kind("trace CSV", [TRACE.encode()], _trace(".csv")),
        Kind("trace Parquet", _packed(folder), _trace(".parquet")),
        Kind("trace oracleGeneral", [oracle], _trace(".oracleGeneral.bin")),
        Kind("catalogue", [GRAIN.encode()], _catalogue),
        Kind("layout", [(ROOT / "layouts" / "smf74_4_request.csv").read_bytes()], _layout),
        Kind("scenario", [(ROOT / "tests/simulate/two-members.toml").read_bytes()], _scenario),
        Kind("DDS body", _answers(), _dds),
        Kind("load test", _load_tests(), _load_test),
        Kind("study", [STUDY.encode()], _study("study.toml")),
        Kind("table of a study", [RUNS.encode()], _study("runs.csv")),
    ]
