"""The 1996 case study predicted: printed and simulated numbers side by side.

``python -m plexlens.simulate.case_1996 > docs/sysplex-1996.md`` writes the page. The scenario is calibrated on run A3;
A1 differs from it in its rates alone, B1 and B3 in the mix and in what their code does, B2 and B4 in the machine.
"""

from __future__ import annotations

import copy
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plexlens.example import studies_path
from plexlens.example.printed import Study, number
from plexlens.simulate.estimates import Estimate, estimate, estimates
from plexlens.simulate.scenario import Scenario, read_scenario, run_scenario

#: Seeds of the runs.
SEEDS = (1, 2, 3, 4, 5)

#: Tables with transaction rates and with group buffer pools, by run.
_RATES = {"A3": "table_11", "A1": "table_13"}
_POOLS = {"A3": "table_12", "A1": "table_14"}

#: Rows of the rate tables, by class; the secondary classes are started by these.
_PRIMARY = {
    "INQ1": "Inquiry Transaction Type 1",
    "INQ2": "Inquiry Transaction Type 2",
    "INQ3": "Inquiry Transaction Type 3",
    "UPDA": "Primary Update UPDA",
}
#: Rows of table 10, by class.
_POOL_ROWS = {
    "INQ1": "Average Type1 Inquiry",
    "INQ2": "Average Type 2 Inquiry",
    "INQ3": "Average Type 3 Inquiry",
    "UPDA": "Primary UPDB",
}
#: Groups by what the tables call their structures (figures 1a and 1b call them DSNDB2U and DSNDB2I).
_GROUPS = {"DB2D": "DSNDB2U", "DB2T": "DSNDB2I"}

#: Transactions a second of the comparisons (text: approximately 27), primary and by users.
_COMPARED = 27.0

#: How the study makes processor busy of different machines comparable: R53 against RX3, partitions (text on table 6).
_FASTER, _LESS_MANAGEMENT = 0.85, 0.90

Numbers = dict[str, float]


@dataclass(frozen=True)
class Line:
    """A number of the study beside the same of the simulation."""

    what: str
    unit: str
    printed: float
    simulated: Estimate
    points: bool = False

    @property
    def error(self) -> str:
        """Relative error; of percentages the difference in points."""
        if self.points:
            return f"{self.simulated.mean - self.printed:+.1f} points"
        return f"{(self.simulated.mean / self.printed - 1) * 100:+.1f} %"


def printed_rate(study: Study, run: str, name: str) -> float:
    """Transactions a second of a class in both systems."""
    row = study.row(_RATES[run], Tranid=_PRIMARY[name])
    return sum(number(row[f"SYS{system} Rate/second"]) for system in (1, 2))


def with_rates(scenario: Scenario, rates: Mapping[str, float]) -> Scenario:
    """The scenario with other arrivals; classes without a rate are left to those that start them."""
    values = copy.deepcopy(scenario.values)
    for one in values["class"]:
        if one["name"] in rates:
            one["rate"] = rates[one["name"]]
    return Scenario(scenario.file, values, scenario.lines)


def without_sysplex(scenario: Scenario) -> Scenario:
    """One image of ten engines on the RX3: one Db2 for each group, which shares with nobody; all regions there.

    Engines of the ten-way are slower than those of an R53 by what table 3 prints for their MIPS.
    """
    values = copy.deepcopy(scenario.values)
    values["cec"][0]["speed"] = 16.5 / 19.4
    values["system"] = [{"name": "SYS1", "cec": "RX3"}]
    values["coupling_facility"] = []
    for group in values["db2"]:
        group["member"] = group["member"][:1]
        del group["lock"]
        for pool in group["pool"]:
            pool.pop("group", None)
            # One Db2 has the storage of two.
            pool["size"] *= 2
    for region in values["region"]:
        region["system"] = "SYS1"
    return Scenario(scenario.file, values, scenario.lines)


def without_db2(scenario: Scenario) -> Scenario:
    """The same transactions without their calls to Db2."""
    values = copy.deepcopy(scenario.values)
    for one in values["class"]:
        one["references"] = []
        one["db2_cpu"] = 0.0
    return Scenario(scenario.file, values, scenario.lines)


def measure(scenario: Scenario, seed: int) -> Numbers:
    """What the tables print of a run, as simulated."""
    results = run_scenario(scenario.with_run(seed=seed)).results
    intervals = results["intervals"]
    seconds = intervals[-1]["end"]
    found: Numbers = {"seconds": seconds}

    def add(name: str, value: float) -> None:
        found[name] = found.get(name, 0.0) + value

    for interval in intervals:
        for used in interval["structures"]:
            name = f"{used['name']} {used['system']}"
            add(f"requests {name}", used["synchronous"]["count"] / seconds)
            add(f"service {name}", used["synchronous"]["seconds"] * 1e6)
        for member in interval["members"]:
            for pool in member["pools"]:
                _add_pool(add, f"{member['group']} {pool['number']}", pool)
        for used in interval["systems"]:
            add("busy", used["busy"] / seconds / 10 * 100)
        for used in interval["classes"]:
            for counts in used["systems"]:
                add(f"ended {used['name']}", counts["response"]["count"])
                add(f"response {used['name']}", counts["response"]["seconds"])
                for name in ("terminal_cpu", "region_cpu", "db2_cpu"):
                    add(f"{name} {used['name']}", counts["used"][name])
    _derive(found)
    found["transactions"] = sum(found[f"ended {name}"] for name in _PRIMARY)
    found["itr"] = found["transactions"] / (found["busy"] / 100)
    return found


def _derive(found: Numbers) -> None:
    """Sums become means and shares."""
    for name, value in list(found.items()):
        kind, _, what = name.partition(" ")
        if kind == "service":
            # Requests are those of a second.
            count = found[f"requests {what}"] * found["seconds"]
            found[name] = value / count if count else math.nan
        elif kind in {"response", "terminal_cpu", "region_cpu", "db2_cpu"}:
            ended = found[f"ended {what}"]
            found[name] = value / ended if ended else math.nan
        elif kind == "reads":
            found[f"gbp hit {what}"] = found[f"hits {what}"] / value * 100 if value else math.nan
        elif kind == "getpages":
            found[f"pool hit {what}"] = (1 - found[f"sync {what}"] / value) * 100 if value else math.nan


def _add_pool(add: Callable[[str, float], None], name: str, pool: Mapping[str, Any]) -> None:
    local, member = pool["local"], pool["member"]
    add(f"getpages {name}", local["getpages"])
    add(f"sync {name}", local["sync_reads_random"] + local["sync_reads_sequential"])
    hits = member.get("misses_with_data", 0) + member.get("invalid_with_data", 0)
    add(f"hits {name}", hits)
    add(f"reads {name}", hits + member.get("misses_without_data", 0) + member.get("invalid_without_data", 0))


def runs(scenario: Scenario, seeds: Sequence[int]) -> list[Numbers]:
    """One run for each seed."""
    return [measure(scenario, seed) for seed in seeds]


def structure_lines(study: Study, run: str, found: Mapping[str, Estimate]) -> Iterator[Line]:
    """Requests, service times and read hits of the group buffer pools."""
    for row in study.table(_POOLS[run]):
        group, pool = row["pool"].split(" ")
        name = f"{_GROUPS[group]}_{pool} {row['system']}"
        yield Line(f"{row['pool']}, {row['system']}", "requests/s", number(row["#REQ/SEC"]), found[f"requests {name}"])
        service = row.get("AVG SERVICE Time (MICROSEC)") or row["AVG SERVICE (MICROSEC)"]
        yield Line(f"{row['pool']}, {row['system']}", "service, µs", number(service), found[f"service {name}"])
        if row["READ HIT %"]:
            key = f"gbp hit {_GROUPS[group]} {pool.removeprefix('GBP')}"
            yield Line(row["pool"], "read hit, %", number(row["READ HIT %"]), found[key], points=True)


def mean_service(study: Study, run: str, found: Sequence[Numbers]) -> Line:
    """Mean service time of all requests to group buffer pools."""
    requests, seconds = 0.0, 0.0
    names = []
    for row in study.table(_POOLS[run]):
        group, pool = row["pool"].split(" ")
        names.append(f"{_GROUPS[group]}_{pool} {row['system']}")
        rate = number(row["#REQ/SEC"])
        requests += rate
        seconds += rate * number(row.get("AVG SERVICE Time (MICROSEC)") or row["AVG SERVICE (MICROSEC)"])
    means = [
        sum(one[f"requests {name}"] * one[f"service {name}"] for name in names)
        / sum(one[f"requests {name}"] for name in names)
        for one in found
    ]
    return Line("all, weighted by requests", "mean service, µs", seconds / requests, estimate(means))


def pool_lines(study: Study, run: str, found: Mapping[str, Estimate]) -> Iterator[Line]:
    """Getpages without synchronous read in pools of the inquiries: table 10, weighted by rate and getpages."""
    for pool in ("1", "2", "4", "5", "6", "7"):
        getpages, reads = 0.0, 0.0
        for name, printed in _POOL_ROWS.items():
            of_a3 = study.row("table_09", TRANID=printed, BPOOL=pool)
            rate = printed_rate(study, run, name) * number(of_a3["GET PAGE/ Tran"])
            getpages += rate
            reads += rate / number(study.row("table_10", TRANID=printed, BPOOL=pool)[f"{run} GETPAGE/ SYNCHIO"])
        hits = (1 - reads / getpages) * 100
        yield Line(f"BP{pool} of DB2I", "no synchronous read, %", hits, found[f"pool hit DSNDB2I {pool}"], points=True)


def comparison_lines(study: Study, sharing: Sequence[Numbers], alone: Sequence[Numbers]) -> Iterator[Line]:
    """B1 against B2."""
    both = estimates([_compared(one, other, _LESS_MANAGEMENT) for one, other in zip(sharing, alone, strict=True)])
    row = study.row("table_06", measure="Coupling Efficiency (%)")
    yield Line("B1/B2", "coupling efficiency, %", _only(row), both["efficiency"], points=True)
    row = study.row("table_06", measure="Increased CPU Time")
    yield Line("B1/B2", "increase in CPU, %", _only(row), both["increase"], points=True)
    for row in study.table("table_08"):
        name = {"2": "INQ2", "3": "INQ3"}.get(next((c for c in row["transaction"] if c in "23"), ""), "UPDA")
        for column, key in (
            ("CICS Application CPU time", "region"),
            ("DB2 TCB time", "db2"),
            ("CICS+DB2 CPU Time", "both"),
        ):
            found = both[f"{key} {name}"]
            yield Line(row["transaction"], f"increase of {column}, %", number(row[column]), found, points=True)


def sysplex_lines(study: Study, two: Sequence[Numbers], one: Sequence[Numbers]) -> Iterator[Line]:
    """B3 against B4, whose figures contain the management of partitions."""
    both = estimates([_compared(first, second, 1.0) for first, second in zip(two, one, strict=True)])
    row = study.row("table_05", measure="Coupling Efficiency (%)*")
    yield Line("B3/B4", "coupling efficiency, %", _only(row), both["efficiency"], points=True)


def _only(row: Mapping[str, str]) -> float:
    """The number of a row that prints one for both runs together."""
    return next(number(cell) for name, cell in row.items() if name != "measure" and cell)


def _compared(sharing: Numbers, alone: Numbers, management: float) -> Numbers:
    """ITRs and processor times, made comparable as the study does it."""
    first = sharing["transactions"] / (sharing["busy"] * management)
    second = alone["transactions"] / (alone["busy"] * _FASTER)
    found = {"efficiency": first / second * 100, "increase": (second / first - 1) * 100}
    for name in _PRIMARY:
        if not sharing.get(f"ended {name}"):
            continue
        before = {kind: alone[f"{kind}_cpu {name}"] * _FASTER for kind in ("region", "db2")}
        after = {kind: sharing[f"{kind}_cpu {name}"] * management for kind in ("region", "db2")}
        for kind, value in before.items():
            found[f"{kind} {name}"] = (after[kind] / value - 1) * 100 if value else math.nan
        found[f"both {name}"] = (sum(after.values()) / sum(before.values()) - 1) * 100
    return found


_HEAD = """# The 1996 case study, predicted

Written by `python -m plexlens.simulate.case_1996`; do not edit. The scenario is
[`scenarios/sysplex-1996.toml`](../scenarios/sysplex-1996.toml), whose comments say where each number comes from:
everything was set from run A3 (27 transactions a second; tables 9, 11, 12), from the configuration, and from tables 2
to 4 and figures 1 and 2, which name no run; the processor time of the terminal regions is that of run B2 (table 7).
Nothing was set from what is predicted; but it was not a blind prediction: the tables of A1 were known, and a first
comparison with them showed a defect of the simulator (a series of castouts reserved the coupling facility ahead of
others' requests), after whose correction A3 was fitted again.

Each run has ten minutes of warm-up and ten minutes measured; ± is half of the 95 % confidence interval over {seeds}
seeds. Errors of percentages are in points.

"DB2D" is the group of the secondary updates (DSNDB2U), "DB2T" that of the inquiries (DSNDB2I).
"""

_CALIBRATED = """
## Run A3: what the scenario was calibrated on

Agreement here is by construction and shows only how well the fit went. Requests, read hits and the mean service time
were fitted.
"""

_PREDICTED = """
## Run A1: predicted, three times the transactions

The same scenario with the rates of table 13. Processor busy and response times of A1 are not printed.
"""

_PREDICTED_MISSES = """
Where it misses:

- Service times. The simulator has one service time for all requests that move a page and one for those that do not;
  table 12 has means from 217 to 295 microseconds by structure, which no mix of the two explains. The error of a
  structure in A1 is the one it had in A3, and 3 to 4 % by which the study's times grow with load: with coupling
  facilities below 5 % busy (as the study says) hardly a simulated request waits.
- Other requests. Figure 2 counts 1231 of 2091 requests as neither read nor write nor castout (register, unregister,
  castout class and statistics requests of Db2 V4). They are not simulated; reads and castouts stand for them, so
  requests grow in proportion to transactions, as in the study, but castout rates are too high.
- Read hits of the key index (GBP6) more than double in the study. Its hit rate in A3 is that of a group buffer pool
  that still fills; the simulated ones are in steady state, where hits do not depend on the rate.
"""

_POOL_TEXT = """
Hits of local pools, table 10: getpages without a synchronous read, of all transactions of the inquiries' group.
Those of A1 are printed by transaction; they are weighted with rates (table 13) and getpages (table 9).
"""

_POOL_MISSES = """
Pools with dependent page sets have too few hits in both runs: in the study many registrations come from prefetch,
whose reads are not synchronous; simulated, each page that is registered without data is read synchronously.
"""

_COMPARED_TEXT = """
## B1 and B2: data sharing on and off

B1 is the scenario without type 1 inquiries at 27 transactions a second; B2 the same on one image of ten engines without
data sharing, with one Db2 for each group. Busy and processor times are made comparable as in the study: 15 % off the
RX3's, 10 % off those of partitions. ITR is transactions through the terminal regions by processor busy.
"""

_COMPARED_MISSES = """
Where it misses, in the order of weight:

- CICS application time, which data sharing does not touch, increases by 5 % in table 8: that much is left over by the
  study's normalisation (10 % for partitions is "as high as", and 15 % for the RX3 an average). Simulated partitions
  cost exactly 10 %, so next to nothing is left. Most of the processor time is the regions', so this is likely the
  larger part of the gap in coupling efficiency; the study has no run that would tell.
- Address spaces of Db2 and system work, some 9 ms a transaction in table 7, are not in the scenario: no table of A3
  has them. They make the base of the study larger and its relative increase smaller.
- What a request costs the sender besides the wait for its answer is not printed and taken to be nothing; so is the work
  of page P-locks and negotiation.
- Type 3 inquiries have processor times of type 1 here (table 4a has none); table 8 prints a decrease for the complex
  ones, from few transactions.
"""

_SYSPLEX_TEXT = """
## B3 and B4: sysplex without Db2

The full mix without calls to Db2, on two partitions and on one image. The study's figure contains the management of
partitions, 5 to 10 %.
"""


def lines_table(lines: Sequence[Line]) -> str:
    """Printed and simulated side by side, as a table of Markdown."""
    rows = ["| | | printed | simulated | error |", "|---|---|---:|---:|---:|"]
    rows += [f"| {line.what} | {line.unit} | {line.printed:.4g} | {line.simulated} | {line.error} |" for line in lines]
    return "\n".join(rows) + "\n"


def _worst(lines: Sequence[Line], unit: str) -> str:
    """One sentence on how far a kind of number is off."""
    errors = [abs(line.simulated.mean / line.printed - 1) * 100 for line in lines if line.unit == unit]
    within = sum(error <= 10 for error in errors)
    mean = math.fsum(errors) / len(errors)
    return f"{within} of {len(errors)} within 10 %, mean error {mean:.1f} %, largest {max(errors):.1f} %"


def page(scenario: Scenario, study: Study, seeds: Sequence[int] = SEEDS) -> str:
    """The whole comparison as a page of Markdown."""
    parts = [_HEAD.format(seeds=len(seeds)), _CALIBRATED]
    for run in ("A3", "A1"):
        measured = runs(with_rates(scenario, {name: printed_rate(study, run, name) for name in _PRIMARY}), seeds)
        found = estimates(measured)
        structures = [*structure_lines(study, run, found), mean_service(study, run, measured)]
        if run == "A1":
            parts.append(_PREDICTED)
        parts.append(lines_table(structures))
        parts.append(
            f"Requests a second: {_worst(structures, 'requests/s')}. Service times: "
            f"{_worst(structures, 'service, µs')}.\n"
        )
        if run == "A1":
            parts.append(_PREDICTED_MISSES)
        parts += [
            _POOL_TEXT if run == "A3" else "Local pools of A1:\n",
            lines_table(list(pool_lines(study, run, found))),
        ]
        parts.append(f"Processor busy, simulated: {found['busy']} %.\n")
    parts.append(_POOL_MISSES)
    mix = {name: printed_rate(study, "A3", name) for name in ("INQ2", "INQ3", "UPDA")}
    scale = _COMPARED / sum(mix.values())
    updating = with_rates(scenario, {name: rate * scale for name, rate in mix.items()} | {"INQ1": 0.0})
    sharing, alone = runs(updating, seeds), runs(without_sysplex(updating), seeds)
    parts += [_COMPARED_TEXT, lines_table(list(comparison_lines(study, sharing, alone))), _COMPARED_MISSES]
    bare = without_db2(scenario)
    parts.append(_SYSPLEX_TEXT)
    parts.append(lines_table(list(sysplex_lines(study, runs(bare, seeds), runs(without_sysplex(bare), seeds)))))
    return "\n".join(parts)


def main() -> None:
    """Write the page to standard output."""
    folder = Path(__file__).resolve().parents[3] / "scenarios"
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else folder / "sysplex-1996.toml"
    sys.stdout.write(page(read_scenario(path), Study(studies_path() / "sysplex-1996")))


if __name__ == "__main__":
    main()
