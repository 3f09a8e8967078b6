"""Common parts of Db2 records: product header, data-sharing header, correlation header."""

from __future__ import annotations

from datetime import datetime

from plexlens.smf_rows.record import Row, named

#: QWHSRN of Db2 12, whose statistics have counters of 8 bytes.
DB2_12 = 0xC1

#: QWHCATYP.
CICS_ATTACH, REMOTE_UNIT_OF_WORK = 4, 8


#: QWHS: who wrote a record when, and the unit of work of the network.
QWHS = {
    "subsystem": "qwhsssid",
    "at": "qwhsstck",
    "sequence": "qwhsiseq",
    "release": "qwhsrn",
    "ifcid": "qwhsiid",
    "network": "qwhsnid",
    "lu_name": "qwhslunm",
    "unit_of_work": "qwhsluuv",
    "commit_number": "qwhslucc",
}

#: QWHC: the thread.
QWHC = {
    "user": "qwhcaid",
    "original_user": "qwhcopid",
    "correlation": "qwhccv",
    "connection": "qwhccn",
    "plan": "qwhcplan",
    "attach": "qwhcatyp",
    "end_user": "qwhceuid",
    "end_user_transaction": "qwhceutx",
    "token": "qwhctokn",
}


def header_row(subsystem: str, at: datetime, sequence: int, *, release: int = DB2_12, ifcid: int | None = None) -> Row:
    """The product section (QWHS).

    Parameters
    ----------
    subsystem
        Db2 subsystem.
    at
        When it was written, in UTC.
    sequence
        Number of the record.
    release
        QWHSRN.
    ifcid
        Where the record map does not say it.
    """
    quantities = {"subsystem": subsystem, "at": at, "sequence": sequence, "release": release}
    return named(QWHS, quantities if ifcid is None else quantities | {"ifcid": ifcid})


def sharing_row(member: str, group: str) -> Row:
    """The data-sharing header (QWHA)."""
    return {"qwhamemn": member, "qwhadsgn": group}
