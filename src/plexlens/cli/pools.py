"""`plexlens pools`: buffer pools of a page-reference trace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plexlens.cli.app import app
from plexlens.cli.options import Json, Layouts, Out
from plexlens.cli.terminal import check_writable, emit, err, progress_bar, write
from plexlens.errors import UsageError

if TYPE_CHECKING:
    from plexlens.pools.curves import PoolCurve
    from plexlens.pools.optimise import Recommendation
    from plexlens.pools.outcome import Work
    from plexlens.pools.prediction import Prediction
    from plexlens.pools.settings import Configuration
    from plexlens.pools.site import Site
    from plexlens.pools.trace import Trace

Progress = Callable[[int, int, str], None]


class Format(StrEnum):
    """Forms of a report."""

    HTML = "html"
    TEXT = "text"


@dataclass(frozen=True)
class Asked:
    """What the options ask for.

    Attributes
    ----------
    sizes
        Sizes of curves; empty for a choice.
    sample
        Share of the pages that curves look at; None for all.
    budget
        Bytes for all pools; None where no recommendation is asked for.
    pools, moves, policies, page_fix
        Options that change settings, as given.
    new_pools, least_buffers, delay_weight
        Limits of a recommendation.
    """

    sizes: tuple[int, ...]
    sample: float | None
    budget: int | None
    pools: tuple[str, ...]
    moves: tuple[str, ...]
    policies: tuple[str, ...]
    page_fix: tuple[str, ...]
    new_pools: int
    least_buffers: int
    delay_weight: float

    @property
    def changes(self) -> bool:
        """Whether settings are to be changed."""
        return bool(self.pools or self.moves or self.policies or self.page_fix)

    def changed(self, configuration: Configuration) -> Configuration:
        """The configuration with the changes."""
        from plexlens.pools.settings import with_options

        return with_options(
            configuration, pools=self.pools, moves=self.moves, policies=self.policies, page_fix=self.page_fix
        )


@app.command()
def pools(
    traces: Annotated[
        list[Path],
        typer.Argument(
            metavar="TRACE...",
            help="A page-reference trace in pieces (CSV, Parquet, Arrow, oracleGeneral, SMF dumps with IFCID 198), or "
            "a performance database.",
        ),
    ],
    *,
    sizes: Annotated[str, typer.Option(help="Pool sizes in pages: 1000,5000. Without it, a choice of sizes.")] = "",
    sample: Annotated[
        float | None, typer.Option(help="Look at this share of the pages (0.01) and state the error; for curves.")
    ] = None,
    budget: Annotated[
        str, typer.Option(help="Recommend sizes, groups of objects and settings within this storage: 4GiB.")
    ] = "",
    pool: Annotated[
        list[str] | None,
        typer.Option("--pool", help="A size, and thresholds: BP2=80000 or BP2=80000,vpseqt=40,dwqt=50,vdwqt=10."),
    ] = None,
    move: Annotated[list[str] | None, typer.Option("--move", help="An object to a pool: DB.TS=BP11.")] = None,
    policy: Annotated[list[str] | None, typer.Option("--policy", help="Page steal: fifo:BP6.")] = None,
    pgfix: Annotated[list[str] | None, typer.Option("--pgfix", help="Page-fix a pool: BP1.")] = None,
    names: Annotated[Path | None, typer.Option(help="A file with the names of objects.")] = None,
    settings: Annotated[
        Path | None,
        typer.Option(help="The present pools: a settings file (TOML), a database, or -DISPLAY BUFFERPOOL output."),
    ] = None,
    subsystem: Annotated[str, typer.Option(help="The Db2 whose records count, where there are several.")] = "",
    new_pools: Annotated[int, typer.Option(min=0, help="Pools that a recommendation may make.")] = 4,
    least_buffers: Annotated[
        int, typer.Option(min=1, help="Buffers of 4 KB that a recommendation leaves to each pool.")
    ] = 1000,
    delay_weight: Annotated[
        float, typer.Option(min=0, help="CPU seconds that a second of delay is worth to a recommendation.")
    ] = 0.0,
    layouts: Layouts = None,
    force: Annotated[bool, typer.Option("--force", help="Take a trace that lost 20 % of its records or more.")] = False,
    save: Annotated[Path | None, typer.Option(help="Keep the prediction, for plexlens compare.")] = None,
    simulate_to: Annotated[
        Path | None, typer.Option(help="Write the pools' simulation as SMF 100 records, for plexlens report.")
    ] = None,
    write_to: Annotated[
        Path | None, typer.Option("--write-trace", help="Write the trace to a file (.parquet, .csv, .arrow).")
    ] = None,
    output: Out = None,
    form: Annotated[Format, typer.Option("--format", help="HTML page or plain text.")] = Format.HTML,
    as_json: Json = False,
) -> None:
    """Buffer pools of a trace: read misses of every size, what a change would do, what to change."""
    from plexlens.pools.trace import open_trace, write_trace

    asked = Asked(
        sizes=_sizes(sizes),
        sample=sample,
        budget=_budget(budget),
        pools=tuple(pool or ()),
        moves=tuple(move or ()),
        policies=tuple(policy or ()),
        page_fix=tuple(pgfix or ()),
        new_pools=new_pools,
        least_buffers=least_buffers,
        delay_weight=delay_weight,
    )
    for path in (output, save, simulate_to, write_to):
        check_writable(path)
    trace = open_trace(traces, names=names, force=force, subsystem=subsystem, layouts=layouts or ())
    with progress_bar() as progress:
        if asked.budget is None and not asked.changes and output is None and save is None and simulate_to is None:
            curves = _curves(trace, asked, progress)
            if write_to is not None:
                write_trace(trace, write_to, progress)
            answer = _curves_answer(curves, asked)
        else:
            from plexlens.pools.site import site_of

            site = site_of(traces, settings, subsystem=subsystem)
            found = _look(trace, site, asked, progress)
            if save is not None or simulate_to is not None or output is not None:
                found.check_pools()
            made = None if output is None else _report(found, form, progress)
            if save is not None:
                found.save(save)
            if simulate_to is not None:
                found.simulate_to(simulate_to, progress)
            if output is not None and made is not None:
                write(output, made)
            if write_to is not None:
                write_trace(trace, write_to, progress)
            answer = _Answer(found.as_json, found.print, notes=found.prediction is not None)
    told = answer.show(as_json)
    if not told:
        for note in trace.facts.notes:
            err.print(f"note: {note}")


def _sizes(text: str) -> tuple[int, ...]:
    from plexlens.pools.curves import check_sizes

    try:
        wanted = tuple(int(size) for size in text.split(",") if size.strip())
    except ValueError as error:
        raise UsageError(
            file="", what=f"--sizes {text} is no list of numbers", remedy="give pages, as in --sizes 1000,5000"
        ) from error
    check_sizes(wanted)
    return wanted


def _budget(text: str) -> int | None:
    from plexlens.pools.settings import parse_size

    return parse_size(text) if text else None


@dataclass(frozen=True)
class _Answer:
    """What is shown: one JSON object, or text."""

    json: Callable[[], dict[str, Any]]
    text: Callable[[], None]
    #: Whether the text tells what there is to say of the trace.
    notes: bool = False

    def show(self, as_json: bool) -> bool:
        """Show it; whether that told the notes of the trace."""
        if as_json:
            emit(self.json())
        else:
            self.text()
        return self.notes and not as_json


def _curves(trace: Trace, asked: Asked, progress: Progress) -> list[PoolCurve]:
    from plexlens.pools.curves import curves_of

    return curves_of(trace, sizes=asked.sizes, sample=asked.sample, progress=progress)


def _curves_answer(found: Sequence[PoolCurve], asked: Asked) -> _Answer:
    from plexlens.cli.pools_output import print_curves
    from plexlens.pools.curves import to_json

    return _Answer(
        lambda: to_json(found, sample=asked.sample), lambda: print_curves(found, sampled=asked.sample is not None)
    )


@dataclass(frozen=True)
class _Found:
    """Everything but plain curves: a prediction or a recommendation, and what they rest on."""

    trace: Trace
    work: Work
    site: Site
    asked: Asked
    curves: Sequence[PoolCurve]
    recommendation: Recommendation | None
    prediction: Prediction | None

    def check_pools(self) -> Prediction:
        """The prediction, which files are written of.

        Raises
        ------
        UsageError
            There is none: no sizes are known.
        """
        if self.prediction is None:
            raise _no_settings("nothing can be predicted")
        return self.prediction

    def save(self, path: Path) -> None:
        from plexlens.pools import prediction as predictions

        predictions.save(path, self.check_pools())

    def simulate_to(self, path: Path, progress: Progress) -> None:
        from plexlens.pools.simulation import simulate, write_smf

        after = self.check_pools().after.configuration
        done = simulate(self.trace, list(after.pools.values()), placement=after.placement, progress=progress)
        write_smf(done, path)

    def as_json(self) -> dict[str, Any]:
        from plexlens.cli.pools_output import recommendation_to_json
        from plexlens.pools import curves
        from plexlens.pools import prediction as predictions

        made = curves.to_json(self.curves, sample=self.asked.sample)
        if self.recommendation is not None and self.prediction is not None:
            made |= recommendation_to_json(self.recommendation, self.prediction)
        elif self.prediction is not None:
            made["prediction"] = predictions.to_json(self.prediction)
        return made

    def print(self) -> None:
        from plexlens.cli.pools_output import print_curves, print_notes, print_prediction, print_recommendation

        if self.prediction is None:
            print_curves(self.curves, sampled=self.asked.sample is not None)
            return
        if self.recommendation is not None:
            print_recommendation(self.recommendation, self.prediction)
        else:
            print_prediction(self.prediction)
        print_notes((*self.prediction.notes, *self.trace.facts.notes), self.site.cost)


def _look(trace: Trace, site: Site, asked: Asked, progress: Progress) -> _Found:
    from plexlens.pools.whatif import look_at

    work = look_at(trace, progress=progress)
    recommendation: Recommendation | None = None
    prediction: Prediction | None = None
    if asked.budget is not None:
        recommendation, prediction = _recommend(trace, work, site, asked, progress)
    elif asked.changes or site.configuration.pools:
        prediction = _predict(trace, work, site, asked, progress)
    return _Found(trace, work, site, asked, _curves(trace, asked, progress), recommendation, prediction)


def _no_settings(what: str) -> UsageError:
    return UsageError(
        file="",
        what=f"{what}: the sizes of the pools are not known",
        remedy="give them with --pool BP2=40000, or --settings (TOML, a database, -DISPLAY BUFFERPOOL output)",
    )


def _predict(trace: Trace, work: Work, site: Site, asked: Asked, progress: Progress) -> Prediction:
    from plexlens.pools.whatif import predict

    before = _of_trace(site.configuration, work)
    return predict(trace, work, before, asked.changed(before), cost=site.cost, progress=progress)


def _of_trace(configuration: Configuration, work: Work) -> Configuration:
    """The settings of the pools that the trace has: a site has others too."""
    kept = {name: pool for name, pool in configuration.pools.items() if name in work.pools}
    placement = {name: pool for name, pool in configuration.placement.items() if name in work.home}
    kept |= {name: configuration.pools[name] for name in placement.values() if name in configuration.pools}
    return replace(configuration, pools=kept, placement=placement)


def _recommend(
    trace: Trace, work: Work, site: Site, asked: Asked, progress: Progress
) -> tuple[Recommendation, Prediction]:
    from plexlens.pools.optimise import Limits, Optimiser
    from plexlens.pools.site import evenly
    from plexlens.pools.whatif import check_against, known_names, prediction_of

    assert asked.budget is not None
    known = known_names(work, asked.changed(_of_trace(site.configuration, work)))
    check_against(work, known)
    before = evenly(work.pools, asked.budget, known)
    stay = set(known.placement) - set(site.configuration.placement)
    named = {option.partition("=")[0].strip().upper() for option in asked.pools}
    limits = Limits(
        budget=asked.budget,
        new_pools=asked.new_pools,
        least_buffers=asked.least_buffers,
        # A size that is stated where others are known is a decision; where none is known it is the present size.
        pinned=frozenset(named) if site.configuration.pools else frozenset(),
        stay=frozenset(stay),
        delay_weight=asked.delay_weight,
    )
    made = Optimiser(trace, before, cost=site.cost, limits=limits, headroom=site.headroom, progress=progress).run()
    return made, prediction_of(made, trace, work, site.cost)


def _report(found: _Found, form: Format, progress: Progress) -> str:
    from plexlens.pools.curves import curves_of
    from plexlens.pools.observation import observe
    from plexlens.report import render_html, render_text
    from plexlens.report.pools import PoolsAnalysis, pools_report

    prediction, trace = found.check_pools(), found.trace
    after = prediction.after.configuration
    before = prediction.before.configuration if prediction.before.configuration.pools else after
    moved: Sequence[PoolCurve] = ()
    if dict(after.placement) != dict(before.placement):
        moved = curves_of(trace, placement=found.work.numbers_of(after.placement), progress=progress)
    analysis = PoolsAnalysis(
        sources=tuple(source.name for source in trace.sources),
        facts=trace.facts,
        observation=observe(trace, before.pools.values(), placement=before.placement, progress=progress),
        cost=found.site.cost,
        curves=found.curves,
        curves_after=moved,
        recommendation=found.recommendation,
        prediction=prediction if found.recommendation is None else None,
        responses=found.site.responses,
        notes=prediction.notes,
    )
    made = pools_report(analysis)
    return render_html(made) if form is Format.HTML else render_text(made)
