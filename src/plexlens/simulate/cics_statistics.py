"""SMF 110-2: statistics of each CICS region in an interval: its TCBs, its transactions, its connection to Db2."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from plexlens.simulate.written import Interval
from plexlens.smf_rows.record import Record
from plexlens.smf_rows.smf110_2 import (
    Db2Connection,
    Dispatcher,
    OpenTcbs,
    Region,
    Tcbs,
    Transactions,
    sections,
)

#: MXT, default of CICS TS since V5.4; MAXOPENTCBS as CICS computes it where it is not given: 32 + 2 * MXT.
_MOST_TASKS = 500

#: Threads of a region, default as `defaults.rs` has it.
_THREADS = 40


def statistics_records(interval: Interval) -> Iterator[Record]:
    """A record for each region: counters of the interval, as in a collection of type INT."""
    spaces = {space["name"]: space for system in interval.truth["systems"] for space in system["spaces"]}
    for values, used in zip(interval.values.get("region", []), interval.truth["regions"], strict=True):
        rows = sections(
            Region(
                values["name"],
                interval.start.replace(tzinfo=None),
                interval.end.replace(tzinfo=None),
                number=interval.number + 1,
                length=round(interval.seconds),
            ),
            _dispatcher(interval, values, used, spaces[values["name"]]),
            Transactions(used["attached"], limit=max(_MOST_TASKS, used["most_inside"]), most=used["most_inside"]),
            _connection(interval, values, used) if values.get("db2") else None,
        )
        contents = {name: row for name, row in rows.items() if row}
        yield Record("smf110_2", values["system"], interval.end, contents, values["name"])


def _dispatcher(
    interval: Interval, values: Mapping[str, Any], used: Mapping[str, Any], space: Mapping[str, Any]
) -> Dispatcher:
    """Dispatcher statistics; a TCB of an unused mode waits all the time, QR and RO exist in every region."""
    seconds, threads = interval.seconds, used["most_threads"]
    limit = values.get("open_tcbs")
    # Without a limit, as many as there are threads.
    attached = threads if limit is None else used["most_open_tcbs"]
    dispatched, on_open = min(used["qr_dispatched"], seconds), used["open_dispatched"]
    return Dispatcher(
        cpu=space["cpu"] + space["ziip"],
        modes={
            "QR": Tcbs(
                attached=1,
                used=1,
                waiting=seconds - dispatched,
                dispatched=dispatched,
                cpu=min(used["qr_cpu"], dispatched),
                # Whoever gets it without a wait finds it waiting.
                waits=max(used["qr_dispatches"] - used["qr_waits"]["count"], 0),
                most_queued=used["most_queued"],
                mean_queued=used["qr_waits"]["seconds"] / seconds,
            ),
            "RO": Tcbs(attached=1, used=1, waiting=seconds),
            # Each thread has an open TCB, which stays attached. It waits while its task works neither in Db2 nor, if
            # the program is threadsafe, in the region.
            "L8": Tcbs(
                attached=attached,
                used=attached,
                allocations=used["threads"] if limit is None else used["open_tcbs"],
                waiting=max(attached * seconds - on_open, 0.0),
                dispatched=on_open,
                # It waits before each dispatch.
                waits=used["open_dispatches"],
                cpu=min(used["open_cpu"], on_open),
            ),
        },
        open=OpenTcbs(
            limit=32 + 2 * _MOST_TASKS if limit is None else limit,
            attached=attached,
            waits=used["open_tcb_waits"]["count"],
            waited=used["open_tcb_waits"]["seconds"],
            reached=used["open_tcb_limits"],
            most_waiting=used["most_open_tcb_queue"],
        ),
        most_tasks=used["most_inside"],
        started=interval.beginning,
    )


def _connection(interval: Interval, values: Mapping[str, Any], used: Mapping[str, Any]) -> Db2Connection:
    group = next(group for group in interval.values["db2"] if group["group"] == values["db2"])
    member = next(member["name"] for member in group["member"] if member["system"] == values["system"])
    return Db2Connection(
        name=values["name"],
        member=member,
        group=group["group"][:4],
        connected=interval.beginning,
        limit=values.get("threads", _THREADS),
        # Leaving Db2 for the commit is not an SQL call.
        calls=max(used["db2_calls"] - used["threads"], 0),
        threads=used["threads"],
        waits=used["thread_waits"]["count"],
        most=used["most_threads"],
    )
