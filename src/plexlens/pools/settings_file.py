"""Settings of pools in a file of TOML."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from plexlens.errors import UnreadableInputError, UsageError
from plexlens.pools.settings import FRAMES, Configuration, PoolSettings, check_db2, pool_page_bytes, refuse_pool

_KEYS = {
    "size": "size",
    "steal": "steal",
    "vpseqt": "vpseqt",
    "dwqt": "dwqt",
    "vdwqt": "vdwqt",
    "vdwqt_pages": "vdwqt_pages",
    "pgfix": "pgfix",
    "frame": "frame_bytes",
}


def read_toml(path: Path) -> Configuration:
    """Settings from a file: a table for each pool, and ``[placement]`` with objects and their pools.

    Raises
    ------
    UnreadableInputError
        It cannot be read or is no TOML.
    UsageError
        Pools, keys or values that mean nothing.
    """
    held = load(path)
    placement = placement_of(held, path)
    try:
        pools = {name: pool_of(name, table) for name, table in held.items()}
        check_db2(pools.values())
        for pool in placement.values():
            pool_page_bytes(pool)
    except UsageError as error:
        raise UsageError(file=str(path), what=error.what, remedy=error.remedy) from error
    return Configuration(pools, placement)


def load(path: Path) -> dict[str, Any]:
    """What a file of TOML holds.

    Raises
    ------
    UnreadableInputError
        It cannot be read or is no TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableInputError(
            file=str(path), what=f"it cannot be read: {error}", remedy="check its name and your rights"
        ) from error
    except tomllib.TOMLDecodeError as error:
        raise UnreadableInputError(file=str(path), what=f"it is no TOML: {error}", remedy="correct it") from error


def placement_of(held: dict[str, Any], path: Path) -> dict[str, str]:
    """Objects and their pools, taken out of what a file holds.

    Raises
    ------
    UsageError
        It is no table of names.
    """
    placement = held.pop("placement", {})
    if not isinstance(placement, dict) or not all(isinstance(pool, str) for pool in placement.values()):
        raise UsageError(
            file=str(path), what="[placement] must name pools", remedy='write it as "DB.TS" = "BP11" below [placement]'
        )
    return placement


def pool_of(name: str, table: Any) -> PoolSettings:
    """A pool of what a table says of it.

    Raises
    ------
    UsageError
        No such pool, no size, or keys and values that mean nothing.
    """
    pool_page_bytes(name)
    if not isinstance(table, dict) or "size" not in table:
        refuse_pool(name, "its size is missing", f"write [{name}] and below it size = 40000")
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key not in _KEYS:
            refuse_pool(name, f"there is no setting {key!r}", f"give one of {', '.join(_KEYS)}")
        wanted = str if key in ("steal", "frame") else bool if key == "pgfix" else int
        if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
            refuse_pool(name, f"{key} = {value!r} means nothing", f"give a {wanted.__name__}")
        values[_KEYS[key]] = value.upper() if isinstance(value, str) else value
    if "frame_bytes" in values:
        values["frame_bytes"] = FRAMES.get(values["frame_bytes"], 0)
    return PoolSettings.of(name, **values)


def to_toml(configuration: Configuration) -> str:
    """The text that `read_toml` reads."""
    frames = {size: name for name, size in FRAMES.items()}
    lines: list[str] = []
    for name, pool in configuration.pools.items():
        lines += [
            f"[{name}]",
            f"size = {pool.size}",
            f'steal = "{pool.steal}"',
            *(f"{key} = {getattr(pool, key)}" for key in ("vpseqt", "dwqt", "vdwqt", "vdwqt_pages")),
            f"pgfix = {str(pool.pgfix).lower()}",
            f'frame = "{frames[pool.frame_bytes]}"',
            "",
        ]
    if configuration.placement:
        lines += ["[placement]"]
        lines += [f'"{_escaped(name)}" = "{pool}"' for name, pool in configuration.placement.items()]
    return "\n".join(lines).rstrip() + "\n"


def _escaped(name: str) -> str:
    return name.replace("\\", "\\\\").replace('"', '\\"')
