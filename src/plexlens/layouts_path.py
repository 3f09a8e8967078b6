"""Where the record layouts are: beside this module in an installed package, in ``layouts/`` of a checkout.

In a checkout ``src/plexlens/layouts`` is a link to ``layouts/``, so that there is one copy and the package finds it
under one name either way. Where links are not checked out, the folder itself is looked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from plexlens.errors import UsageError

_PACKAGE = Path(__file__).parent


def layouts_path() -> Path:
    """The folder of the layouts that come with Plexlens.

    Raises
    ------
    UsageError
        They are not there: the installation is incomplete.
    """
    for folder in (_PACKAGE / "layouts", _PACKAGE.parents[1] / "layouts"):
        if (folder / "records").is_dir():
            return folder
    raise UsageError(
        file=str(_PACKAGE / "layouts"),
        what="the record layouts that come with Plexlens are missing",
        remedy="install Plexlens again",
    )


def layout_folders(site: Sequence[str | Path] = ()) -> list[Path]:
    """The layouts that come with Plexlens and a site's own; a file in a later folder replaces one of the same name.

    Parameters
    ----------
    site
        Folders with layouts of the site, each with its record maps in ``records``.

    Raises
    ------
    UsageError
        A folder does not exist, or the layouts that come with Plexlens are missing.
    """
    folders = [layouts_path()]
    for folder in map(Path, site):
        if not folder.is_dir():
            raise UsageError(
                file=str(folder),
                what="there is no such folder of layouts",
                remedy="name a folder that holds layout files (*.csv) and, in records/, record maps",
            )
        folders.append(folder)
    return folders
