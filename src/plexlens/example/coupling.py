"""SMF 74-4 of the 1996 study: each coupling facility as seen by each system."""

from __future__ import annotations

from dataclasses import dataclass

from plexlens.example.plan import Plan, Run, Site, Structure
from plexlens.example.printed import number
from plexlens.example.record import Reporter, StudyRecord, rmf_record
from plexlens.smf_rows import smf74_4

_STUDY = "sysplex-1996"
_MIB = 1024 * 1024

#: Runs whose group buffer pools the study tabulates, with the table.
_POOL_TABLES = {"A1": "table_14", "A3": "table_12"}


@dataclass(frozen=True)
class _Requests:
    """Synchronous requests of a system to a structure (Db2 makes no others: the study prints ASYNC 0)."""

    count: int
    mean_us: float
    deviation_us: float
    programs: int = 0
    deferred: int = 0
    contention: int = 0
    false_contention: int = 0

    @property
    def microseconds(self) -> int:
        """Sum of service times: count x mean."""
        return round(self.count * self.mean_us)

    @property
    def squares(self) -> int:
        """Sum of squared service times: count x (mean^2 + deviation^2)."""
        return round(self.count * (self.mean_us**2 + self.deviation_us**2))


def _pool(site: Site, run: Run, system: str, structure: Structure) -> _Requests:
    """Requests to a group buffer pool in A1 or A3: rate x interval, mean and deviation as printed."""
    row = site.study.row(_POOL_TABLES[run.name], system=system, pool=structure.printed_as)
    mean = row.get("AVG SERVICE Time (MICROSEC)") or row["AVG SERVICE (MICROSEC)"]
    return _Requests(site.study.count(row["#REQ/SEC"], run.seconds), number(mean), number(row["STD_DEV"]))


def _lock(site: Site, plan: Plan, system: str) -> _Requests:
    """Requests to the lock structure of table 2, which prints SYS1 and its share of all requests.

    SYS2: requests = SYS1 x (1 - share) / share; its service times and contention are taken as those of SYS1.
    """
    cells = site.study.table("table_02")
    sync = cells[0]
    contentions = {row["REQUEST CONTENTIONS"]: row["contentions"] for row in cells}
    first = int(sync["TOTAL"])
    share = number(sync["% OF ALL"]) / 100
    scale = 1.0 if system == "SYS1" else (1 - share) / share
    return _Requests(
        count=round(first * scale),
        mean_us=number(sync["Service Time Average (MIC)"]),
        deviation_us=number(sync["STD_DEV"]),
        programs=round(plan.coupling["lock_requests_of_programs"] * scale),
        deferred=round(int(contentions["# REQ DELAYED"]) * scale),
        contention=round(int(contentions["-CONT"]) * scale),
        false_contention=round(int(contentions["-FALSE CONT"]) * scale),
    )


def _listed(site: Site, plan: Plan, system: str, structure: Structure) -> _Requests:
    """Requests to a structure of figures 1a and 1b, which print the sum of both systems.

    Figure 3 splits those to GBP6 of DB2I1; the others are split in half, the odd one to SYS1. The structure that figure
    1a leaves out (DB2I1 has seven pools, it lists six) made the rest of the facility's requests.
    """
    figure = {"T1CF1LP": "figure_1a", "T1CF2LP": "figure_1b"}[structure.facility]
    rows = {row["STRUCTURE NAME"]: int(row["# REQ"]) for row in site.study.table(figure)}
    if structure.printed_as:
        both = rows[structure.printed_as]
    else:
        both = int(plan.coupling["requests_of_t1cf1lp"]) - sum(rows.values())
    if structure.printed_as == "DSNDB2I1_GBP6":
        count = int(site.study.row("figure_3", **{"SYSTEM NAME": system, "kind": "SYNC"})["TOTAL"])
    else:
        count = both - both // 2 if system == "SYS1" else both // 2
    # Service times are not printed for these structures: they are those of a like structure elsewhere in the study.
    if structure.service_as == "LOCK":
        row = site.study.table("table_02")[0]
        mean, deviation = row["Service Time Average (MIC)"], row["STD_DEV"]
    else:
        row = site.study.row("table_12", system=system, pool=structure.service_as)
        mean, deviation = row["AVG SERVICE Time (MICROSEC)"], row["STD_DEV"]
    return _Requests(count, number(mean), number(deviation))


def _requests(site: Site, plan: Plan, run: Run, system: str, structure: Structure) -> _Requests:
    if run.name in _POOL_TABLES:
        return _pool(site, run, system, structure)
    if run.name == "lock":
        return _lock(site, plan, system)
    return _listed(site, plan, system, structure)


def _cache(site: Site, run: Run, structure: Structure, requests: int) -> smf74_4.Cache:
    """Counters of a group buffer pool, which the coupling facility keeps for all systems together.

    Figure 2 counts what the requests to one pool were: 429 reads, 430 writes of changed pages, 1 castout and 1231
    others. Reads and writes of the other pools are taken in the same shares of their requests.

    reads = requests x 429 / 2091, hits = reads x READ HIT %, writes = requests x 430 / 2091,
    castouts = ASYNCH CAST OUT RATE x interval; A1 does not print it: castouts of A3 x requests of A1 / of A3.
    """
    figure = {row["item"]: row["value"] for row in site.study.table("figure_2")}
    reads, writes = int(figure["Total Number of Reads ="]), int(figure["Changed Pages - Sync ="])
    accesses = reads + writes + int(figure["Pages Castout from GBP to DASD ="]) + int(figure["Other Requests ="])
    row = site.study.row(_POOL_TABLES[run.name], system="SYS1", pool=structure.printed_as)
    read = round(requests * reads / accesses)
    hit = round(read * number(row["READ HIT %"]) / 100)
    return smf74_4.Cache(
        hits=float(hit),
        # Figure 2: nearly all misses were of pages without data that stay registered.
        misses=float(read - hit),
        writes=float(round(requests * writes / accesses)),
        castouts=float(_castouts(site, run, structure, requests)),
    )


def _castouts(site: Site, run: Run, structure: Structure, requests: int) -> int:
    a3 = site.run("A3")
    row = site.study.row("table_12", system="SYS1", pool=structure.printed_as)
    castouts = site.study.count(row["ASYNCH CAST OUT RATE"], a3.seconds)
    if run.name == "A3":
        return castouts
    base = sum(_pool(site, a3, system, structure).count for system in site.systems)
    return round(castouts * requests / base)


def _structure(structure: Structure, requests: _Requests, cache: smf74_4.Cache | None) -> smf74_4.Structure:
    return smf74_4.Structure(
        structure.name,
        structure.type,
        round(structure.size_mib * _MIB),
        smf74_4.Times(requests.count, requests.microseconds / 1e6, requests.squares / 1e12),
        # Programs' requests are printed for the lock structure only; elsewhere each is one operation.
        requests=requests.programs or requests.count,
        deferred=requests.deferred,
        contentions=requests.contention,
        false_contentions=requests.false_contention,
        cache=cache,
    )


def _facility(plan: Plan, reporter: Reporter, facility: str) -> StudyRecord:
    site, run, system = reporter.site, reporter.run, reporter.system
    structures = [s for s in plan.structures if run.name in s.runs and s.facility == facility]
    seen = {(peer, s.name): _requests(site, plan, run, peer, s) for peer in site.systems for s in structures}
    configuration = {row["item"]: row["value"] for row in site.study.table("configuration")}
    processors = int(configuration["coupling facility processors"])
    links = int(configuration["links of a coupling facility"])
    subchannels = links * plan.coupling["subchannels_per_link"]
    total = round(plan.coupling["facility_mib"] * _MIB)
    allocated = sum(round(s.size_mib * _MIB) for s in structures)
    # busy of one processor = share x service time of all requests of all systems / processors.
    busy = round(plan.coupling["busy_share"] * sum(r.microseconds for r in seen.values()) / processors)
    used: list[smf74_4.Structure] = []
    for structure in structures:
        cache = None
        if structure.type == "cache" and run.name in _POOL_TABLES:
            both = sum(seen[peer, structure.name].count for peer in site.systems)
            cache = _cache(site, run, structure, both)
        used.append(_structure(structure, seen[system, structure.name], cache))
    text = smf74_4.Facility(
        name=facility,
        paths=links,
        subchannels=subchannels,
        engines=processors,
        busy=busy / 1e6,
        storage=total,
        free=total - allocated,
        requests=float(sum(seen[system, s.name].count for s in structures)),
        peers=[peer for peer in site.systems if peer != system],
    )
    return rmf_record(reporter, "smf74_4", smf74_4.sections(text, used, system=system, seconds=run.seconds))


def coupling_records(plan: Plan) -> list[StudyRecord]:
    """A record for each coupling facility, system and run that has structures."""
    site = plan.site(_STUDY)
    return [
        _facility(plan, Reporter(site, run, system), facility)
        for run in site.runs
        for facility in sorted({s.facility for s in plan.structures if run.name in s.runs})
        for system in site.systems
    ]
