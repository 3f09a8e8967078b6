"""A report written with the records that its numbers are computed from.

The records are copied first, one Parquet file per table in a fixed order, and the page is computed from the copy with
one thread: whoever computes it again from the bundle adds the same numbers in the same order.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa

from plexlens import __version__
from plexlens.errors import PlexlensError
from plexlens.findings import load_decisions, load_rules
from plexlens.json_text import json_text
from plexlens.metrics.selection import EVERYTHING, Selection
from plexlens.pdb import Pdb
from plexlens.pdb.carried import carried_path, carry
from plexlens.pdb.staging import sha256_of
from plexlens.progress import Progress, silent
from plexlens.proof.archive import write_archive
from plexlens.proof.definitions import definitions, named
from plexlens.proof.manifest import PAGE, VALUES, Manifest, Member, record_name
from plexlens.report.blocks.readings import not_in
from plexlens.report.build import Options
from plexlens.report.of_database import DatabaseReport, report_of
from plexlens.report.writers.html import render_html

if TYPE_CHECKING:
    from plexlens.pdb import IngestResult

#: Libraries that compute the numbers.
ENGINES = {"duckdb": duckdb.__version__, "pyarrow": pa.__version__}


@dataclass(frozen=True)
class Asked:
    """A report that is asked for.

    Attributes
    ----------
    name : str
        What the user called the database, for errors.
    title : str
        Heading; empty for the name of the sysplex or systems.
    selection : Selection
        The part that the report is of, not resolved.
    rules : sequence of Path
        The site's folders of rules.
    site : Path or None
        The site's file with decisions about findings.
    """

    name: str
    title: str = ""
    selection: Selection = EVERYTHING
    rules: Sequence[Path] = ()
    site: Path | None = None


def write_bundle(
    pdb: Pdb,
    path: Path,
    wanted: Asked,
    *,
    results: Sequence[IngestResult] = (),
    failures: Sequence[PlexlensError] = (),
    progress: Progress = silent,
) -> DatabaseReport:
    """Write the report of a database with all that its numbers follow from.

    Parameters
    ----------
    pdb
        The database.
    path
        The ZIP file; written completely or not at all.
    wanted
        What the report is of.
    results, failures
        What became of the files that were just read into the database.
    progress
        Told how far each stage is.

    Returns
    -------
    DatabaseReport
        The report.

    Raises
    ------
    PlexlensError
        The database is damaged, nothing is selected, or the file cannot be written.
    """
    rules = load_rules(wanted.rules)
    decisions = load_decisions(wanted.site, rules) if wanted.site is not None else ()
    today = date.today() if decisions else None
    defined = definitions(wanted.rules, wanted.site if decisions else None)
    rules, decisions = named(rules, decisions, defined.files)
    others = not_in(results, failures)
    with Pdb.temporary() as copy, tempfile.TemporaryDirectory(prefix="plexlens-") as folder:
        tables = carry(pdb, copy, progress)
        page_report = report_of(
            copy,
            wanted.name,
            selection=wanted.selection,
            options=Options(title=wanted.title, rules=rules, decisions=decisions, today=today),
            others=others,
            progress=progress,
            threads=1,
        )
        files = {record_name(file.table): copy.path / carried_path(file.table) for file in tables} | defined.files
        for name, text in ((PAGE, render_html(page_report.report)), (VALUES, json_text(page_report.to_json()))):
            files[name] = Path(folder) / name
            files[name].write_bytes(text.encode())
        manifest = Manifest(
            plexlens=__version__,
            engines=ENGINES,
            title=wanted.title,
            selection=wanted.selection,
            judged_on=today,
            catalogue=defined.catalogue,
            rules=defined.rules,
            tables={file.table: file.rows for file in tables},
            sources=copy.ingests,
            others=others,
            members={name: Member(file.stat().st_size, sha256_of(file)) for name, file in files.items()},
        )
        write_archive(path, manifest, files)
    return page_report
