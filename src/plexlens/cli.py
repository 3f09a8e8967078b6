"""The command line: argument parsing and wiring only.

Exit codes: 0 done, 1 findings at or above ``--fail-on``, 2 wrong use, 3 unreadable input, 4 nothing usable in it.
With ``--json`` standard output holds one JSON object and nothing else; progress and messages go to standard error.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from plexlens import __version__
from plexlens.errors import IngestFailuresError, PlexlensError, UnreadableInputError, UsageError

app = typer.Typer(
    name="plexlens",
    help="An open performance workbench for IBM Z: SMF and RMF in, metrics and reports out.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
layouts_app = typer.Typer(help="The record layouts that dumps are decoded by.", no_args_is_help=True)
app.add_typer(layouts_app, name="layouts")
findings_app = typer.Typer(help="The rules that reports judge data by.", no_args_is_help=True)
app.add_typer(findings_app, name="findings")

_err = Console(stderr=True, highlight=False, emoji=False, markup=False, soft_wrap=True)

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
Rules = Annotated[
    list[Path] | None,
    typer.Option("--rules", help="A folder of rules that add to Plexlens's or change them; may be given repeatedly."),
]
Out = Annotated[Path | None, typer.Option("-o", "--output", help="File to write.")]


class FailOn(StrEnum):
    """Severities that a report can fail on, the lowest first."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


class Format(StrEnum):
    """Forms of a report."""

    HTML = "html"
    TEXT = "text"


def _emit(value: Any) -> None:
    """One JSON object on standard output."""
    json.dump(value, sys.stdout, ensure_ascii=False, default=str)
    sys.stdout.write("\n")


def _cannot_write(path: Path, why: str) -> UsageError:
    return UsageError(
        file=str(path),
        what=f"it cannot be written: {why}",
        remedy="name a file in a folder that exists and that you may write to",
    )


def _check_writable(path: Path | None) -> None:
    """Says before the work what would else be said after it."""
    if path is None:
        return
    if path.is_dir():
        raise _cannot_write(path, "it is a folder")
    if not path.parent.is_dir():
        raise _cannot_write(path, f"there is no folder {path.parent}")
    if not os.access(path.parent, os.W_OK):
        raise _cannot_write(path, f"you may not write to {path.parent}")


def _write(path: Path, text: str) -> None:
    """A whole file or none: written beside its place, then moved there."""
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise _cannot_write(path, error.strerror or str(error)) from error


@contextmanager
def _progress() -> Iterator[Callable[[int, int, str], None]]:
    """A progress bar on a terminal, one line a stage elsewhere; both on standard error."""
    if not _err.is_terminal:
        seen: set[str] = set()

        def line(done: int, total: int, stage: str) -> None:
            if stage not in seen:
                seen.add(stage)
                _err.print(stage)

        yield line
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=_err, transient=True) as bar:
        task = bar.add_task("", total=None)

        def update(done: int, total: int, stage: str) -> None:
            bar.update(task, completed=done, total=total or None, description=stage)

        yield update


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"plexlens {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    pass


@app.command()
def report(
    sources: Sources,
    *,
    output: Out = None,
    form: Annotated[Format, typer.Option("--format", help="HTML page or plain text.")] = Format.HTML,
    title: Annotated[str, typer.Option(help="Heading of the report.")] = "",
    as_json: Json = False,
    layouts: Layouts = None,
    codepage: Codepage = CodePage.LATIN_1047,
    leap_seconds: LeapSeconds = False,
    rules: Rules = None,
    fail_on: Annotated[
        FailOn | None, typer.Option("--fail-on", help="End with 1 if a finding is of this severity or a higher one.")
    ] = None,
) -> None:
    """Read dumps and write the report: the main job. A performance database can be given in place of dumps.

    The page goes to report.html, plain text and JSON to standard output, unless -o names a file.
    """
    from plexlens.findings import Severity, load_rules
    from plexlens.metrics.inputs import Inputs
    from plexlens.pdb import ingest
    from plexlens.report import Options, build, render_html, render_text, to_json
    from plexlens.report.readings import readings_of

    if output is None and not as_json and form is Format.HTML:
        output = Path("report.html")
    _check_writable(output)
    judged_by = load_rules(rules or ())
    with _database(sources) as (pdb, dumps), _progress() as progress:
        results: list[Any] = []
        failures: list[PlexlensError] = []
        if dumps:
            try:
                results = ingest(
                    dumps,
                    pdb,
                    progress=progress,
                    layouts=tuple(layouts or ()),
                    codepage=codepage,
                    leap_seconds=leap_seconds,
                )
            except IngestFailuresError as error:
                # What could be read is reported, with what could not be at its top.
                if not error.results:
                    raise
                results, failures = list(error.results), list(error.failures)
        progress(0, 0, "writing the report")
        # What outgrows this spills to disk, so that the report's memory does not grow with the dump.
        backend = pdb.connect(memory_limit="1GiB")
        readings = readings_of(backend, results=results, failures=failures)
        made = build(Inputs(backend), readings, options=Options(title=title, rules=judged_by))
        if as_json:
            text = json.dumps(to_json(made), ensure_ascii=False, default=str) + "\n"
        else:
            text = render_html(made) if form is Format.HTML else render_text(made)
    if output is None:
        sys.stdout.write(text)
    else:
        _write(output, text)
        _err.print(f"written: {output}")
    for failure in failures:
        _err.print(f"plexlens: {failure}")
    if failures:
        raise typer.Exit(failures[0].exit_code)
    grave = made.findings.at_or_above(Severity(fail_on)) if fail_on and made.findings else ()
    if grave:
        _err.print(f"plexlens: findings of severity {fail_on} or higher: {len(grave)}")
        raise typer.Exit(1)


@contextmanager
def _database(sources: list[Path]) -> Iterator[tuple[Any, list[Path]]]:
    """The PDB to report on and the dumps to read into it: a PDB that was named, or a temporary one."""
    from plexlens.pdb import Pdb

    held = [path for path in sources if (path / "manifest.json").is_file()]
    if held and len(sources) > 1:
        raise UsageError(
            file=str(held[0]),
            what="a performance database stands beside other sources",
            remedy="report on it alone, or ingest the others into it first (plexlens ingest ... --pdb)",
        )
    if held:
        yield Pdb.open(held[0]), []
    else:
        with Pdb.temporary() as pdb:
            yield pdb, sources


@app.command()
def ingest(
    sources: Sources,
    pdb: Annotated[Path, typer.Option("--pdb", help="The performance database; made when it is not there.")],
    *,
    as_json: Json = False,
    layouts: Layouts = None,
    codepage: Codepage = CodePage.LATIN_1047,
    leap_seconds: LeapSeconds = False,
) -> None:
    """Keep dumps in a performance database. The same dump twice changes nothing; records are kept once."""
    from plexlens.pdb import Pdb
    from plexlens.pdb import ingest as put

    held = Pdb.open_or_create(pdb)
    failures: list[PlexlensError] = []
    with _progress() as progress:
        try:
            results = put(
                sources,
                held,
                progress=progress,
                layouts=tuple(layouts or ()),
                codepage=codepage,
                leap_seconds=leap_seconds,
            )
        except IngestFailuresError as error:
            results, failures = list(error.results), list(error.failures)
    if as_json:
        _emit(
            {
                "pdb": str(pdb),
                "files": [_result(one) for one in results],
                "failed": [{"file": one.file, "what": one.what, "remedy": one.remedy} for one in failures],
            }
        )
    else:
        for one in results:
            made = _result(one)
            counts = ("records", "rows", "duplicates", "damage")
            told = ", ".join(f"{made[name]:,} {name}" for name in counts if made[name])
            why = f": {one.reason}" if one.reason else ""
            typer.echo(f"{one.file}: {one.outcome.value}{why}" + (f" ({told})" if told else ""))
    for failure in failures:
        _err.print(f"plexlens: {failure}")
    if failures:
        raise typer.Exit(failures[0].exit_code)


def _result(one: Any) -> dict[str, Any]:
    """What became of one file, as a plain object."""
    made = one.ingest
    return {
        "file": one.file,
        "outcome": one.outcome.value,
        "reason": one.reason,
        "kind": made.kind if made else None,
        "records": sum(made.records.values()) if made else 0,
        "rows": sum(made.rows.values()) if made else 0,
        "duplicates": made.duplicates if made else 0,
        "damage": sum(made.damage.values()) if made else 0,
    }


@app.command()
def sql(
    pdb: Annotated[Path, typer.Argument(metavar="PDB", help="A performance database.")],
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help="One SELECT over its tables and metrics (DuckDB's SQL).")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="A list of row objects on standard output.")] = False,
) -> None:
    """Query a performance database: raw tables under their layouts' names, metrics under their grains' names."""
    import duckdb

    from plexlens.metrics import GRAINS
    from plexlens.metrics.evaluate import attach
    from plexlens.metrics.inputs import Inputs
    from plexlens.pdb import Pdb

    backend = Pdb.open(pdb).connect()
    # Only what the query can mean; a query that names no grain may list or describe all of them.
    named = set(re.findall(r"\w+", query.lower())) & GRAINS.keys()
    attach(Inputs(backend), named or None)
    try:
        table = backend.raw_sql(query).to_arrow_table()
    except duckdb.Error as error:
        raise UsageError(
            file=str(pdb),
            what=f"the query failed: {str(error).strip()}",
            remedy='"show tables" lists the tables, "describe NAME" the columns of one',
        ) from error
    if as_json:
        _emit(table.to_pylist())
        return
    _print_rows(table.column_names, table.to_pylist())


def _print_rows(names: list[str], rows: list[dict[str, Any]]) -> None:
    """A plain aligned table on standard output; numbers to the right."""
    cells = [["" if row[name] is None else str(row[name]) for name in names] for row in rows]
    numeric = [all(isinstance(row[name], (int, float, type(None))) for row in rows) for name in names]
    widths = [max([len(name), *(len(line[i]) for line in cells)]) for i, name in enumerate(names)]
    for line in [names, ["-" * width for width in widths], *cells]:
        fitted = [
            text.rjust(width) if right else text.ljust(width)
            for text, width, right in zip(line, widths, numeric, strict=True)
        ]
        typer.echo("  ".join(fitted).rstrip())


@app.command()
def records(sources: Sources, as_json: Json = False) -> None:
    """What is in dumps: records by type and subtype, systems, time span, damage. Nothing is decoded or kept."""
    from plexlens.ingest import inventory

    found = list(inventory.of_files(sources))
    if as_json:
        _emit(inventory.to_json(found))
        return
    for line in inventory.to_lines(found):
        typer.echo(line)


@app.command()
def pools(
    traces: Annotated[
        list[Path],
        typer.Argument(
            metavar="TRACE...", help="A page-reference trace: CSV, Parquet, Arrow, oracleGeneral; in pieces."
        ),
    ],
    *,
    sizes: Annotated[str, typer.Option(help="Pool sizes in pages: 1000,5000. Without it, a choice of sizes.")] = "",
    sample: Annotated[
        float | None, typer.Option(help="Look at this share of the pages (0.01) and state the error.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Read misses of every buffer pool of a trace at any size, from one pass over it."""
    from plexlens.pools import curves_of, to_json

    try:
        wanted = [int(size) for size in sizes.split(",") if size.strip()]
    except ValueError as error:
        raise UsageError(
            file="", what=f"--sizes {sizes} is no list of numbers", remedy="give pages, as in --sizes 1000,5000"
        ) from error
    with _progress() as progress:
        curves = curves_of(traces, sizes=wanted, sample=sample, progress=progress)
    if as_json:
        _emit(to_json(curves, sample=sample))
        return
    names = ["pool", "pages", "read misses", "misses/getpage"] + ([] if sample is None else ["standard error"])
    rows = [
        {
            "pool": curve.pool,
            "pages": size,
            "read misses": round(misses),
            "misses/getpage": f"{misses / curve.getpages:.4f}" if curve.getpages else None,
            "standard error": round(error),
        }
        for curve in curves
        for size, misses, error in curve.points
    ]
    _print_rows(names, rows)


@layouts_app.command("list")
def layouts_list(as_json: Json = False, layouts: Layouts = None) -> None:
    """Record types that are decoded, and the sections of each."""
    catalogue = _catalogue(layouts)
    maps = catalogue.records()
    if as_json:
        _emit({"records": maps, "sections": catalogue.tables()})
        return
    rows = [
        {"record": one["record"], "section": section["layout"], "holds": section["description"]}
        for one in maps
        for section in one["sections"]
        if section["rule"] != "header"
    ]
    _print_rows(["record", "section", "holds"], rows)


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
        _emit({"section": section, "fields": fields})
        return
    _print_rows(["field", "offset", "length", "format", "unit", "since", "confidence", "description"], fields)


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
        _emit(result.to_json())
        return
    for line in result.to_lines():
        typer.echo(line)


@findings_app.command("list")
def findings_list(as_json: Json = False, rules: Rules = None) -> None:
    """The rules: what each reads, when it fires, how grave it is, and where it comes from."""
    from plexlens.findings import load_rules
    from plexlens.findings.reference import rule_json

    known = load_rules(rules or ())
    if as_json:
        _emit({"rules": [rule_json(rule) for rule in known]})
        return
    rows = [
        {"rule": one.id, "severity": one.severities, "reads": one.grain, "fires when": one.condition.text}
        for one in known
    ]
    _print_rows(["rule", "severity", "reads", "fires when"], rows)


def _catalogue(site: list[Path] | None) -> Any:
    from plexlens import _core
    from plexlens.layouts_path import layout_folders

    return _core.Catalogue([str(folder) for folder in layout_folders(tuple(site or ()))])


@app.command()
def example(output: Annotated[Path, typer.Option("-o", "--output", help="The dump to write.")]) -> None:
    """Write the example dump: figures of two published studies as SMF 70, 72 and 74."""
    from plexlens.example import write_example

    _check_writable(output)
    try:
        write_example(output)
    except OSError as error:
        raise _cannot_write(output, error.strerror or str(error)) from error
    _err.print(f"written: {output}")


@app.command()
def study(
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME...", help="Studies: sysplex-1996, ...")] = None,
    *,
    all_of_them: Annotated[bool, typer.Option("--all", help="Every study that there is.")] = False,
    as_json: Json = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="File to write: .html, .txt, .csv or .json.")
    ] = None,
) -> None:
    """Recompute the tables of a published study: printed, computed, difference, and what cannot be right in print."""
    from plexlens import compare
    from plexlens.compare.json_object import to_object
    from plexlens.report import render_html, render_text
    from plexlens.report.study import study_csv, study_report

    if bool(names) == all_of_them:
        raise UsageError(
            file="",
            what="a study and --all are both given" if names else "no study is named",
            remedy=f"name one of {', '.join(compare.study_names())}, or give --all",
        )
    form = "json" if as_json else output.suffix.removeprefix(".").lower() if output else "txt"
    if form not in ("html", "txt", "csv", "json"):
        raise _cannot_write(Path(output or ""), f"a study has no form {output.suffix!r}" if output else "")
    _check_writable(output)
    audits = [compare.audit(compare.load_study(name)) for name in names or compare.study_names()]
    if form == "json":
        objects = [to_object(one) for one in audits]
        text = json.dumps({"studies": objects} if len(objects) > 1 else objects[0], ensure_ascii=False) + "\n"
    elif form == "csv":
        text = study_csv(audits)
    else:
        text = (render_html if form == "html" else render_text)(study_report(audits))
    if output is None:
        sys.stdout.write(text)
    else:
        _write(output, text)
        _err.print(f"written: {output}")


def main() -> None:
    """Run the command line; every expected error is one message and its exit code, never a traceback."""
    try:
        app()
    except PlexlensError as error:
        _fail(str(error), error.exit_code)
    except BrokenPipeError:
        # The reader of a pipe has seen enough; what is left to flush has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except MemoryError:
        _fail("there is not enough memory; give fewer or smaller files at a time", UnreadableInputError.exit_code)
    except Exception as error:
        if os.environ.get("PLEXLENS_TRACEBACK"):
            raise
        _fail(
            f"this is a defect of Plexlens ({type(error).__name__}: {error}); "
            "please report it with the output of the same command under PLEXLENS_TRACEBACK=1",
            70,
        )


def _fail(message: str, code: int) -> None:
    _err.print(f"plexlens: {message}")
    sys.exit(code)


if __name__ == "__main__":
    main()
