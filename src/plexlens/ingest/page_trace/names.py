"""Names behind the numbers of a trace: pools, data sets, members."""

from __future__ import annotations

from dataclasses import dataclass

from plexlens.ingest.page_trace.pool_names import pool_name

#: Objects that a trace calls by name get numbers from here on. Database ids are 15 bits wide, so that no
#: ``dbid << 16 | psid`` of Db2 is as large.
FIRST_NAMED = 1 << 31

#: Members beyond this one do not fit the trace's column.
MOST_MEMBERS = 256


@dataclass(frozen=True)
class CatalogEntry:
    """A partition as the catalog of Db2 has it.

    Attributes
    ----------
    pool
        Its buffer pool; empty if not told.
    kilobytes
        Its size; None if not counted.
    """

    pool: str
    kilobytes: float | None


class TraceNames:
    """Names of pools, data sets and members of a trace.

    Names come from the trace (columns of text, IFCID 105, 107 and 199) and from a file of names; they grow while a
    trace is read, and are complete after one pass.
    """

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._partition_names: dict[tuple[int, int], str] = {}
        self._holders: dict[str, int] = {}
        self._kinds: dict[int, str] = {}
        self._statement_names: dict[int, str] = {}
        self._numbers: dict[str, int] = {}
        self._members: list[str] = []
        self._catalog: dict[int, dict[int, CatalogEntry]] = {}

    def pool(self, pool: int) -> str:
        """Name of a buffer pool: 2 is ``BP2``."""
        return pool_name(pool)

    def data_set(self, object: int, partition: int) -> str:
        """Name of a data set.

        ``DATABASE.PAGESET`` or, with a partition, ``DATABASE.PAGESET.3``; numbers where no name is known. Two objects
        of one name (a table space that was dropped and made again) are distinguished by their numbers:
        ``DATABASE.PAGESET[260.7]``.
        """
        own = self._partition_names.get((object, partition))
        if own is not None:
            return own
        name = self.page_set(object)
        return f"{name}.{partition}" if partition else name

    def page_set(self, object: int) -> str:
        """Name of an object with all its partitions, unique in the trace."""
        name = self._names.get(object)
        if name is None:
            return self.number(object)
        return f"{name}[{self.number(object)}]" if self._holders[name] > 1 else name

    def has_name(self, object: int) -> bool:
        """Whether a name is known."""
        return object in self._names

    def kind(self, object: int) -> str:
        """``tablespace``, ``index``, or empty if unknown."""
        return self._kinds.get(object, "")

    @property
    def any_kind(self) -> bool:
        """Whether the kind of any object is known."""
        return bool(self._kinds)

    def statement_name(self, object: int) -> str:
        """The object's name in SQL statements: ``CREATOR.INDEXNAME`` for an index, if the name file gives it."""
        return self._statement_names.get(object) or self._names.get(object) or self.number(object)

    def member(self, member: int) -> str:
        """Name of a member: the Db2 subsystem; its number if the trace has no name."""
        return self._members[member] if member < len(self._members) else str(member)

    @property
    def members(self) -> tuple[str, ...]:
        """Members that have names, by number."""
        return tuple(self._members)

    def number(self, object: int) -> str:
        """``DBID.PSID`` of an object; its plain number if it is not a Db2 object."""
        if object in self._names and object >= FIRST_NAMED:
            return str(object - FIRST_NAMED + 1)
        return f"{object >> 16}.{object & 0xFFFF}" if object >> 16 else str(object)

    def tell(self, object: int, name: str, *, kind: str = "", statement_name: str = "") -> None:
        """Name an object; the last name counts, but a known kind is kept."""
        before = self._names.get(object)
        if before != name:
            if before is not None:
                self._holders[before] -= 1
            self._holders[name] = self._holders.get(name, 0) + 1
            self._names[object] = name
        if kind:
            self._kinds[object] = kind
        if statement_name:
            self._statement_names[object] = statement_name

    def tell_partition(self, object: int, partition: int, name: str) -> None:
        """Name a single data set of an object."""
        self._partition_names[(object, partition)] = name

    def tell_kind(self, object: int, kind: str) -> None:
        """Set the kind of an object, unless it is already known."""
        self._kinds.setdefault(object, kind)

    def tell_catalog(self, object: int, partition: int, entry: CatalogEntry) -> None:
        """Keep what the catalog has for a partition of an object; the last entry counts."""
        self._catalog.setdefault(object, {})[partition] = entry

    @property
    def has_catalog(self) -> bool:
        """Whether an extract of the catalog was read."""
        return bool(self._catalog)

    def catalog_pool(self, object: int) -> str:
        """Pool of an object in the catalog; empty if not told, or not the same for all partitions."""
        pools = {entry.pool for entry in self._catalog.get(object, {}).values()}
        return pools.pop() if len(pools) == 1 else ""

    def catalog_bytes(self, object: int) -> float | None:
        """Size of an object in the catalog, all partitions together; None if a partition is not counted."""
        sizes = [entry.kilobytes for entry in self._catalog.get(object, {}).values()]
        known = [size for size in sizes if size is not None]
        return 1024 * sum(known) if known and len(known) == len(sizes) else None

    def object_of(self, name: str) -> int:
        """Number of the object with this name in the trace; a new number at its first occurrence."""
        number = self._numbers.get(name)
        if number is None:
            number = FIRST_NAMED + len(self._numbers)
            self._numbers[name] = number
            self.tell(number, name)
        return number

    def member_of(self, name: str) -> int:
        """Number of a member; a new number at its first occurrence. A trace can hold at most `MOST_MEMBERS`."""
        if name not in self._members:
            self._members.append(name)
        return self._members.index(name)
