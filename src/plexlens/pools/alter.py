"""Buffer pool changes as Db2 commands and SQL, with the exact reverse; and the configuration after running them.

Syntax: -ALTER BUFFERPOOL (Db2 12 for z/OS Command reference), ALTER TABLESPACE and ALTER INDEX (SQL reference). Lines
that begin with ``--`` are remarks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from plexlens.errors import UsageError
from plexlens.pools.alter_structures import once, structures_script
from plexlens.pools.members import ALONE
from plexlens.pools.settings import (
    FRAMES,
    LEAST,
    STEALS,
    Configuration,
    Placement,
    PoolSettings,
    check_db2,
    pool_page_bytes,
)

#: What is told wherever objects move.
MOVE_REMARK = (
    "-- A move takes effect when the data sets are next opened: -STOP DATABASE and -START DATABASE SPACENAM(...) at a",
    "-- quiet time, on every member of a group (SQL reference, ALTER TABLESPACE and ALTER INDEX, BUFFERPOOL).",
)
#: What is told wherever an attribute changes that an allocated pool does not take over.
PENDING_REMARK = (
    "-- PGFIX, PGSTEAL to or from NONE, and FRAMESIZE are pending until the pool is next allocated: at the next start",
    "-- of Db2, or by VPSIZE(0) and VPSIZE(n) while none of its objects is in use (DSNB406I; -ALTER BUFFERPOOL).",
)
#: What is told where a trace does not say what an object is.
KIND_REMARK = (
    "-- The trace does not show which objects are indexes (--names does): use ALTER INDEX creator.index for indexes."
)

_FRAME_NAMES = {size: name for name, size in FRAMES.items()}
_ATTRIBUTE = re.compile(r"(VPSIZE|VPSEQT|DWQT|VDWQT|PGSTEAL|PGFIX|FRAMESIZE)\(([^)]*)\)", re.IGNORECASE)
_POOL = re.compile(r"-ALT(?:ER)?\s+(?:BUFFERPOOL|BPOOL)\s*\((\w+)\)\s*(.*)", re.IGNORECASE)
_MOVE = re.compile(r"ALTER\s+(TABLESPACE|INDEX)\s+(<[^>]*>|\S+)\s+BUFFERPOOL\s+(\w+)\s*;", re.IGNORECASE)
_NAMED = re.compile(r'(?:[A-Z$#@][\w$#@]*|"[^"]+")(?:\.(?:[A-Z$#@][\w$#@]*|"[^"]+"))?')


def _attributes(pool: PoolSettings) -> dict[str, str]:
    return {
        "VPSIZE": str(pool.size),
        "VPSEQT": str(pool.vpseqt),
        "DWQT": str(pool.dwqt),
        "VDWQT": f"{pool.vdwqt},{pool.vdwqt_pages}",
        "PGSTEAL": pool.steal,
        "PGFIX": "YES" if pool.pgfix else "NO",
        "FRAMESIZE": _FRAME_NAMES[pool.frame_bytes],
    }


def alter(old: PoolSettings | None, new: PoolSettings | None) -> tuple[str, str]:
    """Commands that change one pool into another, and the commands that reverse them.

    Parameters
    ----------
    old, new
        The pool before and after; None: it has no buffers.

    Returns
    -------
    tuple of str
        The command and its reverse; both empty where nothing changes. Only what changes is named, everything for a
        pool that had no buffers.

    Raises
    ------
    UsageError
        The two are different pools, or Db2 does not take the values.
    """
    if old is not None and new is not None and old.name != new.name:
        raise UsageError(
            file="", what=f"{old.name} cannot become {new.name}", remedy="move its objects to the other pool instead"
        )
    check_db2(pool for pool in (old, new) if pool is not None)
    if old == new:
        return "", ""
    return _command(old, new), _command(new, old)


def _command(old: PoolSettings | None, new: PoolSettings | None) -> str:
    if new is None:
        if old is None:
            return ""
        if old.name in LEAST:
            raise UsageError(
                file="",
                what=f"{old.name} cannot be removed: it holds the catalog and directory",
                remedy=f"leave it at least {LEAST[old.name]} buffers",
            )
        return f"-ALTER BUFFERPOOL({old.name}) VPSIZE(0)"
    before = {} if old is None else _attributes(old)
    changed = {name: value for name, value in _attributes(new).items() if before.get(name) != value}
    return f"-ALTER BUFFERPOOL({new.name}) " + " ".join(f"{name}({value})" for name, value in changed.items())


def is_pending(old: PoolSettings | None, new: PoolSettings | None) -> bool:
    """Whether the change takes effect only when the pool is allocated again."""
    if old is None or new is None:
        return False
    none = "NONE" in (old.steal, new.steal) and old.steal != new.steal
    return none or old.pgfix != new.pgfix or old.frame_bytes != new.frame_bytes


@dataclass(frozen=True)
class MovedObject:
    """An object and its name in SQL.

    Attributes
    ----------
    name
        ``DATABASE.PAGESET``, as a trace names it.
    kind
        ``tablespace``, ``index``, or empty where it is not known.
    sql_name
        Of an index ``CREATOR.INDEX``, where it is known: a trace knows the index space alone.
    """

    name: str
    kind: str = ""
    sql_name: str = ""


def alter_object(moved: MovedObject, old: str, new: str) -> tuple[str, str, tuple[str, ...]]:
    """Statements that move an object to another pool, the statements that reverse this, and remarks.

    Where the SQL name is not known the statement names in angle brackets what has to be filled in, so that Db2 refuses
    it until somebody has; a remark says how to find it.

    Raises
    ------
    UsageError
        The pools have different page sizes: Db2 refuses the one for table spaces (-671), the other rebuilds the index.
    """
    sizes = [pool_page_bytes(pool) for pool in (old, new)]
    if sizes[0] != sizes[1]:
        raise UsageError(
            file="",
            what=f"{moved.name} cannot move from {old} to {new}: their pages have {sizes[0]} and {sizes[1]} bytes",
            remedy="name a pool of the same page size",
        )
    word, name, remarks = _sql_name(moved)
    forth, back = (f"ALTER {word} {name} BUFFERPOOL {pool};" for pool in (new, old))
    return forth, back, remarks


def _sql_name(moved: MovedObject) -> tuple[str, str, tuple[str, ...]]:
    database, dot, space = moved.name.partition(".")
    known = bool(dot) and _NAMED.fullmatch(moved.name) is not None
    word = "INDEX" if moved.kind == "index" else "TABLESPACE"
    if moved.sql_name:
        return word, moved.sql_name, ()
    if moved.kind == "index":
        query = (
            f"-- Name of the index: SELECT CREATOR, NAME FROM SYSIBM.SYSINDEXES WHERE DBNAME = '{database}' "
            f"AND INDEXSPACE = '{space}';"
        )
        return "INDEX", f"<index of {moved.name}>", (query,) if known else ()
    if known and moved.kind == "tablespace":
        return "TABLESPACE", moved.name, ()
    if known:
        return "TABLESPACE", moved.name, (KIND_REMARK,)
    numbers = moved.name.split(".")
    remark = "-- Its name is not known: give a file with the names of objects (--names)."
    if len(numbers) == 2 and all(part.isdigit() for part in numbers):
        remark = (
            f"-- Name: SELECT DBNAME, NAME FROM SYSIBM.SYSTABLESPACE WHERE DBID = {numbers[0]} AND PSID = {numbers[1]};"
            f" or ... FROM SYSIBM.SYSINDEXES WHERE DBID = {numbers[0]} AND ISOBID = {numbers[1]};"
        )
    return "TABLESPACE", f"<{moved.name}>", (remark,)


@dataclass(frozen=True)
class Script:
    """Text of a change, and its reverse.

    Attributes
    ----------
    change, reverse
        Commands, statements and remarks, a line each, in the order to run them.
    """

    change: tuple[str, ...]
    reverse: tuple[str, ...]


def script(before: Configuration, after: Configuration, objects: Mapping[str, MovedObject], home: Placement) -> Script:
    """Commands and SQL that change one configuration into another.

    Pools shrink first and grow then, so that at no moment more storage is needed than before or after; objects move
    last, when the pools that they move to have their buffers. In a group each member has its commands; group buffer
    pools that grow come first and those that shrink last, so that the pools between always find the directory entries
    that they need.

    Parameters
    ----------
    before, after
        The configurations. Pools that are in one alone have no buffers in the other.
    objects
        Names and kinds of objects that move.
    home
        The pool of each object in the trace; an object is there unless a placement says otherwise.

    Raises
    ------
    UsageError
        A change that Db2 does not take.
    """
    members = list(dict.fromkeys([*before.members, *after.members]))
    if all(member == ALONE for member in members):
        return _of_one(before, after, objects, home)
    growing, shrinking = structures_script(before, after)
    parts = [Script(tuple(forth), tuple(back)) for forth, back in growing]
    for member in members:
        now, then = (replace(configuration.of(member), placement={}) for configuration in (before, after))
        own = _of_one(now, then, {}, {})
        if own.change:
            head = f"-- On member {member}:"
            parts.append(Script((head, *own.change), (head, *own.reverse)))
    moved = _of_one(Configuration(placement=before.placement), Configuration(placement=after.placement), objects, home)
    parts += [moved] if moved.change else []
    parts += [Script(tuple(forth), tuple(back)) for forth, back in shrinking]
    change = tuple(line for part in parts for line in part.change)
    reverse = tuple(line for part in reversed(parts) for line in part.reverse)
    return Script(once(change), once(reverse))


def _of_one(before: Configuration, after: Configuration, objects: Mapping[str, MovedObject], home: Placement) -> Script:
    """Commands and SQL for a single Db2."""
    names = dict.fromkeys([*before.pools, *after.pools])
    changes = [(before.pools.get(name), after.pools.get(name)) for name in names]
    changes = [(old, new) for old, new in changes if old != new]
    grows = [_size(new) > _size(old) for old, new in changes]
    ordered = [pair for pair, more in zip(changes, grows, strict=True) if not more and pair[1] is not None]
    ordered += [pair for pair, more in zip(changes, grows, strict=True) if more]
    removed = [pair for pair in changes if pair[1] is None]
    forth: list[str] = []
    back: list[list[str]] = []
    if any(is_pending(*pair) for pair in changes):
        forth += PENDING_REMARK
    for old, new in ordered:
        command, reverse = alter(old, new)
        forth.append(command)
        name = new.name if new is not None else ""
        back.append([f"-- {name}: its present settings are not known." if name in before.assumed else reverse])
    moves = moved_objects(before.placement, after.placement, home)
    if moves:
        forth += MOVE_REMARK
    for name, old_pool, new_pool in moves:
        statement, undone, remarks = alter_object(objects.get(name, MovedObject(name)), old_pool, new_pool)
        remarks = tuple(remark for remark in remarks if remark != KIND_REMARK or remark not in forth)
        forth += [*remarks, statement]
        back.append([*(remark for remark in remarks if remark != KIND_REMARK), undone])
    for old, new in removed:
        command, reverse = alter(old, new)
        forth.append(command)
        back.append([reverse])
    first = [line for line in (*PENDING_REMARK, *MOVE_REMARK, KIND_REMARK) if line in forth]
    return Script(tuple(forth), (*first, *(line for lines in reversed(back) for line in lines)))


def _size(pool: PoolSettings | None) -> int:
    return 0 if pool is None else pool.bytes


def moved_objects(before: Placement, after: Placement, home: Placement) -> list[tuple[str, str, str]]:
    """Objects whose pool changes: name, pool before, pool after; ordered by name."""
    moves = []
    for name in sorted({*before, *after}):
        old, new = (placement.get(name, home.get(name, "")) for placement in (before, after))
        if old != new:
            if not old or not new:
                raise UsageError(
                    file="",
                    what=f"the pool of {name} is not known",
                    remedy="name objects as the trace does; plexlens pools TRACE --json lists them",
                )
            moves.append((name, old, new))
    return moves


def apply(lines: Sequence[str], configuration: Configuration, objects: Mapping[str, MovedObject]) -> Configuration:
    """The configuration after the text has been run.

    Parameters
    ----------
    lines
        As `Script` has them.
    configuration
        What there was.
    objects
        Names and kinds of the objects, as `script` was given them.

    Raises
    ------
    UsageError
        A line that is none of these commands, or a value that Db2 does not take.
    """
    pools = dict(configuration.pools)
    placement = dict(configuration.placement)
    called = {(word, sql): name for name, used_object in objects.items() for word, sql, _ in [_sql_name(used_object)]}
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text or text.startswith("--"):
            continue
        if match := _POOL.fullmatch(text):
            _apply_pool(pools, match[1].upper(), match[2], line, number)
        elif match := _MOVE.fullmatch(text):
            pool_page_bytes(match[3].upper())
            placement[called.get((match[1].upper(), match[2]), match[2])] = match[3].upper()
        else:
            raise _no_command(line, number)
    return replace(configuration, pools=pools, placement=placement)


def _apply_pool(pools: dict[str, PoolSettings], name: str, given: str, line: str, number: int) -> None:
    if _ATTRIBUTE.sub("", given).strip():
        raise _no_command(line, number)
    values: dict[str, Any] = {}
    for attribute, value in _ATTRIBUTE.findall(given):
        key, text = attribute.upper(), value.strip().upper()
        try:
            if key == "PGSTEAL" and text in STEALS:
                values["steal"] = text
            elif key == "PGFIX" and text in ("YES", "NO"):
                values["pgfix"] = text == "YES"
            elif key == "FRAMESIZE":
                values["frame_bytes"] = FRAMES[text]
            elif key == "VDWQT":
                percent, _, pages = text.partition(",")
                values |= {"vdwqt": int(percent), "vdwqt_pages": int(pages or 0)}
            else:
                values[{"VPSIZE": "size"}.get(key, key.lower())] = int(text)
        except (ValueError, KeyError) as error:
            raise _no_command(line, number) from error
    if values.get("size") == 0:
        pools.pop(name, None)
    elif name in pools:
        pools[name] = replace(pools[name], **values)
    elif "size" in values:
        pools[name] = PoolSettings.of(name, **values)
    else:
        raise _no_command(line, number)


def _no_command(line: str, number: int) -> UsageError:
    return UsageError(
        file="",
        line=number,
        what=f"{line.strip()!r} does not change a known pool or object",
        remedy="give -ALTER BUFFERPOOL(...), ALTER TABLESPACE or ALTER INDEX ... BUFFERPOOL, a line each",
    )
