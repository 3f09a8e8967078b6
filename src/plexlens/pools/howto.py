"""Collection of a page-reference trace of a Db2: commands, jobs and volume, from the start of the trace to the check.

The commands are those of Db2 12 and 13 for z/OS (*Command Reference*: -START TRACE, -STOP TRACE, -DISPLAY TRACE;
*Recording GTF trace data*; *DSN1SDMP*) and of z/OS (*MVS System Management Facilities*: SMFPRMxx, IFASMFDP, IFASMFDL).
BUFSIZE of -START TRACE applies to the destinations OPn only; with SMF and GTF their own buffers decide what is lost.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from plexlens.errors import NothingUsableError, UsageError
from plexlens.metrics import GRAINS
from plexlens.metrics.display import storage_size
from plexlens.metrics.evaluate import rolled_up
from plexlens.metrics.inputs import Inputs
from plexlens.pools.site import connection_of

#: Bytes of a reference in IFCID 198 (the shipped layout, Db2 12).
REFERENCE_BYTES = 24

#: References of a getpage: IFCID 198 records the getpage, and the release of the page.
REFERENCES = 2

#: Headers of the records, as a share of the references in them (chosen: an assumption, not a measurement).
HEADERS = 0.1

#: Getpages per second where none are known: only for the sentence that says how volume grows.
_EXAMPLE = 10_000.0


@dataclass(frozen=True)
class Rate:
    """Page references of a Db2.

    Attributes
    ----------
    getpages, updates
        Per second: the mean over the intervals, all pools together.
    most_getpages
        Per second, in the interval with most.
    intervals
        Intervals of SMF 100 that were looked at.
    """

    getpages: float
    updates: float
    most_getpages: float
    intervals: int

    def bytes_in(self, minutes: float, *, most: bool = False) -> float:
        """Bytes of IFCID 198 in a number of minutes at the mean rate, or at that of the busiest interval."""
        factor = self.most_getpages / self.getpages if most and self.getpages > 0 else 1.0
        references = factor * (REFERENCES * self.getpages + self.updates)
        return references * REFERENCE_BYTES * (1 + HEADERS) * 60 * minutes


def rate_of(sources: Sequence[Path], subsystem: str) -> Rate:
    """References per second of a Db2 by its SMF 100.

    Parameters
    ----------
    sources
        SMF dumps or a performance database.
    subsystem
        Name of the Db2.

    Raises
    ------
    NothingUsableError
        They hold no statistics of the buffer pools of this Db2.
    UnreadableInputError
        One cannot be read.
    """
    connection = connection_of(sources)
    return rate_in(None if connection is None else Inputs(connection), subsystem, file=str(sources[0]))


def rate_in(inputs: Inputs | None, subsystem: str, *, file: str = "") -> Rate:
    """References per second of a Db2 by the SMF 100 of a database.

    Parameters
    ----------
    inputs
        The database; None for trace files, which hold no statistics.
    subsystem
        Name of the Db2.
    file
        Where the statistics come from, for messages.

    Raises
    ------
    NothingUsableError
        No statistics of the buffer pools of this Db2.
    """
    rows = [] if inputs is None else rolled_up(inputs, GRAINS["db2_pool"], by=("subsystem",), time="interval")
    own = [row for row in rows if row["subsystem"] == subsystem and row["getpages_per_second"] is not None]
    if not own:
        seen = sorted({str(row["subsystem"]) for row in rows})
        raise NothingUsableError(
            file=file,
            what=f"no SMF 100 statistics of the buffer pools of {subsystem} are in it",
            remedy=f"give one of {', '.join(seen)}" if seen else "give SMF 100 of this Db2, or leave the file out",
        )
    getpages = [float(row["getpages_per_second"]) for row in own]
    updates = [float(row["buffer_updates"] or 0.0) / float(row["interval_seconds"]) for row in own]
    return Rate(sum(getpages) / len(own), sum(updates) / len(own), max(getpages), len(own))


def howto(subsystem: str, minutes: float, rate: Rate | None = None) -> str:
    """The whole collection as text.

    Parameters
    ----------
    subsystem
        Name of the Db2.
    minutes
        Length of the trace.
    rate
        References per second, where they are known.

    Raises
    ------
    UsageError
        A name that no Db2 has, or an impossible length.
    """
    if re.fullmatch(r"[A-Z@#$][A-Z0-9@#$]{0,3}", subsystem) is None:
        raise UsageError(
            file="",
            what=f"{subsystem!r} is not the name of a Db2 subsystem",
            remedy="give 1 to 4 of the characters A-Z 0-9 @ # $, the first not a digit, with --subsystem",
        )
    if not 0 < minutes <= 1440:
        raise UsageError(
            file="", what=f"a trace of {minutes:g} minutes is not possible", remedy="give more than 0 and up to 1440"
        )
    tracks = None if rate is None else rate.bytes_in(minutes, most=True)
    space = max(int((tracks or 2 << 30) / 849_960) + 1, 100)
    return _TEXT.format(ssid=subsystem, minutes=f"{minutes:g}", volume=_volume(rate, minutes), cylinders=space)


def _volume(rate: Rate | None, minutes: float) -> str:
    how = (
        f"Each getpage writes a reference when Db2 gets the page and one when it releases it, each update one more,\n"
        f"of {REFERENCE_BYTES} bytes; {HEADERS:.0%} is added for headers, which is an assumption."
    )
    if rate is None:
        example = Rate(_EXAMPLE, 0.0, _EXAMPLE, 0)
        return (
            f"{how}\n{_EXAMPLE:,.0f} getpages per second are {storage_size(int(example.bytes_in(1 / 60)))} per second, "
            f"{storage_size(int(example.bytes_in(minutes)))} in {minutes:g} minutes.\n"
            "For the volume of this Db2, give SMF 100 of the same hour of another day (dump or performance database)."
        )
    return (
        f"{how}\nBy {rate.intervals:,} interval{'s' * (rate.intervals != 1)} of SMF 100: {rate.getpages:,.0f} getpages "
        f"and {rate.updates:,.0f} updates "
        f"per second are {storage_size(int(rate.bytes_in(1 / 60)))} per second,\n"
        f"{storage_size(int(rate.bytes_in(minutes)))} in {minutes:g} minutes; at the rate of the busiest interval "
        f"({rate.most_getpages:,.0f} getpages per second) {storage_size(int(rate.bytes_in(minutes, most=True)))}."
    )


_TEXT = """\
Page-reference trace of {ssid}, {minutes} minutes

1. Volume
---------
{volume}
Two to three million getpages are enough for the busiest objects; a busy period is worth more than a long quiet one.

2. Before: SMF takes type 102 (SMFPRMxx)
----------------------------------------
In the SYS or SUBSYS parameter in use, type 102 must not be left out:

  SYS(TYPE(30,70:79,100:102))

Check it, and switch it on until the next IPL, with these operator commands:

  D SMF,O
  SET SMF=xx

With log streams, give type 102 one of its own, so that the trace does not push out other records:

  LSNAME(IFASMF.{ssid}TRC,TYPE(102))
  RECORDING(LOGSTREAM)

SMF's buffers decide what is lost: BUFSIZMAX in SMFPRMxx. BUFSIZE of -START TRACE applies to the destinations OPn only.

3. Start and stop the trace
---------------------------
Start at the beginning of the busy period:

  -{ssid} START TRACE(PERFM) CLASS(30) IFCID(6,7,10,105,107,198) DEST(SMF)

IFCID 198 has the references, 105 and 107 the names, 6, 7 and 10 the I/Os. The answer DSNW130I names the trace number.

  -{ssid} DISPLAY TRACE(PERFM)

Stop it after {minutes} minutes by its trace number (here 05), so that no other trace ends:

  -{ssid} STOP TRACE(PERFM) TNO(05)

As a job, with DSN in place of your data sets:

  //{ssid}TRC  JOB (ACCT),'IFCID 198',CLASS=A,MSGCLASS=X
  //START    EXEC PGM=IKJEFT01,DYNAMNBR=20
  //STEPLIB  DD DISP=SHR,DSN=hlq.SDSNEXIT
  //         DD DISP=SHR,DSN=hlq.SDSNLOAD
  //SYSTSPRT DD SYSOUT=*
  //SYSTSIN  DD *
   DSN SYSTEM({ssid})
   -START TRACE(PERFM) CLASS(30) IFCID(6,7,10,105,107,198) DEST(SMF)
   -DISPLAY TRACE(PERFM)
   END
  /*

4. Write the records to a data set
----------------------------------
From SMF data sets (switch them first: I SMF):

  //DUMP     EXEC PGM=IFASMFDP
  //SYSPRINT DD SYSOUT=*
  //DUMPIN   DD DISP=SHR,DSN=SYS1.MANx
  //DUMPOUT  DD DSN=hlq.{ssid}.TRACE,DISP=(NEW,CATLG,DELETE),
  //            UNIT=SYSDA,SPACE=(CYL,({cylinders},{cylinders}),RLSE),
  //            DCB=(RECFM=VBS,LRECL=32760,BLKSIZE=0)
  //SYSIN    DD *
    INDD(DUMPIN,OPTIONS(DUMP))
    OUTDD(DUMPOUT,TYPE(100,102))
  /*

From log streams:

  //DUMP     EXEC PGM=IFASMFDL
  //SYSPRINT DD SYSOUT=*
  //DUMPOUT  DD DSN=hlq.{ssid}.TRACE,DISP=(NEW,CATLG,DELETE),
  //            UNIT=SYSDA,SPACE=(CYL,({cylinders},{cylinders}),RLSE),
  //            DCB=(RECFM=VBS,LRECL=32760,BLKSIZE=0)
  //SYSIN    DD *
    LSNAME(IFASMF.{ssid}TRC,OPTIONS(DUMP))
    OUTDD(DUMPOUT,TYPE(100,102))
    DATE(yyyyddd,yyyyddd) START(hhmm) END(hhmm)
  /*

TYPE(100) brings the sizes of the pools and their counters, against which the simulation is checked.

5. Other destinations
---------------------
GTF, which has its own buffers and data set, does not burden SMF. Start GTF before the trace, and stop it after:

  S GTF.GTF,,,(MODE=EXT,TIME=YES)
  AHL100A SPECIFY TRACE OPTIONS:     R nn,TRACE=USRP
  AHL101A SPECIFY TRACE EVENT KEYWORDS:  R nn,USR=(FB9)
  AHL102A CONTINUE OR REPLY U:       R nn,U
  -{ssid} START TRACE(PERFM) CLASS(30) IFCID(6,7,10,105,107,198) DEST(GTF)
  P GTF

Plexlens reads SMF records, not GTF data sets: convert these first.

DSN1SDMP starts a trace, and stops it after a number of records: use it where no operator can stop the trace. With
DEST(OPX) it writes the records to SDMPTRAC, and BUFSIZE of its START TRACE applies:

  //SDMP     EXEC PGM=IKJEFT01,DYNAMNBR=20
  //STEPLIB  DD DISP=SHR,DSN=hlq.SDSNLOAD
  //SYSTSPRT DD SYSOUT=*
  //SYSPRINT DD SYSOUT=*
  //SDMPPRNT DD SYSOUT=*
  //SDMPTRAC DD DSN=hlq.{ssid}.SDMPTRAC,DISP=(NEW,CATLG,CATLG),
  //            UNIT=SYSDA,SPACE=(CYL,({cylinders},{cylinders})),
  //            DCB=(DSORG=PS,RECFM=VB,LRECL=32756,BLKSIZE=32760)
  //SYSTSIN  DD *
   DSN SYSTEM({ssid})
   RUN PROGRAM(DSN1SDMP) PLAN(DSNEDCL)
   END
  //SDMPIN   DD *
   START TRACE=P CLASS(30) IFCID(198) DEST(OPX) BUFSIZE(16384)
   AFTER(10000)
   FOR(1)
   ACTION(STOPTRACE)
  /*

Its records have no SMF header either. SMF is the destination that Plexlens reads as it is.

6. Transfer
-----------
Binary, with the record descriptor words: without them no record can be found.

  quote site rdw
  binary
  get 'hlq.{ssid}.TRACE' {ssid}.smf

A data set packed by AMATERSE on z/OS is smaller on the way; unpack it on z/OS, or on the other side, first.

7. Names, sizes and pools from the catalog
-----------------------------------------
Run this by SPUFI, DSNTEP2 or a tool that writes CSV with a header, and give the file with --names:

  SELECT S.DBID, S.PSID, S.DBNAME, S.NAME, 'T' AS KIND,
         '' AS STATEMENT_NAME, P.PARTITION, S.BPOOL, P.SPACEF
    FROM SYSIBM.SYSTABLESPACE S JOIN SYSIBM.SYSTABLEPART P
      ON P.DBNAME = S.DBNAME AND P.TSNAME = S.NAME
  UNION ALL
  SELECT X.DBID, X.ISOBID, X.DBNAME, X.INDEXSPACE, 'I',
         STRIP(X.CREATOR) CONCAT '.' CONCAT X.NAME,
         P.PARTITION, X.BPOOL, P.SPACEF
    FROM SYSIBM.SYSINDEXES X JOIN SYSIBM.SYSINDEXPART P
      ON P.IXCREATOR = X.CREATOR AND P.IXNAME = X.NAME

8. Check
--------
  plexlens records {ssid}.smf
  plexlens pools {ssid}.smf --names catalog.csv

The first shows the records by type: type 102 with IFCID 198 must be there, and type 100. The second says how many
records were lost: from 2 % on the misses are off by about as much, at 20 % the trace is refused. If records were lost,
trace for a shorter time, give SMF larger buffers (BUFSIZMAX) or a log stream of its own, or use GTF.
"""
