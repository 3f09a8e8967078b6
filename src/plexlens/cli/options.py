"""Arguments and options that several commands have."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

Sources = Annotated[
    list[Path],
    typer.Argument(metavar="DUMP...", help="SMF dumps (plain, gzip or zstd), RMF XML files, or folders of them."),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON object on standard output, nothing else there.")]
Layouts = Annotated[
    list[Path] | None, typer.Option("--layouts", help="A folder with layouts of your own; may be given repeatedly.")
]


class CodePage(StrEnum):
    """EBCDIC code pages that text can be in."""

    LATIN_037 = "037"
    LATIN_1047 = "1047"


Codepage = Annotated[CodePage, typer.Option(help="EBCDIC code page of text fields.")]
LeapSeconds = Annotated[
    bool, typer.Option("--leap-seconds", help="The systems' clocks run with a leap second offset: take it out.")
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
    typer.Option("--rules", help="A folder of rules that add to Plexlens's or change them; may be given repeatedly."),
]
