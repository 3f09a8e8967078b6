"""Objects of Db2: their I/O, its cost per day, and the devices behind them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from plexlens.pools.responses import OBJECT, OF_DB2, assembled
from plexlens.report.blocks.page import FigureSpec, Page, Pick, Shown, TableSpec
from plexlens.report.blocks.responses import COLUMNS, response_blocks
from plexlens.report.blocks.ways import DB2_LSTATS
from plexlens.report.model import Block, Way
from plexlens.report.model.fields import Definitions

if TYPE_CHECKING:
    from plexlens.report.blocks.context import Context

_OBJECT = ("subsystem", "pool", "database", "page_set", "partition")

#: Objects of SMF 42-6 that are looked at, those with most time in I/O.
_MOST = 500


def _prepare(context: Context) -> None:
    context.numbers.need("data_set", (*COLUMNS, *OBJECT), OF_DB2)
    context.numbers.need("dasd_device", ("response_time", "disconnect_time"), None)
    context.numbers.need("db2_data_set", ("sync_delay",), None)


def _blocks(context: Context) -> Sequence[Block]:
    grain_data = context.data("data_set")
    if grain_data is None:
        return ()

    def rows(
        name: str, columns: Iterable[str], by: tuple[str, ...], where: Any = None, limit: int = 0
    ) -> list[dict[str, Any]]:
        data = context.data(name)
        if data is None:
            return []
        order = "response_seconds" if limit else ""
        table, _ = context.numbers.rows(data, tuple(columns), by=by, where=where, order=order, limit=limit)
        results: list[dict[str, Any]] = table.to_pylist()
        return results

    objects = rows("data_set", COLUMNS, OBJECT, OF_DB2, _MOST)
    if not objects:
        return ()
    responses = assembled(
        objects,
        rows("data_set", ("ios",), (*OBJECT, "volume"), OF_DB2),
        rows("dasd_device", ("response_time", "disconnect_time"), ("volume",)),
        rows("db2_data_set", ("sync_delay",), ("database", "page_set")),
    )
    for column in COLUMNS:
        context.define(grain_data.grain, column)
    return response_blocks(responses, Definitions(context.definitions))


PAGE = Page(
    order=830,
    id="db2_objects",
    title="Db2 objects",
    lead="Objects with the most reads, their cost per day, and the response times of their devices.",
    what="I/O of Db2 objects",
    ways=(
        Way(
            "SMF 102 IFCID 199",
            "-START TRACE(STAT) CLASS(8) DEST(SMF), and TYPE(102) in SMFPRMxx; objects with less than one I/O per "
            "second are not recorded. IFCID 105 and 107 give the names of objects.",
        ),
        DB2_LSTATS,
    ),
    figures=(
        FigureSpec(
            "db2_worst_object",
            "Db2 object with most I/O",
            "db2_data_set",
            "ios_per_second",
            by=_OBJECT,
            pick=Pick.HIGHEST,
        ),
    ),
    tables=(
        TableSpec(
            "db2_data_sets",
            "Objects, by I/O",
            "db2_data_set",
            (
                Shown("kind"),
                Shown("ios_per_second", "All", group="I/O", bar=True),
                Shown("sync_ios_per_second", "Synchronous", group="I/O"),
                Shown("async_ios_per_second", "Asynchronous", group="I/O"),
                Shown("cpu_per_day", "CPU", group="In 24 hours"),
                Shown("sync_delay_per_day", "Delay", group="In 24 hours"),
                Shown("sync_delay", "Mean", group="Synchronous delay"),
                Shown("sync_delay_longest_seconds", "Longest", group="Synchronous delay"),
                Shown("async_delay", "Mean", group="Asynchronous delay"),
                Shown("async_delay_longest_seconds", "Longest", group="Asynchronous delay"),
                Shown("pages_per_async_io"),
                Shown("pages_cached"),
                Shown("pages_changed"),
            ),
            by=_OBJECT,
            order="ios_per_second",
            top=20,
            note="I/O per second takes CPU, and its delay makes work wait. If an object has the same number of I/Os "
            "as another and twice the delay, the disk cache holds its pages less often. The page Db2 shows "
            "buffer pools.",
        ),
    ),
    blocks=_blocks,
    prepare=_prepare,
)
