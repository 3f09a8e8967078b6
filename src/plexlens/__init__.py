"""Plexlens: an open performance workbench for IBM Z.

    >>> import plexlens as px
    >>> pdb = px.read("example.smf")
    >>> pdb.metric("coupling_structure", by="structure", every="all", metrics="requests_per_second").units
    {'requests_per_second': '1/s'}

``docs/api.md`` shows each function. None has the name of a package in here: the import of one would take its place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plexlens.api import analyse_pools as analyse_pools
    from plexlens.api import compare_runs as compare_runs
    from plexlens.api import forecast_peaks as forecast_peaks
    from plexlens.api import open_database as open
    from plexlens.api import plan as plan
    from plexlens.api import read as read
    from plexlens.api import simulate_scenario as simulate_scenario
    from plexlens.api import software_cost as software_cost
    from plexlens.api import study as study

    __version__: str

__all__ = [
    "__version__",
    "analyse_pools",
    "compare_runs",
    "forecast_peaks",
    "open",
    "plan",
    "read",
    "simulate_scenario",
    "software_cost",
    "study",
]


def __getattr__(name: str) -> Any:
    """Functions and version, looked up on demand: package metadata takes a third of the time to print a help text."""
    if name == "__version__":
        from importlib.metadata import version

        return version("plexlens")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from plexlens import api

    return getattr(api, "open_database" if name == "open" else name)
