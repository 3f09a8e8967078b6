"""The cost of data sharing as plain values."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from plexlens.sharing.assumptions import PATHS
from plexlens.sharing.cost import CostOfSharing, SpaceCost, SystemCost
from plexlens.sharing.kinds import Part
from plexlens.sharing.requests import Line


def to_object(cost: CostOfSharing) -> dict[str, Any]:
    """The numbers of the cost: seconds (of CPU unless the name says otherwise), counts, fractions."""
    measured, stated = cost.measured, cost.stated
    return {
        "source": cost.name,
        "start": measured.start.isoformat(),
        "end": measured.end.isoformat(),
        "timed": cost.is_timed,
        "stated": {
            "paths": {path.name: getattr(stated, path.name) for path in PATHS},
            "commit_writes": stated.commit_writes.value,
            "speed": stated.speed,
            "speeds": dict(stated.speeds),
        },
        "total": _system(cost.total),
        "systems": [_system(one) for one in cost.systems],
        "parts": {
            part.value: {"count": _sum(lines, "count"), "cpu_seconds": _sum(lines, "cpu_seconds")}
            for part, lines in cost.by_part().items()
        },
        "lines": [_line(one) for one in cost.lines],
        "address_spaces": [_space(one) for one in cost.spaces],
        "classes": [
            {
                "class": one.name,
                "connection_type": one.use.connection_type,
                "connection": one.use.connection,
                "plan": one.use.plan,
                "system": one.use.system,
                "member": one.use.subsystem,
                "group": one.group,
                "commits": one.use.facts.get("commits"),
                "class1_cpu_seconds": one.use.facts.get("class1_cpu_seconds"),
                "class2_cpu_seconds": one.use.facts.get("class2_cpu_seconds"),
                "all_cpu_seconds": one.all_seconds,
                "cpu_seconds": one.cpu_seconds,
                "thread_seconds": one.thread_seconds,
                "kinds": {
                    kind: {"count": count, "cpu_seconds": one.seconds[kind]} for kind, count in one.counts.items()
                },
                "parts": _parts(one.cpu),
                "requests": _parts(one.requests),
                "how": {part.value: how for part, how in one.how.items()},
                "wait_seconds": one.waits,
                "reread_seconds": one.reread_seconds,
                "delay_seconds": one.delay_seconds,
            }
            for one in cost.classes
        ],
        "unattributed_seconds": cost.unattributed_seconds,
        "missing": list(measured.missing),
        "notes": list(cost.notes),
    }


def _sum(lines: tuple[Line, ...], name: str) -> float:
    return float(sum(getattr(line, name) for line in lines))


def _parts(values: dict[Part, float]) -> dict[str, float]:
    return {part.value: values[part] for part in Part if part in values}


def _system(one: SystemCost) -> dict[str, Any]:
    return {
        **asdict(one),
        "base_seconds": one.base_seconds,
        "overhead": one.overhead,
        "efficiency": one.efficiency,
        "seconds_per_commit": one.per_commit,
    }


def _space(one: SpaceCost) -> dict[str, Any]:
    return {**asdict(one), "overhead": one.overhead}


def _line(one: Line) -> dict[str, Any]:
    return {
        "system": one.system,
        "group": one.group,
        "member": one.member,
        "structure": one.structure,
        "kind": one.kind.name,
        "part": one.kind.part.value,
        "payer": one.payer.value,
        "synchronous": one.synchronous,
        "asynchronous": one.asynchronous,
        "service_seconds": one.service_seconds,
        "path_seconds": one.path_seconds,
        "delay_seconds": one.delay_seconds,
    }
