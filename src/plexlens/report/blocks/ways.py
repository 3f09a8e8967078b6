"""Ways to collect data that several pages need."""

from __future__ import annotations

from plexlens.report.model import Way

#: Service and report classes, as RMF reports print them.
WLMGL = (
    Way(
        "RMF XML WLMGL",
        "Postprocessor control statement SYSRPTS(WLMGL(SCPER,RCPER)) with output to ddname XPXSRPTS, or the "
        "Distributed Data Server at /gpm/rmfpp.xml?reports=WLMGL(SCPER,RCPER).",
    ),
    Way(
        "RMF text WLMGL",
        "Postprocessor control statement SYSRPTS(WLMGL(SCPER,RCPER)) with output to ddname MFRxxxxx, as text.",
    ),
)

#: Coupling facilities, as text.
CF_TEXT = Way("RMF text CF", "Postprocessor control statement SYSRPTS(CF) with output to ddname MFRxxxxx, as text.")

#: Db2 statistics other than SMF 100.
DB2_PRINTED = (
    Way("Db2 statistics report", "OMEGAMON or DB2 PM, as text: STATISTICS REPORT LAYOUT(LONG)."),
    Way(
        "Db2 display command",
        "The messages of -DISPLAY BUFFERPOOL(*) DETAIL and -DISPLAY GROUPBUFFERPOOL(*) MDETAIL, as text.",
    ),
)

#: I/O of Db2 data sets, as the display command prints it.
DB2_LSTATS = Way(
    "Db2 display command",
    "The messages of -DISPLAY BUFFERPOOL(*) LSTATS(*), as text: I/O of each open data set since the last display.",
)
