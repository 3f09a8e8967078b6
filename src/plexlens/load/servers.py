"""CPU time of each request on Linux servers: samples that lie in the steady part of a load test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from plexlens.errors import NothingUsableError, UsageError
from plexlens.load.cost import Costs, ServerShare
from plexlens.load.run import Run
from plexlens.sampling.recording import MACHINE, PROCESS
from plexlens.sampling.samples import Samples

#: Name of the CPU time that no sampled process has.
ELSEWHERE = "(in no sampled process)"
#: A gap between samples above this share of the window makes the CPU time at its ends uncertain.
GAP = 0.1


def with_servers(run: Run, samples: Sequence[Samples], costs: Costs | None = None) -> Costs:
    """The costs of a load test with the CPU time of Linux servers.

    Parameters
    ----------
    run
        The load test.
    samples
        Of each server.
    costs
        SMF of the same minutes, whose window the samples must cover; without it the window is what lies in the steady
        part and in all samples.

    Raises
    ------
    UsageError
        Two files are of one server.
    NothingUsableError
        The tool keeps no line per request, or the samples do not cover the window.
    """
    if run.test.requests is None or run.steady_from is None or run.steady_to is None:
        raise NothingUsableError(
            file=run.test.file,
            what=f"{run.test.tool} keeps no line per request, so the requests between two samples cannot be counted",
            remedy="have the tool write each request, or leave --samples out",
        )
    for number, server in enumerate(samples):
        if any(server.host == other.host for other in samples[:number]):
            raise UsageError(
                file=server.file,
                what=f"it holds samples of {server.host}, as a file before it does",
                remedy="give one file per server",
            )
    start, end = (costs.start, costs.end) if costs is not None else (run.steady_from, run.steady_to)
    first = max(start.timestamp(), *(float(server.times[0]) for server in samples))
    last = min(end.timestamp(), *(float(server.times[-1]) for server in samples))
    is_covered = costs is None or (first == start.timestamp() and last == end.timestamp())
    if last <= first or not is_covered:
        what = "SMF intervals in the steady part" if costs is not None else "steady part of the test"
        covered = "; ".join(
            f"{server.host} from {_time(server.times[0]):%Y-%m-%d %H:%M:%S} to {_time(server.times[-1]):%H:%M:%S} UTC"
            for server in samples
        )
        raise NothingUsableError(
            file=samples[0].file,
            what=f"samples do not cover the {what}, {start:%Y-%m-%d %H:%M:%S} to {end:%H:%M:%S} UTC: {covered}",
            remedy="sample for the whole length of the test; --clock states how far the driver's clock is ahead",
        )
    begin, finish = (costs.start, costs.end) if costs is not None else (_time(first), _time(last))
    notes = list(costs.notes if costs is not None else ())
    shares: list[ServerShare] = []
    for server in samples:
        shares += _shares(server, first, last)
        gap = server.longest_gap(first, last)
        if gap > GAP * (last - first):
            notes.append(
                f"{server.host} has no sample for {gap:.1f} s of the {last - first:.1f} s: CPU time is taken to have "
                "passed evenly meanwhile. Sample more often (--every), or for longer."
            )
        notes += [
            f"{server.file}: lines left out: {number:,}, first at {place}: {reason}."
            for reason, number, place in server.left_out
        ]
    if costs is not None:
        return replace(costs, servers=tuple(shares), notes=tuple(notes))
    by_request = run.between(begin, finish)
    requests = sum(number for number, _ in by_request.values())
    if not requests:
        raise NothingUsableError(
            file=run.test.file,
            what=f"no request began from {begin:%Y-%m-%d %H:%M:%S} to {finish:%H:%M:%S} UTC",
            remedy="check --clock, --from and --to",
        )
    response = sum(number * mean for number, mean in by_request.values()) / requests
    return Costs(
        begin, finish, requests, response, by_request, (), (), (), (), None, tuple(notes), {}, servers=tuple(shares)
    )


def _shares(server: Samples, first: float, last: float) -> list[ServerShare]:
    """Shares of processes, threads and groups, largest first within a kind, and the rest of the machine."""
    seconds = server.cpu(first, last)
    machine = seconds.pop((MACHINE, ""))
    rest = machine - sum(used for (kind, _), used in seconds.items() if kind == PROCESS)
    shares = [ServerShare(server.host, kind, name, used) for (kind, name), used in seconds.items() if used > 0]
    # The machine counts in clock ticks, processes in nanoseconds: a small rest may come out below zero.
    shares.append(ServerShare(server.host, MACHINE, ELSEWHERE, max(rest, 0.0)))
    shares.append(ServerShare(server.host, MACHINE, "(all)", machine))
    return sorted(shares, key=lambda share: (share.kind, -share.seconds))


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(float(seconds), UTC)
