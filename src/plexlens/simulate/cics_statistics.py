"""SMF 110-2: what each CICS region counted in an interval: its TCBs, its transactions, its connection to Db2."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from plexlens.example.cics_region import DISPATCHER, GLOBAL_LENGTH, TCB_MODES, TRANSACTION_MANAGER
from plexlens.simulate.written import BEGINNING, Interval, Record, Row

_DB2 = 102

#: DSGTCBMD, DSGTCBMP: open TCBs of the open pool; DSGTCBMD of others.
_OPEN, _OPEN_POOL, _NOT_OPEN = 2, 1, 1

#: Modes that have a TCB in every region.
_ALWAYS = ("QR", "RO")

#: MXT, default of CICS TS since V5.4; MAXOPENTCBS as CICS computes it where it is not given: 32 + 2 * MXT.
_MOST_TASKS = 500

#: Threads of a region, default as `defaults.rs` has it.
_THREADS = 40


def statistics_records(interval: Interval) -> Iterator[Record]:
    """A record of each region: counters of the interval, as a collection of type INT leaves them."""
    spaces = {space["name"]: space for system in interval.truth["systems"] for space in system["spaces"]}
    for values, used in zip(interval.values.get("region", []), interval.truth["regions"], strict=True):
        sections: dict[str, list[Row]] = {
            "smf110_2_product": [_product(interval, values["name"])],
            "smf110_2_dispatcher": [_dispatcher(used, spaces[values["name"]])],
            "smf110_2_dispatcher_tcb_mode": list(_modes(interval, used)),
            "smf110_2_dispatcher_tcb_pool": [_open_pool(used)],
            "smf110_2_transaction_manager": [_transactions(used)],
        }
        if values.get("db2"):
            sections["smf110_2_db2_connection"] = [_connection(interval, values, used)]
        yield Record("smf110_2", values["system"], values["name"], interval.start, interval.end, sections)


def _product(interval: Interval, region: str) -> Row:
    length = round(interval.seconds)
    return {
        "smfstprn": region,
        "smfstspn": region,
        "smfstjbn": region,
        "smfstdid": "ST",
        "smfstrqt": "INT",
        "smfsticd": "NO",
        "smfstdat": f"{interval.end:%m%d%Y}",
        "smfstclt": f"{interval.end:%H%M%S}",
        "smfstint": f"{length // 3600:02d}{length // 60 % 60:02d}{length % 60:02d}",
        "smfstlrt": f"{interval.start:%H%M%S}",
        "smfstino": interval.number + 1,
    }


def _dispatcher(used: Mapping[str, Any], space: Mapping[str, Any]) -> Row:
    return {
        "dsgid": DISPATCHER,
        "dsgdvers": 1,
        "dsgglen": GLOBAL_LENGTH,
        "dsgasize": len(TCB_MODES),
        "dsgpsize": 1,
        "dsgpnt": used["most_inside"],
        "dsgstart": BEGINNING,
        "dsglstrt": BEGINNING.replace(tzinfo=None),
        "dsgejst": space["cpu"] + space["ziip"],
    }


def _modes(interval: Interval, used: Mapping[str, Any]) -> Iterator[Row]:
    """A TCB of a mode that nothing runs on waits all the time."""
    for mode in TCB_MODES:
        row: Row = {"dsgtcbnm": mode, "dsgtcbmd": _NOT_OPEN}
        if mode in _ALWAYS:
            row |= {"dsgtcbca": 1, "dsgtcbpa": 1, "dsgtcbpu": 1, "dsgtwt": interval.seconds}
        if mode == "QR":
            dispatched = min(used["qr_dispatched"], interval.seconds)
            row |= {
                # Whoever gets it without a wait finds it waiting.
                "dsgsysw": max(used["qr_dispatches"] - used["qr_waits"]["count"], 0),
                "dsgtmpdq": used["most_queued"],
                "dsgtmadq": used["qr_waits"]["seconds"] / interval.seconds,
                "dsgtwt": interval.seconds - dispatched,
                "dsgtdt": dispatched,
                "dsgact": min(used["qr_cpu"], dispatched),
            }
        elif mode == "L8":
            # Each thread has an open TCB, which stays attached; it waits where its task does not work in Db2.
            there = used["most_threads"]
            dispatched = used["open_dispatched"]
            row |= {
                "dsgtcbmd": _OPEN,
                "dsgtcbmp": _OPEN_POOL,
                "dsgtcbca": there,
                "dsgtcbpa": there,
                "dsgtcbpu": there,
                "dsgtcbal": used["threads"],
                "dsgtwt": max(there * interval.seconds - dispatched, 0.0),
                "dsgtdt": dispatched,
                "dsgact": used["open_cpu"],
            }
        yield row


def _open_pool(used: Mapping[str, Any]) -> Row:
    return {
        "dsgtcbpn": _OPEN_POOL,
        "dsgmxtcb": 32 + 2 * _MOST_TASKS,
        "dsgcnuat": used["most_threads"],
        "dsgpnuat": used["most_threads"],
        "dsgpnuus": used["most_threads"],
    }


def _transactions(used: Mapping[str, Any]) -> Row:
    return {
        "xmgid": TRANSACTION_MANAGER,
        "xmgdvers": 1,
        "xmgnum": used["attached"],
        "xmgtat": used["attached"],
        "xmgmxt": max(_MOST_TASKS, used["most_inside"]),
        "xmgpat": used["most_inside"],
    }


def _connection(interval: Interval, values: Mapping[str, Any], used: Mapping[str, Any]) -> Row:
    group = next(group for group in interval.values["db2"] if group["group"] == values["db2"])
    member = next(one["name"] for one in group["member"] if one["system"] == values["system"])
    limit = values.get("threads", _THREADS)
    return {
        "d2gid": _DB2,
        "d2gdvers": 1,
        "d2g_db2conn_name": values["name"],
        "d2g_db2_id": member,
        "d2g_db2_group_id": group["group"][:4],
        "d2g_connect_time_gmt": BEGINNING,
        "d2g_connect_time_local": BEGINNING.replace(tzinfo=None),
        "d2g_tcb_limit": limit,
        "d2g_tcb_current": used["most_threads"],
        "d2g_tcb_hwm": used["most_threads"],
        # Leaving Db2 for the commit is no SQL call.
        "d2g_pool_calls": max(used["db2_calls"] - used["threads"], 0),
        "d2g_pool_commits": used["threads"],
        "d2g_pool_thread_create": used["threads"],
        "d2g_pool_thread_term": used["threads"],
        "d2g_pool_thread_waits": used["thread_waits"]["count"],
        "d2g_pool_thread_limit": limit,
        "d2g_pool_thread_current": used["most_threads"],
        "d2g_pool_thread_hwm": used["most_threads"],
        "d2g_pool_task_total": used["threads"],
        "d2g_pool_task_hwm": used["most_threads"],
    }
