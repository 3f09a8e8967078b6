"""Price files and what-ifs: by hand, and what is wrong with place and remedy."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from plexlens.cost.consumption import priced
from plexlens.cost.contributors import Part, contributions
from plexlens.cost.prices import Product, Step, TailoredFit, read_prices
from plexlens.cost.rolling import Samples, begins, hours
from plexlens.cost.use import PartitionUse, Use
from plexlens.cost.what_if import Kind, changed_demand, demands, resolved, what_if
from plexlens.errors import UnreadableInputError, UsageError

GOOD = """\
currency = "EUR"

[[product]]
name = "z/OS"
step = [{up_to = 45, price = 390.0}, {price = 180.0}]
"""


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ('currency = "EUR"', "", None, "currency"),
        ('currency = "EUR"', "currency = 3", 1, "currency"),
        ('name = "z/OS"', "", 3, "name"),
        ("price = 390.0", "price = -1", 5, "not an amount"),
        ("price = 390.0", 'price = "dear"', 5, "not an amount"),
        ("price = 390.0", "cost = 390.0", 5, "there is no such key"),
        ("{price = 180.0}", "{up_to = 90, price = 180.0}", 5, "has an up_to"),
        ("up_to = 45, ", "", 5, "has no up_to"),
        ("{price = 180.0}", "{up_to = 40, price = 1.0}, {price = 180.0}", 5, "not above the one before"),
        ("step = [", "steps = [", 5, "there is no such key"),
        ("[[product]]", "[product]", 3, "not a list of tables"),
        ("180.0}]", '180.0}]\n[[product]]\nname = "z/OS"\nstep = [{price = 1.0}]', 7, "there twice"),
        ("currency =", "currency", 1, "not TOML"),
    ],
)
def test_a_wrong_price_file_is_refused_with_its_line(
    tmp_path: Path, old: str, new: str, line: int | None, said: str
) -> None:
    assert old in GOOD
    path = tmp_path / "prices.toml"
    path.write_text(GOOD.replace(old, new))
    with pytest.raises(UsageError) as raised:
        read_prices(path)
    assert said in str(raised.value)
    assert str(path) in str(raised.value)
    if line is not None:
        assert f"line {line}:" in str(raised.value)


def test_a_price_file_that_is_missing_or_empty(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInputError):
        read_prices(tmp_path / "no.toml")
    (tmp_path / "empty.toml").write_text("")
    with pytest.raises(UsageError, match="no prices"):
        read_prices(tmp_path / "empty.toml")


@pytest.mark.parametrize(
    ("msu", "amount"),
    # 100 + 10 x 45 for 45 MSU; above them 2 each up to 100; then 1.
    [(0.0, 100.0), (10.0, 200.0), (45.0, 550.0), (60.0, 580.0), (100.0, 660.0), (130.0, 690.0)],
)
def test_a_price_curve_by_hand(msu: float, amount: float) -> None:
    product = Product("P", ("*",), (Step(45, 10.0), Step(100, 2.0), Step(math.inf, 1.0)), 100.0)
    assert product.amount(msu) == pytest.approx(amount)


def test_consumption_prices_by_hand() -> None:
    # The source's example form: baseline x price + growth x price x 50 %.
    assert priced(TailoredFit(1000.0, 2.0, 1.0), 1200.0) == (1000.0, 200.0, 2200.0)
    assert priced(TailoredFit(1000.0, 2.0, 1.0), 900.0) == (1000.0, 0.0, 2000.0)
    assert priced(TailoredFit(None, 2.0, 1.0), 900.0) == (900.0, 0.0, 1800.0)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (Kind.DEFINED, "PRD1"),
        (Kind.DEFINED, "PRD1=many"),
        (Kind.DEFINED, "=4"),
        (Kind.DEFINED, "PRD1=-4"),
        (Kind.DEFINED, "PRD1=inf"),
        (Kind.SAVES, "A=120"),
        (Kind.SAVES, "A"),
        (Kind.ZIIP, "A="),
        (Kind.MOVE, "A=8"),
        (Kind.MOVE, "A=12-08:20"),
        (Kind.MOVE, "A=08-25:20"),
        (Kind.MOVE, "A=08-12:24"),
        (Kind.MOVE, "A=08-12:08"),
    ],
)
def test_a_wrong_change_is_refused(kind: Kind, text: str) -> None:
    with pytest.raises(UsageError) as raised:
        what_if(kind, text)
    assert kind.value in str(raised.value)


def day_of(periods: int = 288) -> Use:
    """A day of UTC without partitions."""
    return Use(0, periods, hours(0, [0] * periods), (), {}, False, ())


def part(name: str, rates: list[float], eligible: float = 0.0) -> Part:
    msu = np.repeat(np.array(rates), 12)
    return Part("service class", name, "SYA", msu, msu * eligible, None, 0.0)


def test_a_moved_part_runs_later_with_the_same_work() -> None:
    rates = [10.0] * 24
    batch = part("BATCH", [4.0 if 8 <= hour < 12 else 0.0 for hour in range(24)])
    demand = {"SYA": np.repeat(np.array(rates), 12)}
    changed, notes = changed_demand(demand, [what_if(Kind.MOVE, "BATCH=08-12:20")], day_of(), [batch])
    by_hour = changed["SYA"].reshape(24, 12).mean(axis=1)
    assert by_hour[8:12] == pytest.approx([6.0] * 4)
    assert by_hour[20:24] == pytest.approx([14.0] * 4)
    assert changed["SYA"].sum() == pytest.approx(demand["SYA"].sum())
    assert not notes


def test_what_would_leave_the_data_stays_and_is_stated() -> None:
    batch = part("BATCH", [4.0 if 8 <= hour < 12 else 0.0 for hour in range(24)])
    demand = {"SYA": np.full(288, 10.0)}
    changed, notes = changed_demand(demand, [what_if(Kind.MOVE, "BATCH=08-12:22")], day_of(), [batch])
    # 08 and 09 run at 22 and 23; 10 and 11 would run on the next day: 2 hours x 4 MSU.
    assert changed["SYA"].reshape(24, 12).mean(axis=1)[[8, 9, 10, 11, 22, 23]] == pytest.approx([6, 6, 10, 10, 14, 14])
    assert "8.0 MSU-hours" in notes[0]


def test_shares_of_a_part_add_up_with_those_before() -> None:
    # Half less, then half of the rest to zIIPs: 8 becomes 2; 30 % of 8 are eligible, 2.4, but only 2 are left.
    online = part("ONL", [8.0] * 24, eligible=0.3)
    demand = {"SYA": np.full(288, 10.0)}
    changes = [what_if(Kind.SAVES, "ONL=50"), what_if(Kind.ZIIP, "ONL=50%")]
    changed, _ = changed_demand(demand, changes, day_of(), [online])
    assert changed["SYA"] == pytest.approx(np.full(288, 4.0))
    changed, _ = changed_demand(demand, [*changes, what_if(Kind.ZIIP, "ONL")], day_of(), [online])
    assert changed["SYA"] == pytest.approx(np.full(288, 2.0))
    changed, _ = changed_demand(demand, [what_if(Kind.ZIIP, "ONL")], day_of(), [online])
    assert changed["SYA"] == pytest.approx(np.full(288, 7.6))


def partition(machine: str, name: str, system: str) -> PartitionUse:
    none = np.full(288, np.nan)
    use = Samples(np.full(288, 10.0), np.ones(288))
    return PartitionUse(
        machine, name, system, "", use, begins(288, []), none, none, 100.0, 100.0, 0.02, None, none, ()
    )  # fmt: skip


def test_partitions_of_one_name_keep_demands_of_their_own() -> None:
    """LP1 of two machines has no system, and SYB has moved from M1 to M2: neither may stand for the other."""
    listed = (
        partition("M1", "LP1", ""),
        partition("M2", "LP1", ""),
        partition("M1", "SYA", "SYA"),
        partition("M1", "SYB", "SYB"),
        partition("M2", "SYB", "SYB"),
    )
    use = replace(day_of(), partitions=listed)
    names = demands(use)
    assert names["M1", "SYA"] == "SYA"
    assert len(set(names.values())) == len(listed)
    demand = {name: np.full(288, 10.0) for name in names.values()}
    moved = replace(part("BATCH", [4.0] * 24), system="SYB")
    changed, notes = changed_demand(demand, [what_if(Kind.SAVES, "BATCH=50")], use, [moved])
    assert all(series == pytest.approx(np.full(288, 10.0)) for series in changed.values())
    assert "SYB ran in several partitions" in notes[0]


def test_contributions_by_hand() -> None:
    # 24 MSU in the hour of weight 12/48 and 12 in the next: 24 x 12 / 48 + 12 x 12 / 48 = 9 of 36.
    weights = {"SYA": np.concatenate([np.full(24, 1 / 48), np.zeros(264)])}
    found = contributions([part("A", [24.0, 12.0] + [99.0] * 22), part("B", [4.0] * 24)], weights, 36.0)
    assert [(one.name, round(one.msu, 9), round(one.share, 9)) for one in found] == [
        ("A", 9.0, 0.25),
        ("B", 2.0, round(2 / 36, 9)),
    ]


def test_seconds_per_hour_of_a_tuned_pool_go_with_the_work() -> None:
    """24 hours of 86.4 s are 3.6 s per hour; 0.9 s/h are a quarter, most of it in the hours in which most is done."""
    use = replace(day_of(), partitions=(partition("M1", "SYA", "SYA"),))
    rates = [8.0 if hour == 10 else 2.0 for hour in range(24)]
    plan = replace(part("DBPLAN", rates), cpu_seconds=86.4)
    change = resolved(what_if(Kind.SAVES, "DBPLAN=0.9 s/h"), use, [plan])
    assert change.value == pytest.approx(0.25)
    assert change.title == "DBPLAN uses 0.9 s of CPU time per hour less"
    changed, _ = changed_demand({"SYA": np.repeat(np.array(rates), 12)}, [change], use, [plan])
    by_hour = changed["SYA"].reshape(24, 12).mean(axis=1)
    assert (by_hour[10], by_hour[11]) == (pytest.approx(6.0), pytest.approx(1.5))
    with pytest.raises(UsageError, match=r"4 s/h is more than the 3.6 s/h that it uses"):
        resolved(what_if(Kind.SAVES, "DBPLAN=4s/h"), use, [plan])
    for text in ("DBPLAN=s/h", "DBPLAN=-1 s/h", "DBPLAN=nan s/h"):
        with pytest.raises(UsageError):
            what_if(Kind.SAVES, text)
