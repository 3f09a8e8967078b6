"""Location of the catalogue: next to this module in an installed package, in ``catalogue/`` of a checkout.

In a checkout ``src/plexlens/catalogue`` is a link to ``catalogue/``, as for the layouts.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from plexlens.layouts_path import shipped, site_folders


def catalogue_path() -> Path:
    """The folder of the shipped catalogue.

    Raises
    ------
    UsageError
        It is not there: the installation is incomplete.
    """
    return shipped("catalogue", "units.toml", "the catalogue of metrics that comes with Plexlens is missing")


def catalogue_folders(site: Sequence[str | Path] = (), base: Path | None = None) -> list[Path]:
    """The shipped catalogue and a site's own; later folders override earlier ones.

    Parameters
    ----------
    site
        Folders with definitions of the site.
    base
        A copy of a shipped catalogue, to be used in place of the installed one.

    Raises
    ------
    UsageError
        A folder does not exist, or the catalogue that comes with Plexlens is missing.
    """
    what = "there is no such folder of metrics"
    return [base or catalogue_path(), *site_folders(site, what, "name a folder that holds files of grains (*.toml)")]
