"""Facts of a class period: what SMF 72-3 and the workload activity report both can tell."""

from __future__ import annotations

from plexlens.metrics.definition import Fact, Rollup
from plexlens.metrics.unit import COUNT, PERCENTAGE, SECONDS, SERVICE_UNITS

#: Buckets of the response time distribution (r723tent in the RMF mapping).
BUCKETS = 14

#: Fact <- field of the period section, where it is a plain copy.
PERIOD_FACTS = (
    ("transactions", "Transactions ended", COUNT, Rollup.COUNT, "r723crcp"),
    ("abnormal_transactions", "Transactions ended abnormally", COUNT, Rollup.COUNT, "r723carc"),
    ("executed_transactions", "Transactions executed for others", COUNT, Rollup.COUNT, "r723cncp"),
    ("active_seconds", "Transaction active time", SECONDS, Rollup.COUNT, "r723ctat"),
    ("resident_seconds", "Transaction resident time", SECONDS, Rollup.COUNT, "r723ctrr"),
    ("service_units", "Service, total", SERVICE_UNITS, Rollup.COUNT, "r723csrv"),
    ("service_units_cpu", "Service, CPU", SERVICE_UNITS, Rollup.COUNT, "r723ccpu"),
    ("service_units_srb", "Service, SRB", SERVICE_UNITS, Rollup.COUNT, "r723csrb"),
    ("service_units_io", "Service, I/O", SERVICE_UNITS, Rollup.COUNT, "r723cioc"),
    ("service_units_mso", "Service, storage", SERVICE_UNITS, Rollup.COUNT, "r723cmso"),
    ("rct_seconds", "Region control task time", SECONDS, Rollup.COUNT, "r723crct"),
    ("iit_seconds", "I/O interrupt time", SECONDS, Rollup.COUNT, "r723ciit"),
    ("hst_seconds", "Hiperspace service time", SECONDS, Rollup.COUNT, "r723chst"),
    ("using_samples", "Using samples", COUNT, Rollup.COUNT, "r723ctou"),
    ("delay_samples", "Delay samples", COUNT, Rollup.COUNT, "r723ctot"),
    ("cpu_using_samples", "Using a processor", COUNT, Rollup.COUNT, "r723ccus"),
    ("cpu_delay_samples", "Delayed for a processor", COUNT, Rollup.COUNT, "r723ccde"),
    ("capping_delay_samples", "Delayed by capping", COUNT, Rollup.COUNT, "r723ccca"),
    ("ziip_using_samples", "Using a zIIP", COUNT, Rollup.COUNT, "r723supu"),
    ("ziip_on_cp_samples", "zIIP work using a general processor", COUNT, Rollup.COUNT, "r723sucu"),
    ("ziip_delay_samples", "Delayed for a zIIP", COUNT, Rollup.COUNT, "r723supd"),
    ("io_using_samples", "Using DASD", COUNT, Rollup.COUNT, "r723ciou"),
    ("io_delay_samples", "Delayed for DASD", COUNT, Rollup.COUNT, "r723ciod"),
    ("unknown_samples", "Unknown state", COUNT, Rollup.COUNT, "r723cunk"),
    ("idle_samples", "Idle", COUNT, Rollup.COUNT, "r723cidl"),
    ("execution_samples", "Samples in execution", COUNT, Rollup.COUNT, "r723ctsa"),
    ("dasd_requests", "DASD I/O operations", COUNT, Rollup.COUNT, "r723circ"),
    ("dasd_connect_seconds", "DASD connect time", SECONDS, Rollup.COUNT, "r723cict"),
    ("dasd_disconnect_seconds", "DASD disconnect time", SECONDS, Rollup.COUNT, "r723cidt"),
    ("dasd_wait_seconds", "DASD queue and pending time", SECONDS, Rollup.COUNT, "r723ciwt"),
    ("dasd_ios_queue_seconds", "DASD IOS queue time", SECONDS, Rollup.COUNT, "r723ciot"),
    ("page_residency_seconds", "Storage residency, pages x time", COUNT, Rollup.COUNT, "r723cprs"),
    ("importance", "Importance", COUNT, Rollup.SETTING, "r723cimp"),
    ("goal_percentile", "Goal percentile", COUNT, Rollup.SETTING, "r723cpct"),
    ("distribution_midpoint", "Midpoint of the response distribution", SECONDS, Rollup.SETTING, "r723rtdm"),
)

BUCKET_FACTS = tuple(
    Fact(f"bucket_{n}", f"Ended in bucket {n}", COUNT, Rollup.COUNT, f"SMF 72-3 R723TRDB, entry {n} of the period")
    for n in range(1, BUCKETS + 1)
)
BOUND_FACTS = tuple(
    Fact(
        f"bound_{n}",
        f"Bound of bucket {n}, share of the midpoint",
        PERCENTAGE,
        Rollup.SETTING,
        f"SMF 72-3 R723TRDB, entry {n} of the map",
    )
    for n in range(1, BUCKETS)
)
