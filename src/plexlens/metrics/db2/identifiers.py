"""Names by which Db2 work is known: kinds of connection, correlation names."""

from __future__ import annotations

from typing import Any

import ibis

#: QWHCATYP, in the words of accounting reports.
CONNECTION_TYPES = {
    1: "TSO",
    2: "DB2CALL",
    3: "DL/I batch",
    4: "CICS",
    5: "IMS BMP",
    6: "IMS MPP",
    7: "private protocol",
    8: "DRDA",
    9: "IMS control region",
    10: "IMS transaction BMP",
    11: "utility",
    12: "RRSAF",
}

#: Where the name stands in a correlation id: kinds of connection, first character from 0, length.
_NAME_WITHIN = (((4,), 4, 4), ((5, 6, 9, 10), 4, 8))


def connection_type(code: Any) -> Any:
    """Kind of connection in words; the number where it is none that is known, null where there is none."""
    kind = code.cast("int64")
    return ibis.cases(*((kind == number, name) for number, name in CONNECTION_TYPES.items()), else_=kind.cast("string"))


def correlation_name(code: Any, correlation: Any) -> Any:
    """What a correlation id is named for: a CICS transaction, a PSB of IMS; otherwise the id as it is.

    CICS and IMS put the number of the thread before the name, so that the id alone has as many values as threads.
    """
    kind = code.cast("int64")
    branches = [(kind.isin(list(kinds)), correlation.substr(first, length)) for kinds, first, length in _NAME_WITHIN]
    return ibis.cases(*branches, else_=correlation).strip().nullif("")
