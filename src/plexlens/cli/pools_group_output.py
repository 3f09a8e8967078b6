"""What `plexlens pools` prints of a data-sharing group."""

from __future__ import annotations

from typing import Any

import typer

from plexlens.cli.pools_output import Rates, print_text
from plexlens.cli.terminal import print_rows
from plexlens.pools.group.prediction import GroupPrediction, hit_share
from plexlens.pools.group.recommend import GroupRecommendation
from plexlens.pools.group.settings import GroupPoolSettings
from plexlens.pools.group.states import GroupPoolActivity, GroupState


def print_group(prediction: GroupPrediction, recommendation: GroupRecommendation | None) -> None:
    """Steps of a recommendation, pools of members, group buffer pools, text, notes."""
    rates = Rates(prediction.seconds)
    if recommendation is not None:
        _print_steps(recommendation, rates)
    states = [("before", prediction.before), ("after", prediction.after)]
    shown = [(when, state) for when, state in states if state.members]
    _print_pools(shown, rates)
    _print_structures(shown, rates)
    dependent = {pool: names for pool, names in prediction.after.dependent.items() if names}
    typer.echo("")
    for pool, names in dependent.items():
        more = f" and {len(names) - 8} more" if len(names) > 8 else ""
        typer.echo(f"GBP-dependent in {pool}: {', '.join(names[:8])}{more}")
    if not dependent:
        typer.echo("Nothing is GBP-dependent: no data set is used by several members and changed by one.")
    print_text(prediction.script.change, prediction.script.reverse)
    typer.echo("")
    typer.echo("Assumed:")
    lines = [*map(str, prediction.cost.assumptions), *prediction.cost.io.notes, *dict.fromkeys(prediction.notes)]
    for line in lines:
        typer.echo(f"- {line}")


def _print_steps(found: GroupRecommendation, rates: Rates) -> None:
    worth = [step for step in found.steps if step.worth]
    if not worth:
        typer.echo("Nothing that may be changed saves enough.")
    else:
        typer.echo("Steps, each simulated on the whole trace; what each saves after those before it:")
        rows = [
            {
                "step": str(number),
                "change": step.title,
                rates.titles[0]: rates.ios(step.before.total.read_ios - step.after.total.read_ios),
                rates.titles[2]: rates.cpu(step.before.cpu_seconds - step.after.cpu_seconds),
            }
            for number, step in enumerate(worth, 1)
        ]
        print_rows(["step", "change", rates.titles[0], rates.titles[2]], rows)
        for number, step in enumerate(worth, 1):
            typer.echo(f"{number}. {step.title}: {step.why}.")
    refused = [step for step in found.steps if not step.worth]
    if refused:
        typer.echo("")
        typer.echo("Not worth it:")
        for step in refused:
            typer.echo(f"- {step.title}: {step.why}.")
    for member, gap in found.gaps.items():
        typer.echo(f"{member}: sizes are within {gap:.2%} of the best on the simulated curves.")
    typer.echo("")


def _print_pools(states: list[tuple[str, GroupState]], rates: Rates) -> None:
    rows: list[dict[str, Any]] = []
    members = dict.fromkeys(name for _, state in states for name in state.members)
    for member in members:
        pools = dict.fromkeys(pool for _, state in states for pool in state.members[member].pools)
        for pool in pools:
            for when, state in states:
                own = state.members[member]
                if pool in own.pools:
                    size = own.configuration.pools[pool].size
                    rows.append(
                        {"member": member, "pool": pool, "": when, "buffers": size, **rates.row(own.pools[pool])}
                    )
    for when, state in states:
        rows.append({"member": "all", "pool": "", "": when, "buffers": None, **rates.row(state.total)})
    print_rows(["member", "pool", "", "buffers", *rates.titles], rows)


def _print_structures(states: list[tuple[str, GroupState]], rates: Rates) -> None:
    rows: list[dict[str, Any]] = []
    pools = dict.fromkeys(pool for _, state in states for pool in state.structures)
    for pool in pools:
        for when, state in states:
            if pool in state.structures and pool in state.configuration.structures:
                one = state.configuration.structures[pool]
                rows.append({"group pool": one.structure, "": when, **_structure(one, state.structures[pool], rates)})
    if rows:
        typer.echo("")
        print_rows(list(rows[0]), rows)


def _structure(one: GroupPoolSettings, activity: GroupPoolActivity, rates: Rates) -> dict[str, Any]:
    each = "/s" if rates.seconds > 0 else ""
    hits = hit_share(activity)
    return {
        "data entries": one.data_entries,
        "directory": one.directory_entries,
        "MiB": f"{one.bytes / (1 << 20):,.1f}",
        f"reads{each}": rates.ios(activity.reads),
        f"writes{each}": rates.ios(activity.writes),
        "XI read hits": f"{hits:.1%}" if hits is not None else None,
        f"XI by write{each}": rates.ios(activity.invalidated_by_write),
        f"XI by reclaim{each}": rates.ios(activity.invalidated_by_reclaim),
        f"castout pages{each}": rates.ios(activity.castout_pages),
        "failed writes": round(activity.failed_writes),
    }
