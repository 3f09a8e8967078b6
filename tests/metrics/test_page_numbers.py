"""Numbers that pages work out: by hand, what the reader is shown for them, and wrong files with place and remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from plexlens.catalogue_path import catalogue_path
from plexlens.expression import names_of
from plexlens.metrics.catalogue import CatalogueError
from plexlens.metrics.catalogue.document import read_document
from plexlens.metrics.page_numbers import page_numbers, page_of
from plexlens.pools.objects import Io

GOOD = """\
# A page of the shop.
title = "Shop"
row = "one day"

[names]
sales = {words = "sales", unit = "count"}
open = {words = "hours open", unit = "seconds"}

[number.rate]
title = "Sales"
unit = "per_second"
formula = "sales / open"
source = "the till"
"""


@pytest.mark.parametrize("file", sorted((catalogue_path() / "pages").glob("*.toml")), ids=lambda file: file.stem)
def test_every_page_is_right(file: Path) -> None:
    page = page_numbers(file.stem)
    names = set(read_document(file, shipped=True).values.get("names", {}))
    used = [names_of(one.expression) for one in page.numbers.values() if one.expression is not None]
    assert names == set().union(*used)
    for name, one in page.numbers.items():
        assert one.id == f"{file.stem}.{name}"


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("engines", {"cpu": 30.0, "seconds": 60.0}, 0.5),
        ("engines", {"cpu": 30.0, "seconds": 0.0}, None),
        ("engines", {"cpu": 30.0, "seconds": None}, None),
        ("overhead", {"cpu": 20.0, "sharing": 20.0, "measured": 120.0}, 0.2),
        ("overhead", {"cpu": 20.0, "sharing": 20.0, "measured": 20.0}, None),
        ("overhead", {"cpu": 20.0, "sharing": 20.0, "measured": 10.0}, None),
        ("overhead", {"cpu": 20.0, "sharing": 20.0, "measured": None}, None),
        # 20 of 120 seconds: what is left is 5/6, and 5/6 x (1 + 0.2) is all
        ("efficiency", {"sharing": 20.0, "measured": 120.0}, 5 / 6),
        ("db2_increase", {"threads": 10.0, "class2": 60.0}, 0.2),
        ("db2_increase", {"threads": 10.0, "class2": 10.0}, None),
        ("increase", {"cpu": 15.0, "threads": 10.0, "everything": 60.0}, 0.3),
        ("increase", {"cpu": 15.0, "threads": 10.0, "everything": None}, None),
    ],
)
def test_numbers_of_data_sharing_by_hand(name: str, values: dict[str, float | None], expected: float | None) -> None:
    assert page_numbers("sharing")[name](**values) == (None if expected is None else pytest.approx(expected))


@pytest.mark.parametrize(
    ("page", "name", "values", "expected"),
    [
        ("plan", "velocity", {"using": 30.0, "delay": 90.0}, 0.25),
        ("plan", "velocity", {"using": 0.0, "delay": 0.0}, None),
        ("plan", "velocity", {"using": 30.0, "delay": None}, None),
        ("plan", "capture", {"captured": 45.0, "busy_time": 60.0}, 0.75),
        ("plan", "capture", {"captured": 45.0, "busy_time": 0.0}, None),
        # Half a processor at 250 transactions per second is 2 ms for each; at 1,000 of 2 ms two processors are busy.
        ("ways", "cpu", {"busy": 0.5, "rate": 250.0}, 0.002),
        ("ways", "engines", {"rate": 1000.0, "cpu": 0.002}, 2.0),
    ],
)
def test_numbers_of_plan_and_ways_in_by_hand(
    page: str, name: str, values: dict[str, float | None], expected: float | None
) -> None:
    assert page_numbers(page)[name](**values) == (None if expected is None else pytest.approx(expected))


def test_numbers_of_a_pool_by_hand() -> None:
    """100 getpages, 40 of them random; 10 reads of a page, and 2 of prefetch that brought 30 pages, in 4 s."""
    io = Io(
        "BP1", "", seconds=4.0, getpages=100, random_getpages=40, sync_reads=10, prefetch_reads=2, prefetch_pages=30
    )
    numbers = page_numbers("pool_io")
    expected = {
        "random_share": 0.4, "read_ios_per_second": 3.0, "pages_read_per_second": 10.0, "application_hit_ratio": 0.9,
        "system_hit_ratio": 0.6, "pages_per_write": None, "write_ios_per_second": None,
    }  # fmt: skip
    assert {name: numbers[name].of(io) for name in expected} == expected
    assert numbers["read_ios_per_second"].of(Io("BP1", "", sync_reads=10)) is None


def test_the_reader_is_shown_the_formula_or_the_words() -> None:
    page = page_numbers("sharing")
    assert page["captured"].words == "CPU time of data sharing / CPU time of service classes"
    assert page["overhead"].words == "CPU time of data sharing / (measured CPU time - that)"
    assert page["path"].words == ""


@pytest.mark.parametrize(
    ("old", "new", "line", "parts"),
    [
        ('title = "Shop"\n', "", None, ["the key title is missing"]),
        ("[number.rate]", "[numbers.rate]", 9, ["numbers: there is no such key", "did you mean number?"]),
        ('"hours open", unit = "seconds"', '"hours open"', 7, ["names.open", "key unit is missing"]),
        ('"sales", unit = "count"', '"sales", unit = "counts"', 6, ["no unit 'counts'", "did you mean count?"]),
        ("sales / open", "sales / opened", 12, ["opened is not a name of the page", "there are: open, sales"]),
        ("sales / open", "sales / ", 12, ["number.rate.formula", "a value was expected"]),
        ("sales / open", "sales + open", 12, ["one side is in count, the other in s"]),
        ("sales / open", "open / sales", 12, ["its value is in s, but its unit is one for 1/s"]),
        ('unit = "per_second"\n', "", 9, ["number.rate", "the key unit is missing"]),
        ('source = "the till"\n', 'sauce = "the till"\n', 13, ["no such key", "did you mean source?"]),
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, old: str, new: str, line: int | None, parts: list[str]) -> None:
    assert GOOD.count(old) == 1
    file = tmp_path / "shop.toml"
    file.write_text(GOOD.replace(old, new))
    with pytest.raises(CatalogueError) as caught:
        page_of(read_document(file, shipped=True))
    assert caught.value.line == line, str(caught.value)
    assert all(part in str(caught.value) for part in ("shop.toml", *parts)), str(caught.value)
