"""Locations of studies: those that ship with Plexlens, and a user's own folders."""

from __future__ import annotations

from pathlib import Path

from plexlens.errors import UsageError

#: File that makes a folder a study.
_STUDY_FILE = "study.toml"


def studies_path() -> Path:
    """The folder of the studies that come with Plexlens.

    Raises
    ------
    UsageError
        It is not there: the installation is incomplete.
    """
    package = Path(__file__).parents[2]
    for folder in (package / "studies", package.parents[1] / "studies"):
        if folder.is_dir():
            return folder
    raise UsageError(
        file=str(package / "studies"),
        what="the studies that come with Plexlens are missing",
        remedy="install Plexlens again",
    )


def own_study(text: str) -> Path | None:
    """The ``study.toml`` that a path names, or that lies in the folder that it names; None where there is none."""
    path = Path(text)
    path = path if path.name == _STUDY_FILE else path / _STUDY_FILE
    return path if path.is_file() else None


def shared_templates(folder: Path) -> list[Path]:
    """Template files available to a study: those next to its own folder, then those that ship with Plexlens."""
    places = dict.fromkeys(place.resolve() / "templates" for place in (folder.resolve().parent, studies_path()))
    return [path for place in places for path in sorted(place.glob("*.toml"))]


def study_names(folder: Path | None = None) -> list[str]:
    """Names of the studies in a folder, in order."""
    return sorted(path.parent.name for path in (folder or studies_path()).glob(f"*/{_STUDY_FILE}"))
