"""Reports made for the tests in the layouts that IBM documents, and the ways in which they arrive spoiled.

The numbers are made up, chosen so that no two places hold the same one where a mistake could hide behind it.
"""

# ruff: noqa: E501  (reports are printed wider than code)

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from plexlens.ingest.printed import text as text_reports

Rows = dict[str, list[dict[str, Any]]]


def side_by_side(left: str, right: str, width: int = 68) -> str:
    """Two blocks beside each other, the right one at a column."""
    a, b = left.strip("\n").splitlines(), right.strip("\n").splitlines()
    a += [""] * (len(b) - len(a))
    b += [""] * (len(a) - len(b))
    return "\n".join(f"{one:<{width}}{two}".rstrip() for one, two in zip(a, b, strict=True))


def db2_heading(page: str, title: str = "STATISTICS REPORT - LONG", start: str = "07:00:00.00") -> str:
    return f"""\
   LOCATION: DSNLOC1                  OMEGAMON FOR DB2 PERFORMANCE EXPERT (V5R4M0)                     PAGE: {page}
      GROUP: DSNGRP                          {title}                        REQUESTED FROM: NOT SPECIFIED
     MEMBER: DB2A                                                                        TO: NOT SPECIFIED
  SUBSYSTEM: DB2A                                                             INTERVAL FROM: 03/15/23 {start}
DB2 VERSION: V12                             SCOPE: MEMBER                               TO: 03/15/23 07:15:00.00
"""


HIGHLIGHTS = """\
---- HIGHLIGHTS ----------------------------------------------------------------------------------------------------
INTERVAL START  : 03/15/23 07:00:00.00    SAMPLING START: 03/15/23 07:00:00.00    TOTAL THREADS      :  1200.00
INTERVAL END    : 03/15/23 07:15:00.00    SAMPLING END  : 03/15/23 07:15:00.00    TOTAL COMMITS      :  4800.00
INTERVAL ELAPSED:         15:00.000000    OUTAGE ELAPSED:             0.000000    DATA SHARING MEMBER:     DB2A
"""

SERVICES = """
SUBSYSTEM SERVICES           QUANTITY  /SECOND  /THREAD  /COMMIT
---------------------------  --------  -------  -------  -------
IDENTIFY                        61.00     0.07     0.05     0.01
CREATE THREAD                 1200.00     1.33     1.00     0.25
COMMIT PHASE 1                4799.00     5.33     4.00     1.00
COMMIT PHASE 2                4790.00     5.32     3.99     1.00
SYNCHS(SINGLE PHASE COMMIT)     13.00     0.01     0.01     0.00
SYSTEM EVENT CHECKPOINT          3.00     0.00     0.00     0.00
"""
LOG = """
LOG ACTIVITY                 QUANTITY  /SECOND  /THREAD  /COMMIT
---------------------------  --------  -------  -------  -------
READS SATISFIED-OUTPUT BUFF     96.00     0.11     0.08     0.02
READS SATISFIED-OUTP.BUF(%)     75.00
READS SATISFIED-ACTIVE LOG      32.00     0.04     0.03     0.01
READS SATISFIED-ACTV.LOG(%)     25.00
UNAVAILABLE OUTPUT LOG BUFF      2.00     0.00     0.00     0.00
LOG RECORDS CREATED           1927.6K  2141.78  1606.33   401.58
LOG CI CREATED               86100.00    95.67    71.75    17.94
LOG WRITE I/O REQ (LOG1&2)   55400.00    61.56    46.17    11.54
LOG CI WRITTEN (LOG1&2)       200.4K    222.67   167.00    41.75
LOG RATE FOR 1 LOG (MB)           N/A     0.37      N/A      N/A
"""
LOCKING = """
LOCKING ACTIVITY             QUANTITY  /SECOND  /THREAD  /COMMIT
---------------------------  --------  -------  -------  -------
SUSPENSIONS (ALL)              411.00     0.46     0.34     0.09
SUSPENSIONS (LOCK ONLY)        301.00     0.33     0.25     0.06
SUSPENSIONS (IRLM LATCH)       100.00     0.11     0.08     0.02
SUSPENSIONS (OTHER)             10.00     0.01     0.01     0.00
TIMEOUTS                         4.00     0.00     0.00     0.00
DEADLOCKS                        1.00     0.00     0.00     0.00
LOCK REQUESTS                 2345.6K  2606.22  1954.67   488.67
UNLOCK REQUESTS                512.3K   569.22   426.92   106.73
LOCK ESCALATION (SHARED)         0.00     0.00     0.00     0.00
DRAIN REQUESTS                  17.00     0.02     0.01     0.00
DRAIN REQUESTS FAILED            2.00     0.00     0.00     0.00
"""
SHARING = """
DATA SHARING LOCKING         QUANTITY  /SECOND  /THREAD  /COMMIT
---------------------------  --------  -------  -------  -------
GLOBAL CONTENTION RATE (%)       0.19
FALSE CONTENTION RATE (%)        0.04
LOCK REQUESTS (P-LOCKS)        107.4K   119.33    89.50    22.38
SYNCH.XES - LOCK REQUESTS     1478.8K  1643.11  1232.33   308.08
SUSPENDS - IRLM GLOBAL CONT   3236.00     3.60     2.70     0.67
SUSPENDS - XES GLOBAL CONT.    334.00     0.37     0.28     0.07
SUSPENDS - FALSE CONT. MBR     863.00     0.96     0.72     0.18
SUSPENDS - FALSE CONT. LPAR       N/A      N/A      N/A      N/A
PSET/PART P-LCK NEGOTIATION     23.00     0.03     0.02     0.00
"""
CPU = """
CPU TIMES                               TCB TIME      PREEMPT SRB   NONPREEMPT SRB      CP CPU TIME  PREEMPT IIP SRB  CP CPU /COMMIT
-------------------------------  ---------------  ---------------  ---------------  ---------------  ---------------  --------------
SYSTEM SERVICES ADDRESS SPACE          12.120789         0.037248         0.027924        12.185961         0.000000        0.002539
DATABASE SERVICES ADDRESS SPACE         1.403656      2:10.218449         1.009574      2:12.631679     1:02.500000        0.027632
IRLM                                    0.000043         0.000000         5.224940         5.224983         0.000000        0.001089
DDF ADDRESS SPACE                       0.005795         1.122965         0.007127         1.135887         0.750000        0.000237

TOTAL                                  13.530283      2:11.378662         6.269565      2:31.178510      1:03.250000        0.031496
"""
POOL_GENERAL = """
BP2   GENERAL                QUANTITY  /SECOND  /THREAD  /COMMIT
---------------------------  --------  -------  -------  -------
CURRENT ACTIVE BUFFERS         311.50      N/A      N/A      N/A
UNAVAIL.BUFFER-VPOOL FULL        0.00     0.00     0.00     0.00

NUMBER OF DATASET OPENS         44.00     0.05     0.04     0.01

BUFFERS ALLOCATED - VPOOL    80000.00      N/A      N/A      N/A

CONCUR.PREF.I/O STREAMS-HWM     21.00      N/A      N/A      N/A
PREF.QUANT.REDUCED TO 1/2        5.00     0.01     0.00     0.00
PREF.QUANT.REDUCED TO 1/4        6.00     0.01     0.01     0.00
"""
POOL_READ = """
BP2   READ OPERATIONS        QUANTITY  /SECOND  /THREAD  /COMMIT
---------------------------  --------  -------  -------  -------
BPOOL HIT RATIO (%)             88.25

GETPAGE REQUEST               9876.5K 10973.89  8230.42  2057.60
GETPAGE REQUEST-SEQUENTIAL     876.4K   973.78   730.33   182.58
GETPAGE REQUEST-RANDOM        9000.1K 10000.11  7500.08  1875.02

SYNCHRONOUS READS              160.2K   178.00   133.50    33.38
SYNCHRON. READS-SEQUENTIAL    1201.00     1.33     1.00     0.25
SYNCHRON. READS-RANDOM         159.0K   176.67   132.50    33.13

GETPAGE PER SYN.READ-RANDOM     56.60

SEQUENTIAL PREFETCH REQUEST   4100.00     4.56     3.42     0.85
SEQUENTIAL PREFETCH READS     4000.00     4.44     3.33     0.83
PAGES READ VIA SEQ.PREFETCH    128.0K   142.22   106.67    26.67
S.PRF.PAGES READ/S.PRF.READ     32.00

LIST PREFETCH REQUESTS         310.00     0.34     0.26     0.06
LIST PREFETCH READS              0.00     0.00     0.00     0.00
PAGES READ VIA LIST PREFETCH     0.00     0.00     0.00     0.00
L.PRF.PAGES READ/L.PRF.READ       N/C

DYNAMIC PREFETCH REQUESTED   29000.00    32.22    24.17     6.04
DYNAMIC PREFETCH READS       28750.00    31.94    23.96     5.99
PAGES READ VIA DYN.PREFETCH    872.3K   969.22   726.92   181.73
D.PRF.PAGES READ/D.PRF.READ     30.34
PREF.DISABLED-NO BUFFER          7.00     0.01     0.01     0.00
PREF.DISABLED-NO READ ENG        8.00     0.01     0.01     0.00

PAGE-INS REQUIRED FOR READ      90.00     0.10     0.08     0.02
"""
POOL_WRITE = """
BP2   WRITE OPERATIONS       QUANTITY  /SECOND  /THREAD  /COMMIT
---------------------------  --------  -------  -------  -------
BUFFER UPDATES                1234.5K  1371.67  1028.75   257.19
PAGES WRITTEN                  456.7K   507.44   380.58    95.15
BUFF.UPDATES/PAGES WRITTEN       2.70

SYNCHRONOUS WRITES              12.00     0.01     0.01     0.00
ASYNCHRONOUS WRITES           45.670K    50.74    38.06     9.51

PAGES WRITTEN PER WRITE I/O     10.00

HORIZ.DEF.WRITE THRESHOLD        3.00     0.00     0.00     0.00
VERTI.DEF.WRITE THRESHOLD      415.00     0.46     0.35     0.09
DM THRESHOLD                     0.00     0.00     0.00     0.00
WRITE ENGINE NOT AVAILABLE       1.00     0.00     0.00     0.00
PAGE-INS REQUIRED FOR WRITE     11.00     0.01     0.01     0.00
"""
GROUP_POOL = """
GROUP BP2                    QUANTITY  /SECOND  /THREAD  /COMMIT
---------------------------  --------  -------  -------  -------
GROUP BP R/W RATIO (%)          27.26      N/A      N/A      N/A
GBP-DEPENDENT GETPAGES         651.4K   723.78   542.83   135.71
SYN.READ(XI)-DATA RETURNED    1091.00     1.21     0.91     0.23
SYN.READ(XI)-NO DATA RETURN    133.00     0.15     0.11     0.03
SYN.READ(NF)-DATA RETURNED    1062.00     1.18     0.89     0.22
SYN.READ(NF)-NO DATA RETURN  14515.00    16.13    12.10     3.02
CHANGED PGS SYNC.WRTN         7011.00     7.79     5.84     1.46
PAGES CASTOUT                 3033.50     3.37     2.53     0.63
CASTOUT CLASS THRESHOLD         21.00     0.02     0.02     0.00
GROUP BP CASTOUT THRESHOLD       2.00     0.00     0.00     0.00
WRITE FAILED-NO STORAGE          0.00     0.00     0.00     0.00
"""


def statistics_pages(start: str = "07:00:00.00") -> list[str]:
    """A long statistics report, a page each."""
    first = db2_heading("1-1", start=start)
    return [
        f"{first}\n{HIGHLIGHTS}\n{side_by_side(SERVICES, LOG)}\n\n{side_by_side(LOCKING, SHARING)}\n",
        f"{db2_heading('1-2', start=start)}\n{CPU}\n{side_by_side(POOL_GENERAL, POOL_READ)}\n",
        f"{db2_heading('1-3', start=start)}\n{side_by_side(POOL_WRITE, GROUP_POOL)}\n\nSTATISTICS REPORT COMPLETE\n",
    ]


def statistics() -> str:
    """A long statistics report, pages strung together."""
    return "\n".join(statistics_pages())


# --- how reports arrive -------------------------------------------------------------------------------------------


def form_feeds(pages: list[str]) -> str:
    return "\f".join(pages)


def carriage_control(pages: list[str]) -> str:
    """ASA characters: a page's first line has 1, a line after a blank one 0, every other a blank."""
    lines: list[str] = []
    for page in pages:
        blank, first = False, True
        for text in page.splitlines():
            if not text.strip():
                blank = True
                continue
            lines.append(("1" if first else "0" if blank else " ") + text)
            blank, first = False, False
    return "\n".join(lines) + "\n"


def quoted(text: str, mark: str = "> ") -> str:
    """As a mail program quotes it."""
    return "Hello,\nthis is what we get:\n\n" + "\n".join(f"{mark}{line}" for line in text.splitlines()) + "\n\nBye\n"


def tabbed(text: str) -> str:
    """Every gap of two blanks and more as one tab."""
    return re.sub(r" {2,}", "\t", text)


def drawn_together(text: str) -> str:
    """Every gap of two blanks and more as exactly two: columns no longer stand under their heads."""
    return re.sub(r"(?<=\S) {3,}(?=\S)", "  ", text)


def shifted(text: str, by: int = 3) -> str:
    """Lines of values pushed to the right by some columns, headings left where they are."""
    return "\n".join(
        (" " * by + line) if re.search(r"\d\.\d\d", line) and "QUANTITY" not in line else line
        for line in text.splitlines()
    )


def wrapped(text: str, width: int) -> str:
    """Broken between words where lines are longer than a screen."""
    lines: list[str] = []
    for line in text.splitlines():
        rest = line
        while len(rest) > width:
            at = rest.rfind(" ", 0, width + 1)
            lines.append(rest[:at].rstrip())
            rest = rest[at:].strip()
        lines.append(rest)
    return "\n".join(lines)


def fixed_records(pages: list[str], length: int = 133) -> bytes:
    """A listing data set as a binary transfer brings it: EBCDIC, carriage control, no line ends."""
    return b"".join(line.ljust(length).encode("cp037") for line in carriage_control(pages).splitlines())


def read_bytes(folder: Path, data: bytes) -> tuple[Rows, text_reports.TextReportReading]:
    """Rows by table, and the reading."""
    path = folder / "report.txt"
    path.write_bytes(data)
    reading = text_reports.read(path, source_id="test")
    rows: Rows = {}
    for table, batch in reading:
        batch.validate(full=True)
        rows.setdefault(table, []).extend(batch.to_pylist())
    return rows, reading


def read_text(folder: Path, text: str) -> tuple[Rows, text_reports.TextReportReading]:
    return read_bytes(folder, text.encode())


def value(rows: Rows, name: str, head: str | None = None, **where: object) -> dict[str, Any]:
    """The one value of a name, head and whatever else is asked."""
    found = [
        row
        for row in rows["text_report_value"]
        if row["name"] == name
        and row["column_head"] == head
        and all(row[key] == wanted for key, wanted in where.items())
    ]
    assert len(found) == 1, [(row["line"], row["block"], row["object"], row["value"]) for row in found]
    return found[0]


def understood(reading: text_reports.TextReportReading) -> None:
    """Nothing of the file was left lying."""
    harmless = {"text outside reports", "interval computed"}
    lost = [str(damage) for damage in reading.damage if damage.reason not in harmless]
    assert not lost, lost
    assert reading.summary["lines"]["not understood"] == 0
