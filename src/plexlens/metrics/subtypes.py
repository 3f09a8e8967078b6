"""Records of a type that are there with other subtypes than those that numbers are made of."""

from __future__ import annotations

import re
from collections.abc import Iterable

from plexlens.metrics.catalogue.current import GRAINS
from plexlens.metrics.inputs import Inputs

_KIND = re.compile(r"SMF (\d+)-(\d+)")


def others(inputs: Inputs, kinds: Iterable[str]) -> str:
    """Other subtypes of the same record types that the data has, in words.

    Parameters
    ----------
    inputs
        The raw tables.
    kinds
        Kinds of source that are missing, as ``SMF 74-4``.

    Returns
    -------
    str
        ``of SMF 74 it holds 74-5 (10 records)``; empty where it has no record of these types.
    """
    wanted = [(int(match[1]), int(match[2])) for kind in kinds if (match := _KIND.fullmatch(kind))]
    if not wanted or not inputs.has("smf_record"):
        return ""
    counts = inputs.connection.execute(
        "select record_type, subtype, count(*) from smf_record where subtype is not null group by all order by all"
    ).fetchall()
    parts = []
    for number in sorted({number for number, _ in wanted}):
        subtypes = [f"{number}-{subtype} ({count:,} records)" for kind, subtype, count in counts if kind == number]
        if subtypes:
            parts.append(f"of SMF {number} it holds {', '.join(subtypes)}")
    return " and ".join(parts)


def unread(counts: Iterable[tuple[str, int, int]]) -> list[str]:
    """Record types of which numbers are made, and which the data has with no subtype that is read.

    Parameters
    ----------
    counts
        Kind (``SMF 74-5``), records, and how many of them were decoded.

    Returns
    -------
    list of str
        A sentence for each type.
    """
    read: dict[int, set[int]] = {}
    for grain in GRAINS.values():
        for source in grain.sources:
            if match := _KIND.fullmatch(source.kind):
                read.setdefault(int(match[1]), set()).add(int(match[2]))
    types: dict[int, dict[int, tuple[int, int]]] = {}
    for kind, records, decoded in counts:
        if match := _KIND.fullmatch(kind):
            subtypes = types.setdefault(int(match[1]), {})
            before = subtypes.get(int(match[2]), (0, 0))
            subtypes[int(match[2])] = (before[0] + records, before[1] + decoded)
    results = []
    for number, subtypes in sorted(types.items()):
        if number in read and not any(decoded for _, decoded in subtypes.values()):
            there = ", ".join(f"{number}-{subtype} ({records:,} records)" for subtype, (records, _) in subtypes.items())
            wanted = ", ".join(f"{number}-{subtype}" for subtype in sorted(read[number]))
            results.append(f"Of SMF {number} the data has {there}, which no number is made of; collect {wanted}.")
    return results
