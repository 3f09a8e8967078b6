"""The form by which a reader selects a part of the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from starlette.requests import Request

from plexlens.metrics.selection import Selection
from plexlens.serve.shell import address
from plexlens.serve.times import selection_chips, steps
from plexlens.serve.workspace import Workspace


def selection_form(
    request: Request,
    workspace: Workspace,
    selection: Selection,
    pairs: Sequence[tuple[str, str]],
    hidden: Sequence[tuple[str, str]] = (),
) -> dict[str, Any]:
    """The values of the macros of ``selecting.html.j2``: form, chips, and links to other times.

    Parameters
    ----------
    request
        The page; the form leads to the same path.
    workspace
        The database.
    extent
        What the database holds.
    selection, pairs
        The selection, and its parameters in the address.
    hidden
        Further parameters that the form keeps.
    """
    values: dict[str, list[str]] = {}
    for name, value in pairs:
        values.setdefault(name, []).append(value)
    return {
        "selection_path": request.url.path,
        "selection_chips": selection_chips(request.url.path, selection, pairs, hidden),
        "times": steps(
            request.url.path, workspace.extent, selection, pairs, hidden, last_interval=workspace.last_interval
        ),
        "selection": {name: ", ".join(listed) for name, listed in values.items()},
        "hidden": list(hidden),
        "kept": list(pairs),
        "without_selection": address(request.url.path, hidden),
        "report_href": address("/report.html", pairs),
    }
