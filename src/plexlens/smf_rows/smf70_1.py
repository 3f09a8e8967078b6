"""SMF 70-1: engines of a system, partitions of its machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plexlens.smf_rows.record import Row, Sections, given

#: SMF70BPS of a dedicated partition.
DEDICATED = 0xFFFF

#: SMF70CNF: online for the whole interval and at its end.
_ONLINE = 0x09

#: SMF70CIN and SMF70TYP of each kind of engine.
_CODES = {"CP": 0, "IIP": 2}


@dataclass(frozen=True)
class Engine:
    """A logical engine that was online for the whole interval.

    Parameters
    ----------
    kind
        ``CP`` or ``IIP``.
    busy
        Seconds dispatched, what PR/SM spends on the partition included.
    management
        Seconds of these that PR/SM spends.
    """

    kind: str
    busy: float
    management: float = 0.0


@dataclass(frozen=True)
class Partition:
    """A partition; its operating system has the same name.

    Parameters
    ----------
    name
        Name.
    weight
        Weight of each engine, or `DEDICATED`.
    engines
        Logical engines, in the order of their addresses.
    """

    name: str
    weight: int
    engines: Sequence[Engine]


@dataclass(frozen=True)
class Machine:
    """A machine.

    Parameters
    ----------
    model
        Model.
    engines
        Physical engines by kind.
    type
        Machine type as digits, two to a byte; None where it is not known.
    serial
        Serial number.
    adjustment
        16,000,000 / service units per second of a general engine.
    ziip_factor
        Speed of a zIIP against that of a general engine.
    msu
        Rated capacity of the general engines; None where it is not known.
    """

    model: str
    engines: Mapping[str, int]
    type: bytes | None = None
    serial: str | None = None
    adjustment: int | None = None
    ziip_factor: float | None = None
    msu: int | None = None


@dataclass(frozen=True)
class Image:
    """The system that writes the record.

    Parameters
    ----------
    partition
        Its partition's place among the machine's, from 0.
    msu
        Capacity of its general engines.
    rolling_msu
        Mean use of them over four hours.
    interruptions
        I/O interruptions of its general engines together; None where they are not known.
    """

    partition: int
    msu: int | None = None
    rolling_msu: int | None = None
    interruptions: int | None = None


def sections(
    machine: Machine,
    partitions: Sequence[Partition],
    image: Image,
    *,
    seconds: float,
    samples: int,
    logical_rating: bool = True,
) -> Sections:
    """The sections of a record.

    Parameters
    ----------
    machine, partitions, image
        Whose engines they are.
    seconds, samples
        Length of the interval and RMF's samples in it.
    logical_rating
        Whether the record has the rating of logical engines (SMF70ADJ): older ones end before it.
    """
    own = partitions[image.partition].engines
    return {
        "smf70_1_cpu_control": [_control(machine, image, own, samples, logical_rating=logical_rating)],
        "smf70_1_cpu_data": _cpus(own, image, seconds),
        "smf70_1_partition": _partitions(partitions, samples),
        "smf70_1_logical_processor": [
            row for partition in partitions for row in _logical(partition, list(machine.engines), seconds)
        ],
        "smf70_1_cpu_identification": [
            {"smf70cin": kind, "smf70ctn": count, "smf70can": count * samples}
            for kind, count in machine.engines.items()
        ],
    }


def _control(machine: Machine, image: Image, own: Sequence[Engine], samples: int, *, logical_rating: bool) -> Row:
    return given(
        smf70mod=machine.type,
        smf70bnp=sum(machine.engines.values()),
        smf70mdl=machine.model,
        smf70dsa=samples,
        smf70cpa=machine.adjustment,
        smf70adj=machine.adjustment if logical_rating else None,
        smf70wla=image.msu,
        smf70lac=image.rolling_msu,
        smf70mcr=machine.msu,
        smf70mpr=machine.msu,
        smf70ncr=machine.msu,
        smf70npr=machine.msu,
        # Percent of the rated capacity at which the machine runs.
        smf70cai=None if machine.msu is None else 100,
        smf70sup=sum(engine.kind == "IIP" for engine in own) if "IIP" in machine.engines else None,
        smf70csc=machine.serial,
        smf70nrm=machine.ziip_factor,
    )


def _cpus(own: Sequence[Engine], image: Image, seconds: float) -> list[Row]:
    """Engines as seen by z/OS; interruptions are divided evenly, with the remainder on the first engines."""
    general = sum(engine.kind == "CP" for engine in own)
    rows: list[Row] = []
    for address, engine in enumerate(own):
        taken = None
        if image.interruptions is not None:
            each, odd = divmod(image.interruptions, general)
            taken = each + (address < odd) if engine.kind == "CP" else 0
        rows.append(
            given(
                smf70wat=seconds - engine.busy,
                smf70cid=address,
                smf70cnf=_ONLINE,
                smf70typ=_CODES[engine.kind],
                smf70slh=taken,
                smf70nio=taken,
            )
        )
    return rows


def _partitions(partitions: Sequence[Partition], samples: int) -> list[Row]:
    rows: list[Row] = []
    preceding = 0
    for number, partition in enumerate(partitions, 1):
        count = len(partition.engines)
        rows.append(
            {
                "smf70lpm": partition.name,
                "smf70lpn": number,
                "smf70bdn": count,
                "smf70bds": preceding,
                # Accumulated over the samples.
                "smf70bda": count * samples,
                "smf70stn": partition.name,
            }
        )
        preceding += count
    return rows


def _logical(partition: Partition, kinds: list[str], seconds: float) -> list[Row]:
    return [
        {
            "smf70pdt": engine.busy,
            "smf70edt": engine.busy - engine.management,
            "smf70vpa": address,
            "smf70bps": partition.weight,
            "smf70cix": kinds.index(engine.kind) + 1,
            "smf70ont": seconds,
            "smf70wst": seconds - engine.busy,
        }
        for address, engine in enumerate(partition.engines)
    ]
