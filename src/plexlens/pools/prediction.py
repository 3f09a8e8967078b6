"""A prediction kept for later: what a change of pools was expected to do, of which work, by which assumptions.

What is saved is enough to tell, once the change is made, whether the work was the same and whether the prediction held:
the work of every pool and data set, the settings before and after, the I/O of both, the prices, and the method with its
error.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from plexlens.errors import PlexlensError, UnreadableInputError
from plexlens.pools.settings import Configuration, PoolSettings
from plexlens.whole_file import whole_file

#: Of the file's form; a later form has a higher number.
FORM = 1


@dataclass(frozen=True)
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
        """Both together; distinct pages add up where the two have none in common."""
        return Activity(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))


@dataclass(frozen=True)
class State:
    """Pools as they are set, and what they do with the work of the trace.

    Attributes
    ----------
    configuration
        Settings of the pools, and objects that are elsewhere than the trace has them.
    pools
        By name.
    data_sets
        By pool and data set (``DATABASE.PAGESET`` or ``DATABASE.PAGESET.PARTITION``).
    """

    configuration: Configuration
    pools: Mapping[str, Activity] = field(default_factory=dict)
    data_sets: Mapping[tuple[str, str], Activity] = field(default_factory=dict)

    @property
    def total(self) -> Activity:
        """All pools."""
        return sum(self.pools.values(), start=Activity())


@dataclass(frozen=True)
class Engine:
    """How a prediction was made.

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
    """What a change is expected to do.

    Attributes
    ----------
    sources
        Names of the trace's files.
    seconds
        Time that the trace covers; 0 where it tells no times.
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

    def per_second(self, amount: float) -> float | None:
        """An amount of the trace's time by second; None where the trace tells no times."""
        return amount / self.seconds if self.seconds > 0 else None

    def per_hour(self, amount: float) -> float | None:
        """An amount of the trace's time by hour; None where the trace tells no times."""
        return 3600 * amount / self.seconds if self.seconds > 0 else None


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
    return {
        "settings": {name: asdict(pool) for name, pool in state.configuration.pools.items()},
        "placement": dict(state.configuration.placement),
        "pools": {name: asdict(activity) for name, activity in state.pools.items()},
        "data_sets": [
            {"pool": pool, "data_set": name, **asdict(activity)} for (pool, name), activity in state.data_sets.items()
        ],
    }


def save(path: Path, prediction: Prediction) -> None:
    """Write a prediction: the whole file or none.

    Raises
    ------
    UsageError
        It cannot be written there.
    """
    with whole_file(path) as part:
        part.write_text(json.dumps(to_json(prediction), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def load(path: Path) -> Prediction:
    """Read a saved prediction.

    Raises
    ------
    UnreadableInputError
        It cannot be read, is no prediction, or is of a later form.
    """
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UnreadableInputError(
            file=str(path), what=f"it cannot be read: {error.strerror or error}", remedy="check its name and rights"
        ) from error
    except ValueError as error:
        raise UnreadableInputError(
            file=str(path), what=f"it is no JSON: {error}", remedy="give a file that plexlens pools --save wrote"
        ) from error
    if not isinstance(held, dict) or not isinstance(held.get("plexlens_prediction"), int):
        raise UnreadableInputError(
            file=str(path), what="it is no prediction", remedy="give a file that plexlens pools --save wrote"
        )
    if held["plexlens_prediction"] > FORM:
        raise UnreadableInputError(
            file=str(path),
            what=f"it has form {held['plexlens_prediction']}, known are forms up to {FORM}",
            remedy="use the Plexlens that wrote it, or a later one",
        )
    try:
        return _from_json(held)
    except (KeyError, TypeError, ValueError, AttributeError, PlexlensError) as error:
        raise UnreadableInputError(
            file=str(path),
            what=f"the prediction in it is damaged: {type(error).__name__} {error}",
            remedy="save it again with plexlens pools --save",
        ) from error


def _from_json(held: Mapping[str, Any]) -> Prediction:
    return Prediction(
        sources=tuple(map(str, held["sources"])),
        seconds=float(held["seconds"]),
        members=tuple(map(str, held["members"])),
        before=_state_from_json(held["before"]),
        after=_state_from_json(held["after"]),
        cost=dict(held["cost"]),
        engine=Engine(**held["engine"]),
        commands=tuple(map(str, held["commands"])),
        reverse=tuple(map(str, held["reverse"])),
        notes=tuple(map(str, held["notes"])),
    )


def _state_from_json(held: Mapping[str, Any]) -> State:
    pools = {name: PoolSettings(**settings) for name, settings in held["settings"].items()}
    data_sets = {}
    for row in held["data_sets"]:
        rest = {key: value for key, value in row.items() if key not in ("pool", "data_set")}
        data_sets[(str(row["pool"]), str(row["data_set"]))] = _activity(rest)
    return State(
        Configuration(pools, {str(name): str(pool) for name, pool in held["placement"].items()}),
        {name: _activity(values) for name, values in held["pools"].items()},
        data_sets,
    )


def _activity(values: Mapping[str, Any]) -> Activity:
    return Activity(**{name: float(value) for name, value in values.items()})
