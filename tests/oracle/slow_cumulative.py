"""A slow, obvious twin of `plexlens.metrics.cumulative`: one entity at a time, one record after the other."""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]

NARROW_RANGE = 4_294_967_296


def by_entity(rows: list[Row], entity: tuple[str, ...]) -> list[list[Row]]:
    """The rows of each entity in order of time, then sequence number, then record number."""
    found: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in entity), []).append(row)
    for several in found.values():
        several.sort(key=lambda row: (row["interval_end"], row["sequence"], row["record_no"]))
    return list(found.values())


def one(before: Row | None, now: Row, bits: dict[str, int], doubtful: set[str]) -> Row:
    """What the record says of the time since the one before; a doubtful counter that falls says nothing."""
    made: Row = {"unused_because": None, "restarts": 0, "missing_records": None, "interval_start": None}
    made |= dict.fromkeys(bits)
    if before is None:
        return made | {"unused_because": "no earlier record"}
    if before["interval_end"] == now["interval_end"]:
        return made | {"unused_because": "same time as the previous record"}
    change = {}
    restarted = now["sequence"] < before["sequence"]
    for name, width in bits.items():
        if now[name] is None or before[name] is None:
            change[name] = None
            continue
        change[name] = now[name] - before[name]
        if change[name] < 0:
            over_the_top = change[name] + NARROW_RANGE
            if width == 32 and over_the_top < NARROW_RANGE // 2:
                change[name] = over_the_top
            elif name in doubtful:
                change[name] = None
            else:
                restarted = True
    if restarted:
        return made | {"unused_because": "restart", "restarts": 1}
    return (
        made
        | change
        | {
            "interval_start": before["interval_end"],
            "missing_records": now["sequence"] - before["sequence"] - 1
            if now["sequence"] > before["sequence"]
            else None,
        }
    )


def intervals(rows: list[Row], entity: tuple[str, ...], bits: dict[str, int], doubtful: set[str]) -> dict[int, Row]:
    """Every row's interval by its record number."""
    made = {}
    for several in by_entity(rows, entity):
        before: Row | None = None
        for now in several:
            made[now["record_no"]] = one(before, now, bits, doubtful)
            before = now
    return made
