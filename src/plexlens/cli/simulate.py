"""`plexlens simulate`: simulate a data-sharing group that does not exist yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plexlens.cli.app import app
from plexlens.cli.engine import Computing, simulates
from plexlens.cli.options import Json
from plexlens.cli.output import RowsFormat, check_apart, check_dump, target, write_file
from plexlens.cli.rows import Rows
from plexlens.cli.terminal import err, progress_bar, table_text
from plexlens.errors import UsageError
from plexlens.json_text import json_text
from plexlens.report.forms import FORMS, ROW_FORMS, Form
from plexlens.whole_file import check_file

if TYPE_CHECKING:
    from plexlens.simulate import Simulated

#: Columns of the responses as one table.
_HEADS = ("class", "transactions", "response s", "half width s")


@app.command()
@simulates
def simulate(
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO", help="Scenario file (TOML); see docs/simulate.md.")],
    *,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE.smf", help="SMF dump to write.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, metavar="N", help="Seed of the random numbers, instead of run.seed.")
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option("--seconds", metavar="SECONDS", help="Length of the measurement, instead of run.seconds."),
    ] = None,
    truth: Annotated[
        Path | None,
        typer.Option("--truth", metavar="FILE.json", help="Write the true values of each interval as JSON."),
    ] = None,
    transactions: Annotated[
        bool,
        typer.Option(
            "--transactions",
            help="Also write SMF 101 and 110-1 for each transaction, about 2 KB each.",
        ),
    ] = False,
    page_trace: Annotated[
        bool, typer.Option("--page-trace", help="Also write SMF 102 IFCID 198 for each getpage, update and release.")
    ] = False,
    replications: Annotated[
        int,
        typer.Option(
            "--replications",
            min=1,
            max=1000,
            metavar="N",
            help="Simulate with N consecutive seeds and print means over the runs; -o and --truth write the first run.",
        ),
    ] = 1,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            min=1,
            max=256,
            metavar="J",
            help="Number of parallel runs (default: the number of cores).",
        ),
    ] = None,
    json_: Json = False,
    form: RowsFormat = None,
    computing: Computing,
) -> None:
    """Simulate a sysplex and write its SMF records.

    The records are SMF 30, 70, 72-3, 74-1, 74-2, 74-4, 100, 101 and 110-2, and on request 110-1 and 102.
    The answer has the response time of each class; --format names its format, since -o names the dump.
    """
    from plexlens.simulate import read_scenario
    from plexlens.simulate.asked import Asked
    from plexlens.simulate.json_object import to_object

    wanted = Asked(output, transactions, page_trace, replications, jobs, elsewhere=bool(computing.master))
    _check_output(scenario, output, is_asked=truth is not None or json_ or form is not None)
    wanted.check(scenario)
    check_dump(output, [scenario])
    check_file(truth, [scenario])
    where = target("simulate", None, form, as_json=json_, forms=ROW_FORMS, inputs=[scenario])
    check_apart({"-o": output, "--truth": truth, "--format": where.path})
    options = read_scenario(scenario).with_run(seed=seed, seconds=seconds)
    computing.check_work()
    with progress_bar(unit="runs" if computing.master else "simulated s") as progress:

        def tell(done: float, total: float) -> None:
            progress(round(done), round(total), "simulating")

        executors = computing.executors(f"plexlens simulate {scenario}", progress)
        runs, records = wanted.run(options, tell, executors)
    run = runs[0]
    if truth is not None:
        write_file(truth, json_text(run.results))
    _say(run)
    rows, failures = _means(runs) if len(runs) > 1 else _responses(run), _failures(run)
    if len(runs) > 1 and where.forms != (Form.JSON,):
        err.print(
            f"responses are means of {len(runs)} runs with the 95 % confidence interval over runs; everything else "
            "comes from the first run"
        )
    if FORMS[where.form].is_data:
        for class_name, failed, reason in failures:
            err.print(f"warning: {failed} transactions of {class_name} failed: {reason}")
    where.show(
        Rows(
            _HEADS,
            rows,
            lambda: to_object(runs, output, records),
            lambda: _lines(rows, failures),
            str(scenario),
        ).made
    )
    if output is not None and not json_:
        err.print(f"written: {output}, {records} records")


def _lines(rows: Sequence[Sequence[Any]], failures: Sequence[Sequence[Any]]) -> Iterator[str]:
    """Responses and failures as aligned tables."""
    yield from table_text(_HEADS, rows).splitlines()
    if failures:
        yield from table_text(("class", "failed", "reason"), failures).splitlines()


def _check_output(scenario: Path, output: Path | None, *, is_asked: bool) -> None:
    """Check that the command is to produce something; `is_asked`: something other than a dump."""
    if output is None and not is_asked:
        raise UsageError(
            file=str(scenario),
            what="the command line asks for no output",
            remedy="give -o FILE.smf for SMF records, --truth FILE.json for the true values, --json or --format",
        )


def _say(run: Simulated) -> None:
    """Part of the run that was simulated, failures and recoveries during it, and saturated resources."""
    from plexlens.simulate import resource_text
    from plexlens.simulate.sampled import sampling_text

    if sampled := sampling_text(run.scenario.values):
        err.print(sampled)
    for course in run.results["course"]:
        err.print(f"{course['at']:.3f} s: {course['what']}")
    for saturated in run.results["saturated"]:
        err.print(
            f"warning: {resource_text(saturated)}: utilisation {saturated['utilisation']:.1%}; the "
            "queue grows with the length of the run, and response times hold for this length only; lower the rates or "
            "add capacity"
        )


def _responses(run: Simulated) -> list[tuple[Any, ...]]:
    return [
        (
            response["class"],
            response["count"],
            None if response["mean"] is None else round(response["mean"], 6),
            None if response["half_width"] is None else round(response["half_width"], 6),
        )
        for response in run.results["responses"]
    ]


def _means(runs: list[Simulated]) -> list[tuple[Any, ...]]:
    """Mean response of each class over the runs in which any of its transactions ended."""
    from plexlens.simulate.estimates import estimate

    rows = []
    for number, first in enumerate(runs[0].results["responses"]):
        responses = [run.results["responses"][number] for run in runs]
        means = [response["mean"] for response in responses if response["mean"] is not None]
        mean = estimate(means) if means else None
        rows.append(
            (
                first["class"],
                sum(response["count"] for response in responses),
                None if mean is None else round(mean.mean, 6),
                None if mean is None or len(means) == 1 else round(mean.half_width, 6),
            )
        )
    return rows


def _failures(run: Simulated) -> list[tuple[Any, ...]]:
    from plexlens.simulate import FAILURES

    return [(failure["class"], failure["count"], FAILURES[failure["reason"]]) for failure in run.results["failures"]]
