"""A cost as plain values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from plexlens.cost.costed import Costed, MachineCost, Outcome
from plexlens.cost.peaks import Peak


def to_object(cost: Costed) -> dict[str, Any]:
    """The numbers of a cost: MSU, seconds, MSU-hours, fractions, and amounts in the currency of the price file."""
    use = cost.use
    return {
        "source": cost.name,
        "hours": [use.moment(hour.start).isoformat() for hour in use.hours],
        "utc_offsets": [hour.offset for hour in use.hours],
        "notes": list(use.notes),
        "machines": [_machine(cost, machine) for machine in cost.machines],
        "products": [
            {"product": product, "machine": machine, **_peak(cost, peak)}
            for (product, machine), peak in cost.products.items()
        ],
        "registered_products": [
            {
                "product": product.product,
                "product_id": product.product_id,
                "systems": list(product.systems),
                "hours": {system: during.tolist() for system, during in product.hours.items()},
            }
            for product in cost.known_products
        ],
        "hours_assumed": {product.title: product.assumed for product in cost.running},
        "currency": None if cost.prices is None else cost.prices.currency,
        "as_it_is": _outcome(cost.base),
        "what_ifs": [_outcome(outcome) for outcome in cost.outcomes],
        "limits_tried": [_outcome(outcome) for outcome in cost.ladder],
        "consumption": asdict(cost.consumption),
        "partition_settings": [asdict(setting) for setting in cost.settings],
        "goals": None
        if cost.goals is None
        else {"rows": [asdict(row) for row in cost.goals.rows], "notes": list(cost.goals.notes)},
    }


def _peak(cost: Costed, peak: Peak) -> dict[str, Any]:
    return {
        "msu": peak.msu,
        "hour": cost.use.moment(cost.use.hours[peak.hour].start).isoformat(),
        "parts": dict(peak.parts),
    }


def _machine(cost: Costed, machine: MachineCost) -> dict[str, Any]:
    return {
        "machine": machine.machine,
        "peak": _peak(cost, machine.peak),
        "charged_peak": _peak(cost, machine.charged_peak),
        "groups": {name: _peak(cost, peak) for name, peak in machine.groups.items()},
        "partitions": [
            {
                "partition": hourly.partition.name,
                "system": hourly.partition.system,
                "group": hourly.partition.group,
                "weight": hourly.partition.weight,
                "ipls": [cost.use.moment(ipl).isoformat() for ipl in hourly.partition.ipls],
                **{
                    name: [None if math.isnan(value) else float(value) for value in values]
                    for name, values in (
                        ("average", hourly.average),
                        ("known", hourly.known),
                        ("defined", hourly.defined),
                        ("group_limit", hourly.group_limit),
                        ("charged", machine.charged[hourly.partition.name]),
                        ("recorded", hourly.recorded),
                    )
                },
            }
            for hourly in machine.hours
        ],
        "contributors": {
            kind: [asdict(contribution) for contribution in results] for kind, results in machine.contributors.items()
        },
        "not_attributed": {kind: machine.peak.msu - msu for kind, msu in machine.attributed.items()},
        "saved_by_a_tenth_less": dict(machine.tenths),
    }


def _outcome(outcome: Outcome) -> dict[str, Any]:
    return {
        "title": outcome.title,
        "average": dict(outcome.average),
        "charged": dict(outcome.charged),
        "products": dict(outcome.products),
        "amount": outcome.amount,
        "delays": [
            {"machine": machine, "partition": partition, **asdict(delay)}
            for (machine, partition), delay in _items(outcome)
        ],
        "capped": [
            {"machine": machine, "partition": partition, **asdict(press)}
            for (machine, partition), press in sorted(outcome.pressed.items())
        ],
        "notes": list(outcome.notes),
    }


def _items(outcome: Outcome) -> list[tuple[tuple[str, str], Any]]:
    delays: Mapping[tuple[str, str], Any] = outcome.delays
    return sorted(delays.items())
