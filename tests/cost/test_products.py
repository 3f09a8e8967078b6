"""Products by the hours of SMF 89, worked out by hand on the day of `tests.cost.day`.

What counts by hour (`tests.cost.test_day_by_hand`): SYB has 60 in both hours of 02:00, 31.25 at 05:00, 60 at 06:00; SYA
has 66.5 in the second hour of 02:00 and 65.5 at 06:00. The peak of the machine is 126.5.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from plexlens.cost import Costed, costed, to_object
from plexlens.cost.page.report import cost_report
from plexlens.cost.prices import read_prices
from plexlens.cost.what_if import Kind, what_if
from plexlens.metrics.inputs import Inputs
from plexlens.pdb import Pdb, ingest
from plexlens.report.forms import Form, render
from plexlens.smf_rows.dump import open_dump
from plexlens.smf_rows.record import Record
from tests.cost.day import START, write_day

#: A product, its id, its system, and the first moment of each hour by the local clock.
Usage = tuple[str, str, str, tuple[datetime, ...]]

EVENING, MORNING = datetime(2026, 10, 24), datetime(2026, 10, 25)
NIGHT = (*(EVENING.replace(hour=hour) for hour in (22, 23)), *(MORNING.replace(hour=hour) for hour in range(7)))

#: The base registers in each hour, but for that of 05:00 on SYB, which has no SMF 89.
BASE: tuple[Usage, ...] = (
    ("BASE", "5650-ZOS", "SYA", NIGHT),
    ("BASE", "5650-ZOS", "SYB", tuple(at for at in NIGHT if at.hour != 5)),
)
DB: tuple[Usage, ...] = (
    ("DB", "5770-AF3", "SYA", (MORNING.replace(hour=6),)),
    ("DB", "5770-AF3", "SYB", (MORNING.replace(hour=2),)),
)


def write_usage(path: Path, usages: Iterable[Usage]) -> None:
    """A dump with an SMF 89-1 record for each hour of each product; hours end a second early, as clocks drift."""
    with open_dump(path, "SYA", START.replace(tzinfo=None)) as dump:
        for product, product_id, system, hours in usages:
            for start in hours:
                end = start + timedelta(minutes=59, seconds=59)
                times = {
                    "smf89syn": system,
                    "smf89usd": start.date(),
                    "smf89ust": float(start.hour * 3600),
                    "smf89ued": end.date(),
                    "smf89uet": float(end.hour * 3600 + end.minute * 60 + end.second),
                }
                usage = {"smf89upo": "IBM", "smf89upn": product, "smf89upi": product_id, "smf89uct": 1.0}
                sections = {"smf89_1_system": [times], "smf89_1_usage": [usage]}
                dump.write(Record("smf89_1", system, end.replace(tzinfo=START.tzinfo), sections))
        dump.finish("SYA", START.replace(tzinfo=None))


def cost_of(folder: Path, usages: Iterable[Usage], prices: str = "", change: str = "") -> Costed:
    write_day(folder / "day.smf")
    write_usage(folder / "usage.smf", usages)
    paid = None
    if prices:
        (folder / "prices.toml").write_text(prices)
        paid = read_prices(folder / "prices.toml")
    with Pdb.temporary() as pdb:
        ingest([folder / "day.smf", folder / "usage.smf"], pdb)
        changes = [what_if(Kind.DEFINED, change)] if change else []
        return costed(Inputs(pdb.connect()), "day", prices=paid, changes=changes)


def test_a_product_counts_in_the_hours_in_which_it_ran(tmp_path: Path) -> None:
    cost = cost_of(tmp_path, (*BASE, *DB))
    (db,) = [product for product in cost.running if product.title == "DB"]
    # 02:00 occurs twice (places 4 and 5); 05:00 on SYB is not known and assumed.
    assert np.flatnonzero(db.hours["M1", "SYB"]).tolist() == [4, 5, 8]
    assert np.flatnonzero(db.hours["M1", "SYA"]).tolist() == [9]
    assert db.assumed == 1
    # 60 at 02:00, 31.25 at 05:00, and 65.5 of SYA alone at 06:00.
    peak = cost.products["DB", "M1"]
    assert peak.msu == pytest.approx(65.5)
    assert peak.hour == 9
    assert peak.parts == pytest.approx({"SYA": 65.5, "SYB": 0.0})
    # The base ran in both all the time.
    assert cost.products["BASE", "M1"].msu == pytest.approx(126.5)
    text = " ".join(str(render(cost_report(cost), Form.TEXT)).split())
    assert "Some hours of a system have no SMF 89 record." in text
    assert "DB: 1 hour of single partitions" in text
    assert to_object(cost)["hours_assumed"]["DB"] == 1


def test_both_in_one_hour_add_up(tmp_path: Path) -> None:
    more: Usage = ("DB", "5770-AF3", "SYB", (MORNING.replace(hour=6),))
    assert cost_of(tmp_path, (*BASE, *DB, more)).products["DB", "M1"].msu == pytest.approx(65.5 + 60)


def test_the_price_file_names_what_is_registered(tmp_path: Path) -> None:
    prices = """\
currency = "EUR"
[[product]]
name = "Database"
registered = ["5770-*"]
step = [{price = 2.0}]
"""
    cost = cost_of(tmp_path, (*BASE, *DB), prices, "SYB=500")
    assert cost.products["Database", "M1"].msu == pytest.approx(65.5)
    # SYB without a limit has 96 at 02:00 in both hours, which is now the peak: 192.
    assert cost.outcomes[0].products == pytest.approx({"Database": 96.0})
    assert cost.outcomes[0].amount == pytest.approx(192.0)


def test_two_products_of_one_name_are_told_apart_by_their_ids(tmp_path: Path) -> None:
    other: Usage = ("DB", "5615-DB2", "SYA", (EVENING.replace(hour=22),))
    cost = cost_of(tmp_path, (*BASE, *DB, other))
    assert {"DB 5770-AF3", "DB 5615-DB2"} <= {product.title for product in cost.running}
    # The first hour of the data: 6.5 of 48 periods at 48 MSU.
    assert cost.products["DB 5615-DB2", "M1"].msu == pytest.approx(6.5)


def test_the_hour_of_scrt_is_the_mean_over_its_intervals() -> None:
    """A published example: quarter hours of 53, 53, 52 and 50 MSU are 52 MSU in the hour, in whole MSU.

    https://mainframe-tips-and-tricks.blogspot.com/2020/08/how-scrt-reports-4-hour-rolling-average.html
    """
    from plexlens.cost.rolling import Span, hours, of_hours, samples

    spans = [Span(quarter * 900.0, quarter * 900.0 + 900, msu) for quarter, msu in enumerate((53.0, 53.0, 52.0, 50.0))]
    sampled = samples(spans, 0, 12)
    assert round(float(of_hours(sampled.msu, sampled.covered, hours(0, [0] * 12))[0])) == 52
