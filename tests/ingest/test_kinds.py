"""Recognition of the kind of a file, and what loads for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from plexlens.ingest.recognition import begins_as_record


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp037", "cp1047", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", ["<?xml version='1.0'?>", "1\n\n\n\n", "\f\t\r\n  "])
def test_no_text_begins_as_a_record(encoding: str, text: str) -> None:
    codec = "cp037" if encoding == "cp1047" else encoding
    assert not begins_as_record(text.encode(codec))


def test_records_begin_with_a_descriptor_word() -> None:
    assert begins_as_record(bytes.fromhex("00dc0000"))
    assert begins_as_record(bytes.fromhex("7ff80100")), "the first segment of a spanned record"
    assert not begins_as_record(bytes.fromhex("00dc00")), "too short for a word"
    assert not begins_as_record(bytes.fromhex("00dc0400")), "no segment has this code"


def test_readers_of_printed_reports_load_only_for_files_that_may_be_text(tmp_path: Path) -> None:
    """Loading the readers takes longer than reading a small dump, so a dump must not load them."""
    dump = tmp_path / "dump.smf"
    # A dump header record (type 2) of 18 bytes: the descriptor word, flags, type, time, date, system.
    dump.write_bytes(bytes.fromhex("00120000 1e02 00000000 0126328f e2e8e2c1".replace(" ", "")))
    report = tmp_path / "report.txt"
    report.write_text("no report\n" * 10)
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from plexlens.errors import PlexlensError\n"
        "from plexlens.ingest.kinds import recognise\n"
        "try:\n"
        "    print(recognise(Path(sys.argv[1])).name)\n"
        "except PlexlensError as error:\n"
        "    print(type(error).__name__)\n"
        "print('plexlens.ingest.printed.text.reading' in sys.modules)\n"
    )

    def said(path: Path) -> list[str]:
        run = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True)
        return run.stdout.split()

    assert said(dump) == ["smf", "False"]
    assert said(report) == ["UnknownSourceError", "True"]
