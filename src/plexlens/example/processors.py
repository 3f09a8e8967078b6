"""SMF 70-1: the partitions of the 1996 study in runs B1 and B3, the dedicated partition of the 2008 study."""

from __future__ import annotations

from plexlens.example.plan import Plan
from plexlens.example.printed import number
from plexlens.example.record import Reporter, StudyRecord, rmf_record
from plexlens.smf_rows.smf70_1 import DEDICATED, Engine, Image, Machine, Partition, sections
from plexlens.smf_rows.smf72_3 import units_per_second

_SYSPLEX = "sysplex-1996"
_ZXML = "zxml-2008"

#: Runs of the 1996 study with a printed CPU busy, with the table.
_BUSY_TABLES = {"B1": "table_06", "B3": "table_05"}


def _partition(name: str, weight: int, seconds: float, engines: dict[str, tuple[int, float]]) -> Partition:
    """A partition with engines of each kind: their number, and the busy share of each.

    LPAR management time is not printed: effective and total dispatch time are equal.
    """
    return Partition(
        name, weight, [Engine(kind, seconds * busy) for kind, (count, busy) in engines.items() for _ in range(count)]
    )


def _record(reporter: Reporter, machine: Machine, partitions: list[Partition], image: Image) -> StudyRecord:
    run = reporter.run
    rows = sections(machine, partitions, image, seconds=run.seconds, samples=run.samples, logical_rating=False)
    return rmf_record(reporter, "smf70_1", rows)


def _sysplex(plan: Plan) -> list[StudyRecord]:
    """B1 and B3: two partitions of five engines on the ten-way machine.

    The study prints one CPU busy for both partitions, already normalised for machine speed and LPAR overhead; both
    records carry it as it stands.
    """
    site = plan.site(_SYSPLEX)
    configuration = {row["item"]: row["value"] for row in site.study.table("configuration")}
    engines = int(configuration["engines of a partition"])
    machine = Machine(
        site.model, {"CP": int(configuration["processors of the machine"])}, type=bytes.fromhex(site.machine)
    )
    records = []
    for name, table in _BUSY_TABLES.items():
        busy = number(site.study.row(table, measure="CPU Busy (%)")[name]) / 100
        run = site.run(name)
        weight = plan.processors["partition_weight"]
        partitions = [_partition(system, weight, run.seconds, {"CP": (engines, busy)}) for system in site.systems]
        records += [
            _record(Reporter(site, run, system), machine, partitions, Image(number))
            for number, system in enumerate(site.systems)
        ]
    return records


def _zxml(plan: Plan) -> list[StudyRecord]:
    """Both cases: a dedicated partition, utilization of each kind of processor as printed.

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
        capacity = count["CP"] * units_per_second(adjustment) * 3600 / 1e6
        machine = Machine(
            site.model,
            count,
            type=bytes.fromhex(site.machine),
            serial=plan.processors["serial"],
            adjustment=adjustment,
            ziip_factor=plan.workload["ziip_normalization"],
        )
        partition = _partition(system, DEDICATED, run.seconds, {kind: (count[kind], busy[kind]) for kind in count})
        image = Image(0, msu=round(capacity), rolling_msu=round(capacity * busy["CP"]))
        records.append(_record(Reporter(site, run, system), machine, [partition], image))
    return records


def processor_records(plan: Plan) -> list[StudyRecord]:
    """A record for each system and run with a printed CPU busy."""
    return [*_sysplex(plan), *_zxml(plan)]
