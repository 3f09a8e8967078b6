"""Attribution of address spaces' processor time to the transactions that they serve.

SMF 72-3 charges the resource use of CICS and IMS transactions to their regions. The served classes are given by the
user or by its samples of serving; how its time is divided among them by the records of single transactions, where those
have all of the served, else by the samples, else by ended transactions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from plexlens.capacity.accounts import Account, accounts
from plexlens.capacity.measured import Facts, Measured

#: Stands for all classes that have response times and no processor time.
EVERY = "*"

_GENERAL = ("cp_seconds",)
_ZIIP = ("ziip_seconds", "ziip_engine_seconds")
_ON_CP = ("ziip_on_cp_seconds",)
_IO = (
    "dasd_requests", "dasd_connect_seconds", "dasd_disconnect_seconds", "dasd_wait_seconds", "dasd_ios_queue_seconds",
)  # fmt: skip

_Weights = dict[str, float]


@dataclass(frozen=True)
class Attributed:
    """Result of an attribution.

    Attributes
    ----------
    bursts
        Times that a transaction takes an engine, by class period, where records of transactions tell.
    servers
        Service classes of address spaces by the class that they serve.
    """

    bursts: dict[str, float]
    servers: dict[str, set[str]]


@dataclass(frozen=True)
class _Shares:
    """Division of a class's processor time and I/O among the class periods that it serves, and its basis."""

    general: _Weights
    ziip: _Weights
    on_cp: _Weights
    io: _Weights
    source: str

    def of(self, fact: str) -> _Weights:
        if fact in _ZIIP:
            return self.ziip
        return self.on_cp if fact in _ON_CP else self.io if fact in _IO else self.general


def matching(there: Iterable[str], name: str) -> set[str]:
    """The class periods that a name matches: a single period (``DDFHI.1``), or all periods of a class (``DDFHI``)."""
    return {text for text in there if text == name or base(text) == name}


def base(name: str) -> str:
    """The class of a class period."""
    return name.rpartition(".")[0] or name


def served_names(facts: Mapping[str, Facts], text: str) -> list[str]:
    """The classes named by ``--serves REGIONS=...``: a single class, several separated by commas, or `EVERY`."""
    if text.strip() != EVERY:
        return [part.strip() for part in text.split(",") if part.strip()]
    bare = {name for name, fact in facts.items() if (fact["transactions"] or 0) > 0 and not _cpu(fact)}
    return sorted({base(name) for name in bare})


def attribute(
    system: str, facts: dict[str, Facts], measured: Measured, serves: Mapping[str, str], notes: list[str]
) -> Attributed:
    """Move the processor time and I/O of address space classes to the classes that they serve, within ``facts``."""
    servers: dict[str, set[str]] = {}
    links: dict[str, dict[str, float]] = {}
    for (entry, server, served), samples in measured.served.items():
        if entry == system:
            links.setdefault(server, {})[served] = samples
    named = {server: served_names(facts, text) for server, text in serves.items()}
    links |= {server: dict.fromkeys(served, 1.0) for server, served in named.items()}
    for server, parts in links.items():
        sources = matching(facts, server)
        targets = {name: served for served in parts for name in matching(facts, served)}
        ended = {name: facts[name]["transactions"] or 0.0 for name in targets}
        if not sources or not any(ended.values()):
            continue
        for served in parts:
            servers.setdefault(base(served), set()).update(base(source) for source in sources)
        shares = _shares(system, measured, parts, targets, ended, sampled=server not in named)
        for source in sources:
            for fact in (*_GENERAL, *_ZIIP, *_ON_CP, *_IO):
                _move(facts, source, fact, shares.of(fact))
        notes.append(
            f"{system}: CPU time of {server} is charged to {', '.join(sorted(targets))}, divided by {shares.source}."
        )
    return Attributed(_bursts(system, facts, measured), servers)


def _cpu(facts: Facts) -> float:
    return (facts["cp_seconds"] or 0.0) + (facts["ziip_engine_seconds"] or 0.0)


def _move(facts: dict[str, Facts], source: str, fact: str, weights: _Weights) -> None:
    content, total = facts[source][fact], sum(weights.values())
    if not content or not total:
        return
    facts[source][fact] = 0.0
    for name, weight in weights.items():
        facts[name][fact] = (facts[name][fact] or 0.0) + content * weight / total


def _shares(
    system: str,
    measured: Measured,
    parts: Mapping[str, float],
    targets: dict[str, str],
    ended: _Weights,
    *,
    sampled: bool,
) -> _Shares:
    """The best available division."""
    of_class: _Weights = {}
    for name, served in targets.items():
        of_class[served] = of_class.get(served, 0.0) + ended[name]

    def spread(amounts: Mapping[str, float]) -> _Weights:
        """Amounts of classes, spread over their periods by ended transactions."""
        return {
            name: amounts[served] * ended[name] / of_class[served] if of_class[served] else 0.0
            for name, served in targets.items()
        }

    results = _of_all(system, measured, parts)
    if results:
        first = next(iter(results.values()))
        detailed = next((rows for rows in results.values() if rows[next(iter(rows))].ziip is not None), None)
        source = " and ".join(results) + ", CPU time by service class"
        cpu = {served: row.cpu for served, row in first.items()}
        # Where records tell what each class waits for files, the regions' I/O is not divided.
        is_told = any(row.waited("files").seconds for row in results.get("SMF 110-1", {}).values())
        io = {} if is_told else spread({served: row.bursts for served, row in (detailed or first).items()})
        if detailed is None:
            weights = spread(cpu)
            return _Shares(weights, weights, weights, io, source)
        ziip = {served: row.ziip or 0.0 for served, row in detailed.items()}
        on_cp = {served: row.ziip_on_cp or 0.0 for served, row in detailed.items()}
        general = {served: max(0.0, cpu[served] - ziip[served]) for served in cpu}
        weights = spread(general)
        eligible = spread(ziip) if any(ziip.values()) else weights
        return _Shares(weights, eligible, spread(on_cp) if any(on_cp.values()) else eligible, io, source)
    if sampled:
        weights = spread(parts)
        return _Shares(weights, weights, weights, weights, "samples of serving (SMF 72-3)")
    return _Shares(ended, ended, ended, ended, "ended transactions, assuming that all used the same")


def _of_all(system: str, measured: Measured, served: Iterable[str]) -> dict[str, dict[str, Account]]:
    """Accounts of the served classes, by kind of record; a kind that lacks any of the classes is left out."""
    names = list(served)
    results = {
        kind: {name: rows[system, base(name)] for name in names if (system, base(name)) in rows}
        for kind, rows in accounts(measured.records).items()
    }
    return {kind: rows for kind, rows in results.items() if rows and len(rows) == len(names)}


def _bursts(system: str, facts: Mapping[str, Facts], measured: Measured) -> dict[str, float]:
    """Number of engine requests per transaction: dispatches of CICS tasks, or waits of Db2 threads plus a commit."""
    bursts: dict[str, float] = {}
    for rows in accounts(measured.records).values():
        for (text, name), account in rows.items():
            periods = matching(facts, name) if text == system else set()
            ended = sum(facts[period]["transactions"] or 0.0 for period in periods)
            if ended and account.bursts:
                bursts |= {period: max(1.0, account.bursts / ended) for period in periods if period not in bursts}
    return bursts
