"""Arguments and options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

if TYPE_CHECKING:
    Location: TypeAlias = Path
else:
    # Typer would make a path of files of it.
    Location = object


def located(text: str) -> Path:
    """The place of a database or a source that an argument names.

    Raises
    ------
    UsageError
        It is an address of object storage that cannot be one of a database.
    """
    if not text.startswith("s3:"):
        return Path(text)
    from plexlens.pdb.place import location

    return location(text)


def located_source(text: str) -> Path:
    """The file of a source, or its address in object storage.

    Raises
    ------
    UsageError
        It cannot be the address of a dump.
    """
    from plexlens.pdb.place import source_at

    return source_at(text)


_FILES = (
    "SMF dumps (plain, gzip or zstd), RMF XML files, printed reports of Db2, RMF or CICS as text, or folders of these."
)
#: What a database is, for those who name one.
DATABASE = "A performance database: a folder, or s3://BUCKET/PATH"
_DATABASE_OR = f"{DATABASE}; or "

#: The sources of which a command takes one.
ONE_SOURCE = (
    f"{_DATABASE_OR}an SMF dump (plain, gzip or zstd), an RMF XML file, a printed report of Db2, RMF or CICS as text, "
    "or a folder of these"
)

Sources = Annotated[
    list[Location],
    typer.Argument(
        metavar="FILE...",
        parser=located_source,
        help=f"{_FILES} Or s3://BUCKET/PATH: an object, a folder or a pattern (*, ?, **).",
    ),
]
#: Sources of a command that also takes a performance database.
DatabaseOrSources = Annotated[
    list[Location], typer.Argument(metavar="PDB|FILE...", parser=located, help=_DATABASE_OR + _FILES)
]
#: The same of a command that takes one.
DatabaseOrSource = Annotated[
    Location,
    typer.Argument(
        metavar="PDB|FILE",
        parser=located,
        help=f"{ONE_SOURCE}.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output, and nothing else there.")]
#: The entities of a metric view that count.
Where = Annotated[
    str, typer.Option("--where", metavar="CONDITION", help="SQL condition on keys, attributes and facts.")
]
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


#: The least memory with which the engine opens a database.
_LEAST_MEMORY = 64 << 20


def engine_memory(text: str) -> int:
    """Bytes of memory that an option gives the engine.

    Raises
    ------
    UsageError
        The text is not a size, or is less than the engine needs.
    """
    from plexlens.errors import UsageError
    from plexlens.storage_size import parse_size

    size = parse_size(text)
    if size < _LEAST_MEMORY:
        raise UsageError(
            file="--memory",
            what=f"{text} is less than the engine needs to open a database",
            remedy="give 64MiB or more",
        )
    return size


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
MaxExpansion = Annotated[
    int | None,
    typer.Option(
        "--max-expansion",
        metavar="TIMES",
        min=1,
        help="How many times its own size a compressed file may expand to beyond 256 MiB; 1000 by default.",
    ),
]
MaxExpanded = Annotated[
    str,
    typer.Option(
        "--max-expanded",
        metavar="SIZE",
        help="How much a compressed file may expand to, such as 4GiB; 1TiB by default.",
    ),
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
