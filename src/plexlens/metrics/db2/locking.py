"""Locking of one Db2: within it (QTXA) and in its data sharing group (QTGS), SMF 100 IFCID 2."""

from __future__ import annotations

from typing import Any

from plexlens.metrics.db2.records import common, intervals
from plexlens.metrics.definition import Rollup
from plexlens.metrics.fields import Field, columns_of
from plexlens.metrics.inputs import RECORD, Inputs
from plexlens.metrics.unit import COUNT

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
