"""Facts of class periods from SMF 72-3.

CPU seconds are service units divided by the service definition coefficient and by the rate of the processor:
seconds = units / coefficient / (16,000,000 / R723MADJ) (IBM SMF Explorer, ``cpu_service_coefficient_adjusted``).
R723CCPU holds the service of all engine kinds; zIIP and zAAP service, made equivalent to a general processor with
R723NFFS and R723NFFI, is taken out of it to get the time on general processors (RMF: APPL% CP).
"""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.expressions import interval_seconds
from plexlens.metrics.inputs import RECORD, Inputs
from plexlens.metrics.workload.facts import BOUND_FACTS, BUCKET_FACTS, BUCKETS, PERIOD_FACTS

#: R723CRGF, first bit that is on.
_GOALS = ((0x80, "percentile"), (0x40, "average"), (0x20, "velocity"), (0x10, "discretionary"), (0x08, "system"))

#: R723CRTF: unit of the goal value in seconds.
_GOAL_UNITS = ((0x80, 0.001), (0x40, 1.0), (0x20, 60.0), (0x10, 3600.0))


#: R723CADF: which kinds of data a period records, and the facts of each kind.
_PRESENT = {
    0x80: (
        "active_seconds",
        "resident_seconds",
        "service_units",
        "service_units_cpu",
        "service_units_srb",
        "service_units_io",
        "service_units_mso",
        "tcb_seconds",
        "srb_seconds",
        "rct_seconds",
        "iit_seconds",
        "hst_seconds",
        "ziip_seconds",
        "ziip_engine_seconds",
        "ziip_on_cp_seconds",
        "zaap_seconds",
        "zaap_engine_seconds",
        "zaap_on_cp_seconds",
        "dasd_requests",
        "dasd_connect_seconds",
        "dasd_disconnect_seconds",
        "dasd_wait_seconds",
        "dasd_ios_queue_seconds",
        "page_residency_seconds",
    ),
    0x40: ("transactions", "elapsed_seconds", "elapsed_squares", "execution_seconds", "queue_seconds"),
    0x20: ("using_samples", "delay_samples", "execution_samples"),
}


def _first_bit(column: Any, choices: tuple[tuple[int, Any], ...], otherwise: Any) -> Any:
    bits = column.cast("int64")
    return ibis.cases(*[((bits & mask) != 0, value) for mask, value in choices], else_=otherwise)


def _distribution(inputs: Inputs) -> Any:
    """Buckets of each period, and the map of each record, one row a distribution entry."""
    fields = tuple(f"r723trdb_{n}" for n in range(1, BUCKETS + 1))
    return inputs.table("smf72_3_response_distribution", *fields)


def _with_distribution(inputs: Inputs, table: Any) -> Any:
    """The periods with their buckets and the map's bounds; nulls where the record holds none."""
    if not inputs.has("smf72_3_response_distribution"):
        return table
    entries = _distribution(inputs)
    bucket_map = entries.filter(entries.section_no == 1).select(
        *RECORD,
        **{f"bound_{n}": entries[f"r723trdb_{n}"].cast("float64") / 100.0 for n in range(1, BUCKETS)},
    )
    # Entry 0 of the distribution is the map, so the entry numbered R723CRTX is the section after it.
    counts = entries.select(
        *RECORD,
        entry=entries.section_no.cast("int64") - 1,
        **{f"bucket_{n}": entries[f"r723trdb_{n}"].cast("float64") for n in range(1, BUCKETS + 1)},
    ).filter(lambda t: t.entry > 0)
    table = table.mutate(entry=table.r723crtx.cast("int64"))
    table = table.left_join(counts, [*RECORD, "entry"], rname="count_{name}")
    return table.left_join(bucket_map, list(RECORD), rname="map_{name}")


def periods_of_smf(inputs: Inputs) -> Any:
    """Facts of every class period in SMF 72-3."""
    copies = [field for *_, field in PERIOD_FACTS]
    period = inputs.table(
        "smf72_3_period",
        *copies,
        "r723cper",
        "r723cadf",
        "r723crtx",
        "r723cval",
        "r723crgf",
        "r723crtf",
        "r723ctet",
        "r723ctetx",
        "r723cets",
        "r723cetsx",
        "r723cxet",
        "r723cxetx",
        "r723cqdt",
        "r723cqdtx",
        "r723csup",
        "r723csuc",
        "r723cifa",
        "r723cifc",
    )
    control = inputs.table(
        "smf72_3_wlm_control",
        "r723mscf",
        "r723mcpu",
        "r723msrb",
        "r723madj",
        "r723nffi",
        "r723nffs",
        text=("r723mwnm", "r723mcnm", "r723mcde", "r723mnsp"),
    ).select(
        *RECORD,
        "r723mscf",
        "r723mcpu",
        "r723msrb",
        "r723madj",
        "r723nffi",
        "r723nffs",
        "r723mwnm",
        "r723mcnm",
        "r723mcde",
        "r723mnsp",
    )
    table = _with_distribution(inputs, period.inner_join(control, list(RECORD)))
    rate = 16e6 / table.r723madj.cast("float64").nullif(0.0)
    # A coefficient of zero leaves no service to convert.
    per_cpu = rate * table.r723mcpu.cast("float64").nullif(0.0)
    per_srb = rate * table.r723msrb.cast("float64").nullif(0.0)
    goal = _first_bit(table.r723crgf, _GOALS, ibis.null("string"))
    value = table.r723cval.cast("float64")
    timed = goal.isin(["percentile", "average"])
    ziip_factor = ibis.coalesce(table.r723nffs.cast("float64").nullif(0.0), ibis.literal(1.0))
    zaap_factor = ibis.coalesce(table.r723nffi.cast("float64").nullif(0.0), ibis.literal(1.0))

    def finer(precise: str, coarse: str) -> Any:
        """The microsecond field where the record has it, else the older one."""
        return ibis.coalesce(table[precise].cast("float64").nullif(0.0), table[coarse].cast("float64"))

    facts = {
        **{name: table[field] for name, _, _, _, field in PERIOD_FACTS},
        "elapsed_seconds": finer("r723ctetx", "r723ctet"),
        "elapsed_squares": finer("r723cetsx", "r723cets"),
        "execution_seconds": finer("r723cxetx", "r723cxet"),
        "queue_seconds": finer("r723cqdtx", "r723cqdt"),
        "tcb_seconds": table.r723ccpu / per_cpu,
        "srb_seconds": table.r723csrb / per_srb,
        "ziip_seconds": table.r723csup / per_cpu * ziip_factor,
        "ziip_engine_seconds": table.r723csup / per_cpu,
        "ziip_on_cp_seconds": table.r723csuc / per_cpu,
        "zaap_seconds": table.r723cifa / per_cpu * zaap_factor,
        "zaap_engine_seconds": table.r723cifa / per_cpu,
        "zaap_on_cp_seconds": table.r723cifc / per_cpu,
    }
    present = table.r723cadf.cast("int64")
    for mask, names in _PRESENT.items():
        for name in names:
            # What a period does not record stands as zero in it, which would read as work that cost nothing.
            facts[name] = ibis.ifelse(present.isnull() | ((present & mask) != 0), facts[name], ibis.null("float64"))

    there = set(table.columns)
    buckets = {f.name: table[f.name] for f in (*BUCKET_FACTS, *BOUND_FACTS) if f.name in there}
    return table.select(
        system=table.system,
        sysplex=table.sysplex,
        interval_start=table.interval_start,
        interval_end=table.interval_end,
        utc_offset=table.utc_offset,
        class_kind=ibis.ifelse((table.r723mscf.cast("int64") & 0x80) != 0, "report class", "service class"),
        workload=table.r723mwnm,
        class_name=table.r723mcnm,
        period=table.r723cper.cast("int64").cast("string"),
        description=table.r723mcde,
        policy=table.r723mnsp,
        goal=goal,
        interval_seconds=interval_seconds(table),
        **facts,
        goal_seconds=ibis.ifelse(
            timed, value * _first_bit(table.r723crtf, _GOAL_UNITS, ibis.literal(0.001)), ibis.null("float64")
        ),
        goal_velocity=ibis.ifelse(goal == "velocity", value / 100.0, ibis.null("float64")),
        **buckets,
    )
