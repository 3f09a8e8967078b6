"""An answer of `plexlens why` as plain values, in base units."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from plexlens.why.answer import Why, subject
from plexlens.why.chain import Chain
from plexlens.why.decomposition import Amount
from plexlens.why.page.texts import cause_object, command_of


def to_object(answer: Why) -> dict[str, Any]:
    """The answer as plain values for JSON."""
    change = answer.change
    return {
        "metric": change.name,
        "title": change.column.title,
        "unit": change.column.unit.base,
        "where": answer.where,
        "new": answer.at,
        "base": answer.against,
        "intervals": {"base": answer.intervals[0], "new": answer.intervals[1]},
        "before": change.before,
        "after": change.after,
        "change": _amount(change.all),
        "judgement": answer.judgement,
        "drifts": {period: list(values) for period, values in change.drifts.items()},
        "tests": answer.walked.tests,
        "causes": [
            {
                "rank": number,
                "name": cause.name,
                "object": cause_object(cause),
                "weight": cause.weight,
                "share": min(1.0, cause.share),
                "change": _amount(cause.moved),
                "before": cause.before,
                "after": cause.after,
                "path": list(cause.path),
                "text": cause.text,
                "command": command_of(answer, cause),
            }
            for number, cause in enumerate(answer.causes, 1)
        ],
        "where_it_changed": [
            {
                "keys": list(by_key.keys),
                "objects": [
                    {
                        "object": subject(by_key.keys, item.names),
                        "before": item.before,
                        "after": item.after,
                        "volume": item.volume,
                        "mix": item.mix,
                        "intensity": item.intensity,
                        "change": _amount(item.all),
                        "is_new": item.is_new,
                        "is_gone": item.is_gone,
                    }
                    for item in by_key.items
                ],
            }
            for by_key in change.by_key
        ],
        "not_divided": dict(change.undivided or {}),
        "parts": None if answer.chain is None else _chain(answer.chain),
        "settings": [
            {"name": each.name, "object": each.owner, "before": each.before, "after": each.after}
            for each in answer.settings
        ],
        "names": [
            {"grain": each.grain.name, "key": each.key, "name": each.name, "is_new": each.is_new}
            for each in answer.names
        ],
        "findings": None if answer.findings is None else [asdict(each) for each in answer.findings],
    }


def _amount(amount: Amount | None) -> dict[str, Any] | None:
    if amount is None:
        return None
    interval = amount.interval
    return {
        "value": amount.value,
        "low": None if interval is None else interval.low,
        "high": None if interval is None else interval.high,
        "p": amount.p,
    }


def _chain(chain: Chain) -> list[dict[str, Any]]:
    return [
        {
            "name": part.name,
            "title": part.title,
            "before": part.before,
            "after": part.after,
            "change": _amount(part.all),
            "share": part.share,
            "by_events": None if part.split is None else part.split.events.value,
            "by_time_of_event": None if part.split is None else part.split.each.value,
        }
        for part in chain.parts
    ]
