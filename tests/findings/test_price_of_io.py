"""Rules and metrics that price an I/O take the one price."""

from __future__ import annotations

import re

from plexlens.findings import load_rules
from plexlens.metrics import GRAINS
from plexlens.pools.io_price import CPU_OF_IO


def test_every_price_of_an_io_is_the_same() -> None:
    costs = [rule.cost.seconds.text for rule in load_rules() if rule.cost is not None]
    costs += [metric.formula for name in ("db2_pool", "db2_data_set") for metric in GRAINS[name].metrics]
    prices = [float(price) * 1e-6 for cost in costs for price in re.findall(r"(\d+) us\b", cost)]
    assert len(prices) > 3
    assert all(abs(price - CPU_OF_IO) < 1e-12 for price in prices), prices
