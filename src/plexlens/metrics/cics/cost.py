"""What a CICS transaction costs in every address space: CPU time beside the transactions of the same time.

The 2012 study adds up the CPU time of the region and of the address spaces that work for it (network, TCP/IP, XCF, MQ,
Db2), each in a report class of its own, and divides by the rate of the transactions. Which address spaces work for CICS
no record tells: every one is set beside the transactions, and who reads decides which belong together.
"""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics import GRAINS
from plexlens.metrics.expressions import total
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.workload.period import general, specialty


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


def class_costs(inputs: Inputs, number: int) -> Any:
    """Costs by class from the source of class periods that has this number."""
    source = GRAINS["workload_period"].sources[number]
    if source.facts is None:
        raise ValueError(f"{source.kind} is no function any more")
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
