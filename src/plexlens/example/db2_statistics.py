"""SMF 100 of the 2014 study's pools and statistics reports, and of the 1996 study's group buffer pool."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from plexlens.example.db2_plan import Db2Plan, Db2Run, Subsystem
from plexlens.example.printed import decimals, number
from plexlens.example.record import Record, Row

#: Rows of the statistics report to fields of QBST; what is not here follows from these.
_POOL = {
    "CURRENT ACTIVE BUFFERS": "qbstcba",
    "UNAVAIL.BUFFER-VPOOL FULL": "qbstxfl",
    "NUMBER OF DATASET OPENS": "qbstdso",
    "BUFFERS ALLOCATED - VPOOL": "qbstvpl",
    "DFHSM MIGRATED DATASET": "qbstmig",
    "DFHSM RECALL TIMEOUTS": "qbstrto",
    "VPOOL EXPANS. OR CONTRACT.": "qbstvpa",
    "VPOOL OR HPOOL EXP.FAILURE": "qbstxfv",
    "VPOOL OR HPOOL EXP. FAILURE": "qbstxfv",
    "CONCUR.PREF.I/O STREAMS-HWM": "qbstxis",
    "PREF.I/O STREAMS REDUCTION": "qbstjis",
    "PARALLEL QUERY REQUESTS": "qbstpqo",
    "PARALL.QUERY REQ.REDUCTION": "qbstpqf",
    "PREF.QUANT.REDUCED TO 1/2": "qbstpl1",
    "PREF.QUANT.REDUCED TO 1/4": "qbstpl2",
    "PREF_QUANT.REDUCED TO 1/2": "qbstpl1",
    "PREF_QUANT.REDUCED TO 1/4": "qbstpl2",
    "GETPAGE REQUEST": "qbstget",
    "GETPAGE REQUEST-SEQUENTIAL": "qbstsgt",
    "SYNCHRONOUS READS": "qbstrio",
    "SYNCHRON. READS-SEQUENTIAL": "qbstsio",
    "SEQUENTIAL PREFETCH REQUEST": "qbstseq",
    "SEQUENTIAL PREFETCH READS": "qbstpio",
    "PAGES READ VIA SEQ.PREFETCH": "qbstspp",
    "LIST PREFETCH REQUESTS": "qbstlpf",
    "LIST PREFETCH READS": "qbstlio",
    "PAGES READ VIA LIST PREFETCH": "qbstlpp",
    "DYNAMIC PREFETCH REQUESTED": "qbstdpf",
    "DYNAMIC PREFETCH READS": "qbstdio",
    "PAGES READ VIA DYN.PREFETCH": "qbstdpp",
    "PREF.DISABLED-NO BUFFER": "qbstspd",
    "PREF.DISABLED-NO READ ENG": "qbstree",
    "PAGE-INS REQUIRED FOR READ": "qbstrpi",
    "BUFFER UPDATES": "qbstsws",
    "PAGES WRITTEN": "qbstpws",
    "SYNCHRONOUS WRITES": "qbstimw",
    "ASYNCHRONOUS WRITES": "qbstwio",
    "HORIZ.DEF.WRITE THRESHOLD": "qbstdwt",
    "VERTI.DEF.WRITE THRESHOLD": "qbstdwv",
    "DM THRESHOLD": "qbstdmc",
    "WRITE ENGINE NOT AVAILABLE": "qbstwee",
    "PAGE-INS REQUIRED FOR WRITE": "qbstwpi",
}
_SERVICES = {
    "IDENTIFY": "q3stiden",
    "CREATE THREAD": "q3stcthd",
    "SIGNON": "q3stsign",
    "TERMINATE": "q3stterm",
    "ROLLBACK": "q3stabrt",
    "COMMIT PHASE 1": "q3stprep",
    "COMMIT PHASE 2": "q3stcomm",
    "READ ONLY COMMIT": "q3strdon",
    "UNITS OF RECOVERY INDOUBT": "q3stindt",
    "UNITS OF REC.INDBT RESOLVED": "q3striur",
    "SYNCHS(SINGLE PHASE COMMIT)": "q3stsync",
    "QUEUED AT CREATE THREAD": "q3stcthw",
    "SUBSYSTEM ALLIED MEMORY EOT": "q3stmeot",
    "SUBSYSTEM ALLIED MEMORY EOM": "q3stmeom",
    "HIGH WATER MARK IDBACK": "q3sthwib",
    "HIGH WATER MARK IDFORE": "q3sthwif",
    "HIGH WATER MARK CTHREAD": "q3sthwct",
}
_CHECKPOINTS = {"SYSTEM EVENT CHECKPOINT": "qwsdckpt"}
_LOG = {
    "READS SATISFIED-OUTPUT BUFF": "qjstrbuf",
    "READS SATISFIED-ACTIVE LOG": "qjstract",
    "READS SATISFIED-ARCHIVE LOG": "qjstrarh",
    "TAPE VOLUME CONTENTION WAIT": "qjsttvc",
    "READ DELAYED-UNAVAIL.RESOUR": "qjstwur",
    "ARCHIVE LOG READ ALLOCATION": "qjstalr",
    "ARCHIVE LOG WRITE ALLOCAT.": "qjstalw",
    "CONTR.INTERV.OFFLOADED-ARCH": "qjstciof",
    "LOOK-AHEAD MOUNT ATTEMPTED": "qjstlama",
    "LOOK-AHEAD MOUNT SUCCESSFUL": "qjstlams",
    "UNAVAILABLE OUTPUT LOG BUFF": "qjstwtb",
    "OUTPUT LOG BUFFER PAGED IN": "qjstbpag",
    "LOG RECORDS CREATED": "qjstwrnw",
    "LOG CI CREATED": "qjstbffl",
    "LOG WRITE I/O REQ (LOG1&2)": "qjstlogw",
    "LOG CI WRITTEN (LOG1&2)": "qjstciwr",
    "LOG WRITE SUSPENDED": "qjstlsus",
}
_GROUP_POOL = {
    ("Read Operations - cross invalidation", "Data Returned ="): "qbglxd",
    ("Read Operations - cross invalidation", "Data Not Returned - R/W Interest ="): "qbglxr",
    ("Read Operations - cross invalidation", "Data Not Returned - No R/W Interest ="): "qbglxr",
    ("Read Operations - page not found", "Data Returned ="): "qbglmd",
    ("Read Operations - page not found", "Data Not Returned - R/W Interest ="): "qbglmr",
    ("Read Operations - page not found", "Data Not Returned - No R/W Interest ="): "qbglmr",
    ("Write Operations", "Changed Pages - Sync ="): "qbglsw",
    ("Write Operations", "Changed Pages - Async ="): "qbglaw",
    ("Write Operations", "Clean Pages - Sync ="): "qbglwc",
    ("Write Operations", "Clean Pages - Async ="): "qbglac",
}

#: Levels and high-water marks: in the record as they stand, not counted up.
_LEVELS = {"qbstcba", "qbstvpl", "qbstxis", "q3sthwib", "q3sthwif", "q3sthwct", "qbstpid", "qbglgn"}

_SCALES = {"K": 1e3, "M": 1e6}


def counted(quantity: str, rate: str, seconds: float) -> int:
    """The whole count that prints as this quantity and, over the interval, as this rate a second.

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


def _printed(subsystem: Subsystem, run: Db2Run, block: str | None, fields: Mapping[str, str]) -> Row:
    """Fields by the statistics reports of a run; those of one ``block`` only, if given."""
    row: Row = {}
    for report in run.reports:
        for line in subsystem.study.table(report):
            if line["item"] in fields and (block is None or line["block"] == block):
                settled = run.counts.get(line["item"])
                found = counted(line["QUANTITY"], line["/SECOND"], run.seconds) if settled is None else settled
                row[fields[line["item"]]] = found
    return row


def _pool_number(name: str) -> int:
    """Number of a pool by its name as printed; the third screen cuts BP32K to BP2K."""
    for prefix, first in (("BP32K", 80), ("BP2K", 80), ("BP16K", 120), ("BP8K", 100), ("BP", 0)):
        if name.startswith(prefix):
            return first + int(name.removeprefix(prefix) or 0)
    raise ValueError(f"{name!r} is no buffer pool")


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
        rows.append(
            {
                "qbstpid": pool,
                "qbstget": getpages,
                "qbstrio": reads - prefetches,
                "qbstdpf": prefetches,
                "qbstdio": prefetches,
                "qbstdpp": brought,
                "qbstsws": round(_cell(line, "Updates")),
                "qbstwio": writes,
                "qbstpws": round(_cell(line, "Pages/Writer") if "Pages/Writer" in line else written),
                "qbstvpl": _buffers(plan, sizes, line[name], len(small)),
            }
        )
    return rows


def _buffers(plan: Db2Plan, sizes: Mapping[str, int], pool: str, sharing: int) -> int:
    if pool in sizes:
        return sizes[pool]
    if _pool_number(pool) >= 80:
        return int(plan.buffers["larger"])
    return round(sizes["rest"] / sharing)


def _group_pool(subsystem: Subsystem, run: Db2Run) -> list[Row]:
    row: Row = {"qbglgn": run.pool}
    for report in run.group_pools:
        for line in subsystem.study.table(report):
            field = _GROUP_POOL.get((line["group"], line["item"]))
            if field is not None:
                before = row.get(field, 0)
                assert isinstance(before, int)
                row[field] = before + round(number(line["value"]))
            elif line["item"] == "Pages Castout from GBP to DASD =":
                row["qbglrc"] = round(number(line["value"]))
    return [row]


def _sections(plan: Db2Plan, subsystem: Subsystem, run: Db2Run) -> dict[str, dict[str, list[Row]]]:
    """Record map to its sections, with what the run counted."""
    pools = _screen(plan, subsystem, run) if run.screen else []
    pool = _printed(subsystem, run, None, _POOL)
    if pool:
        pools.append({"qbstpid": run.pool} | pool)
    services = _printed(subsystem, run, "SUBSYSTEM SERVICES", _SERVICES)
    checkpoints = _printed(subsystem, run, "SUBSYSTEM SERVICES", _CHECKPOINTS)
    log = _printed(subsystem, run, "LOG ACTIVITY", _LOG)
    return {
        "smf100_ifcid1": {
            "smf100_ifcid1_q3st": [services] if services else [],
            "smf100_ifcid1_qwsd": [checkpoints] if checkpoints else [],
            "smf100_ifcid1_qjst": [log] if log else [],
        },
        "smf100_ifcid2": {
            "smf100_ifcid2_qbst": pools,
            "smf100_ifcid2_qbgl": _group_pool(subsystem, run) if run.group_pools else [],
        },
    }


def _before(row: Row) -> Row:
    """The same section when the run began: counters at zero, levels as at its end."""
    return {field: value if field in _LEVELS else 0 for field, value in row.items()}


def statistics_records(plan: Db2Plan) -> list[Record]:
    """Two records of each kind for a run: when it began and when it ended."""
    records = []
    for subsystem in plan.subsystems:
        for run in subsystem.runs:
            for map_name, sections in _sections(plan, subsystem, run).items():
                held = {name: rows for name, rows in sections.items() if rows}
                if not held:
                    continue
                before = {name: [_before(row) for row in rows] for name, rows in held.items()}
                records.append(_record(subsystem, map_name, run.start, 1, before))
                records.append(_record(subsystem, map_name, run.end, 2, held))
    return records


def _record(
    subsystem: Subsystem, map_name: str, local: datetime, sequence: int, sections: dict[str, list[Row]]
) -> Record:
    at = (local - subsystem.utc_offset).replace(tzinfo=UTC)
    # Sequence numbers begin anew with each start of Db2: runs of one Db2 make no interval between them.
    header: Row = {
        "qwhsssid": subsystem.subsystem,
        "qwhsstck": at,
        "qwhsiseq": sequence,
        "qwhsrn": subsystem.release,
    }
    sharing: dict[str, list[Row]] = {"smf100_qwha": [{"qwhamemn": subsystem.subsystem, "qwhadsgn": subsystem.group}]}
    return Record(
        study=subsystem.study_name,
        map=map_name,
        system=subsystem.system,
        written_at=local,
        end=at,
        sections={"smf100_qwhs": [header]} | (sharing if subsystem.group else {}) | sections,
        lengths={},
        subsystem=subsystem.subsystem,
    )
