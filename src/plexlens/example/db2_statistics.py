"""SMF 100 of the 2014 study's pools and statistics reports, and of the 1996 study's group buffer pool."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from plexlens.example.db2_plan import Db2Plan, Db2Run, Subsystem
from plexlens.example.printed import decimals, number
from plexlens.example.record import StudyRecord
from plexlens.smf_rows import smf100
from plexlens.smf_rows.record import Row, Sections

#: Rows of the reports on a group buffer pool to counters of `plexlens.smf_rows.smf100.group_pool_row`.
_GROUP_POOL = {
    ("Read Operations - cross invalidation", "Data Returned ="): "invalid_with_data",
    ("Read Operations - cross invalidation", "Data Not Returned - R/W Interest ="): "invalid_without_data",
    ("Read Operations - cross invalidation", "Data Not Returned - No R/W Interest ="): "invalid_without_data",
    ("Read Operations - page not found", "Data Returned ="): "misses_with_data",
    ("Read Operations - page not found", "Data Not Returned - R/W Interest ="): "misses_without_data",
    ("Read Operations - page not found", "Data Not Returned - No R/W Interest ="): "misses_without_data",
    ("Write Operations", "Changed Pages - Sync ="): "sync_writes",
    ("Write Operations", "Changed Pages - Async ="): "async_writes",
    ("Write Operations", "Clean Pages - Sync ="): "clean_sync_writes",
    ("Write Operations", "Clean Pages - Async ="): "clean_async_writes",
}

_SCALES = {"K": 1e3, "M": 1e6}


def counted(quantity: str, rate: str, seconds: float) -> int:
    """The integer count consistent with this printed quantity and, over the interval, with this rate per second.

    A quantity such as ``7270.9K`` allows a range of counts, and a rate allows another; the count is the middle of what
    both allow, and of the quantity's range where a rate is not printed or is too coarse to say more.
    """
    scale = _SCALES.get(quantity[-1], 1.0)
    value, half = number(quantity) * scale, 0.5 * 10.0 ** -decimals(quantity) * scale
    if scale == 1.0:
        return round(value)
    low, high = value - half, value + half
    if rate and rate != "N/A":
        middle, near = number(rate) * seconds, 0.5 * 10.0 ** -decimals(rate) * seconds
        if max(low, middle - near) <= min(high, middle + near):
            low, high = max(low, middle - near), min(high, middle + near)
    return round((low + high) / 2)


def _printed(plan: Db2Plan, subsystem: Subsystem, run: Db2Run) -> dict[str, Row]:
    """Fields by section, from the statistics reports of a run."""
    items = {(item.block, item.item): item for item in plan.items}
    sections: dict[str, Row] = {}
    for report in run.reports:
        for line in subsystem.study.table(report):
            item = items.get((line["block"], line["item"])) or items.get(("", line["item"]))
            if item is not None:
                settled = run.counts.get(line["item"])
                count = counted(line["QUANTITY"], line["/SECOND"], run.seconds) if settled is None else settled
                sections.setdefault(item.section, {})[item.field] = count
    return sections


def _pool_number(name: str) -> int:
    """Number of a pool from its printed name; the third screen truncates BP32K to BP2K."""
    for prefix, first in (("BP32K", 80), ("BP2K", 80), ("BP16K", 120), ("BP8K", 100), ("BP", 0)):
        if name.startswith(prefix):
            return first + int(name.removeprefix(prefix) or 0)
    raise ValueError(f"{name!r} is not a buffer pool")


def _cell(line: Mapping[str, str], *headings: str) -> float:
    return next(number(line[heading].replace(",", "")) for heading in headings if heading in line)


def _screen(plan: Db2Plan, subsystem: Subsystem, run: Db2Run) -> list[Row]:
    """The pools of a screen of the Buffer Pool Tool.

    read I/Os = all I/Os - write I/Os; pages read = getpages x (1 - system hit ratio), at least one for each read.
    Reads of more than one page are dynamic prefetches: their number d makes (read I/Os - d) + pages x d = pages read.
    """
    lines = subsystem.study.table(run.screen)
    name = next(heading for heading in ("Pool", "Pool (A)") if heading in lines[0])
    sizes = plan.buffers[run.screen]
    small = [line for line in lines if _pool_number(line[name]) < 80 and line[name] not in sizes]
    rows: list[Row] = []
    for line in lines:
        pool = _pool_number(line[name])
        getpages = round(_cell(line, "Get Pages"))
        writes = round(_cell(line, "Write I/Os"))
        reads = run.counts.get(line[name], round(_cell(line, "I/O"))) - writes
        pages = max(reads, round(getpages * (1 - _cell(line, "Hit Ratio") / 100)))
        prefetches = min(reads, round((pages - reads) / (plan.prefetch_pages - 1)))
        written = writes * _cell(line, "Pages/Write")
        brought = pages - (reads - prefetches) if prefetches else 0
        counters = {
            "getpages": getpages,
            "sync_reads_random": reads - prefetches,
            "dynamic_requests": prefetches,
            "dynamic_reads": prefetches,
            "dynamic_pages": brought,
            "updates": round(_cell(line, "Updates")),
            "async_writes": writes,
            "pages_written": round(_cell(line, "Pages/Writer") if "Pages/Writer" in line else written),
        }
        rows.append(smf100.pool_row(pool, _buffers(plan, sizes, line[name], len(small)), counters))
    return rows


def _buffers(plan: Db2Plan, sizes: Mapping[str, int], pool: str, sharing: int) -> int:
    if pool in sizes:
        return sizes[pool]
    if _pool_number(pool) >= 80:
        return int(plan.buffers["larger"])
    return round(sizes["rest"] / sharing)


def _group_pool(subsystem: Subsystem, run: Db2Run) -> Row:
    counters: dict[str, int] = {}
    for report in run.group_pools:
        for line in subsystem.study.table(report):
            name = _GROUP_POOL.get((line["group"], line["item"]))
            if name is not None:
                counters[name] = counters.get(name, 0) + round(number(line["value"]))
            elif line["item"] == "Pages Castout from GBP to DASD =":
                counters["castout_pages"] = round(number(line["value"]))
    return smf100.group_pool_row(run.pool, counters)


def _sections(plan: Db2Plan, subsystem: Subsystem, run: Db2Run) -> dict[str, Sections]:
    """Sections by record map, with the counts of the run."""
    printed = _printed(plan, subsystem, run)
    pools = _screen(plan, subsystem, run) if run.screen else []
    pool = printed.get("smf100_ifcid2_qbst")
    if pool:
        pools.append(smf100.pool_row(run.pool, None, {}) | pool)
    return smf100.statistics(
        pools=pools,
        group_pools=[_group_pool(subsystem, run)] if run.group_pools else [],
        services=printed.get("smf100_ifcid1_q3st"),
        checkpoints=printed.get("smf100_ifcid1_qwsd"),
        log=printed.get("smf100_ifcid1_qjst"),
    )


def statistics_records(plan: Db2Plan) -> list[StudyRecord]:
    """Two records of each kind for a run: at its beginning and at its end.

    High-water marks are those of the run's end in both.
    """
    records = []
    for subsystem in plan.subsystems:
        for run in subsystem.runs:
            for map_name, sections in _sections(plan, subsystem, run).items():
                contents = {name: rows for name, rows in sections.items() if rows}
                if not contents:
                    continue
                begun = {name: [smf100.before(row, marks=True) for row in rows] for name, rows in contents.items()}
                records.append(_record(subsystem, map_name, run.start, 1, begun))
                records.append(_record(subsystem, map_name, run.end, 2, contents))
    return records


def _record(subsystem: Subsystem, map_name: str, local: datetime, sequence: int, sections: Sections) -> StudyRecord:
    # Sequence numbers begin anew with each start of Db2: runs of one Db2 make no interval between them.
    record = smf100.record(
        map_name,
        sections,
        system=subsystem.system,
        subsystem=subsystem.subsystem,
        at=(local - subsystem.utc_offset).replace(tzinfo=UTC),
        sequence=sequence,
        group=subsystem.group,
        release=subsystem.release,
        utc_offset=subsystem.utc_offset,
    )
    return StudyRecord(subsystem.study_name, record)
