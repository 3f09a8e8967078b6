"""SMF 102: references to pages (IFCID 198) and names of page sets (IFCID 105)."""

from __future__ import annotations

from typing import Any

from plexlens.smf_rows.record import Row

#: IFCID of the references, and of the names.
REFERENCES, NAMES = 198, 105

#: QW0198FC, QW0198PS and QW0198AT: functions, what became of a getpage, and how it came to the page.
FUNCTIONS = ("G", "S", "R")
STATUSES = (" ", "H", "M", "N")
ACCESSES = ("R", "S", "N")


def name_row(database_id: int, object_id: int, database: str, table_space: str) -> Row:
    """IFCID 105: the names of a page set."""
    return {"qw0105db": database_id, "qw0105ob": object_id, "qw0105dn": database, "qw0105tn": table_space}


def reference_columns(
    *,
    database_id: Any,
    object_id: Any,
    pool: Any,
    function: Any,
    status: Any,
    access: Any,
    page: Any,
    agent: Any,
) -> dict[str, Any]:
    """IFCID 198: columns of references.

    Parameters
    ----------
    database_id, object_id, pool, page
        Which page.
    function, status, access
        Of `FUNCTIONS`, `STATUSES` and `ACCESSES`.
    agent
        Number that tells threads apart.
    """
    return {
        "qw0198db": database_id,
        "qw0198ob": object_id,
        "qw0198bp": pool,
        "qw0198fc": function,
        "qw0198ps": status,
        "qw0198at": access,
        "qw0198pn": page,
        "qw0198ac": agent,
    }
