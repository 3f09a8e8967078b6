"""Group buffer pools shared by several members: their settings, and the values that Db2 allows."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any, NoReturn

from plexlens.errors import UsageError
from plexlens.ingest.page_trace import POOL_NAMES, page_bytes, pool_id

#: Bytes of a directory entry: about 400, by page size and level of the coupling facility (Db2 13 for z/OS, Group buffer
#: pool sizes).
DIRECTORY_ENTRY = 400

#: What RATIO may be (-ALTER GROUPBUFFERPOOL; up to 1024 with APAR PH13045).
LEAST_RATIO, MOST_RATIO = 1.0, 255.0

#: A group buffer pool of unknown size: share of all members' buffers, and directory entries per page.
ASSUMED_SHARE, ASSUMED_RATIO = 0.4, 5.0


@dataclass(frozen=True)
class GroupPoolSettings:
    """A group buffer pool.

    Attributes
    ----------
    name
        The buffer pool it belongs to: ``BP2`` for GBP2.
    data_entries, directory_entries
        Pages and directory entries of the structure.
    class_threshold, class_pages
        CLASST in per cent; in pages, where the per cent are 0.
    pool_threshold
        GBPOOLT in per cent.
    updates_a_commit
        Updates after which a member commits; None where the trace records commits.
    """

    name: str
    data_entries: int = 4000
    directory_entries: int = 20000
    class_threshold: int = 5
    class_pages: int = 0
    pool_threshold: int = 30
    updates_a_commit: int | None = 1

    @property
    def structure(self) -> str:
        """``GBP2``."""
        return f"G{self.name}"

    @property
    def page_bytes(self) -> int:
        """Bytes of a page."""
        return page_bytes(id_of(self.name))

    @property
    def bytes(self) -> int:
        """Storage in the coupling facility: pages, and directory entries of `DIRECTORY_ENTRY` bytes."""
        return self.data_entries * self.page_bytes + self.directory_entries * DIRECTORY_ENTRY

    @property
    def ratio(self) -> float:
        """Directory entries per data page, with the single decimal that Db2 accepts."""
        return math.floor(10 * self.directory_entries / max(self.data_entries, 1) + 0.5) / 10

    def at_ratio(self) -> GroupPoolSettings:
        """The same with the directory entries of a RATIO with one decimal: rounded up, where Db2 accepts it."""
        ratio = math.ceil(10 * self.directory_entries / max(self.data_entries, 1) - 1e-9) / 10
        ratio = min(max(ratio, LEAST_RATIO), MOST_RATIO)
        return replace(self, directory_entries=max(int(round(self.data_entries * ratio, 6)), self.data_entries))

    @classmethod
    def of_bytes(cls, name: str, size: int, ratio: float = ASSUMED_RATIO, **others: Any) -> GroupPoolSettings:
        """The group buffer pool in a structure of the given bytes, at a ratio.

        Raises
        ------
        UsageError
            Too small for a page, or a ratio that Db2 does not take.
        """
        if not LEAST_RATIO <= ratio <= MOST_RATIO:
            refuse_structure(f"G{name}", f"RATIO {ratio:g} is not possible", f"give {LEAST_RATIO:g} to {MOST_RATIO:g}")
        data = int(size / (page_bytes(id_of(name)) + ratio * DIRECTORY_ENTRY))
        if data < 1:
            refuse_structure(
                f"G{name}", f"{size:,} bytes are too small for a page", "give a larger size, such as 64MiB"
            )
        return cls(name, data, max(int(data * ratio), data), **others)

    @classmethod
    def assumed(cls, name: str, buffers: int, updates_a_commit: int | None) -> GroupPoolSettings:
        """A group buffer pool by rule of thumb, for the total buffers of its pool at all members."""
        page = page_bytes(id_of(name))
        size = max(int(ASSUMED_SHARE * buffers * page), page + int(ASSUMED_RATIO) * DIRECTORY_ENTRY)
        return cls.of_bytes(name, size, ASSUMED_RATIO, updates_a_commit=updates_a_commit)

    def engine(self) -> dict[str, Any]:
        """Arguments for the structure in `plexlens._core.GroupSimulation`."""
        settings = asdict(self)
        settings.pop("name")
        return settings | {"page_bytes": self.page_bytes}


def id_of(name: str) -> int:
    """Number of a pool.

    Raises
    ------
    UsageError
        Db2 has no such pool.
    """
    number = pool_id(name)
    if number is None:
        raise UsageError(file="", what=f"Db2 has no buffer pool {name!r}", remedy=f"name {POOL_NAMES}")
    return number


def refuse_structure(name: str, what: str, remedy: str) -> NoReturn:
    """Refuse settings of a group buffer pool.

    Raises
    ------
    UsageError
        Always.
    """
    raise UsageError(file="", what=f"group buffer pool {name}: {what}", remedy=remedy)


def check_structure(settings: GroupPoolSettings) -> None:
    """Check that Db2 accepts a group buffer pool.

    Raises
    ------
    UsageError
        No data entry, fewer directory entries than data entries or more than RATIO may be, impossible thresholds.
    """
    if settings.data_entries < 1:
        refuse_structure(settings.structure, f"{settings.data_entries} data entries", "give at least 1")
    if settings.directory_entries < settings.data_entries:
        what = f"{settings.directory_entries:,} directory entries for {settings.data_entries:,} data entries"
        refuse_structure(settings.structure, what, "give as many directory entries as data entries, or more")
    if settings.directory_entries / settings.data_entries > MOST_RATIO:
        what = f"a ratio of {settings.directory_entries / settings.data_entries:,.1f} directory entries per page"
        refuse_structure(settings.structure, what, f"give at most {MOST_RATIO:g}")
    for what, value, most in (
        ("CLASST", settings.class_threshold, 90),
        ("GBPOOLT", settings.pool_threshold, 90),
    ):
        if not 0 <= value <= most:
            refuse_structure(settings.structure, f"{what} {value} is not possible", f"give 0 to {most}")
