"""How a trace is collected: volume by hand, and nothing that the commands cannot do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from plexlens.errors import NothingUsableError, UsageError
from plexlens.pools.howto import Rate, howto, rate_of
from plexlens.pools.settings import Configuration, PoolSettings
from plexlens.pools.simulation import simulate, write_smf
from plexlens.pools.trace import open_trace


def test_volume_by_hand() -> None:
    # 1,000 getpages twice and 500 updates are 2,500 references of 24 bytes, 66,000 bytes a second with a tenth more.
    rate = Rate(getpages=1000.0, updates=500.0, most_getpages=3000.0, intervals=4)
    assert rate.bytes_in(1.0) == pytest.approx(60 * 66_000)
    assert rate.bytes_in(10.0, most=True) == pytest.approx(3 * 600 * 66_000)


def test_rate_is_that_of_the_statistics(tmp_path: Path) -> None:
    # A getpage each 100 microseconds for 300 seconds: 10,000 a second.
    path = tmp_path / "t.csv"
    rows = ["time,pool,object,page", *(f"{at * 10_000},BP1,A.B,{at % 7}" for at in range(30_001))]
    path.write_text("\n".join(rows))
    dump = tmp_path / "s.smf"
    write_smf(simulate(open_trace([path]), Configuration({"BP1": PoolSettings.of("BP1", 1000)})), dump)
    found = rate_of([dump], "DBS1")
    assert found.getpages == pytest.approx(100.0, rel=0.01)
    assert "100 getpages" in howto("DBS1", 5, found)
    with pytest.raises(NothingUsableError, match="give one of DBS1"):
        rate_of([dump], "DB9Z")


def test_text_has_every_part_and_no_remedy_that_start_trace_does_not_have() -> None:
    text = howto("DB1A", 12)
    for part in (
        "SMFPRMxx",
        "IFASMFDP",
        "IFASMFDL",
        "S GTF.GTF",
        "USR=(FB9)",
        "DSN1SDMP",
        "site rdw",
        "STOP TRACE(PERFM)",
    ):
        assert part in text, part
    assert "-DB1A START TRACE(PERFM) CLASS(30) IFCID(6,7,10,105,107,198) DEST(SMF)" in text
    assert "after 12 minutes" in text
    # BUFSIZE belongs to OPn destinations: no command that writes to SMF or GTF has it.
    for line in text.splitlines():
        assert not re.search(r"START TRACE.*DEST\((SMF|GTF)\).*BUFSIZE|BUFSIZE\(.*DEST\((SMF|GTF)\)", line)
    # Statements fit the 72 columns that the reader of JCL and of TSO takes.
    jobs = [line[2:] for line in text.splitlines() if line.startswith("  //") or line.startswith("   ")]
    assert max(map(len, jobs)) <= 72


@pytest.mark.parametrize(("name", "minutes"), [("TOOLONG", 5), ("1DB", 5), ("DB1A", 0), ("DB1A", 2000)])
def test_names_and_lengths_that_cannot_be(name: str, minutes: float) -> None:
    with pytest.raises(UsageError):
        howto(name, minutes)
