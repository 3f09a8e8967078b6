"""Options of `plexlens pools` that statistics can answer without a page trace."""

from __future__ import annotations

from dataclasses import replace

from plexlens.errors import UsageError
from plexlens.pools.options import with_options
from plexlens.pools.page.options import Options
from plexlens.pools.untraced.seen import Statistics


def check_options(options: Options) -> None:
    """Refuse options that need a page trace.

    Raises
    ------
    UsageError
        One is given.
    """
    needed = {
        "--sample": options.sample is not None,
        "--move": bool(options.moves),
        "--policy": bool(options.policies),
        "--pgfix": bool(options.page_fix),
        "--gbp": bool(options.structures),
        "--gbp-budget": options.structure_budget is not None,
        "--most-moves": options.most_moves is not None,
        "--budget MEMBER=SIZE": any(options.budget),
    }
    for option, given in needed.items():
        if given:
            raise UsageError(
                file="",
                what=f"{option} needs a page trace, and the sources hold only statistics",
                remedy="leave the option out, or collect a trace: plexlens pools --howto",
            )


def sizes_of(statistics: Statistics, options: Options) -> dict[str, int]:
    """Buffers of the pools that --pool names.

    Raises
    ------
    UsageError
        A pool without statistics, or a threshold.
    """
    if not options.pools:
        return {}
    seen = {pool.name: pool for pool in statistics.pools}
    changed = with_options(statistics.configuration, {"": list(seen)}, pools=options.pools)
    sizes = {}
    for text in options.pools:
        name = text.partition("=")[0].strip().upper()
        if name not in seen:
            raise UsageError(
                file="",
                what=f"--pool {text}: there are no statistics of {name}",
                remedy=f"name one of {', '.join(seen)}, or leave the option out",
            )
        before, after = statistics.configuration.pools[name], changed.pools[name]
        if replace(after, size=before.size) != before:
            raise UsageError(
                file="",
                what=f"--pool {text}: the effect of thresholds needs a page trace; the sources hold statistics",
                remedy=f"give the size alone, as in --pool {name}={after.size}",
            )
        sizes[name] = after.size
    return sizes
