"""A twin as a scenario file: TOML with a comment on the origin of each number."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from plexlens.sharing.twin_calibrate import Twin

_MEASURED, _FITTED, _ASSUMED = "measured", "fitted", "assumed"

#: Where the numbers of a table come from: table and key to kind and source.
_SOURCES: dict[tuple[str, str], tuple[str, str]] = {
    ("run", "warm_up"): (_ASSUMED, "group buffer pools are filled by then"),
    ("run", "seconds"): (_ASSUMED, "some 20,000 transactions"),
    ("cec", "engines"): (_MEASURED, "SMF 70-1, online, not parked, rounded; one image a machine"),
    ("cec", "ziips"): (_MEASURED, "SMF 70-1"),
    ("cec", "speed"): (_ASSUMED, "--speed; path lengths are those of speed 1"),
    ("cec", "ziip_speed"): (_MEASURED, "SMF 72-3 R723NFFS, times the speed of the general engines"),
    ("coupling_facility", "engines"): (_MEASURED, "SMF 74-4 R744PBSY + R744PWAI over the interval"),
    ("coupling_facility", "speed"): (_FITTED, "execution times against the kinds of requests below"),
    ("coupling_facility", "link"): (_FITTED, "mean service time less execution and wait, one way; distance is in it"),
    ("coupling_facility", "subchannels"): (_MEASURED, "SMF 74-4 R744FSCL; 7 if not recorded"),
    ("coupling", "lock_us"): (_FITTED, "service times (R744SSTM) and busy engines (R744PBSY)"),
    ("coupling", "read_us"): (_FITTED, "as above, by the mix of requests (QBGL); 3 to 5 of page_us"),
    ("coupling", "page_us"): (_FITTED, "as above"),
    ("coupling", "sync_host_us"): (_ASSUMED, "--sync-path"),
    ("coupling", "async_host_us"): (_ASSUMED, "--async-path"),
    ("coupling", "contention_host_us"): (_ASSUMED, "--contention-path"),
    ("coupling", "convert_above_us"): (_FITTED, "SMF 74-4: service times of requests sent synchronously, and changed"),
    ("dasd", "volumes"): (_ASSUMED, "many: waits for volumes are in the time of a read"),
    ("dasd", "parallel"): (_ASSUMED, "as above"),
    ("dasd", "cache_hits"): (_ASSUMED, "the mean stands for hits and misses"),
    ("dasd", "hit_time"): (_MEASURED, "SMF 101 class 3 database I/O: time over events"),
    ("db2", "lock_avoidance"): (_FITTED, "requests to the lock structure (SMF 74-4)"),
    ("db2", "log_write"): (_FITTED, "SMF 101 class 3 log write time of classes that update"),
    ("db2.path", "write_us"): (_MEASURED, "CPU of DBM1 (SMF 100 IFCID 1) over pages written and cast out"),
    ("db2.path", "castout_us"): (_MEASURED, "as above"),
    ("db2.path", ""): (_ASSUMED, "the simulator's defaults; their time is subtracted from db2_cpu"),
    ("db2.lock", "entries"): (_MEASURED, "SMF 74-4 R744SLTL"),
    ("db2.member", "threads"): (_ASSUMED, "no limit: waits for threads are not modelled"),
    ("db2.pool", "size"): (_MEASURED, "SMF 100 IFCID 2 QBSTVPL, mean of the members"),
    ("db2.pool.group", "data_entries"): (_MEASURED, "SMF 74-4 R744SDEL"),
    ("db2.pool.group", "directory_entries"): (_MEASURED, "SMF 74-4 R744SDEC"),
    ("db2.page_set", "pages"): (_FITTED, "reads of group buffer pools and disks; page sets are unknown"),
    ("db2.page_set", "skew"): (_FITTED, "as above"),
    ("db2.page_set", "index"): (_ASSUMED, "--index-pool, and LEAVES: no locks of transactions, page P-locks to change"),
    ("region", "threads"): (_ASSUMED, "no limit; enough regions that their main tasks are not a bottleneck"),
    ("class", "rate"): (_MEASURED, "SMF 101 QWACCOMM at this member, over the time of its statistics"),
    ("class", "cpu"): (_MEASURED, "outside of Db2: SMF 110-1, or the rest of the system"),
    ("class", "db2_cpu"): (_FITTED, "SMF 101 class 2 CPU less path lengths and requests"),
    ("class", "ziip_share"): (_MEASURED, "SMF 101 QWACCLS2_ZIIP, QWACZIIP_ELIGIBLE"),
    ("class.references", "getpages"): (_MEASURED, "SMF 101 QBACGET by pool, by the share of the page set"),
    ("class.references", "update"): (_FITTED, "SMF 101 QBACSWS, by pages written to the GBP for each"),
}  # fmt: skip


def twin_toml(twin: Twin) -> str:
    """The scenario of a twin as TOML, every number with its origin at its first occurrence."""
    measured = twin.measured
    groups = ", ".join(group.name for group in measured.groups)
    lines = [
        f"# Twin of {groups}, from {measured.name or 'a performance database'}.",
        "# measured: a field of the data. fitted: no record holds it; a run reproduces what was measured.",
        "# assumed: no record contains it.",
        "# Each member has classes of its own, with the rates it had. Of each pool there is a page set that all",
        "# members share (SHARED), one per member, one whose pages have page P-locks (LEAVES) where Db2",
        "# counted such (QBGLP1, QBGLS1), and, where reads ask for it, one of inserts.",
    ]
    for group in measured.groups:
        for pool in group.pools:
            about = twin.fit.pools[group.name, pool]
            if about.dependent:
                how = "counted (QBGLGG)" if about.dependent_by == "counted" else "not counted by Db2: fitted"
                lines.append(f"# {group.name} {pool}: {about.dependent:.1%} of the getpages are GBP-dependent, {how}.")
    lines += [f"# {note}" for note in twin.notes]
    lines += ["", *_Writer().document(twin.values)]
    return "\n".join(lines) + "\n"


class _Writer:
    """Tables as TOML; the origin of a key is given once."""

    def __init__(self) -> None:
        self._said: set[tuple[str, str]] = set()

    def document(self, values: Mapping[str, Any]) -> Iterator[str]:
        """The whole scenario, plain keys first."""
        for key, value in values.items():
            if not isinstance(value, (Mapping, list)):
                yield f"{key} = {_literal(value)}"
        for key in ("run", *(key for key in values if key != "run")):
            value = values.get(key)
            if isinstance(value, Mapping):
                yield from ("", f"[{key}]")
                yield from self._keys(key, value)
            elif isinstance(value, list):
                for entry in value:
                    yield from self._table(key, entry)

    def _table(self, path: str, entry: Mapping[str, Any]) -> Iterator[str]:
        yield from ("", f"[[{path}]]")
        yield from self._keys(path, {key: value for key, value in entry.items() if not _is_tables(value)})
        for key, value in entry.items():
            if _is_tables(value):
                for inner in value:
                    yield from self._table(f"{path}.{key}", inner)

    def _keys(self, path: str, entry: Mapping[str, Any]) -> Iterator[str]:
        plain = {key: value for key, value in entry.items() if not isinstance(value, Mapping)}
        for key, value in plain.items():
            yield f"{key} = {_literal(value)}{self._origin(path, key)}"
        for key, value in entry.items():
            if isinstance(value, Mapping):
                yield from ("", f"[{path}.{key}]")
                yield from self._keys(f"{path}.{key}", value)

    def _origin(self, path: str, key: str) -> str:
        for wanted in ((path, key), (path, "")):
            if wanted in _SOURCES and wanted not in self._said:
                self._said.add(wanted)
                kind, source = _SOURCES[wanted]
                return f"  # {kind}: {source}"
            if wanted in _SOURCES:
                break
        return ""


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], Mapping)


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Sequence):
        return "[" + ", ".join(_literal(item) for item in value) + "]"
    if isinstance(value, float):
        # Twelve digits reproduce a run to the last event of any length that is run; more are noise of the fit.
        return f"{value:.12g}" if value != round(value) else f"{value:.1f}"
    return str(value)
