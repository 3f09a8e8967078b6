"""Layout files: written to a staging folder, checked together with the known layouts, then moved, all or none."""

from __future__ import annotations

import csv
import io
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from plexlens import _core
from plexlens.dsect.fields import Field
from plexlens.errors import UsageError
from plexlens.layouts_path import layouts_path
from plexlens.whole_file import refused

#: Beginning of the folder in which an import writes before it moves; the number of its process follows.
_STAGING = ".import-"

HEADING = ("field", "offset", "length", "format", "unit", "description", "since", "source", "confidence")


def layout_text(fields: Sequence[Field]) -> str:
    """The text of a layout file."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEADING)
    for field in fields:
        description = " ".join(field.description.split())
        writer.writerow(
            (
                field.name,
                field.offset,
                field.length,
                field.format,
                field.unit,
                description,
                field.since,
                field.source,
                field.confidence,
            )
        )
    return out.getvalue()


def publish(folder: Path, texts: Mapping[str, str]) -> list[str]:
    """Put layout files into a folder.

    Parameters
    ----------
    folder
        Where to; made when it is not there.
    texts
        The files' texts by section name.

    Returns
    -------
    list of str
        Names of the files that replaced others.

    Raises
    ------
    plexlens._core.SmfError
        The layouts do not stand together with those that come with Plexlens and those already in the folder.
    PlexlensError
        The folder cannot be written to. In either case it is as it was before.
    """
    if folder.exists() and folder.resolve() == layouts_path().resolve():
        raise UsageError(
            file=str(folder),
            what="these are the bundled layouts",
            remedy="choose another folder, and give it with --layouts to the commands that read dumps",
        )
    existed = folder.is_dir()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(folder)
        with tempfile.TemporaryDirectory(prefix=f"{_STAGING}{os.getpid()}-", dir=folder) as name:
            staged = Path(name)
            for section, text in texts.items():
                (staged / f"{section}.csv").write_text(text, encoding="utf-8", newline="")
            known = [layouts_path(), *([folder] if any(folder.glob("*.csv")) or (folder / "records").is_dir() else [])]
            _core.Catalogue([*known, staged])
            return _move_all(staged, folder, [f"{section}.csv" for section in texts])
    except OSError as error:
        raise refused(folder, error, kept="; the layouts that were there before are unchanged") from error
    finally:
        if not existed and folder.is_dir() and not any(folder.iterdir()):
            shutil.rmtree(folder, ignore_errors=True)


def _remove_abandoned(folder: Path) -> None:
    """Remove what an import that was killed has left; only where the system tells which processes run."""
    if not Path("/proc/self").exists():
        return
    for left in folder.glob(f"{_STAGING}*"):
        process = left.name.removeprefix(_STAGING).partition("-")[0]
        if not process.isdecimal() or not Path("/proc", process).exists():
            shutil.rmtree(left, ignore_errors=True)


def _move_all(staged: Path, folder: Path, files: Sequence[str]) -> list[str]:
    """Move the files, each of which replaces another at once; if a move fails, undo the earlier moves."""
    kept = staged / "replaced"
    kept.mkdir()
    replaced: list[str] = []
    done: list[str] = []
    try:
        for file in files:
            if (folder / file).exists():
                shutil.copy2(folder / file, kept / file)
                replaced.append(file)
            (staged / file).replace(folder / file)
            done.append(file)
    except OSError:
        for file in done:
            if file in replaced:
                (kept / file).replace(folder / file)
            else:
                (folder / file).unlink()
        raise
    return replaced
