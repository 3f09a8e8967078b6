"""Definitions and columns that the parts of the report on data sharing have in common."""

from __future__ import annotations

from plexlens.metrics import GRAINS
from plexlens.metrics.unit import (
    FRACTION,
    MEAN_COUNT,
    MICROSECONDS,
    MILLISECONDS,
    PER_SECOND,
    PROCESSORS,
    SECONDS,
    Unit,
)
from plexlens.report.model import Column, ColumnKind, Definition

_STUDY = "Sysplex/CICSplex/DB2 Data Sharing (1996)"
_HOST = "Host effect: rate x (synchronous service + issue path); asynchronous: rate x software path"
_SPIN = "z/OS RMF Report Analysis: the processor waits for a synchronous request"

_TEXTS: tuple[tuple[str, str, Unit, str, str, str], ...] = (
    ("cpu", "CPU time", SECONDS, "Σ synchronous x (service time + path) + Σ asynchronous x path + Σ other work x path",
     _HOST, "Service times are measured (SMF 74-4), path lengths stated."),
    ("service", "Measured service time", SECONDS,
     "Σ synchronous requests x service time of structure and system (R744SSTM)", _SPIN,
     "A structure has one service time for all kinds of request."),
    ("engines", "Engines", PROCESSORS, "CPU time / length of the time", _HOST, ""),
    ("overhead", "Increase over the base", FRACTION, "CPU time of data sharing / (measured CPU time - that)",
     f"{_STUDY}, table 6: increased CPU time", "Cache disturbance and longer paths inside Db2 are not in it."),
    ("efficiency", "Coupling efficiency", FRACTION, "(measured CPU time - that of data sharing) / measured CPU time",
     f"{_STUDY}, table 6", "ITR with sharing over ITR without, at the same work on the same engines."),
    ("share", "Share of data sharing", FRACTION, "CPU time / CPU time of data sharing", _HOST, ""),
    ("captured", "Of captured time", FRACTION, "CPU time of data sharing / CPU time of service classes",
     "SMF 72-3", ""),
    ("per_commit", "Per unit of work", MICROSECONDS, "CPU time / commits", _HOST, ""),
    ("requests", "Requests", PER_SECOND, "requests or events / length of the time",
     "SMF 74-4 by structure; SMF 100 IFCID 2 by kind",
     "Counts of pages are brought to the requests that the coupling facility served."),
    ("sync", "Synchronous", FRACTION, "synchronous requests / requests", "SMF 74-4 R744SSRC, R744SARC",
     "Asynchronous requests are first those that Db2 does not wait for (castout, asynchronous writes, registration)."),
    ("each", "CPU of each", MICROSECONDS, "CPU time / requests", _HOST, ""),
    ("measured", "Used in all", SECONDS, "CPU time of the address space or of the threads",
     "SMF 100 IFCID 1; SMF 101 class 1 and 2; SMF 72-3 report class", ""),
    ("used", "Processor time", SECONDS, "busy time of engines; else CPU time of service classes",
     "SMF 70-1; else SMF 72-3", ""),
    ("commits", "Units of work", PER_SECOND, "commits / length of the time", "SMF 101 QWACCOMM; SMF 100 Q3STCOMM", ""),
    ("per_requests", "Requests per unit of work", MEAN_COUNT, "requests / commits", "SMF 74-4, SMF 100, SMF 101", ""),
    ("all_cpu", "All CPU", MICROSECONDS, "CPU time inside and outside Db2 / commits",
     "CICS: SMF 110-1 USRCPUT; others: SMF 101 class 1", "Of CICS unknown without SMF 110-1."),
    ("class2", "CPU in Db2", MICROSECONDS, "class 2 CPU time / commits", "SMF 101 IFCID 3", ""),
    ("db2_increase", "Increase of CPU in Db2", FRACTION,
     "CPU time of data sharing on threads / (class 2 CPU time - that)", f"{_STUDY}, table 8: DB2 TCB time", ""),
    ("increase", "Increase of all CPU", FRACTION,
     "CPU time of data sharing, whoever pays / (all CPU time - its part on threads)",
     f"{_STUDY}, table 8", "All CPU time: of CICS what CICS measured (SMF 110-1), of other work class 1."),
    ("delay", "Delay", MILLISECONDS, "(CPU time on threads + waits + reads from disk after invalidation) / commits",
     "SMF 101 class 3", ""),
    ("wait", "Wait", MILLISECONDS, "class 3 time / commits", "SMF 101 IFCID 3, QWAC and QWAX", ""),
    ("delay_share", "Of the time in Db2", FRACTION, "delay / class 2 elapsed time", "SMF 101 IFCID 3", ""),
    ("path", "Stated", MICROSECONDS, "", "Stated input", ""),
)  # fmt: skip

DEFINITIONS = {
    f"sharing.{name}": Definition(
        f"sharing.{name}",
        "Cost of data sharing",
        "a kind of request, address space, system or transaction class over the time measured",
        title,
        unit,
        formula,
        source,
        caveat,
    )
    for name, title, unit, formula, source, caveat in _TEXTS
}
SPUN = "coupling_structure.sync_processors"
UNITS = {name: unit for name, _, unit, _, _, _ in _TEXTS}
_TITLES = {name: title for name, title, *_ in _TEXTS}


def definitions() -> dict[str, Definition]:
    """What the numbers of a page are: its own, and the metric that it shows."""
    grain_name, name = SPUN.split(".")
    grain = GRAINS[grain_name]
    one = grain.metric(name)
    spun = Definition(SPUN, grain.title, grain.row, one.title, one.unit, one.words, one.source, one.caveat)
    return DEFINITIONS | {SPUN: spun}


def text(name: str, title: str, *, key: bool = False) -> Column:
    """A column of texts."""
    return Column(name, title, ColumnKind.TEXT, key=key)


def number(
    name: str, definition: str, title: str = "", *, group: str = "", bar: bool = False, unit: Unit | None = None
) -> Column:
    """A column of numbers by one of `DEFINITIONS`, in its unit unless another is given."""
    return Column(
        name, title or _TITLES[definition], ColumnKind.NUMBER, unit or UNITS[definition], f"sharing.{definition}",
        group=group, bar=bar,
    )  # fmt: skip


def over(above: float | None, below: float | None) -> float | None:
    """A quotient; None where either is unknown or the lower one is zero."""
    return above / below if above is not None and below else None
