"""The form by which a reader selects a part of the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from starlette.requests import Request

from plexlens.serve.shell import address


def selection_form(
    request: Request, pairs: Sequence[tuple[str, str]], hidden: Sequence[tuple[str, str]] = ()
) -> dict[str, Any]:
    """The values of the macro ``selecting`` of ``shell.html.j2``.

    Parameters
    ----------
    request
        The page; the form leads to the same path.
    pairs
        The selection in the address.
    hidden
        Further parameters that the form keeps.
    """
    values: dict[str, list[str]] = {}
    for name, value in pairs:
        values.setdefault(name, []).append(value)
    return {
        "selection_path": request.url.path,
        "selection": {name: ", ".join(listed) for name, listed in values.items()},
        "hidden": list(hidden),
        "without_selection": address(request.url.path, hidden),
        "report_href": address("/report.html", pairs),
    }
