"""The cost of data sharing against numbers worked out by hand (the database of `tests.sharing.made`)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from plexlens.errors import UsageError
from plexlens.findings import load_rules
from plexlens.report import to_json
from plexlens.sharing import Assumptions, CommitWrites, CostOfSharing, cost_of
from plexlens.sharing.json_object import to_object
from plexlens.sharing.kinds import KINDS, Part, Payer
from plexlens.sharing.measured import Role
from plexlens.sharing.page import report as page
from plexlens.sharing.page.report import sharing_report
from tests.sharing import made


@pytest.fixture(scope="module")
def cost() -> CostOfSharing:
    return cost_of(made.measured(), name="made up")


def line(cost: CostOfSharing, kind: str, system: str = "SYS1") -> tuple[float, float, float, float]:
    """Synchronous, asynchronous, measured and stated seconds of a kind on a system."""
    found = [one for one in cost.lines if one.kind.name == kind and one.system == system]
    return (
        sum(one.synchronous for one in found), sum(one.asynchronous for one in found),
        sum(one.service_seconds for one in found), sum(one.path_seconds for one in found),
    )  # fmt: skip


def test_locks_by_kind(cost: CostOfSharing) -> None:
    # 550,000 + 15,000 requests to XES to lock and change, of which 60,000 + 5,000 P-locks: 500,000 L-locks.
    assert line(cost, "lock") == pytest.approx((500_000, 0, 5.0, 1.0))
    assert line(cost, "unlock") == pytest.approx((400_000, 0, 4.0, 0.8))
    assert line(cost, "page_lock") == pytest.approx((50_000, 0, 0.5, 0.1))
    assert line(cost, "page_unlock") == pytest.approx((30_000, 0, 0.3, 0.06))
    # 65,000 + 35,000 P-locks less 80,000 of pages.
    assert line(cost, "page_set_lock") == pytest.approx((20_000, 0, 0.2, 0.04))
    assert line(cost, "lock", "SYS2") == pytest.approx((100_000, 0, 2.0, 0.2))


def test_asynchronous_requests_are_first_those_that_db2_does_not_wait_for(cost: CostOfSharing) -> None:
    # 90,000 of castout; the other 10,000 are 10,000 of 510,000 of each other kind.
    assert line(cost, "castout") == pytest.approx((0, 80_000, 0, 1.6))
    assert line(cost, "castout_upkeep") == pytest.approx((0, 10_000, 0, 0.2))
    share = 10_000 / 510_000
    synchronous = 200_000 * (1 - share)
    assert line(cost, "write_sync") == pytest.approx(
        (synchronous, 200_000 * share, synchronous * 15e-6, synchronous * 2e-6 + 200_000 * share * 20e-6)
    )
    # 600,000 were served, 590,000 counted.
    assert sum(line(cost, "pool_other")[:2]) == pytest.approx(10_000)
    assert sum(one.delay_seconds for one in cost.lines) == pytest.approx(8.0)


def test_the_whole(cost: CostOfSharing) -> None:
    # Spinning 10 + 7.5 s; paths 1,500,000 x 2 µs + 100,000 x 20 µs; 1,600 contentions x 30 µs; 20,000 reads x 33 µs.
    expected = 17.5 + 5.0 + 0.048 + 0.66
    first, second = cost.systems
    assert first.cpu_seconds == pytest.approx(expected)
    assert first.service_seconds == pytest.approx(17.5)
    assert second.cpu_seconds == pytest.approx(2.2)
    # The logger's 10,000 requests are not part of it: 0.5 s + 0.02 s.
    assert first.other_seconds == pytest.approx(0.52)
    assert first.overhead == pytest.approx(expected / (400 - expected))
    assert first.efficiency == pytest.approx((400 - expected) / 400)
    assert first.per_commit == pytest.approx(expected / 50_000)
    total = cost.total
    assert (total.busy_seconds, total.captured_seconds, total.engines, total.commits) == (600, 550, 8, 55_000)
    assert total.cpu_seconds == pytest.approx(expected + 2.2)


def test_everything_adds_up(cost: CostOfSharing) -> None:
    whole = cost.total.cpu_seconds
    assert sum(one.cpu_seconds for rows in cost.by_part().values() for one in rows) == pytest.approx(whole, rel=1e-12)
    of_threads = {"threads"}
    spaces = [one for one in cost.spaces if one.payer is not Payer.THREAD or one.space in of_threads]
    assert sum(one.cpu_seconds for one in spaces) == pytest.approx(whole, rel=1e-12)
    base = cost.total.base_seconds
    assert base is not None
    assert base + whole == pytest.approx(600.0)
    # No thread ran on SYS2.
    assert cost.unattributed_seconds == pytest.approx(2.2)
    table = next(
        t for s in to_json(sharing_report(cost))["sections"] for t in s["tables"] if t["name"] == "sharing-parts"
    )
    rows = [row["cpu"] for row in table["rows"]]
    assert sum(rows[:-2]) == pytest.approx(rows[-1], rel=1e-12)
    assert sum(rows[1:-2]) == pytest.approx(rows[-2], rel=1e-12)


def test_false_contention_is_the_field_of_the_release() -> None:
    # Up to Db2 9 QTGSFLSE counts it, which later is something else.
    older = made.measured()
    member = replace(older.members[0], locking={**made.LOCKING, "db2_version": "9"})
    found = cost_of(replace(older, members=(member, older.members[1])))
    assert line(found, "contention_false")[0] == 7_777
    assert line(cost_of(older), "contention_false")[0] == 100


def test_page_locks_that_waited_count_once() -> None:
    """900 waits for page P-locks: 1,500 contentions of the lock manager may hold them, 500 cannot hold all."""
    plain = made.measured()
    for real, expected in ((1_000.0, 0.0), (0.0, 400.0)):
        locking = {**made.LOCKING, "suspends_irlm": real, "page_plock_negotiations": 70.0}
        member = replace(
            plain.members[0], locking=locking, pools={"GBP1": made.POOL | {"page_lock_suspensions": 900.0}}
        )
        found = cost_of(replace(plain, members=(member, plain.members[1])))
        assert line(found, "contention_page")[0] == expected
        assert line(found, "negotiation") == pytest.approx((70, 0, 0, 70 * 30e-6))


def test_more_pages_than_requests() -> None:
    """1,000,000 requests served 2,000,000 counted: each kind is halved."""
    plain = made.measured()
    locking = {name: value * 2 if isinstance(value, float) else value for name, value in made.LOCKING.items()}
    pool = {name: value * 2 if name.startswith("page_") else value for name, value in made.POOL.items()}
    member = replace(plain.members[0], locking=locking, pools={"GBP1": pool})
    found = cost_of(replace(plain, members=(member, plain.members[1])))
    assert line(found, "lock") == pytest.approx((500_000, 0, 5.0, 1.0))


def test_castouts_are_where_they_were_sent_from() -> None:
    """One member counts all castouts of the group; half of them came from the other system."""
    first = made.structure("SYS1", "DSNG_GBP1", Role.POOL, "GBP1", sync_requests=60_000.0, sync_seconds=0.6)
    second = made.structure("SYS2", "DSNG_GBP1", Role.POOL, "GBP1", sync_requests=50_000.0, sync_seconds=0.5)
    one, other = made.measured().members
    pools = {"changed_pages_sync": 20_000.0, "pages_castout": 70_000.0, "unlock_castout": 10_000.0}
    both = made.measured(
        structures=(first, second),
        members=(replace(one, pools={"GBP1": pools}), replace(other, pools={"GBP1": {"changed_pages_sync": 10_000.0}})),
    )
    found = cost_of(both)
    assert line(found, "castout")[0] == pytest.approx(35_000)
    assert line(found, "castout", "SYS2")[0] == pytest.approx(35_000)
    assert line(found, "castout_upkeep", "SYS2")[0] == pytest.approx(5_000)
    assert line(found, "pool_other")[0] == line(found, "pool_other", "SYS2")[0] == 0


def test_requests_of_address_spaces_and_classes(cost: CostOfSharing) -> None:
    sent = {(one.system, one.space): one.requests for one in cost.spaces}
    # Of DBM1 the castouts; of MSTR the writes and unlocks of page P-locks at commit; the rest is the threads'.
    assert sent["SYS1", "DBM1"] == pytest.approx(90_000)
    assert sent["SYS1", "MSTR"] == pytest.approx(230_000)
    assert sent["SYS1", "threads"] == pytest.approx(1_600_000 - 90_000 - 230_000)
    assert sent["SYS1", "AOR1"] == pytest.approx(sent["SYS1", "threads"])
    assert sent["SYS1", "IRLM"] == 0
    pay, ask = cost.classes
    assert pay.counts["lock"] == pytest.approx(375_000)
    assert pay.seconds["lock"] == pytest.approx(4.5)
    for one in (pay, ask):
        assert sum(one.seconds.values()) == pytest.approx(one.cpu_seconds, rel=1e-12)
    # Contention and reads from disk are not requests: 1,600 and 20,000 events.
    events = sum(sum(one.counts.values()) for one in (pay, ask))
    assert events == pytest.approx(1_600_000 + 1_600 + 20_000)


def test_classes_by_keys(cost: CostOfSharing) -> None:
    pay, ask = cost.classes
    locking = 5.0 + 1.0 + 4.0 + 0.8
    assert pay.cpu[Part.LOCKING] == pytest.approx(locking * 0.75)
    assert ask.cpu[Part.LOCKING] == pytest.approx(locking * 0.25)
    assert pay.how[Part.LOCKING] == "spread by lock requests (QTXALOCK)"
    # All updates are PAY's, so writes and castouts are.
    assert pay.requests[Part.WRITES] == pytest.approx(200_000)
    assert ask.cpu[Part.CASTOUT] == 0
    # A quarter of the getpages: 5,000 of 20,000 reads from disk, at 1 ms each.
    assert pay.reread_seconds == pytest.approx(5.0)
    assert pay.delay_seconds == pytest.approx(pay.thread_seconds + 3.0 + 5.0)


def test_classes_by_their_own_counts() -> None:
    """PAY counted 200,000 of the member's 500,000 locks, ASK 250,000: a tenth is nobody's."""
    pay, ask = made.CLASSES
    pay = replace(pay, facts=pay.facts | {"xes_lock_requests": 230_000.0, "plock_lock_requests": 30_000.0})
    ask = replace(ask, facts=ask.facts | {"xes_lock_requests": 250_000.0})
    found = cost_of(made.measured(classes=(pay, ask)))
    assert [one.how[Part.LOCKING] for one in found.classes] == ["counted", "counted"]
    # Unlocks were not counted: 3 of 4 by lock requests.
    assert found.classes[0].requests[Part.LOCKING] == pytest.approx(200_000 + 300_000)
    assert found.classes[1].requests[Part.LOCKING] == pytest.approx(250_000 + 100_000)
    # P-locks: 30,000 of 65,000 to lock, of 100,000 in all; that they were unlocked nobody counted.
    p_locks = 0.6 * 35 / 65 + 0.24 * 70 / 100
    assert found.unattributed_seconds == pytest.approx(2.2 + 50_000 * 12e-6 + p_locks)


def test_cpu_of_cics_where_it_is_there() -> None:
    pay, ask = cost_of(made.measured()).classes
    assert (pay.all_seconds, ask.all_seconds) == (None, None)
    batch = replace(made.CLASSES[0], connection_type="TSO")
    assert cost_of(made.measured(classes=(batch,))).classes[0].all_seconds == 60.0
    # 130 s are more than the 40 s in Db2: they hold them. 50 s are less than 60 s: they do not.
    pay, ask = cost_of(made.measured(cics={("SYS1", "PAY"): 130.0, ("SYS1", "ASK"): 50.0})).classes
    assert (pay.all_seconds, ask.all_seconds) == (130.0, 110.0)


def test_who_pays_for_writes_at_commit(cost: CostOfSharing) -> None:
    def paid(stated: Assumptions, payer: Payer) -> float:
        return sum(one.cpu_seconds for one in cost_of(made.measured(), stated).lines if one.payer is payer)

    write = sum(line(cost, "write_sync")[2:]) + sum(line(cost, "page_unlock")[2:])
    assert paid(Assumptions(), Payer.MSTR) == pytest.approx(write)
    assert not any("MSTR" in note for note in cost.notes)
    assert paid(Assumptions(commit_writes=CommitWrites.THREAD), Payer.MSTR) == 0
    # MSTR used 1 s alone, so it cannot have been MSTR.
    plain = made.measured()
    member = replace(plain.members[0], spaces={"MSTR": 1.0, "DBM1": 9.0, "IRLM": 0.01})
    poor = cost_of(replace(plain, members=(member, plain.members[1])))
    assert not any(one.payer is Payer.MSTR for one in poor.lines)
    assert any("MSTR used 1.000 s" in note for note in poor.notes)
    # 1,600 contentions take 0.048 s, which IRLM did not use.
    assert any(note.startswith("IRLM of DB1") for note in poor.notes)


def test_an_address_space_that_did_nothing_else_has_no_increase(cost: CostOfSharing) -> None:
    # 9 s less the castouts' 1.8 s; contention took 0.048 s, which is all that a lock manager used.
    by_name = {(one.system, one.space): one for one in cost.spaces}
    assert by_name["SYS1", "DBM1"].overhead == pytest.approx(1.8 / 7.2)
    plain = made.measured()
    member = replace(plain.members[0], spaces={"IRLM": 0.048 + 1e-12})
    found = cost_of(replace(plain, members=(member, plain.members[1])))
    assert next(one for one in found.spaces if one.space == "IRLM").overhead is None


def test_speed_shortens_what_is_stated_alone(cost: CostOfSharing) -> None:
    fast = cost_of(made.measured(), Assumptions(speeds={"SYS1": 2.0}))
    assert fast.systems[0].service_seconds == cost.systems[0].service_seconds
    assert fast.systems[0].cpu_seconds - 17.5 == pytest.approx((cost.systems[0].cpu_seconds - 17.5) / 2)
    assert fast.systems[1].cpu_seconds == pytest.approx(2.2)


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        ({"sync_path": -1e-6}, "--sync-path -1"),
        ({"speed": 0.0}, "--speed 0"),
        ({"speeds": {"S": float("nan")}}, "S=nan"),
    ],
)
def test_stated_times_that_cannot_be(wrong: dict[str, object], what: str) -> None:
    with pytest.raises(UsageError, match=what):
        Assumptions(**wrong)  # type: ignore[arg-type]


def test_without_service_times_nothing_costs() -> None:
    found = cost_of(made.measured(structures=()))
    assert not found.is_timed
    assert line(found, "lock")[0] == 500_000
    sections = {section.id for section in sharing_report(found).sections}
    assert "classes" not in sections
    assert "parts" in sections


def test_signalling_counts_as_far_as_it_is_db2s() -> None:
    signals = made.structure("SYS1", "IXC1", Role.SIGNALLING, async_requests=10_000.0, async_seconds=1.0)
    signals = replace(signals, group="")
    nothing = cost_of(made.measured(structures=(made.LOCK1, signals)))
    assert line(nothing, "signalling")[1] == 0
    some = cost_of(made.measured(structures=(made.LOCK1, signals), signalling_share={"SYS1": 0.25}))
    assert line(some, "signalling") == pytest.approx((0, 2_500, 0, 0.05))


def test_every_kind_is_shown_and_every_rule_is_there(cost: CostOfSharing) -> None:
    known = {rule.id for rule in load_rules(())}
    for name in page._RULES.split(", "):
        assert name in known
    shown = {row["kind"] for row in to_object(cost)["lines"]}
    assert shown <= KINDS.keys()
    assert {"lock", "castout", "contention_xes", "invalid_disk"} <= shown
