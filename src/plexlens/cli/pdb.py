"""`plexlens pdb`: the upkeep of a performance database."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plexlens.cli.app import app
from plexlens.cli.options import DATABASE, WAIT, Json, Layouts, Location, Wait, located
from plexlens.cli.pdb_text import (
    compacted_text,
    diagnosis_text,
    expired_text,
    rebuilt_text,
    states_text,
    status_text,
    verified_text,
)
from plexlens.cli.sources import tell
from plexlens.cli.terminal import emit, progress_bar
from plexlens.errors import UsageError

if TYPE_CHECKING:
    from plexlens.pdb import Pdb

pdb_app = typer.Typer(
    help="Look after a performance database: what it holds, small files, old days, damage, undo.", no_args_is_help=True
)
app.add_typer(pdb_app, name="pdb")

Database = Annotated[Location, typer.Argument(metavar="PDB", parser=located, help=f"{DATABASE}.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and change nothing.")]
Purge = Annotated[
    bool,
    typer.Option(
        "--purge",
        help="Remove at once the files that are kept for an undo. Then no earlier state comes back, and a command that "
        "is reading them fails.",
    ),
]
AsOf = Annotated[
    str | None,
    typer.Option("--as-of", metavar="DATE", help="Day from which ages are counted; by default today (UTC)."),
]


def _open(path: Path) -> Pdb:
    from plexlens.pdb import Pdb

    return Pdb.open(path)


def _day(text: str | None) -> date:
    if text is None:
        return datetime.now(UTC).date()
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError(
            file="", what=f"--as-of {text!r} is not a date", remedy="give it as year, month and day: 2026-11-24"
        ) from None


def _answer(values: Any, lines: Iterable[str], *, as_json: bool) -> None:
    if as_json:
        emit(values)
    else:
        sys.stdout.write("".join(f"{line}\n" for line in lines))


@pdb_app.command("status")
def pdb_status(pdb: Database, *, as_json: Json = False, as_of: AsOf = None) -> None:
    """Show what a database holds, and what its upkeep would do.

    Tables with rows, files, bytes and days; small files; files that nothing names; who writes; how long tables are kept
    and what would expire today; which states an undo can bring back. Nothing is changed.
    """
    from plexlens.pdb.upkeep.status import status_of

    result = status_of(_open(pdb), _day(as_of))
    _answer(result.to_json(str(pdb)), status_text(str(pdb), result), as_json=as_json)


@pdb_app.command("compact")
def pdb_compact(
    pdb: Database, *, dry_run: DryRun = False, purge: Purge = False, as_json: Json = False, wait: Wait = WAIT
) -> None:
    """Merge the small files of each day of each table.

    Every row, column, type, unit and source stays. Others read and ingest meanwhile. The old files are kept for a day,
    so that readers and an undo have them; --purge removes them at once.
    """
    from plexlens.pdb.upkeep.compact import compact, plan, planned
    from plexlens.pdb.upkeep.expire import purge as remove_kept

    content = _open(pdb)
    if dry_run:
        done = planned(plan(content.manifest))
    else:
        with progress_bar("groups", lines=False) as progress:
            done = compact(content, wait=wait, tell=tell, progress=progress)
        if purge:
            remove_kept(content, wait=wait, tell=tell)
    values = {
        "pdb": str(pdb),
        "dry_run": dry_run,
        "purged": purge and not dry_run,
        **{name: getattr(done, name) for name in ("files", "bytes", "into_files", "rows", "tables", "left")},
        "into_bytes": None if dry_run else done.into_bytes,
    }
    _answer(values, compacted_text(str(pdb), done, dry_run=dry_run, purged=purge), as_json=as_json)


@pdb_app.command("expire")
def pdb_expire(
    pdb: Database,
    *,
    as_of: AsOf = None,
    dry_run: DryRun = False,
    purge: Purge = False,
    as_json: Json = False,
    wait: Wait = WAIT,
) -> None:
    """Remove days of tables whose time is over, as retention.toml in the database says.

    Whole days of tables go; rows without a date stay. Sources stay known, so a dump that was ingested is not read
    again, and no other dump brings the removed days back. Files are kept for a day, so that an undo has them. Roll-ups
    of days whose rows are gone follow by their own ages; an undo does not have them.
    """
    from plexlens.pdb import retention
    from plexlens.pdb.upkeep.expire import expire, plan
    from plexlens.pdb.upkeep.expire import purge as remove_kept
    from plexlens.pdb.upkeep.expire_rollups import expire_rollups, plan_rollups
    from plexlens.pdb.upkeep.status import expired_json, expired_rollup_json, policy_json

    content, day = _open(pdb), _day(as_of)
    policy = retention.read(content.path)
    if dry_run:
        planned = plan(content.manifest, policy, day)
        gone = [entry for entry in planned if entry.files]
        rollups = plan_rollups(content, policy, day, planned)
    else:
        gone = expire(content, today=day, wait=wait, tell=tell)
        rollups = expire_rollups(content, today=day, wait=wait, tell=tell)
        if purge:
            remove_kept(content, wait=wait, tell=tell)
    values = {
        "pdb": str(pdb),
        "as_of": day.isoformat(),
        "dry_run": dry_run,
        "purged": purge and not dry_run,
        "retention": policy_json(policy) if policy.is_stated else None,
        "tables": [expired_json(entry) for entry in gone],
        "rollups": [expired_rollup_json(rollup) for rollup in rollups],
    }
    lines = expired_text(str(pdb), policy, day, gone, rollups, dry_run=dry_run, purged=purge)
    _answer(values, lines, as_json=as_json)


@pdb_app.command("verify")
def pdb_verify(pdb: Database, *, as_json: Json = False) -> None:
    """Compare every file of a database with what was written.

    Size, SHA-256, rows and columns of each file; each state that an undo can bring back. A file that is missing, cut or
    changed is named, with the sources from which it can be read again. Nothing is changed; exit code 3 if anything is
    wrong.
    """
    from plexlens.pdb.upkeep.verify import verify

    content = _open(pdb)
    with progress_bar(lines=False) as progress:
        verification = verify(content, progress=progress)
    values = {
        "pdb": str(pdb),
        "files": verification.files,
        "bytes": verification.bytes,
        "rows": verification.rows,
        "without_hash": verification.without_hash,
        "problems": [
            {
                "path": problem.path,
                "what": problem.what,
                "table": problem.file.table if problem.file else None,
                "day": problem.file.day if problem.file else None,
                "rows": problem.file.rows if problem.file else None,
                "sources": [
                    {"source_id": of.source_id, "file": of.file, "sha256": of.sha256, "at_hand": of.at_hand or None}
                    for of in problem.origins
                ],
            }
            for problem in verification.problems
        ],
    }
    _answer(values, verified_text(str(pdb), verification), as_json=as_json)
    if verification.problems:
        raise typer.Exit(3)


@pdb_app.command("repair")
def pdb_repair(
    pdb: Database,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do it without asking.")] = False,
    dry_run: DryRun = False,
    as_json: Json = False,
    wait: Wait = WAIT,
) -> None:
    """Repair a damaged database, and keep everything in it that is intact.

    Leftovers of commands that were killed are removed. A manifest that cannot be read gives way to the last good one.
    Entries of files that are missing or damaged are dropped, and their sources can then be ingested again. Files that
    are damaged, or that nothing names, are moved to the folder set-aside.
    """
    from plexlens.pdb.upkeep.repair import examine, repair

    with progress_bar(lines=False) as progress:
        diagnosis = examine(pdb, progress=progress)
    done = False
    if not (diagnosis.is_well or dry_run):
        if not yes:
            if as_json or not sys.stdin.isatty():
                for line in diagnosis_text(str(pdb), diagnosis, done=False):
                    tell(line)
                raise UsageError(
                    file=str(pdb), what="a repair changes the database", remedy="run the command again with --yes"
                )
            _answer(None, diagnosis_text(str(pdb), diagnosis, done=False), as_json=False)
            if not typer.confirm("Repair it?"):
                raise typer.Exit(2)
        diagnosis = repair(pdb, wait=wait, tell=tell)
        done = True
    problems = diagnosis.checked.problems if diagnosis.checked else []
    values = {
        "pdb": str(pdb),
        "repaired": done,
        "manifest": diagnosis.manifest or None,
        "falls_back_to": diagnosis.falls_back_to or None,
        "lost": diagnosis.lost or None,
        "staging": list(diagnosis.staging),
        "log": list(diagnosis.strays),
        "orphans": list(diagnosis.orphans),
        "files": [
            {
                "path": problem.path,
                "what": problem.what,
                "table": problem.file.table,
                "day": problem.file.day,
                "rows": problem.file.rows,
            }
            for problem in problems
            if problem.file
        ],
        "sources": [
            {"source_id": source.id, "file": source.file, "sha256": source.sha256} for source in diagnosis.sources
        ],
    }
    _answer(values, diagnosis_text(str(pdb), diagnosis, done=done), as_json=as_json)


@pdb_app.command("rebuild")
def pdb_rebuild(
    pdb: Database,
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[FILE...]", help="Sources that are now somewhere else, or the only ones to read again."
        ),
    ] = None,
    *,
    with_expired: Annotated[
        bool, typer.Option("--with-expired", help="Bring back rows of days that retention has removed.")
    ] = False,
    layouts: Layouts = None,
    dry_run: DryRun = False,
    as_json: Json = False,
    wait: Wait = WAIT,
) -> None:
    """Read the sources of a database again, with today's layouts and bounds.

    A source is found where it was ingested, if its contents are the same, or among FILE. Its rows are replaced by one
    commit. A source that is not at hand keeps its rows and is listed; so does one that cannot be read, and then the
    exit code is 3.
    """
    from plexlens.pdb.upkeep.rebuild import Rebuilt, find, rebuild

    content = _open(pdb)
    with progress_bar(lines=False) as progress:
        wanted = find(content, files or (), progress=progress)
        if dry_run:
            done = [
                Rebuilt(entry.source, done=False, reason="" if entry.path else "its file is not at hand")
                for entry in wanted
            ]
        else:
            done = rebuild(
                content,
                wanted,
                layouts=layouts or (),
                with_expired=with_expired,
                wait=wait,
                tell=tell,
                progress=progress,
            )
    values = {
        "pdb": str(pdb),
        "dry_run": dry_run,
        "sources": [
            {
                "source_id": entry.source.id,
                "file": entry.source.file,
                "sha256": entry.source.sha256,
                "rebuilt": entry.done,
                "reason": entry.reason or None,
                "rows_before": entry.rows_before,
                "rows": sum(entry.source.rows.values()) if entry.done else None,
            }
            for entry in done
        ],
    }
    _answer(values, rebuilt_text(str(pdb), done, dry_run=dry_run), as_json=as_json)
    if any(not entry.done and entry.reason and path.path is not None for entry, path in zip(done, wanted, strict=True)):
        raise typer.Exit(3)


@pdb_app.command("undo")
def pdb_undo(
    pdb: Database,
    *,
    to: Annotated[
        int | None, typer.Option("--to", metavar="COMMIT", help="Bring back the state after this commit.", min=0)
    ] = None,
    listing: Annotated[bool, typer.Option("--list", help="List the states that can be brought back.")] = False,
    dry_run: DryRun = False,
    as_json: Json = False,
    wait: Wait = WAIT,
) -> None:
    """Take back the last ingest, compaction, expiry, rebuild or repair.

    A second undo goes back one step further; --to COMMIT goes to any state that is kept, also forward again. A state is
    kept for 24 hours after the commit that replaced it ([undo] keep in retention.toml), at most 32 of them.
    """
    from dataclasses import asdict

    from plexlens.pdb.upkeep.undo import states, undo

    content = _open(pdb)
    if listing:
        every = states(content)
        _answer({"pdb": str(pdb), "states": [asdict(state) for state in every]}, states_text(every), as_json=as_json)
        return
    before, after = undo(content, to=to, wait=wait, tell=tell, dry_run=dry_run)
    values = {"pdb": str(pdb), "dry_run": dry_run, "undone": asdict(before), "state": asdict(after)}
    would = "would bring back" if dry_run else "is as it was"
    line = f"{pdb}: {would} after commit {after.commit} ({after.what or 'nothing'}); it was {before.what}"
    if dry_run:
        line = f"{pdb}: an undo would bring back the state after commit {after.commit} ({after.what})"
    _answer(values, [line], as_json=as_json)
