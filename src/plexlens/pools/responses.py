"""The devices behind the objects, to explain why objects with the same I/O count can differ twofold in delay.

I/O of Db2's data sets as z/OS measured it (SMF 42-6), by object, next to the volumes they are on (SMF 74-1).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from plexlens.metrics import GRAINS
from plexlens.metrics.definition import Grain
from plexlens.metrics.display import with_symbol
from plexlens.metrics.evaluate import available, rolled_up
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.unit import FRACTION, MILLISECONDS

if TYPE_CHECKING:
    from plexlens.pools.objects import Io

#: I/O counts are similar if they differ by at most this share of the larger count (chosen).
ALIKE = 0.10

#: A delay stands out from this ratio on (chosen).
APART = 1.5

#: Pairs that are told at most.
MOST_PAIRS = 10

#: Read hits lower by this explain disconnect time (chosen).
FEWER_HITS = 0.02

#: Parts of a response time, in the words of an explanation.
PARTS = {
    "disconnect_time": "disconnect",
    "pending_time": "pending",
    "connect_time": "connect",
    "other_time": "queue (rest)",
}


@dataclass(frozen=True)
class Response:
    """I/O of an object as measured for its data sets and devices.

    Attributes
    ----------
    name
        ``DATABASE.PAGESET``.
    catalog
        First part of the data sets' names: tells two Db2s with equal names apart.
    volumes
        Volumes that the I/O went to, the one with most first.
    measures
        Facts and metrics of the grain ``data_set``, by name.
    device_response, device_disconnect
        Of the volumes, weighted with the object's I/Os to each; None without SMF 74-1.
    db2_delay
        Delay of a synchronous I/O as Db2 saw it (IFCID 199); None where it is not known.
    """

    name: str
    catalog: str
    volumes: tuple[str, ...]
    measures: Mapping[str, float]
    device_response: float | None = None
    device_disconnect: float | None = None
    db2_delay: float | None = None

    def get(self, name: str) -> float | None:
        """A fact or metric of the grain ``data_set``."""
        return self.measures.get(name)


#: Columns of the grain ``data_set`` by which an object is known.
OBJECT = ("db2_catalog", "db2_object")

Row = Mapping[str, Any]


#: Whether a data set is one of Db2's objects.
OF_DB2 = "db2_object is not null"


def responses_of(inputs: Inputs) -> list[Response]:
    """Objects ordered by their total I/O time, longest first.

    Parameters
    ----------
    inputs
        Raw tables of a database; without SMF 42-6 there are no objects.
    """
    if not available(inputs, GRAINS["data_set"]):
        return []
    return assembled(
        _rolled(inputs, GRAINS["data_set"], OBJECT, OF_DB2),
        _rolled(inputs, GRAINS["data_set"], (*OBJECT, "volume"), OF_DB2),
        _rolled(inputs, GRAINS["dasd_device"], ("volume",)),
        _rolled(inputs, GRAINS["db2_data_set"], ("database", "page_set")),
    )


def _rolled(inputs: Inputs, grain: Grain, by: Sequence[str], where: str | None = None) -> list[Row]:
    return list(rolled_up(inputs, grain, by=by, time="all", where=where))


def assembled(
    objects: Iterable[Row], on_volumes: Iterable[Row], devices: Iterable[Row], db2: Iterable[Row]
) -> list[Response]:
    """Objects joined with their volumes and Db2's measurements, longest total I/O time first.

    Parameters
    ----------
    objects, on_volumes
        Rows of the grain ``data_set`` by `OBJECT`, and by ``volume`` too.
    devices
        Rows of the grain ``dasd_device`` by ``volume``.
    db2
        Rows of the grain ``db2_data_set`` by ``database`` and ``page_set``.
    """
    volumes: dict[tuple[str, str], list[tuple[float, str]]] = {}
    for row in on_volumes:
        volumes.setdefault((row["db2_catalog"], row["db2_object"]), []).append((row["ios"] or 0.0, row["volume"] or ""))
    known = {row["volume"]: row for row in devices if row["volume"]}
    delays = {f"{row['database']}.{row['page_set']}": row["sync_delay"] for row in db2}
    results = []
    for row in objects:
        own = sorted(
            volumes.get((row["db2_catalog"], row["db2_object"]), []), key=lambda volume: (-volume[0], volume[1])
        )
        results.append(
            Response(
                name=row["db2_object"],
                catalog=row["db2_catalog"],
                volumes=tuple(volume for _, volume in own if volume),
                measures={name: value for name, value in row.items() if isinstance(value, int | float)},
                device_response=_weighted(own, known, "response_time"),
                device_disconnect=_weighted(own, known, "disconnect_time"),
                db2_delay=delays.get(row["db2_object"]),
            )
        )
    return sorted(
        results, key=lambda response: (-(response.get("response_seconds") or 0.0), response.name, response.catalog)
    )


def _weighted(own: Sequence[tuple[float, str]], devices: Mapping[str, Row], what: str) -> float | None:
    """Mean of the volumes' values, weighted by the object's I/Os to each."""
    known = [(ios, devices[volume][what]) for ios, volume in own if devices.get(volume, {}).get(what) is not None]
    ios = sum(weight for weight, _ in known)
    return sum(weight * value for weight, value in known) / ios if ios else None


@dataclass(frozen=True)
class Timed:
    """An object's I/Os, their duration, and its known causes.

    Attributes
    ----------
    parts
        Seconds of an I/O by the names of `PARTS`; empty where they are not known.
    read_hits
        Share of reads that the cache had; None where it is not known.
    """

    name: str
    ios: float
    seconds: float
    parts: Mapping[str, float] = field(default_factory=dict)
    read_hits: float | None = None
    device: str = ""


@dataclass(frozen=True)
class Contrast:
    """Two objects with similar I/O counts and different delay.

    Attributes
    ----------
    because
        Name of the part (`PARTS`) that most of the difference is; empty where the parts are not known.
    share
        Share of the difference that it is.
    why
        The explanation, in sentences.
    """

    slow: Timed
    fast: Timed
    because: str
    share: float
    why: str

    @property
    def ratio(self) -> float:
        """Ratio of the slow object's I/O time to that of the fast object."""
        return self.slow.seconds / self.fast.seconds


def timed_responses(responses: Sequence[Response]) -> list[Timed]:
    """Objects as measured by SMF 42-6."""
    results = []
    for response in responses:
        ios, seconds = response.get("ios"), response.get("response_time")
        if not ios or not seconds:
            continue
        parts = {name: value for name in PARTS if (value := response.get(name)) is not None}
        hits = response.get("read_hit_fraction")
        hits = response.get("cache_hit_fraction") if hits is None else hits
        results.append(Timed(response.name, ios, seconds, parts, hits, ", ".join(response.volumes[:3])))
    return results


def timed_objects(ios: Sequence[Io]) -> list[Timed]:
    """Objects as measured by Db2."""
    return [
        Timed(f"{response.pool} {response.name}", response.sync_reads, response.sync_delay)
        for response in ios
        if response.sync_reads and response.sync_delay
    ]


def contrasts(objects: Sequence[Timed]) -> list[Contrast]:
    """Pairs with similar I/O counts and different delay, the costliest first.

    Each object is told as the slow one once at most, against the fastest of those like it.
    """
    order = sorted(objects, key=lambda timed: (-timed.ios, timed.name))
    results = []
    for slow in order:
        like = [
            timed for timed in order
            if timed is not slow and abs(timed.ios - slow.ios) <= ALIKE * max(timed.ios, slow.ios)
        ]  # fmt: skip
        fast = min(like, key=lambda timed: (timed.seconds, timed.name), default=None)
        if fast is not None and fast.seconds > 0 and slow.seconds >= APART * fast.seconds:
            results.append(_contrast(slow, fast))
    results.sort(key=lambda contrast: -contrast.slow.ios * (contrast.slow.seconds - contrast.fast.seconds))
    return results[:MOST_PAIRS]


def _contrast(slow: Timed, fast: Timed) -> Contrast:
    more = slow.seconds - fast.seconds
    differences = {name: slow.parts[name] - fast.parts[name] for name in slow.parts if name in fast.parts}
    because = max(differences, key=lambda name: differences[name], default="")
    share = differences[because] / more if because else 0.0
    head = (
        f"{slow.ios:,.0f} I/Os and {fast.ios:,.0f} I/Os, but {_ms(slow.seconds)} and {_ms(fast.seconds)} per I/O: "
        f"{slow.seconds / fast.seconds:.1f} times the delay."
    )
    if not because:
        return Contrast(
            slow, fast, "", 0.0,
            f"{head} The reason is not known: collect SMF 42-6 for cache hits and the parts of the response time.",
        )  # fmt: skip
    times = f"{_ms(slow.parts[because])} against {_ms(fast.parts[because])}"
    part = f"{share:.0%} of the difference is {PARTS[because]} time ({times})"
    return Contrast(slow, fast, because, share, f"{head} {part}: {_meaning(because, slow, fast)}.")


def _ms(seconds: float) -> str:
    return with_symbol(seconds, MILLISECONDS)


def _meaning(part: str, slow: Timed, fast: Timed) -> str:
    if part == "disconnect_time":
        if slow.read_hits is not None and fast.read_hits is not None:
            hits = f"read hit ratio {with_symbol(slow.read_hits, FRACTION)} and {with_symbol(fast.read_hits, FRACTION)}"
            if slow.read_hits <= fast.read_hits - FEWER_HITS:
                return f"its reads miss the cache of the storage system and wait for the disks behind it ({hits})"
            return (
                f"not because of cache misses ({hits}), so probably synchronous copy or busy paths inside the storage "
                "system"
            )
        return "mostly reads that miss the cache of the storage system (not certain without hit counts)"
    return {
        "pending_time": "the path, the control unit or the device was busy, often with the I/O of another system",
        "connect_time": "more data per I/O, or a slower or busier path",
        "other_time": "I/Os wait in z/OS for a free device: too few aliases (PAV) for its rate",
    }[part]
