"""The site's own prices: a file in TOML, checked key by key. Nothing is shipped: prices are contracts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plexlens.errors import UnreadableInputError
from plexlens.metrics.catalogue.document import Document, read_document
from plexlens.metrics.catalogue.error import CatalogueError
from plexlens.metrics.catalogue.table import Entry, Table

#: Price of growth where the file states none, as a share of the price of the baseline. Source: Zetaly, How to lower the
#: Tailored Fit Pricing baseline (2026): annual cost = baseline MSU x price + growth MSU x price x 50 %.
GROWTH_SHARE = 0.5


@dataclass(frozen=True)
class Step:
    """A step of a price curve: the price of each MSU up to a bound, above the step before."""

    up_to: float
    price: float


@dataclass(frozen=True)
class Product:
    """A product with its price.

    Attributes
    ----------
    name
        Name.
    partitions
        Names or patterns of the partitions in which it runs.
    steps
        Price curve, per MSU and month; the last step has no bound.
    base
        Amount per month whatever the MSU.
    registered
        Names, ids or patterns under which it registers its use (SMF 89); empty if it counts in all hours.
    """

    name: str
    partitions: tuple[str, ...]
    steps: tuple[Step, ...]
    base: float = 0.0
    registered: tuple[str, ...] = ()

    def amount(self, msu: float) -> float:
        """Price per month of an MSU figure: base + sum over the steps of (MSU within the step x its price)."""
        result, below = self.base, 0.0
        for step in self.steps:
            result += max(0.0, min(msu, step.up_to) - below) * step.price
            below = step.up_to
        return result


@dataclass(frozen=True)
class TailoredFit:
    """Prices of MSU consumed.

    Attributes
    ----------
    baseline
        MSU-hours per year that are paid for in any case; None to take the consumption of the data as the baseline.
    price, growth_price
        Per MSU-hour, of the baseline and above it.
    """

    baseline: float | None
    price: float
    growth_price: float


@dataclass(frozen=True)
class Prices:
    """A price file.

    Attributes
    ----------
    currency
        Its name, shown after amounts.
    products
        Products charged by the peak of the four-hour average.
    tailored_fit
        Prices of consumption; None without them.
    """

    currency: str
    products: tuple[Product, ...]
    tailored_fit: TailoredFit | None


def read_prices(path: Path) -> Prices:
    """Read a price file.

    Raises
    ------
    CatalogueError
        It is not TOML, lacks a key, or has an unknown key or an impossible value; the message names file, line and key.
    UnreadableInputError
        There is no such file.
    """
    if not path.is_file():
        raise UnreadableInputError(file=str(path), what="there is no such price file", remedy="give a file in TOML")
    document = read_document(path, shipped=False)
    top = Entry(dict(document.values), document, ()).table("currency", "product", "tailored_fit")
    products = tuple(_product(entry) for entry in _listed(document, top))
    names = [product.name for product in products]
    for place, name in enumerate(names):
        if name in names[:place]:
            raise document.wrong(
                ("product", place, "name"), f"the product {name!r} is there twice", "give each product once"
            )
    fit = top.get("tailored_fit")
    if not products and fit is None:
        raise CatalogueError(
            file=str(path), what="it has no prices", remedy="add [[product]] or [tailored_fit]; docs/cost.md shows both"
        )
    return Prices(top.need("currency", 'currency = "EUR"').text(), products, None if fit is None else _tailored(fit))


def _listed(document: Document, top: Table) -> list[Entry]:
    entry = top.get("product")
    if entry is None:
        return []
    if not isinstance(entry.value, list):
        raise entry.wrong("it is not a list of tables", "write each product as [[product]]")
    return [Entry(value, document, ("product", place)) for place, value in enumerate(entry.value)]


def _product(entry: Entry) -> Product:
    table = entry.table("name", "partitions", "registered", "base", "step")
    steps = table.need("step", "step = [{up_to = 45, price = 390.0}, {price = 180.0}]")
    listed = steps.value
    if not isinstance(listed, list) or not listed or not all(isinstance(step, dict) for step in listed):
        raise steps.wrong("it is not a list of steps", "write step = [{up_to = 45, price = 390.0}, {price = 180.0}]")
    results: list[Step] = []
    for number, value in enumerate(listed):
        step = Entry(value, entry.document, (*steps.place, number)).table("up_to", "price")
        bound = step.get("up_to")
        if (bound is None) != (number == len(listed) - 1):
            raise steps.wrong(
                f"step {number + 1} of {len(listed)} {'has no' if bound is None else 'has an'} up_to",
                "give up_to in every step but the last",
            )
        up_to = math.inf if bound is None else _number(bound)
        if results and up_to <= results[-1].up_to:
            raise steps.wrong(f"up_to of step {number + 1} is not above the one before", "let the bounds rise")
        results.append(Step(up_to, _number(step.need("price", "price = 390.0"))))
    base = table.get("base")
    return Product(
        table.need("name", 'name = "z/OS"').text(),
        table.texts("partitions") or ("*",),
        tuple(results),
        0.0 if base is None else _number(base),
        table.texts("registered") or (),
    )


def _tailored(entry: Entry) -> TailoredFit:
    table = entry.table("baseline_msu_hours", "price", "growth_price")
    price = _number(table.need("price", "price = 1.20"))
    growth, baseline = table.get("growth_price"), table.get("baseline_msu_hours")
    return TailoredFit(
        None if baseline is None else _number(baseline),
        price,
        price * GROWTH_SHARE if growth is None else _number(growth),
    )


def _number(entry: Entry) -> float:
    value: Any = entry.value
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise entry.wrong(f"it is {value!r}, not an amount", "give a number of 0 or more")
    return float(value)


def total(prices: Prices, msu: Mapping[str, float]) -> float:
    """Price per month of all products, each by its MSU."""
    return sum(product.amount(msu[product.name]) for product in prices.products if product.name in msu)
