"""What `plexlens pools` prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import typer

from plexlens.cli.terminal import print_rows
from plexlens.pools.cost import IoCost
from plexlens.pools.curves import PoolCurve
from plexlens.pools.prediction import Activity, Prediction, to_json
from plexlens.pools.search.recommendation import Recommendation, Step
from plexlens.pools.search.sizes import knee


def print_curves(curves: Sequence[PoolCurve], *, sampled: bool) -> None:
    """A row for each pool and size."""
    names = ["pool", "pages", "read misses", "misses/getpage"] + (["standard error"] if sampled else [])
    rows = [
        {
            "pool": curve.pool,
            "pages": size,
            "read misses": round(misses),
            "misses/getpage": f"{misses / curve.getpages:.4f}" if curve.getpages else None,
            "standard error": round(error),
        }
        for curve in curves
        for size, misses, error in curve.points
    ]
    print_rows(names, rows)
    for curve in curves:
        if len(curve.points) > 2:
            at = curve.points[knee([size for size, _, _ in curve.points], [read for _, read, _ in curve.points])]
            typer.echo(f"{curve.pool}: knee of the curve at {at[0]:,} pages; more than {curve.enough:,} save nothing")


class Rates:
    """Amounts of the trace's time as rates; as they are where the trace tells no times."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def ios(self, amount: float) -> str:
        """I/Os a second."""
        return f"{amount / self.seconds:,.1f}" if self.seconds > 0 else f"{amount:,.0f}"

    def cpu(self, amount: float) -> str:
        """CPU seconds an hour."""
        return f"{3600 * amount / self.seconds:,.1f}" if self.seconds > 0 else f"{amount:,.2f}"

    def delay(self, amount: float) -> str:
        """Seconds of delay an hour."""
        return f"{3600 * amount / self.seconds:,.0f}" if self.seconds > 0 else f"{amount:,.0f}"

    @property
    def titles(self) -> tuple[str, str, str, str]:
        """Titles of read I/O, write I/O, CPU and delay."""
        if self.seconds > 0:
            return "read I/O/s", "write I/O/s", "CPU s/h", "delay s/h"
        return "read I/Os", "write I/Os", "CPU s", "delay s"

    def row(self, activity: Activity) -> dict[str, str]:
        """The four of an activity."""
        values = (
            self.ios(activity.read_ios),
            self.ios(activity.write_ios),
            self.cpu(activity.cpu_seconds),
            self.delay(activity.delay_seconds),
        )
        return dict(zip(self.titles, values, strict=True))


def print_prediction(prediction: Prediction) -> None:
    """Every pool before and after, then the text for Db2."""
    rates = Rates(prediction.seconds)
    rows: list[dict[str, Any]] = []
    before, after = prediction.before, prediction.after
    names = dict.fromkeys([*before.configuration.pools, *after.configuration.pools])
    for name in names:
        for when, state in (("before", before), ("after", after)):
            pool = state.configuration.pools.get(name)
            if pool is not None:
                rows.append({"pool": name, "": when, "buffers": pool.size, **rates.row(state.pools[name])})
    for when, state in (("before", before), ("after", after)):
        if state.pools:
            rows.append({"pool": "all", "": when, "buffers": None, **rates.row(state.total)})
    print_rows(["pool", "", "buffers", *rates.titles], rows)
    print_text(prediction.commands, prediction.reverse)


def print_recommendation(recommendation: Recommendation, prediction: Prediction) -> None:
    """The steps in their order with what each saves, then the pools, then the text for Db2."""
    rates = Rates(prediction.seconds)
    titles = rates.titles
    worth = [step for step in recommendation.steps if step.worth]
    if not worth:
        typer.echo("Nothing that may be changed saves enough.")
    else:
        typer.echo("Steps, each simulated on the whole trace; what each saves after those before it:")
        rows = [
            {"step": str(number), "change": step.title, **rates.row(step.saved)} for number, step in enumerate(worth, 1)
        ]
        print_rows(["step", "change", *titles], rows)
        for number, step in enumerate(worth, 1):
            typer.echo(f"{number}. {step.title}: {step.why}.{_objects(step)}")
    refused = [step for step in recommendation.steps if not step.worth]
    if refused:
        typer.echo("")
        typer.echo("Not worth it:")
        for step in refused:
            typer.echo(f"- {step.title}: {step.why}.{_objects(step)}")
    typer.echo("")
    storage = recommendation.storage
    typer.echo(
        f"Sizes are within {recommendation.gap:.2%} of the best possible for these groups (bound by linear "
        f"relaxation). Knee of the curve of storage: {storage.knee_bytes / (1 << 20):,.0f} MiB of "
        f"{recommendation.budget / (1 << 20):,.0f} MiB."
    )
    typer.echo("")
    print_prediction(prediction)


def _objects(step: Step) -> str:
    if not step.objects:
        return ""
    shown = ", ".join(step.objects[:10]) + (f" and {len(step.objects) - 10} more" if len(step.objects) > 10 else "")
    return f" {shown}."


def print_text(commands: Sequence[str], reverse: Sequence[str]) -> None:
    """Text of a change and of what undoes it."""
    for title, lines in (("Commands:", commands), ("Reverse:", reverse)):
        if lines:
            typer.echo("")
            typer.echo(title)
            for line in lines:
                typer.echo(f"  {line}")


def print_notes(notes: Sequence[str], cost: IoCost) -> None:
    """What must be known to judge the rest."""
    typer.echo("")
    typer.echo("Assumed:")
    for line in (*map(str, cost.assumptions), *cost.notes, *dict.fromkeys(notes)):
        typer.echo(f"- {line}")


def recommendation_to_json(recommendation: Recommendation, prediction: Prediction) -> dict[str, Any]:
    """Steps and prediction as one object."""
    return {
        "recommendation": {
            "steps": [
                {
                    "title": step.title,
                    "worth": step.worth,
                    "why": step.why,
                    "objects": list(step.objects),
                    "saved": vars(step.saved),
                    "commands": list(step.script.change),
                    "reverse": list(step.script.reverse),
                }
                for step in recommendation.steps
            ],
            "gap": recommendation.gap,
            "sample": recommendation.sample,
            "budget": recommendation.budget,
            "storage": {
                "knee": recommendation.storage.knee_bytes,
                "budgets": list(recommendation.storage.budgets),
                "costs": list(recommendation.storage.costs),
            },
        },
        "prediction": to_json(prediction),
    }
