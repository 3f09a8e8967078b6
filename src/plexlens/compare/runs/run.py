"""Data to compare: a run, its environment, its work, and its measured and derived numbers.

A run is one measurement: a stretch of time in a performance database, a row or a table of a study. It is the same
thing whatever it came from, so that everything after it (comparability, deltas, explanation) is written once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from plexlens.metrics.unit import Unit


class Group(StrEnum):
    """The groups of a performance report, in its order."""

    RESPONSE = "Response time"
    THROUGHPUT = "Throughput"
    PROCESSOR = "Processor use"
    UTILISATION = "Processor utilisation"
    STORAGE = "Storage"
    PAGING = "Paging"
    IO = "I/O"
    PRIVILEGED = "Privileged operations"
    COUPLING = "Coupling facility and locks"
    SERVERS = "Servers"
    OTHER = "Other measurements"


class Better(StrEnum):
    """Direction in which a number improves."""

    HIGHER = "higher"
    LOWER = "lower"
    NEITHER = ""


@dataclass(frozen=True)
class Measure:
    """A measured quantity, in any run.

    Attributes
    ----------
    id
        ``grain.column`` of a metric definition, or the heading of a study's column.
    title, unit, formula, source, caveat
        As `plexlens.metrics.definition.Metric` has them.
    kind
        What its objects are: "Db2 buffer pools".
    row
        What one object is, in words.
    summed
        Whether the objects' numbers add up to that of the whole.
    headline
        Whether it is the number of its group that says most.
    part
        Whether it only serves to explain another number, and is not shown next to it.
    """

    id: str
    title: str
    unit: Unit
    group: Group
    better: Better
    kind: str
    row: str
    formula: str = ""
    source: str = ""
    caveat: str = ""
    summed: bool = False
    part: bool = False
    headline: bool = False


@dataclass(frozen=True)
class Estimate:
    """Uncertainty of a number if the run were measured again, estimated from its own repeats.

    Attributes
    ----------
    error
        Standard error, in the unit of the number.
    freedom
        Degrees of freedom of the error.
    count, groups
        Intervals or repeats that there are, and groups of neighbouring ones that the error was found from.
    resemblance
        Correlation of a group with the next one; None where too few are there to tell. Above a half the error is
        too small.
    """

    error: float
    freedom: float
    count: int
    groups: int
    resemblance: float | None = None


@dataclass(frozen=True)
class Reading:
    """A number of a run.

    Attributes
    ----------
    value
        In the base unit of its measure; None where it is undefined.
    low, high
        What the printed digits leave open; None for a number that was recorded, not printed.
    estimate
        Its spread over repeats; None where there are none, or too few.
    arithmetic
        How it was worked out, where a study's formula did; empty for a measured number.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    estimate: Estimate | None = None
    arithmetic: str = ""


@dataclass(frozen=True)
class Setting:
    """A fact of the environment: its object, name and printed value."""

    subject: str
    name: str
    value: str


@dataclass(frozen=True)
class Activity:
    """Work done, by object; it must agree before two runs can be compared.

    Attributes
    ----------
    id
        The same for the same kind of work in both runs.
    title
        The work: "getpages".
    kind
        What the objects are: "buffer pools". Empty where the whole is not divided.
    amounts
        Work a second for each object; a single one named "" where the whole is not divided.
    exclusive
        Whether the objects are kinds of access, such as random and sequential, whose shares matter more than names.
    only_objects
        Whether the amounts are an outcome and not work, so that only the objects' names have to be alike.
    """

    id: str
    title: str
    kind: str
    amounts: Mapping[str, float]
    exclusive: bool = False
    only_objects: bool = False

    @property
    def total(self) -> float:
        """Work per second of all objects."""
        return float(sum(self.amounts.values()))


Key = tuple[str, str]
"""Id of a measure, and the object; an empty object for the run as a whole."""


@dataclass(frozen=True)
class Run:
    """A measurement.

    Attributes
    ----------
    name
        As the user named it.
    description
        What it is: "performance database of SYS1, 3 September 2008, 17:29 to 18:13 local time".
    family
        What runs must share to be compared at all: the study, or "database".
    settings
        Its environment.
    workload
        What was run, in words, where the source says so.
    activities
        What it did.
    measures
        The measures of its readings, by id.
    readings
        The numbers.
    intervals
        Number of intervals, or of repeats, of each kind of data.
    notes
        What a reader must know of the run before its first number.
    """

    name: str
    description: str
    family: str
    settings: tuple[Setting, ...]
    activities: tuple[Activity, ...]
    measures: Mapping[str, Measure]
    readings: Mapping[Key, Reading]
    intervals: Mapping[str, int] = field(default_factory=dict)
    workload: str = ""
    notes: tuple[str, ...] = ()

    def value(self, measure: str, object_name: str = "") -> float | None:
        """The value of a measure for an object; None if there is none."""
        reading = self.readings.get((measure, object_name))
        return None if reading is None else reading.value

    def objects(self, measure: str) -> list[str]:
        """The objects that have a value of a measure, in order."""
        return [
            object_name
            for (name, object_name), reading in self.readings.items()
            if name == measure and reading.value is not None
        ]
