"""Arguments and options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

_FILES = (
    "SMF dumps (plain, gzip or zstd), RMF XML files, printed reports of Db2, RMF or CICS as text, or folders of these."
)
_DATABASE_OR = "A performance database, or "

Sources = Annotated[list[Path], typer.Argument(metavar="FILE...", help=_FILES)]
#: Sources of a command that also takes a performance database.
DatabaseOrSources = Annotated[list[Path], typer.Argument(metavar="PDB|FILE...", help=_DATABASE_OR + _FILES)]
#: The same of a command that takes one.
DatabaseOrSource = Annotated[
    Path,
    typer.Argument(
        metavar="PDB|FILE",
        help=_DATABASE_OR + "an SMF dump (plain, gzip or zstd), an RMF XML file, a printed report of Db2, RMF or CICS "
        "as text, or a folder of these.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output, and nothing else there.")]
Wait = Annotated[
    float,
    typer.Option(
        "--wait", metavar="SECONDS", min=0.0, help="Time to wait while another command writes into the database."
    ),
]
#: Seconds that commands wait by default: longer than a dump of usual size takes.
WAIT = 120.0
Layouts = Annotated[
    list[Path] | None,
    typer.Option("--layouts", metavar="FOLDER", help="Folder with your own record layouts; repeatable."),
]


def _load(context: typer.Context, folders: list[Path] | None) -> list[Path] | None:
    """Load a site's grains and metrics before the command uses any; not during shell completion."""
    if folders and not context.resilient_parsing:
        from plexlens.metrics import GRAINS

        GRAINS.load(folders)
    return folders


Catalogue = Annotated[
    list[Path] | None,
    typer.Option(
        "--catalogue",
        metavar="FOLDER",
        callback=_load,
        help="Folder with your own grains and metrics; repeatable. PLEXLENS_CATALOGUE names such folders too.",
    ),
]


class CodePage(StrEnum):
    """EBCDIC code pages for text."""

    LATIN_037 = "037"
    LATIN_1047 = "1047"


Codepage = Annotated[CodePage, typer.Option(help="EBCDIC code page of text fields.")]
LeapSeconds = Annotated[
    bool, typer.Option("--leap-seconds", help="Subtract leap seconds: the clocks of the systems include them.")
]
Site = Annotated[
    Path | None,
    typer.Option(
        "--site",
        metavar="FILE",
        help="A TOML file of your site: shifts by name ([shifts]), and findings that it acknowledges or suppresses.",
    ),
]
Rules = Annotated[
    list[Path] | None,
    typer.Option(
        "--rules", metavar="FOLDER", help="Folder with rules that add to the bundled ones or replace them; repeatable."
    ),
]
