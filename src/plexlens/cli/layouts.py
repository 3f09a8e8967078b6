"""`plexlens layouts`: the record layouts that decode dumps."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

import typer

from plexlens.cli import completion
from plexlens.cli.app import app
from plexlens.cli.options import CodePage, Codepage, Json, Layouts
from plexlens.cli.output import RowsFormat, RowsOut, target
from plexlens.cli.rows import Rows
from plexlens.cli.terminal import emit
from plexlens.errors import UsageError
from plexlens.report.forms import ROW_FORMS

layouts_app = typer.Typer(help="List, show and import the record layouts that decode dumps.", no_args_is_help=True)
app.add_typer(layouts_app, name="layouts")


@layouts_app.command("list")
def layouts_list(
    *, as_json: Json = False, form: RowsFormat = None, output: RowsOut = None, layouts: Layouts = None
) -> None:
    """List the record types that are decoded and their sections."""
    where = target("layouts", output, form, as_json=as_json, forms=ROW_FORMS)
    catalogue = _catalogue(layouts)
    maps = catalogue.records()
    rows = [
        [record["record"], section["layout"], section["description"]]
        for record in maps
        for section in record["sections"]
        if section["rule"] != "header"
    ]
    values = {"records": maps, "sections": catalogue.tables()}
    where.show(Rows(("record", "section", "holds"), rows, lambda: values).made)


@layouts_app.command("show")
def layouts_show(
    section: Annotated[
        str,
        typer.Argument(
            metavar="SECTION", help="Section, as plexlens layouts list names it.", autocompletion=completion.sections
        ),
    ],
    *,
    as_json: Json = False,
    form: RowsFormat = None,
    output: RowsOut = None,
    layouts: Layouts = None,
) -> None:
    """List the fields of a section: offset, length, format, unit, description, source."""
    where = target("layouts", output, form, as_json=as_json, forms=ROW_FORMS)
    catalogue = _catalogue(layouts)
    known = {*catalogue.tables(), *catalogue.sections()}
    if section not in known:
        names = sorted(known)
        near = [name for name in names if section.lower() in name] or get_close_matches(section.lower(), names, n=3)
        remedy = f"name {', '.join(near)}, or another of plexlens layouts list" if near else "see plexlens layouts list"
        raise UsageError(file="", what=f"there is no section {section!r}", remedy=remedy)
    fields = catalogue.describe(section)
    heads = ("field", "offset", "length", "format", "unit", "since", "confidence", "description")
    rows = [[field[name] for name in heads] for field in fields]
    where.show(Rows(heads, rows, lambda: {"section": section, "fields": fields}).made)


@layouts_app.command("import")
def layouts_import(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Assembler source: a mapping macro, or DSECTs with DS, DC, EQU, ORG; or a z/VM monitor record page.",
        ),
    ],
    output: Annotated[
        Path,
        typer.Option("-o", "--output", metavar="FOLDER", help="Folder for the layouts, created if it does not exist."),
    ],
    *,
    section: Annotated[
        list[str] | None,
        typer.Option(metavar="[DSECT=]NAME", help="Name of the layout; with DSECT= where the source has several."),
    ] = None,
    csect: Annotated[
        str | None, typer.Option(metavar="NAME", help="Import this section only (default: every DSECT).")
    ] = None,
    hints: Annotated[
        Path | None,
        typer.Option(metavar="FILE.csv", help="CSV (field,format,unit) with what assembler does not state."),
    ] = None,
    signed: Annotated[bool, typer.Option("--signed", help="Decode F, H and FD as signed numbers.")] = False,
    start: Annotated[
        int, typer.Option(metavar="BYTES", help="Bytes of the record before the DSECT, for a header section.")
    ] = 0,
    codepage: Codepage = CodePage.LATIN_1047,
    as_json: Json = False,
) -> None:
    """Convert the DSECTs of an assembler source, or a page of a z/VM monitor record, into layouts.

    The command lists what the new layouts change. Use them with --layouts FOLDER.
    """
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
