"""`plexlens pools`: simulate buffer pools with a page-reference trace."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plexlens.cli.app import app
from plexlens.cli.engine import Computing, computes_curves
from plexlens.cli.options import Catalogue, Json, Layouts
from plexlens.cli.output import Format, PageOut, Target, check_apart, check_dump, page, target
from plexlens.cli.terminal import err, progress_bar
from plexlens.errors import NothingUsableError, UsageError
from plexlens.report.forms import Form
from plexlens.whole_file import check_file, whole_file

# Loaded with the answer: --help and --howto need neither.
if TYPE_CHECKING:
    from collections.abc import Mapping

    from plexlens.pools.page.answer import Answer
    from plexlens.pools.page.options import Options
    from plexlens.pools.trace import NoReferencesError
    from plexlens.progress import Progress


@app.command()
@computes_curves
def pools(
    traces: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="TRACE...",
            help="A page-reference trace in one or more files (CSV, Parquet, Arrow, oracleGeneral, SMF dumps with "
            "IFCID 198), or a performance database. Without a trace, statistics give ranges: SMF 100 and IFCID 199, or "
            "output of -DISPLAY BUFFERPOOL with DETAIL(INTERVAL) and LSTATS.",
        ),
    ] = None,
    *,
    sizes: Annotated[
        str, typer.Option(metavar="PAGES,...", help="Pool sizes of the curves, such as 1000,5000 (default: 20 sizes).")
    ] = "",
    sample: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE", help="Compute curves from this share of the pages, such as 0.01, with the error."
        ),
    ] = None,
    shards: Annotated[
        int,
        typer.Option(
            min=1,
            max=1024,
            metavar="N",
            help="With --engine spark, estimate the curve of a large pool from N shards of its pages, with the error.",
        ),
    ] = 1,
    budget: Annotated[
        str,
        typer.Option(
            metavar="SIZE|MEMBER=SIZE,...",
            help="Recommend pool sizes, placement of objects and settings within this storage, such as 4GiB; in a "
            "group it applies to each member, or give DB1A=4GiB,DB1B=2GiB.",
        ),
    ] = "",
    gbp_budget: Annotated[
        str,
        typer.Option(
            "--gbp-budget",
            metavar="SIZE",
            help="Recommend group buffer pool sizes within this coupling facility storage.",
        ),
    ] = "",
    pool: Annotated[
        list[str] | None,
        typer.Option(
            "--pool",
            metavar="BPn=SIZE[,...]",
            help="Size and thresholds of a pool: BP2=80000 or BP2=80000,vpseqt=40,dwqt=50,vdwqt=10; DB1A.BP2=80000 for "
            "one member; repeatable.",
        ),
    ] = None,
    gbp: Annotated[
        list[str] | None,
        typer.Option(
            "--gbp",
            metavar="GBPn=...",
            help="Group buffer pool: GBP2=20000:100000 (data and directory entries) or GBP2=128MiB:5.",
        ),
    ] = None,
    move: Annotated[
        list[str] | None, typer.Option("--move", metavar="DB.TS=BPn", help="Move an object to a pool; repeatable.")
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option("--policy", metavar="POLICY:BPn", help="Page steal (PGSTEAL), such as fifo:BP6; repeatable."),
    ] = None,
    pgfix: Annotated[
        list[str] | None, typer.Option("--pgfix", metavar="BPn", help="Page-fix a pool; repeatable.")
    ] = None,
    names: Annotated[Path | None, typer.Option(metavar="FILE", help="File with the names of objects.")] = None,
    settings: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE|PDB",
            help="Present pools: a settings file (TOML), a performance database, or -DISPLAY BUFFERPOOL output.",
        ),
    ] = None,
    subsystem: Annotated[str, typer.Option(metavar="SSID", help="Use the records of this Db2 only.")] = "",
    group: Annotated[
        bool | None,
        typer.Option(
            "--group/--no-group",
            help="Simulate members as a data-sharing group (default) or, with --no-group, as one Db2.",
        ),
    ] = None,
    new_pools: Annotated[
        int, typer.Option(min=0, metavar="N", help="Maximum number of new pools in a recommendation.")
    ] = 4,
    most_moves: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="Maximum number of objects that a recommendation moves (default: all whose move pays).",
        ),
    ] = None,
    least_buffers: Annotated[
        int, typer.Option(min=1, metavar="N", help="Minimum number of 4 KB buffers per pool in a recommendation.")
    ] = 1000,
    delay_weight: Annotated[
        float,
        typer.Option(min=0, metavar="X", help="Value of one second of delay in CPU seconds, for a recommendation."),
    ] = 0.0,
    layouts: Layouts = None,
    catalogue: Catalogue = None,
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            help="Accept a trace that lost 20 % or more of its records, or whose simulation differs as much from it.",
        ),
    ] = False,
    show_howto: Annotated[
        bool,
        typer.Option(
            "--howto",
            help="Print how to collect a trace of --subsystem: commands, jobs, transfer, checks. With SMF 100 as "
            "TRACE, it estimates the volume.",
        ),
    ] = False,
    minutes: Annotated[
        float | None,
        typer.Option(
            metavar="N",
            help="Length of the trace for --howto (default: 10), or of the interval of -DISPLAY BUFFERPOOL output, "
            "which does not say it.",
        ),
    ] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE.json", help="Save the prediction for plexlens compare.")
    ] = None,
    jcl: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.jcl",
            help="Write the commands as a job for --subsystem (IKJEFT01, DSNTEP2), and the job that reverses them to "
            "FILE.reverse.jcl.",
        ),
    ] = None,
    simulate_to: Annotated[
        Path | None,
        typer.Option(metavar="FILE.smf", help="Write the simulated pools as SMF 100 records for plexlens report."),
    ] = None,
    write_to: Annotated[
        Path | None,
        typer.Option("--write-trace", metavar="FILE", help="Write the trace to a .parquet, .csv or .arrow file."),
    ] = None,
    output: PageOut = None,
    form: Format = None,
    as_json: Json = False,
    computing: Computing,
) -> None:
    """Simulate buffer pools with a page-reference trace.

    The answer is the read misses of each pool at every size, the effect of a change (--pool, --move, --policy, --pgfix,
    --gbp), or the changes that pay within a budget (--budget), with ALTER commands and their reverse.
    """
    if show_howto:
        from plexlens.pools.howto import howto, rate_of

        name = (subsystem or "DB2A").upper()
        typer.echo(
            howto(name, 10.0 if minutes is None else minutes, rate_of(traces, name) if traces else None), nl=False
        )
        return
    if not traces:
        raise UsageError(
            file="",
            what="no trace is given",
            remedy="give its files or a performance database; plexlens pools --howto tells how to collect one",
        )
    from plexlens.pools.opening import Opening
    from plexlens.pools.page.answer import answer
    from plexlens.pools.page.options import Options, budget_of, sizes_of
    from plexlens.pools.trace import NoReferencesError
    from plexlens.pools.trace_sources import check_distinct
    from plexlens.storage_size import parse_size

    options = Options(
        sizes=sizes_of(sizes),
        sample=sample,
        shards=shards,
        budget=budget_of(budget),
        structure_budget=parse_size(gbp_budget) if gbp_budget else None,
        pools=tuple(pool or ()),
        structures=tuple(gbp or ()),
        moves=tuple(move or ()),
        policies=tuple(policy or ()),
        page_fix=tuple(pgfix or ()),
        new_pools=new_pools,
        most_moves=most_moves,
        least_buffers=least_buffers,
        delay_weight=delay_weight,
        layouts=tuple(layouts or ()),
    )
    options.check_limits()
    read = [*traces, *(path for path in (names, settings) if path is not None)]
    where = target("pools", output, form, as_json=as_json, inputs=read)
    check_dump(simulate_to, read)
    for path in (save, write_to, jcl, None if jcl is None else jcl.with_name(f"{jcl.stem}.reverse{jcl.suffix}")):
        check_file(path, read)
    reversing = None if jcl is None else jcl.with_name(f"{jcl.stem}.reverse{jcl.suffix}")
    written = {"--save": save, "--simulate-to": simulate_to, "--write-trace": write_to, "--jcl": jcl}
    _check_engine(computing, options, {**written, "--write-trace": None, "--settings": settings, "--minutes": minutes})
    check_apart({"-o": where.path, **written, "--jcl (reverse)": reversing})
    check_distinct(traces)
    statistics = _Statistics(
        traces,
        settings,
        options,
        subsystem,
        minutes,
        {"--save": save, "--simulate-to": simulate_to, "--write-trace": write_to, "--names": names},
    )
    if statistics.printed:
        statistics.show(where, jcl, reversing)
        return
    opening = Opening(tuple(traces), names, force, tuple(layouts or ()), subsystem)
    trace = opening.open()
    with progress_bar() as progress:
        pools_needed = any(path is not None for path in (save, simulate_to, jcl))
        files = pools_needed or where.path is not None or where.form is Form.CSV
        try:
            result = answer(
                trace,
                settings,
                options,
                progress,
                group=group,
                subsystem=subsystem,
                curves_alone=not files,
                force=force,
                executors=computing.executors(f"plexlens pools {traces[0]}", progress),
                opening=opening,
            )
        except NoReferencesError as error:
            statistics.show(where, jcl, reversing, instead_of=error)
            return
        if minutes is not None:
            raise UsageError(
                file="",
                what="--minutes is the interval of -DISPLAY BUFFERPOOL output, and a trace states its times",
                remedy="leave --minutes out",
            )
        if pools_needed:
            result.check_pools()
        job = None if jcl is None else result.job(subsystem)
        outcome = page(lambda: result.report(progress), result.as_json)
        contents = {form: outcome(form) for form in where.forms}
        _write_job((jcl, reversing), job)
        _write_files(result, written, progress)
    where.show(contents.__getitem__)
    if where.path is None and Form.JSON in contents:
        for note in trace.facts.notes:
            err.print(f"note: {note}")


def _write_files(result: Answer, written: Mapping[str, Path | None], progress: Progress) -> None:
    """Write the files that options name, the jobs apart."""
    from plexlens.pools.trace import write_trace

    if (save := written["--save"]) is not None:
        result.save(save)
    if (simulated := written["--simulate-to"]) is not None:
        result.simulate_to(simulated, progress)
    if (path := written["--write-trace"]) is not None:
        write_trace(result.trace, path, progress)


def _check_engine(computing: Computing, options: Options, needs_more: Mapping[str, object]) -> None:
    """See that the engine can compute what is asked for; ``needs_more`` are values of options that curves do not have.

    Raises
    ------
    UsageError
        It cannot.
    """
    if computing.master:
        options.check_executors(needs_more)
        computing.check_work()
    elif options.shards > 1:
        raise UsageError(
            file="--shards",
            what="shards are computed by executors",
            remedy="give --engine spark, or --sample in place of --shards",
        )


def _write_job(paths: tuple[Path | None, Path | None], job: tuple[str, str] | None) -> None:
    for path, text in zip(paths, job or (), strict=False):
        if path is not None:
            with whole_file(path) as part:
                part.write_text(text, encoding="utf-8")


@dataclass(frozen=True)
class _Statistics:
    """The answer for sources without a trace."""

    sources: list[Path]
    settings: Path | None
    options: Options
    subsystem: str
    minutes: float | None
    only_trace: dict[str, Path | None]

    @property
    def printed(self) -> bool:
        """Whether a source is printed output, which holds no trace."""
        from plexlens.pools.trace_sources import is_printed

        return any(is_printed(path) for path in self.sources)

    def show(
        self, where: Target, jcl: Path | None, reversing: Path | None, instead_of: NoReferencesError | None = None
    ) -> None:
        """Write what statistics say, or raise ``instead_of`` where there are none."""
        from plexlens.pools.page.untraced import untraced_answer

        for option, path in self.only_trace.items():
            if path is not None:
                raise UsageError(
                    file="",
                    what=f"{option} needs a page trace, and the sources hold only statistics",
                    remedy="leave the option out, or collect a trace: plexlens pools --howto",
                )
        try:
            result = untraced_answer(
                self.sources, self.settings, self.options, subsystem=self.subsystem, minutes=self.minutes
            )
        except NothingUsableError:
            if instead_of is None:
                raise
            raise instead_of from None
        job = None if jcl is None else result.job(self.subsystem)
        outcome = page(result.report, result.as_json)
        contents = {form: outcome(form) for form in where.forms}
        _write_job((jcl, reversing), job)
        where.show(contents.__getitem__)
