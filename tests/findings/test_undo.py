"""What takes a command back is the value in force in the records, for every setting that a command changes.

Each case is raw rows of two or more intervals, written by hand. The rule holds in an early one; the setting has another
value in the last one, and other objects have values of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from plexlens.findings import check, load_rules
from tests.findings.recorded import IN_FORCE, NOT_RECORDED, Recorded, undone
from tests.metrics.db2_made import START, record
from tests.metrics.db2_made import inputs as written
from tests.metrics.raw import inputs, row
from tests.oracle import slow_commands

RULES = {rule.id: rule for rule in load_rules()}

Tables = dict[str, list[dict[str, Any]]]


def cics(table: str, *rows: dict[str, Any]) -> Tables:
    """Rows of collections of a region that reset the counters, one in each interval."""
    product = [
        row(n + 1, interval=n, subsystem="CICSA", smfstrqt="INT", smfstprn="PLEX1") for n in range(len(rows))
    ] + [row(101, subsystem="CICSB", smfstrqt="INT", smfstprn="PLEX1")]
    other = rows[0] | {name: value * 3 for name, value in rows[0].items() if "limit" in name or name in _LIMITS}
    return {
        "smf110_2_product": product,
        table: [row(n + 1, interval=n, subsystem="CICSA", **one) for n, one in enumerate(rows)]
        + [row(101, subsystem="CICSB", **other)],
    }


_LIMITS = ("xmgmxt", "dsgmxtcb")


def manager(table: str, *rows: dict[str, Any]) -> Tables:
    """Rows of a queue manager, one in each interval."""
    return {table: [row(n + 1, interval=n, subsystem="QM1A", **one) for n, one in enumerate(rows)]}


def lock_table() -> Tables:
    """Two systems report the structure; its lock table was doubled and doubled again."""
    base = {"r744snam": "DSNG_LOCK1", "r744styp": 3, "r744ssrc": 9e5, "r744sstm": 18.0, "r744strc": 9e5}
    base |= {"r744scn": 9e4, "r744sfcn": 6e4, "r744ssiz": 2**28, "r744smas": 2**31}
    other = base | {"r744snam": "DSNH_LOCK1", "r744sfcn": 0.0, "r744sltl": 16 * 2**20}
    made = []
    for system in ("SYS1", "SYS2"):
        for n, size in enumerate((4, 8, 16)):
            number = 10 * (system == "SYS2") + n + 1
            at = {"interval": n, "system": system}
            made.append(row(number, 1, **at, **(base | {"r744sltl": size * 2**20})))
            made.append(row(number, 2, **at, **other))
    facility = [
        row(one["record_no"], r744fnam="CF1", system=one["system"], interval_start=one["interval_start"],
            interval_end=one["interval_end"])
        for one in made
        if one["section_no"] == 1
    ]  # fmt: skip
    return {"smf74_4_local_cf": facility, "smf74_4_request": made}


def structure_size() -> Tables:
    """A list structure that z/OS enlarged while it filled up."""
    tables = lock_table()
    for number, one in enumerate(tables["smf74_4_request"]):
        if one["section_no"] == 1:
            one.update(r744snam="APP1_LIST", r744styp=1)
        one.update(r744ssiz=(100 + number // 2 % 3) * 2**20, r744smas=2**30)
        one.update(r744slel=1000, r744slem=900 if one["section_no"] == 1 else 10)
    return tables


def transport_class() -> Tables:
    """No buffer in the first interval; the limit was raised after it."""
    base = {"r742sdir": 0x40, "r742sbig": 0, "r742sfit": 9000, "r742ssml": 0}
    return {
        "smf74_2_system": [
            row(n + 1, s, interval=n, **base, r742snme=to, r742stcn=name, r742sbsy=busy, r742smxb=limit * 1024)
            for n, mine in enumerate((1000, 2500))
            for s, (to, name, busy, limit) in enumerate(
                [("SYS2", "BIG", 40 * (n == 0), mine), ("SYS2", "DEFAULT", 0, 700), ("SYS3", "BIG", 0, 900)], 1
            )
        ]
    }


def inbound_path() -> Tables:
    """Signals refused in the first interval; the limit was raised after it."""
    base = {"r742pdev": "", "r742ptyp": 3, "r742psig": 9000, "r742piot": 0.001, "r742puse": 0, "r742pdir": 0x80}
    return {
        "smf74_2_path": [
            row(n + 1, s, interval=n, **base, r742pona=to, r742pstr=name, r742pibr=refused, r742pmxm=limit * 1024)
            for n, mine in enumerate((1000, 2500))
            for s, (to, name, refused, limit) in enumerate(
                [("SYS2", "IXCSTR1", 40 * (n == 0), mine), ("SYS2", "IXCSTR2", 0, 700), ("SYS3", "IXCSTR1", 0, 900)], 1
            )
        ]
    }


def dispatchers() -> Tables:
    """A task more in the second interval."""
    return {
        "smf115_231_qct_dsp": [
            row(n + 1, s, interval=n, subsystem="QM1A", qctchln=300)
            for n, tasks in enumerate((6, 7))
            for s in range(tasks)
        ]
    }


def channels(*limits: tuple[int, int]) -> Tables:
    """Active and current channels at 95 % of their limits in the first interval."""
    return manager(
        "smf115_231_qcct",
        *(
            {"qcctnoac": 0.95 * limits[0][0], "qcctmxac": active, "qcctnocc": 0.95 * limits[0][1], "qcctmxcc": current}
            for active, current in limits
        ),
    )


_ENTRY = {"d2r_db2entry_name": "PAYROLL", "d2r_calls": 9000, "d2r_task_total": 1000, "d2r_thread_hwm": 10}
_SOCKETS = {"sog_peak_inbound_sockets": 90, "sog_peak_outb_sockets": 8}

#: For each rule, the setting, the records, and its value at the end of them as it stands in a command.
CASES: dict[tuple[str, str], tuple[Callable[[], Tables], float]] = {
    ("coupling.db2_false_contention", "LTE"): (lock_table, 16),
    ("coupling.structure_nearly_full", "SIZE"): (structure_size, 102 * 1024),
    ("coupling.xcf_no_buffer", "MAXMSG"): (transport_class, 2500),
    ("coupling.xcf_refused", "MAXMSG"): (inbound_path, 2500),
    ("cics.db2_pool_waits", "THREADLIMIT"): (
        lambda: cics(
            "smf110_2_db2_connection",
            {"d2g_pool_thread_waits": 5, "d2g_pool_thread_limit": 20, "d2g_tcb_limit": 90},
            {"d2g_pool_thread_waits": 0, "d2g_pool_thread_limit": 45, "d2g_tcb_limit": 90},
        ),
        45,
    ),
    ("cics.db2_tcb_limit", "TCBLIMIT"): (
        lambda: cics(
            "smf110_2_db2_connection",
            *({"d2g_tcb_hwm": 50, "d2g_pool_thread_limit": 20, "d2g_tcb_limit": n} for n in (50, 70)),
        ),
        70,
    ),
    ("cics.db2_entry_waits", "THREADLIMIT"): (
        lambda: cics(
            "smf110_2_db2_entry",
            *(_ENTRY | {"d2r_thread_wait_or_overfl": w, "d2r_thread_limit": n} for w, n in ((250, 10), (0, 24))),
        ),
        24,
    ),
    ("cics.task_limit", "MAXTASKS"): (
        lambda: cics(
            "smf110_2_transaction_manager",
            *({"xmgnum": 900, "xmgpat": 100, "xmgtamxt": t, "xmgtdt": t, "xmgmxt": n} for t, n in ((3, 100), (0, 150))),
        ),
        150,
    ),
    ("cics.open_tcb_limit", "MAXOPENTCBS"): (
        lambda: cics(
            "smf110_2_dispatcher_tcb_pool",
            {"dsgtcbpn": 1, "dsgpnuat": 9, "dsgtotnw": 4, "dsgtotwl": 2.0, "dsgmxtcb": 9},
            {"dsgtcbpn": 1, "dsgpnuat": 9, "dsgtotnw": 0, "dsgtotwl": 0.0, "dsgmxtcb": 12},
        ),
        12,
    ),
    ("cics.ssl_tcb_limit", "MAXSSLTCBS"): (
        lambda: cics(
            "smf110_2_dispatcher_tcb_pool",
            {"dsgtcbpn": 3, "dsgpnuat": 9, "dsgtotnw": 4, "dsgtotwl": 2.0, "dsgmxtcb": 9},
            {"dsgtcbpn": 3, "dsgpnuat": 9, "dsgtotnw": 0, "dsgtotwl": 0.0, "dsgmxtcb": 12},
        ),
        12,
    ),
    ("cics.sockets_limit", "MAXSOCKETS"): (
        lambda: cics("smf110_2_tcpip", *(_SOCKETS | {"sog_maxsockets_limit": n} for n in (100, 300))),
        300,
    ),
    ("mq.pool_no_buffer", "BUFFERS"): (
        lambda: manager(
            "smf115_2_qpst",
            {"qpstpool": 3, "qpstnbuf": 1000, "qpstsos": 7},
            {"qpstpool": 3, "qpstnbuf": 5000, "qpstsos": 0},
        ),
        5000,
    ),
    ("mq.shared_data_set_buffers", "DSBUFS"): (
        lambda: manager(
            "smf115_2_qesd",
            {"qesdstr": "APP1", "qesdbfto": 100, "qesdbfwb": 7},
            {"qesdstr": "APP1", "qesdbfto": 140, "qesdbfwb": 0},
        ),
        140,
    ),
    ("mq.channels_active", "ACTCHL"): (lambda: channels((200, 9999), (250, 9999)), 250),
    ("mq.channels_current", "MAXCHL"): (lambda: channels((9999, 200), (9999, 250)), 250),
    ("mq.few_dispatchers", "CHIDISPS"): (dispatchers, 7),
}  # fmt: skip


@pytest.mark.parametrize(("rule", "setting"), CASES, ids=[" ".join(case) for case in CASES])
def test_the_undo_is_the_value_in_force(rule: str, setting: str) -> None:
    records, value = CASES[rule, setting]
    raw = inputs(**records())
    found = check(raw, rules=[RULES[rule]])
    told = [one for one in undone(found, Recorded(raw)) if one.setting.name == setting]
    assert told, f"{rule} fires for nothing, or its undo is not in the records"
    mine = [one for one in told if one.in_force == value]
    assert mine, f"{[one.in_force for one in told]}, and {value} was written last"
    for one in told:
        assert one.setting.number == one.in_force, f"{one.setting}, and {one.in_force} is in force"


def test_an_edm_pool_that_was_full_is_enlarged_from_its_size_in_force(tmp_path: Path) -> None:
    """The descriptor pool was full in the first quarter of an hour, and has been doubled since."""
    records = []
    for n, (full, pages) in enumerate([(100, 1000), (105, 1000), (105, 2000)]):
        told = {"at": START + timedelta(minutes=15 * n), "sequence": n + 1}
        pools = {"qisedfal": full, "qisedpge": pages, "qisecpge": 700, "qisekpge": 900}
        records += [
            record(1, {"smf100_ifcid1_q3st": [{"q3stcomm": 1000 * n}]}, **told),
            record(2, {"smf100_ifcid2_qise": [pools]}, **told),
        ]
    raw = written(tmp_path, *records)
    found = check(raw, rules=[RULES["db2.edm_pool_full"]])
    (one,) = undone(found, Recorded(raw))
    assert (one.setting.name, one.setting.number, one.in_force) == ("EDMDBDC", 8000, 8000)
    assert "EDMDBDC=10000" in found.fired[0].command


def test_every_setting_that_is_taken_back_has_its_place_in_the_records() -> None:
    """A rule that changes a further setting has to say here where records hold it, and to show it by a case."""
    tested = {setting for _, setting in CASES}
    # Shown of dumps, or above.
    db2_statistics = {"VPSIZE", "EDMDBDC", "EDM_SKELETON_POOL", "EDMSTMTC"}
    for rule in RULES.values():
        text = re.sub(r"\[\[(when [^:]*:)?|\]\]", "", rule.undo.text)
        text = re.sub(r"\{[^{}]*\}", "1", text)
        for setting in slow_commands.settings(text):
            kind = setting.of.split(" ")[0]
            if setting.name in NOT_RECORDED:
                continue
            assert (kind, setting.name) in IN_FORCE, f"{rule.id}: {setting.of} {setting.name}"
            assert setting.name in tested | db2_statistics, f"{rule.id}: no case of {setting.name}"
