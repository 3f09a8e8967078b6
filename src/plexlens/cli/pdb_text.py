"""The answers of `plexlens pdb` as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from typing import TYPE_CHECKING

from plexlens.cli.terminal import table_text

if TYPE_CHECKING:
    from plexlens.pdb.retention import Retention
    from plexlens.pdb.upkeep.compact import Compaction
    from plexlens.pdb.upkeep.expire import Expired
    from plexlens.pdb.upkeep.expire_rollups import ExpiredRollup
    from plexlens.pdb.upkeep.rebuild import Rebuilt
    from plexlens.pdb.upkeep.repair import Diagnosis
    from plexlens.pdb.upkeep.status import Status
    from plexlens.pdb.upkeep.undo import State
    from plexlens.pdb.upkeep.verify import Verification

#: Files that are listed one by one before the rest is only counted.
_LISTED = 20


def counted(number: int, noun: str) -> str:
    """A number and its noun: ``1 file``, ``2,000 files``."""
    many = noun[:-1] + "ies" if noun.endswith("y") and noun[-2] not in "aeiou" else noun + "s"
    return f"{number:,} {noun if number == 1 else many}"


def size_text(size: int) -> str:
    """Bytes in the unit that suits them."""
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= factor:
            return f"{size / factor:,.1f} {unit}"
    return f"{size} bytes"


def _some(listed: Sequence[str]) -> Iterator[str]:
    yield from (f"  {text}" for text in listed[:_LISTED])
    if len(listed) > _LISTED:
        yield f"  and {len(listed) - _LISTED:,} more (--json lists all)"


def status_text(path: str, result: Status) -> Iterator[str]:
    """The answer of `status`."""
    files, size = sum(table.files for table in result.tables), sum(table.bytes for table in result.tables)
    rows = sum(table.rows for table in result.tables)
    oldest = min((table.oldest for table in result.tables if table.oldest), default=None)
    newest = max((table.newest for table in result.tables if table.newest), default=None)
    yield f"{path}: {counted(result.sources, 'source')}, {counted(len(result.tables), 'table')}, {counted(rows, 'row')}"
    yield f"  {counted(files, 'file')}, {size_text(size)}" + (f", days {oldest} to {newest}" if oldest else "")
    if result.format == 1:
        yield "  format 1: the next command that writes brings it to the present format"
    elif result.commit:
        yield f"  format {result.format}, commit {result.commit} at {result.at}: {result.what}"
    else:
        yield f"  format {result.format}, nothing was committed yet"
    yield f"  written now by: {result.holder}" if result.holder else "  nobody writes"
    small = result.small
    if small.files:
        yield f"  small files: {small.files:,}, to become {small.into_files:,} with: plexlens pdb compact {path}"
    else:
        yield "  small files: none that a compaction would merge"
    if result.incomplete:
        yield f"  {counted(result.incomplete, 'source')} lost rows: ingest them again, or plexlens pdb rebuild {path}"
    if result.orphans or result.staging:
        left = [counted(len(result.orphans), "file") + " that nothing names"] if result.orphans else []
        left += [counted(len(result.staging), "folder") + " of commands that were killed"] if result.staging else []
        yield f"  lying about: {', '.join(left)}; see plexlens pdb repair {path} --dry-run"
    if result.rollups:
        days = [day for rollup in result.rollups for day in (rollup.oldest, rollup.newest) if day]
        yield (
            f"  roll-ups: {counted(len(result.rollups), 'grain')}, days {min(days)} to {max(days)}, "
            f"{size_text(sum(rollup.bytes for rollup in result.rollups))}"
        )
    yield from _retention_lines(path, result)
    kept = (
        f", {counted(result.kept_files, 'replaced file')} ({size_text(result.kept_bytes)})" if result.kept_files else ""
    )
    states = len([state for state in result.states if not state.is_now])
    yield f"  undo: {counted(states, 'earlier state')} kept{kept}"
    if result.tables:
        yield ""
        names = ("table", "rows", "files", "KiB", "days", "oldest", "newest")
        cells = [
            [
                table.name,
                table.rows,
                table.files,
                round(table.bytes / 1024),
                table.days,
                table.oldest or "",
                table.newest or "",
            ]
            for table in result.tables
        ]
        yield table_text(names, cells).rstrip("\n")


def _retention_lines(path: str, result: Status) -> Iterator[str]:
    policy = result.policy
    if policy is None:
        yield f"  retention: {result.policy_error}"
    elif not policy.is_stated:
        yield "  retention: everything is kept; retention.toml in the database would say otherwise"
    else:
        ages = {"raw tables": policy.raw, **policy.families, "hours": policy.hour, "days": policy.day}
        yield "  retention: " + ", ".join(f"{name} {age or 'for ever'}" for name, age in ages.items())
        if result.expiring:
            files = sum(len(entry.files) for entry in result.expiring)
            rows, size = sum(entry.rows for entry in result.expiring), sum(entry.bytes for entry in result.expiring)
            days = len({day for entry in result.expiring for day in entry.days})
            yield (
                f"  expired: {counted(days, 'day')} of {counted(len(result.expiring), 'table')}, "
                f"{counted(rows, 'row')}, {counted(files, 'file')}, {size_text(size)}; "
                f"remove them with: plexlens pdb expire {path}"
            )
        if result.expiring_rollups:
            size = sum(expiring_rollup.bytes for expiring_rollup in result.expiring_rollups)
            days = len({day for expiring_rollup in result.expiring_rollups for day in expiring_rollup.days})
            yield f"  expired: roll-ups of {counted(days, 'day')}, {size_text(size)}; the same command removes them"
        if not result.expiring and not result.expiring_rollups:
            yield "  expired: nothing today"


def compacted_text(path: str, done: Compaction, *, dry_run: bool, purged: bool) -> Iterator[str]:
    """The answer of `compact`."""
    if not done.files and not done.left:
        yield f"{path}: there is nothing to merge"
    elif dry_run:
        yield (
            f"{path}: {counted(done.files, 'file')} ({size_text(done.bytes)}) of {counted(done.tables, 'table')} would "
            f"become {counted(done.into_files, 'file')}"
        )
        return
    else:
        of = f"{counted(done.files, 'file')} ({size_text(done.bytes)}) of {counted(done.tables, 'table')}"
        into = f"{counted(done.into_files, 'file')} ({size_text(done.into_bytes)})"
        yield f"{path}: {of} are now {into} with the same {counted(done.rows, 'row')}"
    if done.left:
        yield f"  {counted(done.left, 'file')} were replaced by another command meanwhile; run this command again"
    yield from _kept(path, purged=purged, any_gone=bool(done.files))


def _kept(path: str, *, purged: bool, any_gone: bool) -> Iterator[str]:
    if purged:
        yield "  the files that were kept for an undo are removed"
    elif any_gone:
        yield f"  the old files are kept for an undo (plexlens pdb undo {path}) until their time is over"


def expired_text(
    path: str,
    policy: Retention,
    day: date,
    gone: Sequence[Expired],
    rollups: Sequence[ExpiredRollup],
    *,
    dry_run: bool,
    purged: bool,
) -> Iterator[str]:
    """The answer of `expire`."""
    verb = "would go" if dry_run else "went"
    if not policy.is_stated:
        yield f"{path}: there is no retention.toml, so nothing expires; docs/pdb.md shows how it is written"
    elif not gone and not rollups:
        yield f"{path}: nothing has expired by {day}"
    if gone:
        rows, size = sum(entry.rows for entry in gone), sum(entry.bytes for entry in gone)
        yield f"{path}: {counted(rows, 'row')} ({size_text(size)}) of {counted(len(gone), 'table')} {verb}, by {day}"
        yield _gone_text("table", [(entry.table, entry.age, entry) for entry in gone])
    if rollups:
        size = sum(rollup.bytes for rollup in rollups)
        yield f"{path}: roll-ups of days whose raw rows have expired ({size_text(size)}) {verb}, by {day}"
        yield _gone_text("roll-up", [(f"{rollup.grain}, by {rollup.level}", rollup.age, rollup) for rollup in rollups])
    if not dry_run:
        yield from _kept(path, purged=purged, any_gone=bool(gone))


def _gone_text(what: str, gone: Sequence[tuple[str, str, Expired | ExpiredRollup]]) -> str:
    names = (what, "kept", "days", "first", "last", "rows", "KiB")
    cells = [
        [name, age, len(entry.days), entry.days[0], entry.days[-1], entry.rows, round(entry.bytes / 1024)]
        for name, age, entry in gone
    ]
    return table_text(names, cells).rstrip("\n")


def verified_text(path: str, verification: Verification) -> Iterator[str]:
    """The answer of `verify`."""
    what = (
        f"{counted(verification.files, 'file')}, {counted(verification.rows, 'row')}, {size_text(verification.bytes)}"
    )
    if not verification.problems:
        yield f"{path}: {what}: nothing differs from what was written"
    else:
        yield f"{path}: {what}: {counted(len(verification.problems), 'thing')} not as written"
    if verification.without_hash:
        yield (
            f"  {counted(verification.without_hash, 'file')} of format 1 have no stored hash; they were read to "
            "the last page "
            "instead. A compaction gives the files that it writes a hash"
        )
    for problem in verification.problems:
        yield f"  {problem.path}: {problem.what}"
        if problem.file is not None:
            yield f"    {problem.file.table}, {problem.file.day}, {counted(problem.file.rows, 'row')}"
        for of in problem.origins:
            where = f"at hand: {of.at_hand}" if of.at_hand else "not at hand"
            yield f"    from {of.file} (SHA-256 {of.sha256}), {where}"
    if any(problem.file for problem in verification.problems):
        yield f"  next: plexlens pdb repair {path}, then plexlens pdb rebuild {path}, or ingest these sources again"


def diagnosis_text(path: str, diagnosis: Diagnosis, *, done: bool) -> Iterator[str]:
    """The answer of `repair`, or what it would do."""
    if diagnosis.is_well:
        yield f"{path}: there is nothing to repair"
        return
    yield f"{path}: repaired" if done else f"{path}: a repair would do this"
    if diagnosis.manifest:
        yield f"  the manifest gives way to {diagnosis.falls_back_to}: {diagnosis.manifest}"
        if diagnosis.lost:
            yield f"  lost with it: {diagnosis.lost}; ingest these sources again"
    if diagnosis.staging:
        yield f"  what {counted(len(diagnosis.staging), 'command')} that were killed have left is removed:"
        yield from _some(diagnosis.staging)
    if diagnosis.strays:
        yield f"  parts of the log that no manifest names are removed: {', '.join(diagnosis.strays)}"
    if diagnosis.orphans:
        yield "  files that nothing names are moved to set-aside:"
        yield from _some(diagnosis.orphans)
    broken = [problem for problem in diagnosis.checked.problems if problem.file] if diagnosis.checked else []
    if broken:
        yield "  entries of files are dropped, and the files, if there, moved to set-aside:"
        yield from _some(
            [f"{problem.path}: {problem.what} ({problem.file.rows:,} rows)" for problem in broken if problem.file]
        )
        yield "  these sources have lost rows; ingest them again, and they are read whole:"
        yield from _some([f"{source.file} (SHA-256 {source.sha256})" for source in diagnosis.sources])
        if any(problem.file and problem.file.table.endswith("_record") for problem in broken):
            yield (
                "  until then, a dump that overlaps with them may bring records twice: the list of the records "
                "that are held is among the lost files"
            )


def rebuilt_text(path: str, done: Sequence[Rebuilt], *, dry_run: bool) -> Iterator[str]:
    """The answer of `rebuild`."""
    if not done:
        yield f"{path}: the database has no source"
    for entry in done:
        if entry.done:
            rows = sum(entry.source.rows.values())
            yield f"{entry.source.file}: read again ({rows:,} rows, {entry.rows_before:,} before)"
        elif dry_run and not entry.reason:
            yield f"{entry.source.file}: would be read again"
        else:
            yield f"{entry.source.file}: kept as it is: {entry.reason}"
    if done and not dry_run:
        count = sum(entry.done for entry in done)
        yield f"{path}: {count:,} of {counted(len(done), 'source')} read again"


def states_text(states: Sequence[State]) -> Iterator[str]:
    """The states of `undo --list`."""
    names = ("commit", "at (UTC)", "what it did", "")
    cells = [[state.commit, state.at, state.what, "now" if state.is_now else ""] for state in states]
    yield table_text(names, cells).rstrip("\n") if cells else "no state is kept yet"
