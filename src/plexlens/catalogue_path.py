"""Where the catalogue is: beside this module in an installed package, in ``catalogue/`` of a checkout.

In a checkout ``src/plexlens/catalogue`` is a link to ``catalogue/``, as for the layouts.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from plexlens.errors import UsageError

_PACKAGE = Path(__file__).parent


def catalogue_path() -> Path:
    """The folder of the catalogue that comes with Plexlens.

    Raises
    ------
    UsageError
        It is not there: the installation is incomplete.
    """
    for folder in (_PACKAGE / "catalogue", _PACKAGE.parents[1] / "catalogue"):
        if (folder / "units.toml").is_file():
            return folder
    raise UsageError(
        file=str(_PACKAGE / "catalogue"),
        what="the catalogue of metrics that comes with Plexlens is missing",
        remedy="install Plexlens again",
    )


def catalogue_folders(site: Sequence[str | Path] = ()) -> list[Path]:
    """The catalogue that comes with Plexlens and a site's own; what a later folder says goes over the others.

    Parameters
    ----------
    site
        Folders with definitions of the site.

    Raises
    ------
    UsageError
        A folder does not exist, or the catalogue that comes with Plexlens is missing.
    """
    folders = [catalogue_path()]
    for folder in map(Path, site):
        if not folder.is_dir():
            raise UsageError(
                file=str(folder),
                what="there is no such folder of metrics",
                remedy="name a folder that holds files of grains (*.toml)",
            )
        folders.append(folder)
    return folders
