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
        "systems": [_system(system) for system in cost.systems],
        "parts": {
            part.value: {"count": _sum(lines, "count"), "cpu_seconds": _sum(lines, "cpu_seconds")}
            for part, lines in cost.by_part().items()
        },
        "lines": [_line(line) for line in cost.lines],
        "address_spaces": [_space(space) for space in cost.spaces],
        "classes": [
            {
                "class": work_class.name,
                "connection_type": work_class.use.connection_type,
                "connection": work_class.use.connection,
                "plan": work_class.use.plan,
                "system": work_class.use.system,
                "member": work_class.use.subsystem,
                "group": work_class.group,
                "commits": work_class.use.facts.get("commits"),
                "class1_cpu_seconds": work_class.use.facts.get("class1_cpu_seconds"),
                "class2_cpu_seconds": work_class.use.facts.get("class2_cpu_seconds"),
                "all_cpu_seconds": work_class.all_seconds,
                "cpu_seconds": work_class.cpu_seconds,
                "thread_seconds": work_class.thread_seconds,
                "kinds": {
                    kind: {"count": count, "cpu_seconds": work_class.seconds[kind]}
                    for kind, count in work_class.counts.items()
                },
                "parts": _parts(work_class.cpu),
                "requests": _parts(work_class.requests),
                "how": {part.value: how for part, how in work_class.how.items()},
                "wait_seconds": work_class.waits,
                "reread_seconds": work_class.reread_seconds,
                "delay_seconds": work_class.delay_seconds,
            }
            for work_class in cost.classes
        ],
        "unattributed_seconds": cost.unattributed_seconds,
        "missing": list(measured.missing),
        "notes": list(cost.notes),
    }


def _sum(lines: tuple[Line, ...], name: str) -> float:
    return float(sum(getattr(line, name) for line in lines))


def _parts(values: dict[Part, float]) -> dict[str, float]:
    return {part.value: values[part] for part in Part if part in values}


def _system(cost: SystemCost) -> dict[str, Any]:
    return {
        **asdict(cost),
        "base_seconds": cost.base_seconds,
        "overhead": cost.overhead,
        "efficiency": cost.efficiency,
        "seconds_per_commit": cost.per_commit,
    }


def _space(cost: SpaceCost) -> dict[str, Any]:
    return {**asdict(cost), "overhead": cost.overhead}


def _line(line: Line) -> dict[str, Any]:
    return {
        "system": line.system,
        "group": line.group,
        "member": line.member,
        "structure": line.structure,
        "kind": line.kind.name,
        "part": line.kind.part.value,
        "payer": line.payer.value,
        "synchronous": line.synchronous,
        "asynchronous": line.asynchronous,
        "service_seconds": line.service_seconds,
        "path_seconds": line.path_seconds,
        "delay_seconds": line.delay_seconds,
    }
