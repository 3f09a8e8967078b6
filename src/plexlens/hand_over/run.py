"""A hand-over: all inputs surveyed, their names replaced by one key, and each input copied."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plexlens.errors import UnknownSourceError, UsageError
from plexlens.hand_over.account import Account
from plexlens.hand_over.database import DatabaseCopier
from plexlens.hand_over.dump import DumpCopier
from plexlens.hand_over.holds import known_words
from plexlens.hand_over.key import Key
from plexlens.hand_over.printed import PrintedCopier
from plexlens.hand_over.trace import TraceCopier
from plexlens.hand_over.translation import Translation
from plexlens.ingest.kinds import recognise
from plexlens.ingest.recognition import read_head
from plexlens.progress import Progress, silent
from plexlens.whole_file import is_part, make_folder, whole_file

_DUMP, _MONITOR, _ACCOUNT, _DATABASE, TRACE = "smf", "monwrite", "vm_account", "pdb", "trace"
_ENDINGS = {_DUMP: ".smf", "rmf_xml": ".xml", "text_reports": ".txt", _DATABASE: ".pdb", TRACE: ".csv"}
#: Kinds of source that cannot be copied: the message, and what to do.
_NOT_COPIED = {
    _MONITOR: (
        "z/VM monitor data cannot be copied under other names: most of its fields have no layout",
        "ingest it, and anonymise the database",
    ),
    _ACCOUNT: (
        "z/VM accounting records cannot be copied under other names",
        "ingest them, and anonymise the database",
    ),
}
_PARQUET, _ARROW = b"PAR1", b"ARROW1"


@dataclass(frozen=True)
class Job:
    """Inputs, output and choices of a hand-over.

    Attributes
    ----------
    files
        The inputs.
    output
        The file to write for a single input; the folder for several.
    key
        The key file's contents; names are added to it.
    layouts
        Folders with layouts of the site.
    codepage
        EBCDIC code page of text in dumps.
    drop
        Whether records that are not known are left out.
    """

    files: tuple[Path, ...]
    output: Path
    key: Key
    layouts: tuple[Path, ...] = ()
    codepage: str = "1047"
    drop: bool = False


def hand_over(job: Job, progress: Progress = silent) -> list[Account]:
    """Copy the inputs under other names; the key has their names afterwards.

    Outputs of several inputs are named by number, since names of files name jobs and systems too.

    Raises
    ------
    PlexlensError
        An input cannot be read, is of no kind that can be handed over, or has parts that are not known.
    """
    kinds = [kind_of(path) for path in job.files]
    outputs = _outputs(job, kinds)
    dumps = DumpCopier(job.layouts, job.codepage) if _DUMP in kinds else None
    printed = PrintedCopier(known_words(job.layouts), job.layouts)
    databases = DatabaseCopier(printed, job.layouts) if _DATABASE in kinds else None
    traces = TraceCopier()
    translation = Translation(job.key, known_words(job.layouts))
    surveys: list[dict[str, Any]] = []
    for done, (path, kind) in enumerate(zip(job.files, kinds, strict=True)):
        progress(done, 2 * len(kinds), f"reading {path.name}")
        if kind == _DUMP and dumps:
            surveys.append(dumps.survey(path))
        elif kind == _DATABASE and databases:
            surveys.append(databases.survey(path))
        else:
            surveys.append(traces.survey(path) if kind == TRACE else printed.survey(path, kind))
    # Names are learnt of all inputs at once, so that no name of one comes back as a replacement in another.
    translation.learn(name for survey in surveys for name in survey["names"])
    accounts = []
    for done, (path, kind, output, survey) in enumerate(zip(job.files, kinds, outputs, surveys, strict=True)):
        progress(len(kinds) + done, 2 * len(kinds), f"writing {output.name}")
        if kind == _DATABASE and databases:
            account = databases.copy(output, translation, survey)
        elif kind == TRACE:
            account = traces.copy(output, translation, survey)
        else:
            with whole_file(output) as part:
                if kind == _DUMP and dumps:
                    account = dumps.copy(path, part, translation, survey, drop=job.drop)
                else:
                    account = printed.copy(path, part, translation, survey)
        account.output = str(output)
        accounts.append(account)
    return accounts


def kind_of(path: Path) -> str:
    """Kind of a source: that of `plexlens.ingest.kinds.SOURCES`, or ``pdb``, or ``trace``.

    Raises
    ------
    PlexlensError
        It is none of these.
    """
    if (path / "manifest.json").is_file():
        return _DATABASE
    if path.is_file() and read_head(path).startswith((_PARQUET, _ARROW)):
        return TRACE
    try:
        kind = recognise(path).name
    except UnknownSourceError:
        if not has_pages(path):
            raise
        return TRACE
    if kind in _NOT_COPIED:
        what, remedy = _NOT_COPIED[kind]
        raise UsageError(file=str(path), what=what, remedy=remedy)
    return kind


def has_pages(path: Path) -> bool:
    """Whether a text has the heading of a page-reference trace."""
    heading = read_head(path).split(b"\n", 1)[0].decode("utf-8", errors="replace")
    return "page" in {name.strip().strip('"') for name in re.split(r"[,;|\t]", heading.strip("\r\ufeff"))}


def _outputs(job: Job, kinds: Sequence[str]) -> list[Path]:
    if len(job.files) == 1 and (not job.output.is_dir() or kinds == [_DATABASE]):
        return [job.output]
    if job.output.exists() and not job.output.is_dir():
        raise UsageError(
            file=str(job.output),
            what="it is a file, and there are several inputs",
            remedy="name a folder for the outputs",
        )
    make_folder(job.output)
    if not all(is_part(path) for path in job.output.iterdir()):
        raise UsageError(
            file=str(job.output), what="the folder is not empty", remedy="name a new or empty folder for the outputs"
        )
    width = len(str(len(kinds)))
    binary = [
        kind == TRACE and read_head(path).startswith(_PARQUET) for path, kind in zip(job.files, kinds, strict=True)
    ]
    return [
        job.output / f"source-{number:0{width}}{'.parquet' if is_parquet else _ENDINGS[kind]}"
        for number, (kind, is_parquet) in enumerate(zip(kinds, binary, strict=True), start=1)
    ]
