"""`plexlens sharing`: the cost of data sharing."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plexlens.cli.app import app
from plexlens.cli.options import Catalogue, DatabaseOrSources, Json
from plexlens.cli.output import Format, PageOut, check_apart, target
from plexlens.cli.selection import selectable, selected_page
from plexlens.cli.sharing_what_if import answer, asked_for
from plexlens.cli.sources import Reading, reads_dumps
from plexlens.cli.terminal import progress_bar
from plexlens.errors import UsageError
from plexlens.whole_file import check_file

if TYPE_CHECKING:
    from plexlens.metrics.selection import Selection


class AtCommit(StrEnum):
    """Address space charged for writes at commit."""

    AUTO = "auto"
    MSTR = "MSTR"
    THREAD = "thread"


@app.command()
@selectable
@reads_dumps
def sharing(
    sources: DatabaseOrSources,
    *,
    sync_path: Annotated[
        float | None,
        typer.Option(metavar="MICROSECONDS", help="CPU time per synchronous request in addition to its service time."),
    ] = None,
    async_path: Annotated[
        float | None, typer.Option(metavar="MICROSECONDS", help="CPU time per asynchronous request.")
    ] = None,
    contention_path: Annotated[
        float | None, typer.Option(metavar="MICROSECONDS", help="CPU time per lock contention that messages resolve.")
    ] = None,
    negotiation_path: Annotated[
        float | None, typer.Option(metavar="MICROSECONDS", help="CPU time per P-lock negotiation.")
    ] = None,
    notify_path: Annotated[
        float | None, typer.Option(metavar="MICROSECONDS", help="CPU time per notify message.")
    ] = None,
    read_path: Annotated[
        float | None, typer.Option(metavar="MICROSECONDS", help="CPU time per read from disk after cross-invalidation.")
    ] = None,
    speed: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FACTOR|SYSTEM=FACTOR", help="Processor speed as a multiple of about 1,500 MIPS; repeatable."
        ),
    ] = None,
    commit_writes: Annotated[
        AtCommit, typer.Option("--commit-writes", help="Address space charged for synchronous GBP writes at commit.")
    ] = AtCommit.AUTO,
    lock_entries: Annotated[
        list[str] | None,
        typer.Option(metavar="[GROUP=]Nx|N", help="What if: number of lock table entries, such as 2x."),
    ] = None,
    gbp: Annotated[
        list[str] | None,
        typer.Option(metavar="GBPn=Nx|N", help="What if: size of a group buffer pool, such as GBP1=2x."),
    ] = None,
    ratio: Annotated[
        list[str] | None,
        typer.Option(metavar="GBPn=N", help="What if: directory entries per data page, in the same storage."),
    ] = None,
    separate: Annotated[
        list[str] | None,
        typer.Option(metavar="POOL|PAGESET", help="What if: each member uses its own part of the pages (affinity)."),
    ] = None,
    cf_speed: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[CF=]N", help="What if: speed of coupling facilities as a multiple of the present speed."
        ),
    ] = None,
    distance: Annotated[
        list[str] | None, typer.Option(metavar="[CF=]Nkm", help="What if: length of the fibre to coupling facilities.")
    ] = None,
    link: Annotated[
        list[str] | None,
        typer.Option(metavar="[CF=]Nx", help="What if: time on links and adapters as a multiple of the present time."),
    ] = None,
    engine_speed: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[SYSTEM=]N", help="What if: speed of a system's machine as a multiple of the present speed."
        ),
    ] = None,
    threshold: Annotated[
        list[str] | None,
        typer.Option(metavar="Nus", help="What if: service time above which requests become asynchronous; 0 = never."),
    ] = None,
    convert_above: Annotated[
        float | None,
        typer.Option(
            metavar="MICROSECONDS", help="Present conversion threshold, instead of the measured one; 0 = never."
        ),
    ] = None,
    index_pool: Annotated[
        list[str] | None, typer.Option(metavar="BPn", help="Pool that holds only indexes, whose pages are not locked.")
    ] = None,
    seeds: Annotated[
        int, typer.Option(metavar="N", help="Number of simulation runs of the twin and of each change.")
    ] = 5,
    tolerance: Annotated[
        float, typer.Option(metavar="PERCENT", help="Maximum error of the twin before results are marked unreliable.")
    ] = 15.0,
    write_scenario: Annotated[
        Path | None,
        typer.Option(
            "--write-scenario", metavar="FILE", help="Write the twin of the group as a scenario for plexlens simulate."
        ),
    ] = None,
    form: Format = None,
    output: PageOut = None,
    as_json: Json = False,
    catalogue: Catalogue = None,
    reading: Reading,
    selection: Selection,
) -> None:
    """Report the cost of data sharing.

    The report has requests by kind, CPU time by transaction class and address space, and delays.

    The options --lock-entries, --gbp, --ratio, --separate, --cf-speed, --distance, --link, --engine-speed and
    --threshold ask what a change would do. The group is then simulated with each change alone and with all of them;
    each answer has an error bar.
    """
    from plexlens.metrics.opening import explained, inputs_of
    from plexlens.sharing import Assumptions, CommitWrites, cost_of, measure
    from plexlens.sharing.json_object import to_object
    from plexlens.sharing.page.report import sharing_report

    where = target("sharing", output, form, as_json=as_json, inputs=sources)
    check_file(write_scenario, sources)
    check_apart({"-o": where.path, "--write-scenario": write_scenario})
    options = asked_for(
        {
            "lock-entries": lock_entries, "gbp": gbp, "ratio": ratio, "separate": separate, "cf-speed": cf_speed,
            "distance": distance, "link": link, "engine-speed": engine_speed, "threshold": threshold,
        },
        seeds=seeds, tolerance=tolerance, convert_above=convert_above, index_pools=index_pool,
        write_scenario=write_scenario,
    )  # fmt: skip
    paths = {
        "sync_path": sync_path, "async_path": async_path, "contention_path": contention_path,
        "negotiation_path": negotiation_path, "notify_path": notify_path, "read_path": read_path,
    }  # fmt: skip
    whole, single = _speeds(speed or ())
    stated = Assumptions(
        **{name: value * 1e-6 for name, value in paths.items() if value is not None},
        commit_writes=CommitWrites(commit_writes.value),
        speed=whole,
        speeds=single,
    )
    name = str(sources[0])
    with progress_bar() as progress, inputs_of(sources, reading, progress, selection) as inputs:
        progress(0, 0, "adding up requests")
        selections = {"": inputs.selection}
        with explained(inputs.selection):
            cost_of_sharing = cost_of(measure(inputs, name), stated, name)
            answered = answer(inputs, name, stated, options, progress)
    where.show(
        selected_page(
            lambda: answered.defined(sharing_report(cost_of_sharing, answered.sections())),
            lambda: answered.added(to_object(cost_of_sharing)),
            selections,
        )
    )


def _speeds(texts: Iterable[str]) -> tuple[float, dict[str, float]]:
    """The speed of all engines, and the speeds of single systems."""
    whole, single = 1.0, {}
    for text in texts:
        system, sign, value = text.rpartition("=")
        try:
            factor = float(value)
        except ValueError:
            raise UsageError(
                file="",
                what=f"--speed {text} is not a factor",
                remedy="give a factor, as in --speed 1.2 or --speed SYS1=1.2",
            ) from None
        if sign:
            single[system] = factor
        else:
            whole = factor
    return whole, single
