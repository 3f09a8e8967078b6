"""Settings of buffer pools: what ``-ALTER BUFFERPOOL`` sets, where they come from, and what Db2 lets them be.

Limits are those of the Db2 12 for z/OS documentation, -ALTER BUFFERPOOL command, and -671 (SQL codes) for moves between
page sizes. Where a source tells only part of a pool (SMF 100 IFCID 2 tells its size alone), the rest has the defaults
of Db2, and a note says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

from plexlens.errors import NothingUsableError, UsageError
from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import available, rolled_up
from plexlens.metrics.inputs import Inputs
from plexlens.pdb.engine import Connection

#: Which pool a table space or index space (all its partitions) is in: ``DATABASE.PAGESET`` -> ``BP2``.
Placement = Mapping[str, str]

#: Ways to steal pages (PGSTEAL).
STEALS = ("LRU", "FIFO", "NONE")

#: Page frames (FRAMESIZE): name in the command, bytes.
FRAMES = {"4K": 4096, "1M": 1 << 20, "2G": 1 << 31}

#: The fewest buffers of the pools that the catalog and directory are in; others may have none.
LEAST = {"BP0": 2000, "BP8K0": 1000, "BP16K0": 500, "BP32K": 250}

#: What all pools of a Db2 together may hold, in bytes.
MOST_BYTES = 16 << 40

_PAGE_BYTES = {"": 4096, "8K": 8192, "16K": 16384, "32K": 32768}
_POOL = re.compile(r"BP(?P<kind>8K|16K|32K|)(?P<number>\d*)")


def page_bytes_of(name: str) -> int | None:
    """Page size of the pool of this name in bytes; None where Db2 has no such pool.

    4 KB pools are BP0 to BP49, 8 KB BP8K0 to BP8K9, 16 KB BP16K0 to BP16K9, 32 KB BP32K and BP32K1 to BP32K9.
    """
    found = _POOL.fullmatch(name)
    if found is None or str(int(found["number"] or 0)) != (found["number"] or "0"):
        return None
    kind, number = found["kind"], found["number"]
    if kind == "32K":
        there = number == "" or 1 <= int(number) <= 9
    elif kind:
        there = number != "" and int(number) <= 9
    else:
        there = number != "" and int(number) <= 49
    return _PAGE_BYTES[kind] if there else None


def pool_page_bytes(name: str) -> int:
    """Page size of a pool.

    Raises
    ------
    UsageError
        Db2 has no pool of that name.
    """
    size = page_bytes_of(name)
    if size is None:
        raise UsageError(
            file="",
            what=f"Db2 has no buffer pool {name!r}",
            remedy="name BP0 to BP49, BP8K0 to BP8K9, BP16K0 to BP16K9, BP32K, or BP32K1 to BP32K9",
        )
    return size


@dataclass(frozen=True)
class PoolSettings:
    """A pool as ``-ALTER BUFFERPOOL`` describes it.

    Attributes
    ----------
    name
        ``BP2``.
    size
        Buffers (VPSIZE).
    page_bytes
        Bytes of a page.
    steal
        PGSTEAL: LRU, FIFO or NONE.
    vpseqt
        Percentage of the buffers that sequentially read pages may hold.
    dwqt
        Percentage of unavailable buffers above which changed pages are written.
    vdwqt
        Percentage of the buffers that changed pages of one data set may hold.
    vdwqt_pages
        The same as a number of buffers; counts where the percentage is 0.
    pgfix
        Whether the buffers are fixed in real storage for long.
    frame_bytes
        Bytes of the real storage frames that are asked for (FRAMESIZE).

    Raises
    ------
    UsageError
        A value that no pool can have.
    """

    name: str
    size: int
    page_bytes: int = 4096
    steal: str = "LRU"
    vpseqt: int = 80
    dwqt: int = 30
    vdwqt: int = 5
    vdwqt_pages: int = 0
    pgfix: bool = False
    frame_bytes: int = 4096

    def __post_init__(self) -> None:
        if pool_page_bytes(self.name) != self.page_bytes:
            have = pool_page_bytes(self.name)
            refuse_pool(self.name, f"its pages have {have} bytes, not {self.page_bytes}", "leave it")
        if self.size < 1:
            refuse_pool(self.name, f"a pool of {self.size} buffers is none", "give 1 buffer or more")
        if self.steal not in STEALS:
            refuse_pool(self.name, f"PGSTEAL {self.steal} is not possible", f"give one of {', '.join(STEALS)}")
        for what, value, most in (
            ("VPSEQT", self.vpseqt, 100),
            ("DWQT", self.dwqt, 90),
            ("VDWQT", self.vdwqt, 90),
            ("VDWQT's number of buffers", self.vdwqt_pages, 9999),
        ):
            if not 0 <= value <= most:
                refuse_pool(self.name, f"{what} {value} is not possible", f"give 0 to {most}")
        if self.frame_bytes not in FRAMES.values():
            refuse_pool(self.name, f"FRAMESIZE of {self.frame_bytes} bytes is not possible", "give 4K, 1M or 2G")
        if self.frame_bytes == FRAMES["2G"] and not self.pgfix:
            refuse_pool(self.name, "FRAMESIZE(2G) is for page-fixed pools alone", "give pgfix too, or FRAMESIZE 1M")
        if self.frame_bytes == FRAMES["2G"] and self.steal == "NONE":
            refuse_pool(self.name, "PGSTEAL(NONE) and FRAMESIZE(2G) do not go together", "give FRAMESIZE 1M or 4K")

    @classmethod
    def of(cls, name: str, size: int, **others: Any) -> PoolSettings:
        """Settings of a pool whose page size its name tells.

        Raises
        ------
        UsageError
            Db2 has no such pool, or a value that no pool can have.
        """
        return cls(name, size, pool_page_bytes(name), **others)

    @property
    def bytes(self) -> int:
        """Storage of the buffers."""
        return self.size * self.page_bytes

    def engine(self) -> dict[str, Any]:
        """What `plexlens._core.PoolSimulation` takes for the pool."""
        names = ("size", "page_bytes", "steal", "vpseqt", "dwqt", "vdwqt", "vdwqt_pages")
        return {name: getattr(self, name) for name in names}


def refuse_pool(name: str, what: str, remedy: str) -> NoReturn:
    """Refuse settings of a pool.

    Raises
    ------
    UsageError
        Always.
    """
    raise UsageError(file="", what=f"pool {name}: {what}", remedy=remedy)


def check_db2(settings: Iterable[PoolSettings]) -> None:
    """Check what a simulation does not care for but a real Db2 does.

    Raises
    ------
    UsageError
        BP0, BP8K0, BP16K0 or BP32K smaller than the catalog needs, or more than 16 TB in all.
    """
    total = 0
    for pool in settings:
        least = LEAST.get(pool.name, 0)
        if pool.size < least:
            refuse_pool(
                pool.name,
                f"VPSIZE {pool.size} is not possible: the catalog and directory are in it",
                f"give {least} buffers at least",
            )
        total += pool.bytes
    if total > MOST_BYTES:
        raise UsageError(
            file="",
            what=f"the pools have {total / (1 << 40):.1f} TB in all, Db2 takes 16 TB",
            remedy="make them smaller",
        )


@dataclass(frozen=True)
class Configuration:
    """Pools and what is in them.

    Attributes
    ----------
    pools
        Settings by name.
    placement
        Objects that are known to be elsewhere than the trace has them.
    notes
        What was assumed, for the user.
    assumed
        Pools whose size is an assumption: nothing can put it back.
    """

    pools: Mapping[str, PoolSettings] = field(default_factory=dict)
    placement: Placement = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    assumed: frozenset[str] = frozenset()

    @property
    def bytes(self) -> int:
        """Storage of all buffers."""
        return sum(pool.bytes for pool in self.pools.values())


def parse_size(text: str) -> int:
    """Bytes of ``4GiB``, ``512 MiB``, ``800MB``; a plain number is bytes.

    Raises
    ------
    UsageError
        It is no amount of storage.
    """
    units = {"": 1, "B": 1}
    for power, letter in enumerate("KMGT", start=1):
        units |= {letter: 1024**power, f"{letter}IB": 1024**power, f"{letter}B": 1000**power}
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", text)
    if found is None or found[2].upper() not in units:
        raise UsageError(
            file="", what=f"{text!r} is no amount of storage", remedy="give it as 4GiB, 512MiB, 800MB or in bytes"
        )
    return round(float(found[1]) * units[found[2].upper()])


def with_options(
    configuration: Configuration,
    *,
    pools: Sequence[str] = (),
    moves: Sequence[str] = (),
    policies: Sequence[str] = (),
    page_fix: Sequence[str] = (),
) -> Configuration:
    """The configuration that options of the command line make of another.

    Parameters
    ----------
    configuration
        What there is.
    pools
        ``BP2=80000`` (buffers) or ``BP2=80000,vpseqt=40,dwqt=50,vdwqt=10`` (or ``vdwqt=0:128``, a number of buffers).
    moves
        ``DB.TS=BP11``.
    policies
        ``fifo:BP6``, ``none:BP7``, ``lru:BP8``.
    page_fix
        ``BP1``.

    Raises
    ------
    UsageError
        An option that means nothing, or a value that Db2 does not take.
    """
    made = dict(configuration.pools)
    for option in pools:
        name, size, others = _pool_option(option)
        made[name] = replace(made[name], size=size, **others) if name in made else PoolSettings.of(name, size, **others)
        check_db2([made[name]])
    for option in policies:
        steal, _, name = option.partition(":")
        if steal.upper() not in STEALS or not name:
            raise UsageError(
                file="",
                what=f"--policy {option} means nothing",
                remedy="give lru, fifo or none, a colon and the pool, as in fifo:BP6",
            )
        name = name.strip().upper()
        made[name] = replace(_known(made, name, f"--policy {option}"), steal=steal.upper())
    for option in page_fix:
        name = option.strip().upper()
        made[name] = replace(_known(made, name, f"--pgfix {option}"), pgfix=True)
    placement = dict(configuration.placement)
    for option in moves:
        moved, equals, name = option.rpartition("=")
        if not equals or not moved.strip():
            raise UsageError(
                file="",
                what=f"--move {option} means nothing",
                remedy="give the object, an equals sign and the pool, as in DB.TS=BP11",
            )
        pool_page_bytes(name.strip().upper())
        placement[moved.strip()] = name.strip().upper()
    return replace(configuration, pools=made, placement=placement)


def _known(pools: Mapping[str, PoolSettings], name: str, option: str) -> PoolSettings:
    pool_page_bytes(name)
    if name not in pools:
        raise UsageError(
            file="",
            what=f"{option}: the size of {name} is not known",
            remedy=f"give it with --pool {name}=SIZE, or settings with --settings",
        )
    return pools[name]


def _pool_option(option: str) -> tuple[str, int, dict[str, Any]]:
    first, *rest = option.split(",")
    name, _, size = first.partition("=")
    name = name.strip().upper()
    pool_page_bytes(name)
    others: dict[str, Any] = {}
    remedy = "give it as BP2=80000, or BP2=80000,vpseqt=40,dwqt=50,vdwqt=10 (vdwqt=0:128 for a number of buffers)"
    try:
        buffers = int(size.replace("_", ""))
        for setting in rest:
            key, _, value = setting.partition("=")
            key = key.strip().lower()
            if key == "vdwqt":
                percent, _, pages = value.partition(":")
                others |= {"vdwqt": int(percent), "vdwqt_pages": int(pages or 0)}
            elif key in ("vpseqt", "dwqt"):
                others[key] = int(value)
            else:
                raise UsageError(file="", what=f"--pool {option}: there is no setting {key!r}", remedy=remedy)
    except ValueError as error:
        raise UsageError(file="", what=f"--pool {option} holds what is no number", remedy=remedy) from error
    return name, buffers, others


def of_database(connection: Connection, *, subsystem: str | None = None) -> Configuration:
    """Settings that a PDB holds: of SMF 100 IFCID 2 the sizes, of ``-DISPLAY BUFFERPOOL`` output the thresholds too.

    The last interval counts.

    Parameters
    ----------
    connection
        What `Pdb.connect` gives.
    subsystem
        Whose pools; None where there is one Db2.

    Raises
    ------
    NothingUsableError
        No sizes of buffer pools in it.
    UsageError
        Several Db2s and no choice, or a choice that is not there.
    """
    inputs = Inputs(connection)
    nothing = NothingUsableError(
        file="",
        what="the database holds no sizes of buffer pools" + (f" of {subsystem}" if subsystem else ""),
        remedy="ingest SMF 100 or the output of -DISPLAY BUFFERPOOL, or give sizes with --pool or --settings",
    )
    if not available(inputs, GRAINS["db2_pool"]):
        raise nothing
    rows = [
        row
        for row in rolled_up(inputs, GRAINS["db2_pool"])
        if row["buffers"] and page_bytes_of(row["pool"] or "") is not None
    ]
    owners = sorted({row["subsystem"] for row in rows if row["subsystem"]})
    if subsystem is not None:
        if owners and subsystem not in owners:
            raise UsageError(
                file="", what=f"the database holds no Db2 {subsystem}", remedy=f"give one of {', '.join(owners)}"
            )
        rows = [row for row in rows if row["subsystem"] == subsystem]
    elif len(owners) > 1:
        raise UsageError(
            file="",
            what=f"the database holds pools of several Db2s: {', '.join(owners)}",
            remedy="say which with --subsystem",
        )
    if not rows:
        raise nothing
    return _configuration(rows)


def _configuration(rows: list[dict[str, Any]]) -> Configuration:
    rows.sort(key=lambda row: (row["pool"], str(row["last_interval"] or "")))
    pools: dict[str, PoolSettings] = {}
    partial: list[str] = []
    for name in dict.fromkeys(row["pool"] for row in rows):
        # A later row tells more than an earlier one, but what it is silent about stands.
        last: dict[str, Any] = {}
        for row in rows:
            if row["pool"] == name:
                last |= {key: value for key, value in row.items() if value is not None}
        values: dict[str, Any] = {
            key: round(last[key] * 100) for key in ("vpseqt", "dwqt", "vdwqt") if last.get(key) is not None
        }
        if str(last.get("page_steal", "")).upper() in STEALS:
            values["steal"] = str(last["page_steal"]).upper()
        if last.get("page_fix"):
            values["pgfix"] = str(last["page_fix"]).upper().startswith("Y")
        if "vpseqt" not in values:
            partial.append(name)
        pools[name] = PoolSettings.of(name, round(last["buffers"]), **values)
    notes: tuple[str, ...] = ()
    if partial:
        notes = (
            f"of {', '.join(partial)} only the size is recorded: PGSTEAL(LRU), VPSEQT 80, DWQT 30, VDWQT 5 and "
            "PGFIX(NO) are assumed, the defaults of Db2",
        )
    return Configuration(pools, {}, notes)
