"""Coupling facility structures and pools: tables 2, 9, 10, 12, 14 and figures 1a, 1b, 2 and 3, with the simulation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from plexlens.example.printed import Study, number
from plexlens.simulate.estimates import Estimate, estimate
from tools.beside_print import Line, Numbers
from tools.case_1996.variants import printed_rate

#: Tables of group buffer pools, by run.
_POOLS = {"A3": "table_12", "A1": "table_14"}

#: Rows of table 10, by class.
_POOL_ROWS = {
    "INQ1": "Average Type1 Inquiry",
    "INQ2": "Average Type 2 Inquiry",
    "INQ3": "Average Type 3 Inquiry",
    "UPDA": "Primary UPDB",
}

#: Groups by what the tables call their structures.
_GROUPS = {"DB2D": "DSNDB2U", "DB2T": "DSNDB2I"}


def _structure(row: Mapping[str, str]) -> str:
    group, pool = row["pool"].split(" ")
    return f"{_GROUPS[group]}_{pool} {row['system']}"


def _service(row: Mapping[str, str]) -> float:
    return number(row.get("AVG SERVICE Time (MICROSEC)") or row["AVG SERVICE (MICROSEC)"])


def structure_lines(study: Study, run: str, found: Mapping[str, Estimate]) -> Iterator[Line]:
    """Requests, service times, their deviations and read hits of the group buffer pools: tables 12 and 14."""
    for row in study.table(_POOLS[run]):
        name, what = _structure(row), f"{row['pool']}, {row['system']}"
        yield Line(what, "requests/s", number(row["#REQ/SEC"]), found[f"requests {name}"])
        yield Line(what, "service, µs", _service(row), found[f"service {name}"])
        yield Line(what, "deviation, µs", number(row["STD_DEV"]), found[f"deviation {name}"])
        if row["READ HIT %"]:
            group, pool = row["pool"].split(" ")
            key = f"gbp hit {_GROUPS[group]} {pool.removeprefix('GBP')}"
            yield Line(row["pool"], "read hit, %", number(row["READ HIT %"]), found[key], points=True)


def mean_service(study: Study, run: str, found: Sequence[Numbers]) -> Line:
    """Mean service time of all requests to group buffer pools."""
    rows = study.table(_POOLS[run])
    requests = sum(number(row["#REQ/SEC"]) for row in rows)
    seconds = sum(number(row["#REQ/SEC"]) * _service(row) for row in rows)
    names = [_structure(row) for row in rows]
    means = [
        sum(numbers[f"requests {name}"] * numbers[f"service {name}"] for name in names)
        / sum(numbers[f"requests {name}"] for name in names)
        for numbers in found
    ]
    return Line("all, weighted by requests", "mean service, µs", seconds / requests, estimate(means))


def lock_lines(study: Study, found: Sequence[Numbers]) -> Iterator[Line]:
    """Rates of the structures of figures 1a, 1b and 3, summed over both systems, and contention: table 2."""
    for figure, wanted in (("figure_1a", "_GBP"), ("figure_1b", "_LOCK1")):
        for row in study.table(figure):
            name = row["STRUCTURE NAME"].replace("U1_", "U_").replace("I1_", "I_")
            rates = [sum(numbers.get(f"requests {name} SYS{system}", 0.0) for system in (1, 2)) for numbers in found]
            if wanted in name and any(rates):
                yield Line(f"{name}, {figure.replace('_', ' ')}", "requests/s", _rate(row), estimate(rates))
    row = study.table("table_02")[0]
    means = [_mean_of_locks(numbers, "service") for numbers in found]
    yield Line("lock structures, table 2", "service, µs", number(row["Service Time Average (MIC)"]), estimate(means))
    deviations = [_mean_of_locks(numbers, "deviation") for numbers in found]
    yield Line("lock structures, table 2", "deviation, µs", number(row["STD_DEV"]), estimate(deviations))
    total = number(row["TOTAL"])
    counts = {row["REQUEST CONTENTIONS"]: number(row["contentions"]) for row in study.table("table_02")}
    for printed, kind in (("# REQ DELAYED", "contention"), ("-FALSE CONT", "false contention")):
        shares = [_mean_of_locks(numbers, kind) for numbers in found]
        what = f"{kind}, % of requests"
        yield Line("lock structures, table 2", what, counts[printed] / total * 100, estimate(shares), points=True)


def _rate(row: Mapping[str, str]) -> float:
    return number(row["AVG REQ/SEC"])


def _mean_of_locks(numbers: Numbers, kind: str) -> float:
    """The mean of both lock structures on system SYS1, weighted by requests."""
    names = [f"{group}_LOCK1 SYS1" for group in _GROUPS.values()]
    requests = sum(numbers[f"requests {name}"] for name in names)
    return sum(numbers[f"requests {name}"] * numbers[f"{kind} {name}"] for name in names) / requests


def pool_lines(study: Study, run: str, found: Mapping[str, Estimate]) -> Iterator[Line]:
    """Getpages without synchronous read in the inquiries' pools: table 10, weighted by rate and getpages."""
    for pool in ("1", "2", "4", "5", "6", "7"):
        getpages, reads = 0.0, 0.0
        for name, printed in _POOL_ROWS.items():
            of_a3 = study.row("table_09", TRANID=printed, BPOOL=pool)
            rate = printed_rate(study, run, name) * number(of_a3["GET PAGE/ Tran"])
            getpages += rate
            reads += rate / number(study.row("table_10", TRANID=printed, BPOOL=pool)[f"{run} GETPAGE/ SYNCHIO"])
        hits = (1 - reads / getpages) * 100
        yield Line(f"BP{pool} of DB2I", "no synchronous read, %", hits, found[f"pool hit DSNDB2I {pool}"], points=True)


def kind_lines(study: Study, found: Mapping[str, Estimate]) -> Iterator[Line]:
    """Requests of a member to group buffer pool 6 in ten minutes, by kind: figure 2."""
    for item, name in (
        ("Total Number of Reads =", "reads"),
        ("Changed Pages - Sync =", "writes"),
        ("Other Requests =", "others"),
        ("Pages Castout from GBP to DASD =", "castouts"),
    ):
        printed = number(study.row("figure_2", item=item)["value"])
        yield Line("DB2T GBP6, SYS1", item.removesuffix(" ="), printed, found[f"figure2 {name}"])
    share = number(study.row("figure_2", item="Reads Due To Cross Invalidation =")["value"])
    what = "Reads Due To Cross Invalidation, %"
    yield Line("DB2T GBP6, SYS1", what, share, found["figure2 share"], points=True)


def castout_lines(study: Study, run: str, found: Mapping[str, Estimate]) -> Iterator[Line]:
    """Pages cast out per second: table 12."""
    for row in study.table(_POOLS["A3"]):
        if row["ASYNCH CAST OUT RATE"] and number(row["ASYNCH CAST OUT RATE"]):
            group, pool = row["pool"].split(" ")
            printed = number(row["ASYNCH CAST OUT RATE"]) if run == "A3" else None
            name = f"castout {_GROUPS[group]} {pool.removeprefix('GBP')}"
            yield Line(row["pool"], "pages cast out/s", printed, found[name])
