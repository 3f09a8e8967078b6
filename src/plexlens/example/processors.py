"""SMF 70-1: the partitions of the 1996 study in runs B1 and B3, the dedicated partition of the 2008 study."""

from __future__ import annotations

from dataclasses import dataclass

from plexlens.example.plan import Plan, Run
from plexlens.example.printed import number
from plexlens.example.record import Record, Reporter, Row, record

_SYSPLEX = "sysplex-1996"
_ZXML = "zxml-2008"

#: Runs of the 1996 study with a printed CPU busy, with the table.
_BUSY_TABLES = {"B1": "table_06", "B3": "table_05"}

#: SMF70BPS of a dedicated processor.
_DEDICATED = 0xFFFF

#: SMF70CNF: online for the whole interval and at its end.
_ONLINE = 0x09

#: SMF70TYP and name of each kind of processor.
_KINDS = {"CP": 0, "IIP": 2}


@dataclass(frozen=True)
class _Engines:
    """Processors of one kind in one partition, equally busy."""

    kind: str
    count: int
    busy: float


@dataclass(frozen=True)
class _Partition:
    """A partition; its operating system bears the same name."""

    name: str
    weight: int
    engines: tuple[_Engines, ...]


def _cpu_rows(partition: _Partition, run: Run) -> list[Row]:
    """CPU data sections: wait = interval x (1 - busy)."""
    rows: list[Row] = []
    for engines in partition.engines:
        for _ in range(engines.count):
            rows.append(
                {
                    "smf70wat": run.seconds * (1 - engines.busy),
                    "smf70cid": len(rows),
                    "smf70cnf": _ONLINE,
                    "smf70typ": _KINDS[engines.kind],
                }
            )
    return rows


def _logical_rows(partitions: list[_Partition], kinds: list[str], run: Run) -> list[Row]:
    """Logical processors: dispatched = interval x busy, wait = interval x (1 - busy).

    LPAR management time is not printed; effective and total dispatch time are equal.
    """
    rows: list[Row] = []
    for partition in partitions:
        address = 0
        for engines in partition.engines:
            for _ in range(engines.count):
                dispatched = round(run.seconds * engines.busy * 1e6) / 1e6
                rows.append(
                    {
                        "smf70pdt": dispatched,
                        "smf70vpa": address,
                        "smf70bps": partition.weight,
                        "smf70cix": kinds.index(engines.kind) + 1,
                        "smf70edt": dispatched,
                        "smf70ont": run.seconds,
                        "smf70wst": run.seconds - dispatched,
                    }
                )
                address += 1
    return rows


def _record(reporter: Reporter, control: Row, partitions: list[_Partition], physical: dict[str, int]) -> Record:
    """The record of one system: all partitions of its machine, its own CPUs, the machine's processors by kind."""
    site, run = reporter.site, reporter.run
    kinds = list(physical)
    partition_rows: list[Row] = []
    preceding = 0
    for number_, partition in enumerate(partitions, start=1):
        count = sum(engines.count for engines in partition.engines)
        partition_rows.append(
            {
                "smf70lpm": partition.name,
                "smf70lpn": number_,
                "smf70bdn": count,
                "smf70bds": preceding,
                # Accumulated over the samples.
                "smf70bda": count * run.samples,
                "smf70stn": partition.name,
            }
        )
        preceding += count
    own = partitions[reporter.number - 1]
    sections: dict[str, list[Row]] = {
        "smf70_1_cpu_control": [
            {
                "smf70mod": bytes.fromhex(site.machine),
                "smf70bnp": sum(physical.values()),
                "smf70mdl": site.model,
                "smf70dsa": run.samples,
                **control,
            }
        ],
        "smf70_1_cpu_data": _cpu_rows(own, run),
        "smf70_1_partition": partition_rows,
        "smf70_1_logical_processor": _logical_rows(partitions, kinds, run),
        "smf70_1_cpu_identification": [
            {"smf70cin": kind, "smf70ctn": count, "smf70can": count * run.samples} for kind, count in physical.items()
        ],
    }
    return record(reporter, "smf70_1", sections)


def _sysplex(plan: Plan) -> list[Record]:
    """B1 and B3: two partitions of five engines on the ten-way machine.

    The study prints one CPU busy for both partitions, already normalised for machine speed and LPAR overhead; both
    records carry it as it stands.
    """
    site = plan.site(_SYSPLEX)
    configuration = {row["item"]: row["value"] for row in site.study.table("configuration")}
    engines = int(configuration["engines of a partition"])
    physical = {"CP": int(configuration["processors of the machine"])}
    records = []
    for name, table in _BUSY_TABLES.items():
        busy = number(site.study.row(table, measure="CPU Busy (%)")[name]) / 100
        partitions = [
            _Partition(system, plan.processors["partition_weight"], (_Engines("CP", engines, busy),))
            for system in site.systems
        ]
        run = site.run(name)
        records += [_record(Reporter(site, run, system), {}, partitions, physical) for system in site.systems]
    return records


def _zxml(plan: Plan) -> list[Record]:
    """Both cases: one dedicated partition, utilization of each kind of processor as printed.

    Capacity of the image = processors x service units a second x 3600 / 1,000,000 MSU; the four-hour average is taken
    as if the load had lasted for four hours: capacity x utilization.
    """
    site = plan.site(_ZXML)
    system = site.systems[0]
    cells = {row["Values"]: row for row in site.study.table("values")}
    adjustment = plan.workload["cpu_rate_adjustment"]
    records = []
    for run in site.runs:
        count = {"CP": int(cells["#of CPs"][run.name]), "IIP": int(cells["#of zIIP"][run.name])}
        busy = {
            "CP": number(cells["CPs CPU utilization"][run.name]) / 100,
            "IIP": number(cells["zIIP CPU utilization"][run.name]) / 100,
        }
        capacity = count["CP"] * 16e6 / adjustment * 3600 / 1e6
        control: Row = {
            "smf70cpa": adjustment,
            "smf70wla": round(capacity),
            "smf70lac": round(capacity * busy["CP"]),
            "smf70sup": count["IIP"],
            "smf70csc": plan.processors["serial"],
            "smf70nrm": plan.workload["ziip_normalization"],
        }
        partition = _Partition(system, _DEDICATED, tuple(_Engines(kind, count[kind], busy[kind]) for kind in count))
        records.append(_record(Reporter(site, run, system), control, [partition], count))
    return records


def processor_records(plan: Plan) -> list[Record]:
    """A record for each system and run with a printed CPU busy."""
    return [*_sysplex(plan), *_zxml(plan)]
