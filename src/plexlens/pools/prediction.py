"""Saved predictions: the expected effect of a pool change, the work it applies to, and its assumptions.

What is saved is enough to tell, once the change is made, whether the work was the same and whether the prediction held:
the work of every pool and data set, the settings before and after, the I/O of both, the prices, and the method with its
error.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from operator import add, attrgetter
from pathlib import Path
from typing import Any

from plexlens.errors import PlexlensError, UnreadableInputError
from plexlens.pools.alter import script
from plexlens.pools.members import ALONE, member_and_pool
from plexlens.pools.settings import Configuration, PoolSettings
from plexlens.whole_file import whole_file

#: Of the file's form; a later form has a higher number.
FORM = 1


@dataclass(frozen=True, slots=True)
class Activity:
    """Work and I/O of a pool or data set during the trace.

    Attributes
    ----------
    getpages, random_getpages, updates
        Getpages, those of random access among them, and pages marked for writing.
    distinct_pages
        Pages referenced; estimated where a sample was looked at.
    sync_reads, prefetch_reads
        Read I/Os: synchronous, and by prefetch of all kinds.
    pages_read
        Pages that both brought.
    write_ios, pages_written
        Write I/Os, and pages that they wrote.
    cpu_seconds, delay_seconds
        CPU of the I/O, and the time that synchronous reads are waited for, at the prices of the prediction.
    """

    getpages: float = 0.0
    random_getpages: float = 0.0
    updates: float = 0.0
    distinct_pages: float = 0.0
    sync_reads: float = 0.0
    prefetch_reads: float = 0.0
    pages_read: float = 0.0
    write_ios: float = 0.0
    pages_written: float = 0.0
    cpu_seconds: float = 0.0
    delay_seconds: float = 0.0

    @property
    def read_ios(self) -> float:
        """Read I/Os of both kinds."""
        return self.sync_reads + self.prefetch_reads

    @property
    def ios(self) -> float:
        """Read and write I/Os."""
        return self.read_ios + self.write_ios

    def __add__(self, other: Activity) -> Activity:
        """The sum of both; distinct pages add up if the two have none in common."""
        return Activity(*map(add, _amounts(self), _amounts(other)))


_amounts = attrgetter(*(attribute.name for attribute in fields(Activity)))


@dataclass(frozen=True)
class GroupPoolActivity:
    """Activity of a group buffer pool during the trace; for a member, only the member's own counters.

    Attributes
    ----------
    misses_with_data, misses_without_data
        Reads of pages that are not in the local pool, by whether the group buffer pool had them.
    invalid_with_data, invalid_without_data
        Reads of pages that another member's change, or a directory entry taken away, had made invalid.
    sync_writes, async_writes, failed_writes
        Changed pages written, at commit or before, and writes that found no room.
    invalidated_by_write, invalidated_by_reclaim
        Pages in local pools that became invalid: changed by another member; their directory entry taken.
    directory_reclaims, data_reclaims
        Entries taken from pages that used them.
    class_threshold, pool_threshold
        Times that CLASST and GBPOOLT were exceeded.
    castout_pages, castout_ios
        Changed pages written to disk, and I/Os for it.
    castout_unlocks, castout_classes, castout_statistics
        Requests of castout besides those that read the pages: unlocks after each I/O, names of a class's changed pages,
        numbers of changed pages by class.
    register_lists, prefetched_pages
        Requests that register the pages of a prefetch, and pages of these that were read from here.
    unregistered, deleted_names
        Requests that end the registration of a page, and of all pages of a data set.
    cpu_seconds
        Of the requests, and of the castout I/Os.
    """

    misses_with_data: float = 0.0
    misses_without_data: float = 0.0
    invalid_with_data: float = 0.0
    invalid_without_data: float = 0.0
    sync_writes: float = 0.0
    async_writes: float = 0.0
    failed_writes: float = 0.0
    invalidated_by_write: float = 0.0
    invalidated_by_reclaim: float = 0.0
    directory_reclaims: float = 0.0
    data_reclaims: float = 0.0
    class_threshold: float = 0.0
    pool_threshold: float = 0.0
    castout_pages: float = 0.0
    castout_ios: float = 0.0
    castout_unlocks: float = 0.0
    castout_classes: float = 0.0
    castout_statistics: float = 0.0
    register_lists: float = 0.0
    prefetched_pages: float = 0.0
    unregistered: float = 0.0
    deleted_names: float = 0.0
    cpu_seconds: float = 0.0

    @property
    def invalid_reads(self) -> float:
        """Reads of invalidated pages."""
        return self.invalid_with_data + self.invalid_without_data

    @property
    def reads(self) -> float:
        """Reads of both kinds; each registers the page."""
        return self.misses_with_data + self.misses_without_data + self.invalid_reads

    @property
    def hits(self) -> float:
        """Reads that returned the page, so that no I/O was needed."""
        return self.misses_with_data + self.invalid_with_data

    @property
    def hit_share(self) -> float | None:
        """Share of the reads of invalidated pages that returned the page; None without such reads."""
        return self.invalid_with_data / self.invalid_reads if self.invalid_reads else None

    @property
    def writes(self) -> float:
        """Changed pages written to the group buffer pool."""
        return self.sync_writes + self.async_writes

    @property
    def requests(self) -> float:
        """Requests of all kinds."""
        castout = self.castout_pages + self.castout_unlocks + self.castout_classes + self.castout_statistics
        registration = self.register_lists + self.prefetched_pages + self.unregistered + self.deleted_names
        return self.reads + self.writes + castout + registration

    def __add__(self, other: GroupPoolActivity) -> GroupPoolActivity:
        """The sum of both."""
        return GroupPoolActivity(
            *(getattr(self, attribute.name) + getattr(other, attribute.name) for attribute in fields(self))
        )


def use_of(counters: Mapping[str, int]) -> GroupPoolActivity:
    """Counters of a group buffer pool, without their cost."""
    return GroupPoolActivity(**{name: float(count) for name, count in counters.items()})


@dataclass(frozen=True)
class State:
    """Pool settings, and the activity that the trace causes with them.

    Attributes
    ----------
    configuration
        Settings of the pools, and objects that are elsewhere than the trace has them.
    pools
        By full name (``DB1A.BP2``; ``BP2`` of a Db2 alone).
    data_sets
        By pool and data set (``DATABASE.PAGESET`` or ``DATABASE.PAGESET.PARTITION``).
    uses
        What the pool of a member does with its group buffer pool, by full name; by the name of the group buffer pool
        (``GBP2``) what is counted of the structure alone. Empty for a Db2 alone, as the rest is.
    dependent
        Data sets that are kept coherent, by pool.
    left_out
        References to pools without settings, by full name.
    """

    configuration: Configuration
    pools: Mapping[str, Activity] = field(default_factory=dict)
    data_sets: Mapping[tuple[str, str], Activity] = field(default_factory=dict)
    uses: Mapping[str, GroupPoolActivity] = field(default_factory=dict)
    dependent: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def total(self) -> Activity:
        """Sum over all pools."""
        return sum(self.pools.values(), start=Activity())

    @cached_property
    def structures(self) -> dict[str, GroupPoolActivity]:
        """Activity of each group buffer pool, by the name of its pool."""
        names = self.configuration.pool_names
        group_pool_activities = {pool: GroupPoolActivity() for pool in self.dependent if pool in names}
        for name, use in self.uses.items():
            pool = member_and_pool(name)[1].removeprefix("G")
            if pool in group_pool_activities:
                group_pool_activities[pool] += use
        return group_pool_activities

    @property
    def requests(self) -> GroupPoolActivity:
        """Sum over all group buffer pools."""
        return sum(self.structures.values(), start=GroupPoolActivity())

    @property
    def cpu_seconds(self) -> float:
        """CPU of I/O, of requests to group buffer pools, and of castout."""
        return self.total.cpu_seconds + self.requests.cpu_seconds

    @property
    def write_ios(self) -> float:
        """Write I/Os of the pools, plus castout."""
        return self.total.write_ios + self.requests.castout_ios

    def cost(self, delay_weight: float = 0.0) -> float:
        """CPU seconds, plus seconds of delay at their weight."""
        return self.cpu_seconds + delay_weight * self.total.delay_seconds

    def cost_of(self, name: str, delay_weight: float = 0.0) -> float:
        """The same cost for a single pool with its group buffer pool requests; for a structure (``GBP2``), the cost of
        the rest.
        """
        spent = self.uses[name].cpu_seconds if name in self.uses else 0.0
        own = self.pools.get(name, Activity())
        return own.cpu_seconds + delay_weight * own.delay_seconds + spent

    def of(self, member: str) -> State:
        """The pools of a member as those of a single Db2."""

        def own(name: str) -> bool:
            return member_and_pool(name)[0] == member

        return State(
            self.configuration.of(member),
            {member_and_pool(name)[1]: pool for name, pool in self.pools.items() if own(name)},
            {
                (member_and_pool(pool)[1], name): data_set
                for (pool, name), data_set in self.data_sets.items()
                if own(pool)
            },
        )


@dataclass(frozen=True)
class Engine:
    """Simulation method of a prediction.

    Attributes
    ----------
    name
        The method.
    sample
        Share of the pages that groups and sizes were chosen on; 1: all.
    error
        Relative error of the read I/Os, as far as it is known: how far the method is from what the trace recorded, or
        from the exact curve.
    text
        The same in words.
    """

    name: str
    sample: float = 1.0
    error: float | None = None
    text: str = ""


@dataclass(frozen=True)
class Prediction:
    """The expected effect of a change.

    Attributes
    ----------
    sources
        Names of the trace's files.
    seconds
        Time that the trace covers; 0 if it has no times.
    members
        Db2 members in it.
    before, after
        Pools as they are, and as they will be.
    cost
        Prices of I/O (`plexlens.pools.cost.IoCost.to_json`).
    engine
        How it was made.
    commands, reverse
        Text of the change, and of what undoes it.
    notes
        What must be known to judge it.
    """

    sources: tuple[str, ...]
    seconds: float
    members: tuple[str, ...]
    before: State
    after: State
    cost: Mapping[str, Any]
    engine: Engine
    commands: tuple[str, ...] = ()
    reverse: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def is_change(self) -> bool:
        """Whether the present pools are known and change."""
        before = self.before.configuration
        return bool(before.pools) and (before != self.after.configuration or bool(self.commands))

    def per_second(self, amount: float) -> float | None:
        """An amount divided by the trace's seconds; None if the trace has no times."""
        return amount / self.seconds if self.seconds > 0 else None

    def per_hour(self, amount: float) -> float | None:
        """An amount divided by the trace's hours; None if the trace has no times."""
        return 3600 * amount / self.seconds if self.seconds > 0 else None


def of_member(prediction: Prediction, member: str) -> Prediction:
    """The prediction for a member of a group, as that of a single Db2."""
    before, after = prediction.before.of(member), prediction.after.of(member)
    then, now = (replace(state.configuration, placement={}) for state in (after, before))
    text = script(now, then, {}, {}) if now.pools else script(then, then, {}, {})
    return replace(
        prediction,
        members=(member,),
        before=before,
        after=after,
        commands=text.change,
        reverse=text.reverse,
    )


def to_json(prediction: Prediction) -> dict[str, Any]:
    """The prediction as one JSON object."""
    return {
        "plexlens_prediction": FORM,
        "sources": list(prediction.sources),
        "seconds": prediction.seconds,
        "members": list(prediction.members),
        "engine": asdict(prediction.engine),
        "cost": dict(prediction.cost),
        "before": _state_to_json(prediction.before),
        "after": _state_to_json(prediction.after),
        "commands": list(prediction.commands),
        "reverse": list(prediction.reverse),
        "notes": list(prediction.notes),
    }


def _state_to_json(state: State) -> dict[str, Any]:
    settings = state.configuration
    results: dict[str, Any] = {
        "settings": {name: asdict(pool) for name, pool in settings.pools.items()},
        "placement": dict(settings.placement),
        "pools": {name: asdict(activity) for name, activity in state.pools.items()},
        "data_sets": [
            {"pool": pool, "data_set": name, **asdict(activity)} for (pool, name), activity in state.data_sets.items()
        ],
    }
    if state.structures or settings.structures:
        results |= {
            "group": settings.group,
            "group_pools": {
                structure.structure: asdict(structure) | {"ratio": structure.ratio, "bytes": structure.bytes}
                for structure in settings.structures.values()
            },
            "group_pool_activity": {f"G{pool}": asdict(structure) for pool, structure in state.structures.items()},
            "uses": {name: asdict(use) for name, use in state.uses.items()},
            "dependent": {pool: list(names) for pool, names in state.dependent.items()},
            "cpu_seconds": state.cpu_seconds,
        }
    return results


def save(path: Path, prediction: Prediction) -> list[Path]:
    """Write a prediction to a file, completely or not at all.

    Of a group each member has a file, to be checked against the statistics of that Db2: ``prediction.json`` becomes
    ``prediction.DB1A.json`` and so on.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    UsageError
        One cannot be written there.
    """
    members = prediction.after.configuration.members
    parts = {path: prediction}
    if any(member != ALONE for member in members):
        parts = {
            path.with_name(f"{path.stem}.{member}{path.suffix}"): of_member(prediction, member) for member in members
        }
    for target, own in parts.items():
        with whole_file(target) as part:
            part.write_text(json.dumps(to_json(own), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return list(parts)


def load(path: Path) -> Prediction:
    """Read a saved prediction.

    Raises
    ------
    UnreadableInputError
        It cannot be read, is not a prediction, or is of a later form.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UnreadableInputError(
            file=str(path),
            what=f"it cannot be read: {error.strerror or error}",
            remedy="check the path and your permissions",
        ) from error
    except ValueError as error:
        raise UnreadableInputError(
            file=str(path), what=f"it is not valid JSON: {error}", remedy="give a file that plexlens pools --save wrote"
        ) from error
    if not isinstance(content, dict) or not isinstance(content.get("plexlens_prediction"), int):
        raise UnreadableInputError(
            file=str(path), what="it is not a prediction", remedy="give a file that plexlens pools --save wrote"
        )
    if content["plexlens_prediction"] > FORM:
        raise UnreadableInputError(
            file=str(path),
            what=f"it has format version {content['plexlens_prediction']}, and this Plexlens reads versions up "
            f"to {FORM}",
            remedy="use the version of Plexlens that wrote it, or a later version",
        )
    try:
        return _from_json(content)
    except (KeyError, TypeError, ValueError, AttributeError, PlexlensError) as error:
        raise UnreadableInputError(
            file=str(path),
            what=f"the prediction in it is damaged: {type(error).__name__} {error}",
            remedy="save it again with plexlens pools --save",
        ) from error


def _from_json(content: Mapping[str, Any]) -> Prediction:
    return Prediction(
        sources=tuple(map(str, content["sources"])),
        seconds=float(content["seconds"]),
        members=tuple(map(str, content["members"])),
        before=_state_from_json(content["before"]),
        after=_state_from_json(content["after"]),
        cost=dict(content["cost"]),
        engine=Engine(**content["engine"]),
        commands=tuple(map(str, content["commands"])),
        reverse=tuple(map(str, content["reverse"])),
        notes=tuple(map(str, content["notes"])),
    )


def _state_from_json(content: Mapping[str, Any]) -> State:
    pools = {name: PoolSettings(**settings) for name, settings in content["settings"].items()}
    data_sets = {}
    for row in content["data_sets"]:
        rest = {key: value for key, value in row.items() if key not in ("pool", "data_set")}
        data_sets[(str(row["pool"]), str(row["data_set"]))] = _activity(rest)
    return State(
        Configuration(pools, {str(name): str(pool) for name, pool in content["placement"].items()}),
        {name: _activity(values) for name, values in content["pools"].items()},
        data_sets,
    )


def _activity(values: Mapping[str, Any]) -> Activity:
    return Activity(**{name: float(value) for name, value in values.items()})
