"""CPU activity report: the grain of SMF 70-1's CPU data, partition and logical processor sections."""

from __future__ import annotations

from collections.abc import Iterator

from plexlens.ingest.rmf_xml.columns import INTERVAL, TableSpec, derived, flag, index, number, text
from plexlens.ingest.rmf_xml.model import Report, Row, Segment, Table, as_index, as_number, as_text, cell, key

CONTROL = TableSpec(
    "rmf_xml_cpu_control",
    "one system in one interval: its machine, its capacity, the partition it runs in",
    (
        INTERVAL,
        text("machine_type", "machine type", "SMF70MOD"),
        text("capacity_model", "capacity model identifier", "SMF70MDL"),
        text("hardware_model", "physical hardware model", "SMF70HWM"),
        text("sequence_code", "machine sequence code", "SMF70CSC"),
        text("hiperdispatch", "HiperDispatch active: YES or NO", "SMF70HHF"),
        number("cpc_capacity_msu", "MSU", "capacity of the CPC per hour", "SMF70MCR"),
        text("change_reason", "reason of the last capacity change", "SMF70CCR"),
        text("boost_type", "boost in effect", "SMF70_BOOSTINFO"),
        text("boost_class", "class of the boost", "SMF70_BOOSTINFO"),
        text("partition_name", "partition the system runs in", "SMF70LPM"),
        number("image_capacity_msu", "MSU", "capacity available to this image per hour", "SMF70WLA"),
        number("configured_partitions", "", "partitions configured"),
        text("wait_completion", "wait completion: YES or NO", "SMF70VPF"),
        text("dispatch_interval", "PR/SM dispatch interval as printed: DYNAMIC or a time", "SMF70GTS"),
        text("group_name", "capacity group", "SMF70GNM"),
        number("group_limit_msu", "MSU", "capacity group limit", "SMF70GMU"),
        number("group_available_msu", "MSU", "unused capacity of the group", "SMF70GAU"),
        number("physical_cp", "", "physical general purpose processors", "SMF70BNP"),
        number("physical_aap", "", "physical zAAPs"),
        number("physical_iip", "", "physical zIIPs"),
        number("physical_icf", "", "physical ICF processors"),
        number("physical_ifl", "", "physical IFL processors"),
        number("blocked_promote_rate", "per second", "promotions of blocked work defined", "SMF70PMI"),
        number("blocked_waiters", "", "average blocked waiters", "SMF70PMW / SMF70DSA"),
        number("blocked_waiters_peak", "", "peak of blocked waiters", "SMF70PMP"),
    ),
)

PROCESSOR = TableSpec(
    "rmf_xml_cpu_processor",
    "one logical processor of the reporting system in one interval",
    (
        INTERVAL,
        index("cpu_number", "CPU (or core) number; the report prints it in hexadecimal", "SMF70CID"),
        index("thread", "thread of the core; null without SMT"),
        text("cpu_type", "CP, AAP or IIP", "SMF70TYP"),
        number("online_percent", "percent", "online time of the interval"),
        number("lpar_busy_percent", "percent", "dispatch time of the online time"),
        number("mvs_busy_percent", "percent", "non-wait time of the online, unparked time"),
        number("parked_percent", "percent", "parked time of the online time"),
        number("mt_productivity_percent", "percent", "multithreading core productivity; null without SMT"),
        number("mt_utilization_percent", "percent", "multithreading core utilization; null without SMT"),
        number("logical_share_percent", "percent", "share of a physical processor"),
        text("priority", "HiperDispatch priority: HIGH, MED, LOW", "SMF70POF"),
        number("io_interrupts_per_second", "per second", "I/O interrupts"),
        number("tpi_percent", "percent", "I/O interrupts found by TPI"),
        derived("online_seconds", "seconds", "online time", "SMF70ONT"),
        derived("dispatch_seconds", "seconds", "dispatch time with LPAR management", "SMF70PDT"),
        derived("parked_seconds", "seconds", "parked time", "SMF70PAT"),
        derived("wait_seconds", "seconds", "wait time while online and unparked", "SMF70WAT"),
        derived("mvs_busy_seconds", "seconds", "online, unparked and not waiting", "SMF70ONT - SMF70PAT - SMF70WAT"),
        derived("io_interrupts", "", "I/O interrupts of the interval", "SMF70SLH + SMF70TPI"),
        derived("tpi_interrupts", "", "I/O interrupts found by TPI in the interval", "SMF70TPI"),
    ),
)

PARTITION = TableSpec(
    "rmf_xml_cpu_partition",
    "one partition and processor type in one interval; PHYSICAL is the hypervisor's own time",
    (
        INTERVAL,
        text("partition_name", "partition; PHYSICAL for the hypervisor itself", "SMF70LPM"),
        flag("is_physical", "the row is PHYSICAL: LPAR management not charged to a partition"),
        text("status", "Active or Deactivated", "SMF70PFG"),
        text("boost_type", "boost in effect", "SMF70_BOOSTINFO"),
        text("processor_type", "CP, AAP, IIP, ICF or IFL", "SMF70CIN"),
        number("weight", "", "relative weight over all its processors", "SMF70BPS"),
        flag("is_dedicated", "dedicated processors: the weight is printed as DED", "SMF70BPS = X'FFFF'"),
        number("defined_msu", "MSU", "defined capacity limit; 0 is none", "SMF70MSU"),
        number("actual_msu", "MSU", "capacity used, per hour"),
        text("capping_defined", "initial, hardware and group capping, one letter each: Y or N", "SMF70VPF"),
        number("wlm_capping_percent", "percent", "time WLM capped the partition", "SMF70NSW / SMF70DSA"),
        number("logical_processors", "", "logical processors online", "SMF70BDN"),
        number("effective_dispatch_seconds", "seconds", "dispatch time without LPAR management", "SMF70EDT"),
        number("dispatch_seconds", "seconds", "dispatch time with LPAR management", "SMF70PDT"),
        number("logical_effective_percent", "percent", "effective time of its logical processors' online time"),
        number("logical_total_percent", "percent", "dispatch time of its logical processors' online time"),
        number("management_percent", "percent", "LPAR management of the physical processors' time"),
        number("physical_effective_percent", "percent", "effective time of the physical processors' time"),
        number("physical_total_percent", "percent", "dispatch time of the physical processors' time"),
        derived("management_seconds", "seconds", "LPAR management time", "SMF70PDT - SMF70EDT"),
    ),
)

TABLES = (CONTROL, PROCESSOR, PARTITION)

_PHYSICAL = {
    "physical_cp": r"\(CP\)|^CP$",
    "physical_aap": r"\(zAAP\)|^AAP$",
    "physical_iip": r"\(zIIP\)|^IIP$",
    "physical_icf": r"\(ICF\)|^ICF$",
    "physical_ifl": r"\(IFL\)|^IFL$",
}


class CpuReport:
    """Rows of one CPU activity report."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._control: dict[str, object] = {}

    def segment(self, segment: Segment) -> Iterator[tuple[str, dict[str, object]]]:
        """Rows of one complete segment."""
        self._read_control(segment)
        for part in segment.parts:
            for table in part.tables:
                if table.column("CPU Number", "CPU Num", "Core ID") is not None:
                    yield from self._processors(table)
                elif table.column("Partition Name") is not None:
                    yield from self._partitions(table)

    def finish(self) -> Iterator[tuple[str, dict[str, object]]]:
        """The row of the report as a whole."""
        if self._control:
            yield CONTROL.name, {"interval_seconds": self._report.interval_seconds, **self._control}

    def _read_control(self, segment: Segment) -> None:
        words: dict[str, tuple[str, ...]] = {
            "machine_type": ("CPU",),
            "capacity_model": ("Model",),
            "hardware_model": ("H/W Model",),
            "sequence_code": ("Sequence Code",),
            "hiperdispatch": ("HiperDispatch",),
            "change_reason": ("Change Reason",),
            "boost_type": ("Boost Type",),
            "boost_class": ("Boost Class",),
            "partition_name": ("MVS Partition Name",),
            "wait_completion": ("Wait Completion",),
            "dispatch_interval": ("Dispatch Interval",),
            "group_name": ("Group Name",),
        }
        numbers: dict[str, tuple[str, ...]] = {
            "cpc_capacity_msu": ("CPC Capacity",),
            "image_capacity_msu": ("Image Capacity",),
            "configured_partitions": ("Number of Configured Partitions",),
            "group_limit_msu": ("Group Limit",),
            "group_available_msu": ("Group Capacity Available", "Available"),
            "blocked_promote_rate": ("Promote Rate Defined",),
            "blocked_waiters": ("Avg Waiters for Promote",),
            "blocked_waiters_peak": ("Peak Waiters for Promote",),
        }
        for column, names in words.items():
            found = as_text(segment.variable(*names))
            if found is not None:
                self._control.setdefault(column, found)
        for column, names in numbers.items():
            value = as_number(segment.variable(*names))
            if value is not None:
                self._control.setdefault(column, value)
        for part in segment.named("Number of Physical Processors"):
            for table in part.tables:
                self._read_physical(table)

    def _read_physical(self, table: Table) -> None:
        count = table.column("Number")
        for row in table.rows:
            label = cell(row, 0)
            for column, pattern in _PHYSICAL.items():
                if label is not None and Table([label.text]).find(pattern) is not None:
                    value = as_number(cell(row, count))
                    if value is not None:
                        self._control[column] = value

    def _processors(self, table: Table) -> Iterator[tuple[str, dict[str, object]]]:
        heads = {
            "online_percent": ("Time% Online",),
            "lpar_busy_percent": ("Time% LPAR Busy",),
            "mvs_busy_percent": ("Time% MVS Busy",),
            "parked_percent": ("Time% Parked",),
            "logical_share_percent": ("LOG PROC Share%",),
            "io_interrupts_per_second": ("I/O Interrupts Rate",),
            "tpi_percent": ("I/O Interrupts% via TPI",),
        }
        where = {column: table.column(*names) for column, names in heads.items()}
        where["mt_productivity_percent"] = table.find(r"^MT ?%.*PROD")
        where["mt_utilization_percent"] = table.find(r"^MT ?%.*UTIL")
        name = table.column("CPU Number", "CPU Num", "Core ID")
        thread, kind = table.column("Thread ID", "Thread"), table.column("CPU Type", "Type")
        priority = table.column("HiperDispatch Priority")
        for row in table.rows:
            cpu = _hexadecimal(as_text(cell(row, name)))
            if row.is_total or cpu is None:
                continue
            values: dict[str, object] = {
                "interval_seconds": self._report.interval_seconds,
                "cpu_number": cpu,
                "thread": as_index(cell(row, thread)),
                "cpu_type": as_text(cell(row, kind)),
                "priority": as_text(cell(row, priority)),
            }
            numbers = {column: as_number(cell(row, position)) for column, position in where.items()}
            yield PROCESSOR.name, {**values, **numbers, **_processor_seconds(numbers, self._report.interval_seconds)}

    def _partitions(self, table: Table) -> Iterator[tuple[str, dict[str, object]]]:
        heads = {
            "defined_msu": ("MSU Defined",),
            "actual_msu": ("MSU Actual",),
            "wlm_capping_percent": ("Capping WLM%",),
            "logical_processors": ("Num of LOG PROCs",),
            "effective_dispatch_seconds": ("Effective Dispatch Time",),
            "dispatch_seconds": ("Total Dispatch Time",),
            "logical_effective_percent": ("Avg Util%: LOG PROC Effective",),
            "logical_total_percent": ("Avg Util%: LOG PROC Total",),
            "management_percent": ("Avg Util%: PHYS PROC LPAR MGMT",),
            "physical_effective_percent": ("Avg Util%: PHYS PROC Effective",),
            "physical_total_percent": ("Avg Util%: PHYS PROC Total",),
        }
        where = {column: table.column(*names) for column, names in heads.items()}
        for row in table.rows:
            if row.is_total or not row.cells or key(row.cells[0].text) == "total":
                continue
            yield PARTITION.name, self._partition(row, table, where)

    def _partition(self, row: Row, table: Table, where: dict[str, int | None]) -> dict[str, object]:
        printed = as_text(cell(row, table.column("Partition Name"))) or ""
        weight = cell(row, table.column("Partition Weight"))
        numbers = {column: as_number(cell(row, position)) for column, position in where.items()}
        effective, total = numbers["effective_dispatch_seconds"], numbers["dispatch_seconds"]
        physical = printed.strip("*").upper() == "PHYSICAL"
        return {
            "interval_seconds": self._report.interval_seconds,
            "partition_name": "PHYSICAL" if physical else printed or None,
            "is_physical": physical,
            "status": as_text(cell(row, table.column("Partition Status"))),
            "boost_type": as_text(cell(row, table.column("Boost Type"))),
            "processor_type": as_text(cell(row, table.column("PROC Type"))),
            "weight": as_number(weight),
            "is_dedicated": bool(weight is not None and key(weight.text) in {"ded", "dedicated"}),
            "capping_defined": as_text(cell(row, table.column("Capping Defined"))),
            **numbers,
            "management_seconds": None if total is None else total - (0.0 if physical else effective or 0.0),
        }


def _processor_seconds(printed: dict[str, float | None], interval: float | None) -> dict[str, float | None]:
    """Times from the printed percentages: RMF's own formulas, solved for the time.

    LPAR busy = dispatch / online; parked = parked / online; MVS busy = (online - parked - wait) / (online - parked),
    which the report leaves out for a processor parked all the time.
    Source: IBM, z/OS RMF Reporter User's Guide and Report Analysis, CPU activity report, field descriptions.
    """
    rate, tpi = printed["io_interrupts_per_second"], printed["tpi_percent"]
    interrupts = None if rate is None or interval is None else rate * interval
    online = _share(interval, printed["online_percent"])
    parked = _share(online, printed["parked_percent"])
    unparked = None if online is None else online - (parked or 0.0)
    busy = 0.0 if unparked == 0.0 else _share(unparked, printed["mvs_busy_percent"])
    return {
        "online_seconds": online,
        "dispatch_seconds": _share(online, printed["lpar_busy_percent"]),
        "parked_seconds": parked,
        "mvs_busy_seconds": busy,
        "wait_seconds": None if unparked is None or busy is None else unparked - busy,
        "io_interrupts": interrupts,
        "tpi_interrupts": _share(interrupts, tpi),
    }


def _hexadecimal(printed: str | None) -> int | None:
    try:
        return None if printed is None else int(printed, 16)
    except ValueError:
        return None


def _share(whole: float | None, percent: float | None) -> float | None:
    return None if whole is None or percent is None else whole * percent / 100.0
