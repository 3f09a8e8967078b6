"""Layout files: written to a staging folder, checked together with the known layouts, then moved, all or none."""

from __future__ import annotations

import csv
import io
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from plexlens import _core
from plexlens.dsect.fields import Field
from plexlens.errors import UsageError
from plexlens.layouts_path import layouts_path

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
    UsageError
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
        with tempfile.TemporaryDirectory(prefix=".import-", dir=folder) as name:
            staged = Path(name)
            for section, text in texts.items():
                (staged / f"{section}.csv").write_text(text, encoding="utf-8", newline="")
            known = [layouts_path(), *([folder] if any(folder.glob("*.csv")) or (folder / "records").is_dir() else [])]
            _core.Catalogue([*known, staged])
            return _move_all(staged, folder, [f"{section}.csv" for section in texts])
    except OSError as error:
        raise UsageError(
            file=str(folder),
            what=f"the layouts cannot be written: {error.strerror or error}",
            remedy="name a folder that you may write to",
        ) from error
    finally:
        if not existed and folder.is_dir() and not any(folder.iterdir()):
            shutil.rmtree(folder, ignore_errors=True)


def _move_all(staged: Path, folder: Path, files: Sequence[str]) -> list[str]:
    """Move the files; if a move fails, undo the earlier moves."""
    kept = staged / "replaced"
    kept.mkdir()
    replaced: list[str] = []
    done: list[str] = []
    try:
        for file in files:
            if (folder / file).exists():
                (folder / file).replace(kept / file)
                replaced.append(file)
            (staged / file).replace(folder / file)
            done.append(file)
    except OSError:
        for file in done:
            (folder / file).unlink()
        for file in replaced:
            (kept / file).replace(folder / file)
        raise
    return replaced
