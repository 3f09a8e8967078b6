"""Locking of one Db2: within it (QTXA) and in its data sharing group (QTGS), SMF 100 IFCID 2."""

from __future__ import annotations

from typing import Any

from plexlens.metrics.db2 import text_reports
from plexlens.metrics.db2.records import ATTRIBUTES, INTERVAL, SUBSYSTEM, common, document, intervals, report
from plexlens.metrics.definition import Grain, Metric, Rollup, Source
from plexlens.metrics.expressions import ratio, total
from plexlens.metrics.fields import Field, columns_of, facts_of, per_event, per_second
from plexlens.metrics.inputs import RECORD, Inputs
from plexlens.metrics.unit import COUNT, FRACTION, PER_SECOND, PERCENTAGE

_LOCAL = report("locking activity")
_SHARED = report("data sharing locking")
_CONTENTION = document("Calculating global contention")

# Counters whose places are published: a fall of one means that Db2 started.
_LOCAL_WITNESSES = ("qtxalock", "qtxaunlk", "qtxachg", "qtxaclno", "qtxadrno")
_SHARED_WITNESSES = ("qtgslslm", "qtgscslm", "qtgsuslm", "qtgsiglo")

LOCAL_FIELDS = (
    Field("deadlocks", "Deadlocks", "QTXADEA"),
    Field("timeouts", "Timeouts", "QTXATIM"),
    Field("suspensions_lock", "Suspensions, lock", "QTXASLOC"),
    Field("suspensions_latch", "Suspensions, IRLM latch", "QTXASLAT"),
    Field("suspensions_other", "Suspensions, other", "QTXASOTH"),
    Field("escalations_shared", "Escalations to share mode", "QTXALES"),
    Field("escalations_exclusive", "Escalations to exclusive mode", "QTXALEX"),
    Field("lock_requests", "Lock requests", "QTXALOCK"),
    Field("unlock_requests", "Unlock requests", "QTXAUNLK"),
    Field("query_requests", "Query requests", "QTXAQRY"),
    Field("change_requests", "Change requests", "QTXACHG"),
    Field("other_requests", "Other requests", "QTXAIRLM"),
    Field("claim_requests", "Claim requests", "QTXACLNO"),
    Field("claim_requests_failed", "Claim requests failed", "QTXACLUN"),
    Field("drain_requests", "Drain requests", "QTXADRNO"),
    Field("drain_requests_failed", "Drain requests failed", "QTXADRUN"),
    Field("locks_peak", "Most page and row locks of a thread", "QTXANPL", COUNT, Rollup.PEAK),
)

SHARED_FIELDS = (
    Field("plock_lock_requests", "P-lock lock requests", "QTGSLPLK"),
    Field("plock_change_requests", "P-lock change requests", "QTGSCPLK"),
    Field("plock_unlock_requests", "P-lock unlock requests", "QTGSUPLK"),
    Field("xes_lock_requests", "Lock requests to XES", "QTGSLSLM"),
    Field("xes_change_requests", "Change requests to XES", "QTGSCSLM"),
    Field("xes_unlock_requests", "Unlock requests to XES", "QTGSUSLM"),
    Field("xes_async_requests", "Requests to XES, asynchronous", "QTGSKIDS"),
    Field("suspends_irlm", "Suspensions, IRLM contention", "QTGSIGLO"),
    Field("suspends_xes", "Suspensions, XES contention", "QTGSSGLO"),
    Field("suspends_false", "Suspensions, false contention", "QTGSFLSE"),
    Field("false_contentions", "False contentions", "QTGSFLMG"),
    Field("rejected_xes", "Requests rejected by XES", "QTGSCREJ"),
    Field("incompatible_retained", "Incompatible retained locks met", "QTGSDRTA"),
    Field("notify_sent", "Notify messages sent", "QTGSNTFY"),
    Field("notify_received", "Notify messages received", "QTGSNTFR"),
    Field("exit_engine_unavailable", "P-lock and notify exit engine not available", "QTGSPEQW"),
    Field("page_set_plock_negotiations", "Page set P-lock negotiations", "QTGSPPPE"),
    Field("page_plock_negotiations", "Page P-lock negotiations", "QTGSPGPE"),
    Field("other_plock_negotiations", "Other P-lock negotiations", "QTGSOTPE"),
    Field("plock_changes_negotiating", "P-lock changes during negotiation", "QTGSCHNP"),
    Field("exit_engines", "P-lock and notify exit engines", "QTGSPEMX", COUNT, Rollup.PEAK),
)


def _locking(inputs: Inputs) -> Any:
    table = intervals(inputs, "smf100_ifcid2_qtxa", LOCAL_FIELDS, witnesses=_LOCAL_WITNESSES)
    facts = {**common(table), **columns_of(table, LOCAL_FIELDS)}
    if not inputs.has("smf100_ifcid2_qtgs"):
        return table.select(**facts)
    # Both sections of a record span the same interval: each has an entry in every statistics record of a member.
    shared = intervals(inputs, "smf100_ifcid2_qtgs", SHARED_FIELDS, witnesses=_SHARED_WITNESSES)
    shared = shared.select(*RECORD, **columns_of(shared, SHARED_FIELDS))
    both = table.select(*RECORD, **facts).left_join(shared, list(RECORD))
    return both.drop(*RECORD, *(f"{name}_right" for name in RECORD))


def _suspensions(f: Any) -> Any:
    return total(f.suspensions_lock, f.suspensions_latch, f.suspensions_other)


def _global_suspensions(f: Any) -> Any:
    return total(f.suspends_irlm, f.suspends_xes, f.suspends_false)


def _to_xes(f: Any) -> Any:
    return total(f.xes_lock_requests, f.xes_change_requests, f.xes_unlock_requests)


def _l_locks(f: Any) -> Any:
    return total(f.lock_requests, f.change_requests, f.unlock_requests)


def _p_locks(f: Any) -> Any:
    return total(f.plock_lock_requests, f.plock_change_requests, f.plock_unlock_requests)


def _negotiations(f: Any) -> Any:
    return total(f.page_set_plock_negotiations, f.page_plock_negotiations, f.other_plock_negotiations)


_FALSE = (
    "QTGSFLSE counts false contention up to Db2 9; the descriptions of newer releases call it requests that XES made "
    "asynchronous, and QTGSFLMG false contention."
)

LOCKING = Grain(
    name="db2_locking",
    title="Db2 locking",
    row="locking of one Db2 in one interval",
    keys=(SUBSYSTEM,),
    attributes=ATTRIBUTES,
    facts=(
        INTERVAL,
        *facts_of("SMF 100 IFCID 2", LOCAL_FIELDS),
        *facts_of("SMF 100 IFCID 2", SHARED_FIELDS),
    ),
    sources=(
        Source("SMF 100", ("smf100_ifcid2_qtxa",), _locking),
        Source(text_reports.STATISTICS, ("text_db2_locking",), text_reports.locking),
    ),
    metrics=(
        per_second("lock_requests_per_second", "Lock requests", "lock_requests", "QTXALOCK", _LOCAL),
        per_second("unlock_requests_per_second", "Unlock requests", "unlock_requests", "QTXAUNLK", _LOCAL),
        per_second("change_requests_per_second", "Change requests", "change_requests", "QTXACHG", _LOCAL),
        per_second("deadlocks_per_second", "Deadlocks", "deadlocks", "QTXADEA", _LOCAL),
        per_second("timeouts_per_second", "Timeouts", "timeouts", "QTXATIM", _LOCAL),
        Metric(
            "escalations_per_second",
            "Lock escalations",
            PER_SECOND,
            "(QTXALES + QTXALEX) / interval",
            _LOCAL,
            lambda f: ratio(total(f.escalations_shared, f.escalations_exclusive), f.interval_seconds),
        ),
        Metric(
            "suspensions_per_second",
            "Suspensions",
            PER_SECOND,
            "(QTXASLOC + QTXASLAT + QTXASOTH) / interval",
            _LOCAL,
            lambda f: ratio(_suspensions(f), f.interval_seconds),
        ),
        per_event(
            "suspension_fraction",
            "Lock requests that waited for a lock",
            PERCENTAGE,
            ("suspensions_lock", "QTXASLOC"),
            ("lock_requests", "QTXALOCK"),
            source=_LOCAL,
        ),
        Metric(
            "xes_requests_per_second",
            "Requests to XES",
            PER_SECOND,
            "(QTGSLSLM + QTGSCSLM + QTGSUSLM) / interval",
            _SHARED,
            lambda f: ratio(_to_xes(f), f.interval_seconds),
            "Each is a request to the lock structure in the coupling facility.",
        ),
        Metric(
            "xes_fraction",
            "Lock requests passed to XES",
            PERCENTAGE,
            "(QTGSLSLM + QTGSCSLM + QTGSUSLM) / (QTXALOCK + QTXACHG + QTXAUNLK + QTGSLPLK + QTGSCPLK + QTGSUPLK)",
            f"{_SHARED} (P/L-LOCKS XES RATE)",
            lambda f: ratio(_to_xes(f), total(_l_locks(f), _p_locks(f))),
            "The rest is granted inside the member, without the coupling facility.",
        ),
        Metric(
            "global_contention_fraction",
            "Global contention",
            FRACTION,
            "(QTGSIGLO + QTGSSGLO + QTGSFLSE) / (QTGSLSLM + QTGSCSLM + QTGSUSLM)",
            f"{_CONTENTION}; {_SHARED} (GLOBAL CONTENTION RATE)",
            lambda f: ratio(_global_suspensions(f), _to_xes(f)),
            _FALSE,
        ),
        Metric(
            "false_contention_fraction",
            "False contention",
            FRACTION,
            "QTGSFLSE / (QTGSLSLM + QTGSCSLM + QTGSUSLM)",
            f"{_CONTENTION}; {_SHARED} (FALSE CONTENTION RATE)",
            lambda f: ratio(f.suspends_false, _to_xes(f)),
            f"Different resources that hash to one entry of the lock table; more entries lower it. {_FALSE}",
        ),
        Metric(
            "irlm_contention_fraction",
            "IRLM (real) contention",
            FRACTION,
            "QTGSIGLO / (QTGSLSLM + QTGSCSLM + QTGSUSLM)",
            f"{_SHARED} (SUSPENDS - IRLM GLOBAL CONT)",
            lambda f: ratio(f.suspends_irlm, _to_xes(f)),
        ),
        Metric(
            "xes_contention_fraction",
            "XES contention",
            FRACTION,
            "QTGSSGLO / (QTGSLSLM + QTGSCSLM + QTGSUSLM)",
            f"{_SHARED} (SUSPENDS - XES GLOBAL CONT)",
            lambda f: ratio(f.suspends_xes, _to_xes(f)),
            "Lock modes that XES cannot tell apart but IRLM finds compatible.",
        ),
        Metric(
            "global_suspensions_per_second",
            "Suspensions, global contention",
            PER_SECOND,
            "(QTGSIGLO + QTGSSGLO + QTGSFLSE) / interval",
            _SHARED,
            lambda f: ratio(_global_suspensions(f), f.interval_seconds),
            _FALSE,
        ),
        Metric(
            "negotiations_per_second",
            "P-lock negotiations",
            PER_SECOND,
            "(QTGSPPPE + QTGSPGPE + QTGSOTPE) / interval",
            _SHARED,
            lambda f: ratio(_negotiations(f), f.interval_seconds),
            "Each asks another member to give way, with messages and often a write of the page.",
        ),
        per_second(
            "page_negotiations_per_second",
            "Page P-lock negotiations",
            "page_plock_negotiations",
            "QTGSPGPE",
            _SHARED,
        ),
        Metric(
            "notify_per_second",
            "Notify messages",
            PER_SECOND,
            "(QTGSNTFY + QTGSNTFR) / interval",
            _SHARED,
            lambda f: ratio(total(f.notify_sent, f.notify_received), f.interval_seconds),
        ),
    ),
)
