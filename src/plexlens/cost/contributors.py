"""Users of the capacity of a peak: service classes, jobs, transactions and plans, as MSU of the four-hour average.

CPU seconds of each interval become a rate in MSU by the rate of one processor; each five minutes counts as often as
it lies in the four hours that end in the peak hour. The parts therefore add up to the average of the partition, and
what is missing to it is shown: time that no record of that kind accounts for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from plexlens.cost.rolling import Series, Span, samples
from plexlens.cost.use import Use
from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import kept_facts, with_metrics
from plexlens.metrics.inputs import Inputs
from plexlens.pdb.engine import quoted, rows_of


@dataclass(frozen=True)
class View:
    """A way to divide the CPU time of a system.

    Attributes
    ----------
    kind
        What its parts are.
    grain
        Where they come from.
    names
        Columns that name a part.
    cpu
        Columns with CPU time on general processors, best first.
    eligible
        Column with zIIP-eligible time on general processors; empty where there is none.
    transactions
        Column that counts its work; empty where there is none.
    records
        Records that it needs.
    where
        Condition on the rows.
    """

    kind: str
    grain: str
    names: tuple[str, ...]
    cpu: tuple[str, ...]
    records: str
    eligible: str = ""
    transactions: str = ""
    where: str = "true"


#: In the order of the page. The first one divides everything that is captured.
VIEWS = (
    View(
        "service class", "workload_period", ("class_name",), ("cp_seconds",), "SMF 72-3", "ziip_on_cp_seconds",
        "transactions", "class_kind = 'service class'",
    ),
    View("job", "address_space", ("job",), ("cp_seconds",), "SMF 30 subtypes 2 and 3", "ziip_on_cp_seconds"),
    View(
        "transaction", "cics_transaction", ("transaction",), ("cp_cpu_seconds", "cpu_seconds"), "SMF 110-1",
        "eligible_cpu_seconds", "transactions",
    ),
    View(
        "plan", "db2_accounting", ("plan", "connection_type"), ("class1_cp_cpu_seconds",), "SMF 101 IFCID 3",
        "class1_secp_cpu_seconds", "commits",
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Part:
    """A part of a view on one system.

    Attributes
    ----------
    kind, name, system
        As the view has it.
    msu, eligible
        Rate by five minutes, MSU: all on general processors, and what of it a zIIP could run.
    transactions
        Its work in the data; None where it is not counted.
    cpu_seconds
        Its CPU time on general processors in the data.
    """

    kind: str
    name: str
    system: str
    msu: Series
    eligible: Series
    transactions: float | None
    cpu_seconds: float


@dataclass(frozen=True)
class Contribution:
    """A part in a peak.

    Attributes
    ----------
    msu
        MSU of the four-hour average.
    share
        Share of the average of the partitions concerned.
    """

    kind: str
    name: str
    msu: float
    share: float


def read_parts(inputs: Inputs, use: Use) -> tuple[Part, ...]:
    """All parts of all views over the periods of the use."""
    rate = {partition.system: partition.msu_per_second for partition in use.partitions if partition.system}
    results: list[Part] = []
    for view in VIEWS:
        by_name: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for row in _rows(inputs, view):
            if row["system"] in rate:
                by_name.setdefault((row["name"], row["system"]), []).append(row)
        results += [_part(view, key, rows, rate[key[1]], use) for key, rows in by_name.items()]
    return tuple(results)


def _rows(inputs: Inputs, view: View) -> list[dict[str, Any]]:
    grain = GRAINS[view.grain]
    kept = kept_facts(inputs, grain)
    if kept is None:
        return []
    rows = with_metrics(kept, grain)
    named = " || ' ' || ".join(f"coalesce({quoted(name)}::varchar, '')" for name in view.names)
    cpu = f"coalesce({', '.join(quoted(name) for name in view.cpu)})"
    eligible = quoted(view.eligible) if view.eligible else "null::double"
    counted = quoted(view.transactions) if view.transactions else "null::double"
    sql = f"""select system, trim({named}) as name, interval_start, interval_end, sum({cpu}) as cpu,
            sum({eligible}) as eligible, sum({counted}) as transactions
        from {rows.source} as r
        where {view.where} and {cpu} > 0 and interval_end > interval_start and not local_time group by all"""
    return rows_of(inputs.connection, sql)


def _part(view: View, key: tuple[str, str], rows: Iterable[Mapping[str, Any]], rate: float, use: Use) -> Part:
    name, system = key
    spans, eligible = [], []
    done: float | None = None
    cpu = 0.0
    for row in rows:
        start, end = row["interval_start"].timestamp(), row["interval_end"].timestamp()
        spans.append(Span(start, end, row["cpu"] / (end - start) * rate))
        eligible.append(Span(start, end, (row["eligible"] or 0.0) / (end - start) * rate))
        cpu += row["cpu"]
        if row["transactions"] is not None:
            done = (done or 0.0) + row["transactions"]
    return Part(
        view.kind,
        name or "(no name)",
        system,
        _added(spans, use),
        _added(eligible, use),
        done,
        cpu,
    )


def _added(spans: Iterable[Span], use: Use) -> Series:
    """Rates added up: several address spaces of one name are not reports of the same thing."""
    by_interval: dict[tuple[float, float], float] = {}
    for span in spans:
        by_interval[span.start, span.end] = by_interval.get((span.start, span.end), 0.0) + span.msu
    plain = [Span(start, end, msu) for (start, end), msu in by_interval.items()]
    layers: list[list[Span]] = []
    for span in sorted(plain, key=lambda span: span.start):
        # Intervals of a layer do not overlap; layers add up.
        layer = next((spans_of_layer for spans_of_layer in layers if spans_of_layer[-1].end <= span.start + 1e-6), None)
        if layer is None:
            layers.append(layer := [])
        layer.append(span)
    result: Series = samples((), use.first, use.periods).msu
    for layer in layers:
        result = result + samples(layer, use.first, use.periods).msu
    return result


def contributions(parts: Iterable[Part], weights: Mapping[str, Series], total: float) -> list[Contribution]:
    """The parts of a peak, highest first.

    Parameters
    ----------
    parts
        Parts of one kind.
    weights
        Weight of each period in the peak, by system (`plexlens.cost.rolling.weights`).
    total
        The average of the partitions, MSU.
    """
    by_name: dict[tuple[str, str], float] = {}
    for part in parts:
        if part.system in weights:
            key = (part.kind, part.name)
            by_name[key] = by_name.get(key, 0.0) + float((part.msu * weights[part.system]).sum())
    results = [Contribution(kind, name, msu, msu / total if total else 0.0) for (kind, name), msu in by_name.items()]
    return sorted(results, key=lambda contribution: (-contribution.msu, contribution.name))
