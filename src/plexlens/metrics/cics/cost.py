"""What a CICS transaction costs in every address space: CPU time beside the transactions of the same time.

The 2012 study adds up the CPU time of the region and of the address spaces that work for it (network, TCP/IP, XCF, MQ,
Db2), each in a report class of its own, and divides by the rate of the transactions. Which address spaces work for CICS
no record tells: every one is set beside the transactions, and who reads decides which belong together.
"""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.definition import Fact, Grain, Key, Metric, Rollup, Source
from plexlens.metrics.expressions import ratio, total
from plexlens.metrics.fields import per_event, per_second
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.unit import COUNT, MILLISECONDS, PERCENTAGE, SECONDS
from plexlens.metrics.workload.period import PERIOD, general, specialty

_STUDY = "IBM Redpaper, A Processor Usage Study of Ways into CICS (2012), tables of raw data"

_OF_ALL = (
    "Transactions of the whole system, CPU time of one address space: it is the cost of CICS only where the address "
    "space works for CICS alone."
)

_CPU_FACTS = (
    Fact("cp_seconds", "CPU time on general processors", SECONDS, Rollup.COUNT, "{cp}"),
    Fact("specialty_seconds", "CPU time on specialty engines", SECONDS, Rollup.COUNT, "{specialty}"),
    # The same transactions stand beside every address space of a system: they count once.
    Fact("cics_transactions", "CICS transactions of the system", COUNT, Rollup.COUNT, "{transactions}", of=()),
)


def cpu_facts(**sources: str) -> tuple[Fact, ...]:
    """Facts of a cost grain; ``cp``, ``specialty`` and ``transactions`` say what they are made of."""
    return tuple(Fact(f.name, f.title, f.unit, f.rollup, f.source.format(**sources), f.of) for f in _CPU_FACTS)


#: What the numbers of a cost grain say.
METRICS = (
    per_event(
        "cp_time",
        "CPU time per CICS transaction, general processors",
        MILLISECONDS,
        ("cp_seconds", "CPU time"),
        ("cics_transactions", "transactions"),
        source=_STUDY,
        caveat=_OF_ALL,
    ),
    per_event(
        "specialty_time",
        "CPU time per CICS transaction, specialty engines",
        MILLISECONDS,
        ("specialty_seconds", "zIIP and zAAP time"),
        ("cics_transactions", "transactions"),
        source=_STUDY,
        caveat=_OF_ALL,
    ),
    Metric(
        "cpu_time",
        "CPU time per CICS transaction",
        MILLISECONDS,
        "(CPU time + zIIP and zAAP time) / transactions",
        _STUDY,
        lambda f: ratio(total(f.cp_seconds, f.specialty_seconds), f.cics_transactions),
        _OF_ALL,
    ),
    per_event(
        "cp_fraction",
        "General processors used, share of one",
        PERCENTAGE,
        ("cp_seconds", "CPU time"),
        ("interval_seconds", "interval"),
        source=_STUDY + " (GCPU%)",
    ),
    per_event(
        "specialty_fraction",
        "Specialty engines used, share of one",
        PERCENTAGE,
        ("specialty_seconds", "zIIP and zAAP time"),
        ("interval_seconds", "interval"),
        source=_STUDY + " (zAAP CPU%)",
    ),
    per_second("transactions_per_second", "CICS transactions", "cics_transactions", "transactions", _STUDY + " (ETR)"),
)


def _classes(periods: Any) -> Any:
    """Classes that use CPU time, beside the transactions of the classes that end transactions and use none.

    Transactions of CICS have classes of their own; what they use is recorded with the region's class.
    """
    periods = periods.mutate(
        cp=general(periods),
        engines=specialty(periods).fill_null(0.0),
        used=total(periods.tcb_seconds, periods.srb_seconds, periods.ziip_seconds).fill_null(0.0),
    )
    moment = ["system", "sysplex", "interval_start", "interval_end", "utc_offset"]
    classes = periods.group_by([*moment, "class_kind", "class_name"]).aggregate(
        interval_seconds=periods.interval_seconds.max(),
        cp_seconds=periods.cp.sum(),
        specialty_seconds=periods.engines.sum(),
        used=periods.used.sum(),
        ended=periods.transactions.sum(),
    )
    within = ibis.window(group_by=["system", "sysplex", "interval_start", "interval_end"])
    of_cics = (classes.used == 0) & (classes.ended > 0)
    # Report classes and service classes hold the same work: those are taken that hold transactions of CICS.
    classes = classes.mutate(
        reported=(of_cics & (classes.class_kind == "report class")).any().over(within),
        served=(of_cics & (classes.class_kind == "service class")).any().over(within),
        of_cics=of_cics,
    )
    kind = ibis.ifelse(classes.reported, "report class", "service class")
    classes = classes.filter((classes.reported | classes.served) & (classes.class_kind == kind))
    ended = ibis.ifelse(classes.of_cics, classes.ended, 0.0)
    classes = classes.mutate(cics_transactions=ended.sum().over(within))
    return classes.filter(classes.used > 0)


def _class_source(source: Source) -> Source:
    def costs(inputs: Inputs) -> Any:
        assert source.facts is not None
        there = source.facts(inputs)
        wanted = ("interval_start", "interval_end", "utc_offset", "system", "sysplex", "class_kind", "class_name")
        needed = (
            "interval_seconds",
            "transactions",
            "tcb_seconds",
            "srb_seconds",
            "rct_seconds",
            "iit_seconds",
            "hst_seconds",
            "ziip_seconds",
            "zaap_seconds",
        )
        columns = set(there.columns)
        return _classes(
            there.select(
                **{name: there[name] for name in wanted if name in columns},
                **{name: ibis.null("float64") for name in ("utc_offset",) if name not in columns},
                **{name: there[name].cast("float64") if name in columns else ibis.null("float64") for name in needed},
            )
        )

    return Source(source.kind, source.needs, costs)


CLASS_COST = Grain(
    name="cics_class_cost",
    title="CICS cost by report class",
    row="one class that uses CPU time on one system, beside the transactions of CICS in the same interval",
    keys=(Key("class_name", "Class"),),
    facts=(
        Fact("interval_seconds", "Interval", SECONDS, Rollup.SPAN, "SMF 72-3 SMF72INT"),
        *cpu_facts(
            cp="SMF 72-3, as in the grain of class periods",
            specialty="SMF 72-3 R723CSUP, R723CIFA",
            transactions="SMF 72-3 R723CRCP of classes without CPU time",
        ),
    ),
    sources=tuple(_class_source(source) for source in PERIOD.sources),
    metrics=METRICS,
)

__all__ = ["CLASS_COST", "METRICS", "cpu_facts"]
