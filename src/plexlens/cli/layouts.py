"""`plexlens layouts`: the record layouts that dumps are decoded by."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from plexlens.cli.app import app
from plexlens.cli.options import CodePage, Codepage, Json, Layouts
from plexlens.cli.terminal import emit, print_rows
from plexlens.errors import UsageError

layouts_app = typer.Typer(help="The record layouts that dumps are decoded by.", no_args_is_help=True)
app.add_typer(layouts_app, name="layouts")


@layouts_app.command("list")
def layouts_list(as_json: Json = False, layouts: Layouts = None) -> None:
    """Record types that are decoded, and the sections of each."""
    catalogue = _catalogue(layouts)
    maps = catalogue.records()
    if as_json:
        emit({"records": maps, "sections": catalogue.tables()})
        return
    rows = [
        {"record": one["record"], "section": section["layout"], "holds": section["description"]}
        for one in maps
        for section in one["sections"]
        if section["rule"] != "header"
    ]
    print_rows(["record", "section", "holds"], rows)


@layouts_app.command("show")
def layouts_show(
    section: Annotated[str, typer.Argument(metavar="SECTION", help="A section, as `plexlens layouts list` names it.")],
    as_json: Json = False,
    layouts: Layouts = None,
) -> None:
    """The fields of one section: offset, length, format, unit, description, source."""
    catalogue = _catalogue(layouts)
    if section not in catalogue.tables():
        near = ", ".join(sorted(name for name in catalogue.tables() if section.lower() in name)) or "none like it"
        raise UsageError(
            file="", what=f"there is no section {section!r} ({near})", remedy="plexlens layouts list names them all"
        )
    fields = catalogue.describe(section)
    if as_json:
        emit({"section": section, "fields": fields})
        return
    print_rows(["field", "offset", "length", "format", "unit", "since", "confidence", "description"], fields)


@layouts_app.command("import")
def layouts_import(
    file: Annotated[Path, typer.Argument(help="Assembler source: a mapping macro, or DSECTs with DS, DC, EQU, ORG.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the layouts; made when it is not there.")],
    *,
    section: Annotated[
        list[str] | None, typer.Option(help="Name of the layout: NAME, or DSECT=NAME for one of several.")
    ] = None,
    csect: Annotated[str | None, typer.Option(help="The one section to import; without it, every DSECT.")] = None,
    hints: Annotated[Path | None, typer.Option(help="CSV field,format,unit: what assembler cannot say.")] = None,
    signed: Annotated[bool, typer.Option("--signed", help="F, H and FD are signed numbers.")] = False,
    start: Annotated[int, typer.Option(help="Bytes of the record before the DSECT, for a header section.")] = 0,
    codepage: Codepage = CodePage.LATIN_1047,
    as_json: Json = False,
) -> None:
    """Make layouts of the DSECTs of an assembler source, and say what they change; then use them with --layouts."""
    from plexlens.dsect import Wishes, import_layouts

    wishes = Wishes(tuple(section or ()), csect, signed, hints, start, codepage)
    result = import_layouts(file, output, wishes)
    if as_json:
        emit(result.to_json())
        return
    for line in result.to_lines():
        typer.echo(line)


def _catalogue(site: list[Path] | None) -> Any:
    from plexlens import _core
    from plexlens.layouts_path import layout_folders

    return _core.Catalogue([str(folder) for folder in layout_folders(tuple(site or ()))])
