"""One period of a service or report class on one system: throughput, response, CPU by engine, goals."""

from __future__ import annotations

from typing import Any

from plexlens.metrics.definition import Attribute, Grain, Key, Metric, Source
from plexlens.metrics.expressions import ratio, standard_deviation, total
from plexlens.metrics.unit import (
    FRACTION,
    MEAN_COUNT,
    MILLISECONDS,
    PER_SECOND,
    PROCESSORS,
    RATIO,
    SECONDS,
)
from plexlens.metrics.workload.facts import FACTS
from plexlens.metrics.workload.goal import performance_index
from plexlens.metrics.workload.rmf_xml import periods_of_rmf_xml
from plexlens.metrics.workload.smf import periods_of_smf

_OVERVIEW = "z/OS RMF User's Guide, overview conditions for SMF 72-3"
_REPORT = "z/OS RMF Report Analysis, Workload Activity report"
_EXPLORER = "IBM SMF Explorer, SMF 72-3"


def all_engines(f: Any) -> Any:
    """CPU seconds on all kinds of engine, specialty engines as general processors."""
    return total(f.tcb_seconds, f.srb_seconds, f.rct_seconds, f.iit_seconds, f.hst_seconds)


def general(f: Any) -> Any:
    """CPU seconds on general processors."""
    return all_engines(f) - total(f.ziip_seconds, f.zaap_seconds).fill_null(0.0)


def specialty(f: Any) -> Any:
    """CPU seconds on zIIPs and zAAPs, as general processors."""
    return total(f.ziip_seconds, f.zaap_seconds)


_METRICS = (
    Metric(
        "transactions_per_second",
        "Transactions",
        PER_SECOND,
        "R723CRCP / interval",
        _OVERVIEW + " (TRANS)",
        lambda f: ratio(f.transactions, f.interval_seconds),
    ),
    Metric(
        "response_time",
        "Response time",
        MILLISECONDS,
        "R723CTET / R723CRCP",
        _REPORT + " (TRANS-TIME ACTUAL)",
        lambda f: ratio(f.elapsed_seconds, f.transactions),
    ),
    Metric(
        "response_deviation",
        "Response time, standard deviation",
        MILLISECONDS,
        "√(R723CETS / R723CRCP - (R723CTET / R723CRCP)²)",
        _REPORT + " (TRANS-TIME STD DEV)",
        lambda f: standard_deviation(f.elapsed_squares, f.elapsed_seconds, f.transactions),
    ),
    Metric(
        "execution_time",
        "Execution time",
        MILLISECONDS,
        "R723CXET / R723CRCP",
        _OVERVIEW + " (RTIME)",
        lambda f: ratio(f.execution_seconds, f.transactions),
    ),
    Metric(
        "queue_time",
        "Queue time",
        MILLISECONDS,
        "R723CQDT / R723CRCP",
        _REPORT + " (TRANS-TIME QUEUED)",
        lambda f: ratio(f.queue_seconds, f.transactions),
    ),
    Metric(
        "active_transactions",
        "Active transactions",
        MEAN_COUNT,
        "R723CTAT / interval",
        _REPORT + " (TRANSACTIONS AVG)",
        lambda f: ratio(f.active_seconds, f.interval_seconds),
    ),
    Metric(
        "multiprogramming_level",
        "Multiprogramming level",
        MEAN_COUNT,
        "R723CTRR / interval",
        _REPORT + " (TRANSACTIONS MPL)",
        lambda f: ratio(f.resident_seconds, f.interval_seconds),
    ),
    Metric(
        "cpu_seconds",
        "CPU time, all engines",
        SECONDS,
        "TCB + SRB + RCT + IIT + HST",
        _REPORT + " (SERVICE TIME)",
        all_engines,
        "zIIP and zAAP time counts as time on a general processor.",
    ),
    Metric(
        "cp_seconds",
        "CPU time on general processors",
        SECONDS,
        "TCB + SRB + RCT + IIT + HST - zIIP - zAAP",
        _EXPLORER + ", utilization_cp",
        general,
    ),
    Metric(
        "cp_processors",
        "General processors used",
        PROCESSORS,
        "general processor time / interval",
        _REPORT + " (APPL% CP)",
        lambda f: ratio(general(f), f.interval_seconds),
        "APPL% of the report is this times 100.",
    ),
    Metric(
        "ziip_processors",
        "zIIPs used",
        PROCESSORS,
        "zIIP time as run / interval",
        _REPORT + " (APPL% IIP)",
        lambda f: ratio(f.ziip_engine_seconds, f.interval_seconds),
        "Engine time; multiply by the normalization factor to compare with general processors.",
    ),
    Metric(
        "ziip_on_cp_processors",
        "General processors used by zIIP-eligible work",
        PROCESSORS,
        "zIIP-eligible time on general processors / interval",
        _REPORT + " (APPL% IIPCP)",
        lambda f: ratio(f.ziip_on_cp_seconds, f.interval_seconds),
    ),
    Metric(
        "ziip_eligible_fraction",
        "zIIP-eligible",
        FRACTION,
        "(zIIP + zIIP-eligible on CP) / CPU time of all engines",
        "DB2 9 for z/OS XML and zIIP (2008); Db2 for z/OS: zIIP eligibility",
        lambda f: ratio(total(f.ziip_seconds, f.ziip_on_cp_seconds), all_engines(f)),
    ),
    Metric(
        "ziip_redirected_fraction",
        "Eligible work that ran on zIIPs",
        FRACTION,
        "zIIP / (zIIP + zIIP-eligible on CP)",
        "Db2 13 for z/OS: monitoring zIIP use",
        lambda f: ratio(f.ziip_seconds.nullif(0.0), total(f.ziip_seconds, f.ziip_on_cp_seconds)),
    ),
    Metric(
        "ziip_overflow_fraction",
        "zIIP overflow to general processors",
        FRACTION,
        "zIIP-eligible on CP / (zIIP + zIIP-eligible on CP)",
        "Db2 13 for z/OS: zIIP needs help",
        lambda f: ratio(f.ziip_on_cp_seconds, f.ziip_seconds.nullif(0.0) + f.ziip_on_cp_seconds),
        "Below 1 % is good; above 5 % general processors pay for want of zIIPs. Null where no zIIP ran anything: "
        "without zIIPs the eligible time is a projection, no overflow.",
    ),
    Metric(
        "ziip_share",
        "Redirected to zIIP",
        FRACTION,
        "zIIP / CPU time of all engines",
        "DB2 9 for z/OS XML and zIIP (2008): actual redirected",
        lambda f: ratio(f.ziip_seconds, all_engines(f)),
    ),
    Metric(
        "cpu_per_transaction",
        "CPU per transaction, all engines",
        MILLISECONDS,
        "CPU time of all engines / transactions ended",
        "z/OS RMF Report Analysis; Large Systems Performance Reference: CPU per transaction",
        lambda f: ratio(all_engines(f), f.transactions),
    ),
    Metric(
        "cp_per_transaction",
        "General processor time per transaction",
        MILLISECONDS,
        "general processor time / transactions ended",
        "z/OS RMF Report Analysis; Large Systems Performance Reference: CPU per transaction",
        lambda f: ratio(general(f), f.transactions),
    ),
    Metric(
        "specialty_per_transaction",
        "Specialty engine time per transaction",
        MILLISECONDS,
        "(zIIP + zAAP) / transactions ended",
        "DB2 9 for z/OS XML and zIIP (2008)",
        lambda f: ratio(specialty(f), f.transactions),
    ),
    Metric(
        "velocity",
        "Execution velocity",
        FRACTION,
        "R723CTOU / (R723CTOU + R723CTOT)",
        _OVERVIEW + " (EXVEL)",
        lambda f: ratio(f.using_samples, f.using_samples + f.delay_samples),
    ),
    Metric(
        "performance_index",
        "Performance index",
        RATIO,
        "response / goal, goal velocity / velocity, or the bucket bound at the goal's percentile / goal",
        "z/OS MVS Planning: Workload Management, performance index",
        performance_index,
        "Above 1 the goal was missed. For a percentile goal it moves in steps of the 14 buckets and ends at 4.",
    ),
    Metric(
        "cpu_delay_fraction",
        "Delayed for a processor",
        FRACTION,
        "R723CCDE / R723CTSA",
        _REPORT + " (EXECUTION DELAYS %)",
        lambda f: ratio(f.cpu_delay_samples, f.execution_samples),
    ),
    Metric(
        "ziip_delay_fraction",
        "Delayed for a zIIP",
        FRACTION,
        "R723SUPD / R723CTSA",
        _REPORT + " (EXECUTION DELAYS %)",
        lambda f: ratio(f.ziip_delay_samples, f.execution_samples),
    ),
    Metric(
        "capping_delay_fraction",
        "Delayed by capping",
        FRACTION,
        "R723CCCA / R723CTSA",
        _REPORT + " (EXECUTION DELAYS %)",
        lambda f: ratio(f.capping_delay_samples, f.execution_samples),
    ),
    Metric(
        "dasd_response_time",
        "DASD response time",
        MILLISECONDS,
        "(R723CICT + R723CIDT + R723CIWT + R723CIOT) / R723CIRC",
        _REPORT + " (DASD I/O RESP)",
        lambda f: ratio(
            total(f.dasd_connect_seconds, f.dasd_disconnect_seconds, f.dasd_wait_seconds, f.dasd_ios_queue_seconds),
            f.dasd_requests,
        ),
    ),
    Metric(
        "dasd_per_second",
        "DASD I/O",
        PER_SECOND,
        "R723CIRC / interval",
        _REPORT + " (DASD I/O SSCHRT)",
        lambda f: ratio(f.dasd_requests, f.interval_seconds),
    ),
    Metric(
        "service_units_per_second",
        "Service",
        PER_SECOND,
        "R723CSRV / interval",
        _OVERVIEW + " (TOTSRV)",
        lambda f: ratio(f.service_units, f.interval_seconds),
    ),
)

PERIOD = Grain(
    name="workload_period",
    title="Service and report class periods",
    row="one period of a service or report class on one system in one interval",
    keys=(
        Key("class_kind", "Kind"),
        Key("workload", "Workload"),
        Key("class_name", "Class"),
        Key("period", "Period"),
    ),
    attributes=(Attribute("goal", "Goal"), Attribute("description", "Description"), Attribute("policy", "Policy")),
    facts=FACTS,
    metrics=_METRICS,
    sources=(
        Source("SMF 72-3", ("smf72_3_period", "smf72_3_wlm_control"), periods_of_smf),
        Source("RMF XML WLMGL", ("rmf_xml_workload_period",), periods_of_rmf_xml),
        Source("RMF text WLMGL", ("text_rmf_workload_period",), lambda inputs: periods_of_rmf_xml(inputs, "text_rmf")),
    ),
)
