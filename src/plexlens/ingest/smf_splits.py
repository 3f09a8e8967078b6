"""Parts of large SMF dumps, each read by itself: the plan that Spark's tasks follow."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from plexlens import _core
from plexlens.ingest.feed import fed
from plexlens.ingest.smf import smf_error
from plexlens.layouts_path import layout_folders

Split = dict[str, Any]
"""A part of a dump, for `plexlens.ingest.smf.read`: where it lies, and what was read before it that it needs."""


class SplitPlan:
    """Plans dumps, one after the other: a record in several of them belongs to the first.

    Each dump is walked through once, as when it is read, and nothing is decoded. A part begins at the first place
    behind `split_bytes` at which no record is open. A dump is one part if it is compressed, or its records have no
    descriptor words. It is not cut where damage adjoins, where more than 1 MiB of records that RMF split wait for their
    parts, or, if CICS tables are read, where performance records wait for their dictionary.

    Parameters
    ----------
    tables
        The tables to read; None for all. CICS dictionaries are looked for where a table needs them.
    split_bytes
        About how many bytes a part has.
    codepage
        EBCDIC code page of text: ``037`` or ``1047``.
    """

    def __init__(self, tables: Sequence[str] | None, *, split_bytes: int, codepage: str = "1047") -> None:
        self._planner = _core.SplitPlanner(
            _core.Catalogue(layout_folders()),
            tables=None if tables is None else list(tables),
            split_bytes=split_bytes,
            codepage=codepage,
        )

    def parts_of(self, path: Path) -> list[Split]:
        """The parts of a dump, in its order.

        Raises
        ------
        UnknownSourceError
            The file is not an SMF dump.
        UnreadableInputError
            The dump cannot be read.
        """
        parts: list[Split] = []
        failed: _core.SmfError | None = None
        with fed(path) as feed:
            try:
                parts = self._planner.plan(feed.path)
            except _core.SmfError as error:
                failed = error
        # Only now: a pipe is filled no further when nobody reads it any more.
        if failed is not None:
            raise smf_error(path, failed, feed) from failed
        feed.check()
        return parts
