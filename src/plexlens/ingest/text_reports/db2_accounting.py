"""Twin rows of Db2 accounting: times and suspensions of a group of threads, and of the packages they ran."""

from __future__ import annotations

from collections.abc import Iterator

from plexlens.ingest.text_reports import db2_subsystem_columns as subsystem
from plexlens.ingest.text_reports.printed import DURATION, NUMBER, Printed
from plexlens.ingest.text_reports.words import fold

_CAUSE_OF = {fold(name): cause for cause, names in subsystem.SUSPENSIONS.items() for name in names}
_HIGHLIGHT_OF = {fold(name): column for column, names in subsystem.HIGHLIGHTS.items() for name in names}
_ACTIVITY_OF = {(kind, fold(name)): column for column, (kind, _, names) in subsystem.ACTIVITY.items() for name in names}
_CLASS_OF = {"APPL(CL.1)": "1", "DB2 (CL.2)": "2"}
_TIME_OF = {
    fold("ELAPSED TIME"): "elapsed",
    fold("CP CPU TIME"): "cp_cpu",
    fold("CPU TIME"): "cp_cpu",
    fold("SE CPU TIME"): "se_cpu",
    fold("IIP CPU TIME"): "se_cpu",
}
_PART_OF = {
    fold("NONNESTED"): "nonnested",
    fold("STORED PROC"): "stored_proc",
    fold("STORED PRC"): "stored_proc",
    fold("UDF"): "udf",
    fold("TRIGGER"): "trigger",
    fold("PAR.TASKS"): "parallel",
    fold("PAR.TASK"): "parallel",
}
_ALONE = {
    ("2", fold("SUSPEND TIME")): "class2_suspended_seconds",
    ("2", fold("NOT ACCOUNT.")): "class2_not_accounted_seconds",
    ("2", fold("DB2 ENT/EXIT")): "class2_entries",
}
_PACKAGE_TIMES = {
    fold("ELAPSED TIME - CL7"): "class2_elapsed_seconds",
    fold("CP CPU TIME"): "class2_cp_cpu_seconds",
    fold("SE CPU TIME"): "class2_se_cpu_seconds",
    fold("SUSPENSION-CL8"): "class2_suspended_seconds",
    fold("NOT ACCOUNTED"): "class2_not_accounted_seconds",
    fold("DB2 ENTRY/EXIT"): "class2_entries",
}
_SECONDS_HEADS = frozenset({"AVERAGE TIME", "ELAPSED TIME", "TIME"})
_EVENT_HEADS = frozenset({"AV.EVENT", "EVENTS", "AVG.EVENT"})


class AccountingRows:
    """Gathers the twin rows of one report: a row for each group of identifiers, and for each package of it."""

    def __init__(self) -> None:
        self._done: list[dict[str, object]] = []
        self._identifiers: dict[str, str] = {}
        self._group: dict[str, object] = {}
        self._package: dict[str, object] = {}
        self.is_average = True
        """Whether the report prints averages; a trace prints what each thread took."""

    @property
    def about(self) -> str | None:
        """The identifiers that values stand under, as one text."""
        return " ".join(f"{name}={value}" for name, value in self._identifiers.items()) or None

    def identify(self, identifiers: dict[str, str]) -> None:
        """A line of identifiers: a new group, unless it repeats the one that is open."""
        changed = any(self._identifiers.get(name, value) != value for name, value in identifiers.items())
        if changed or (self._has_values() and not identifiers.keys() <= self._identifiers.keys()):
            self._close()
            self._identifiers = {}
        self._identifiers.update(identifiers)

    def end_group(self) -> None:
        """The group that is open ends: a trace begins its next thread."""
        self._close()
        self._identifiers = {}

    def _has_values(self) -> bool:
        return bool(self._group or self._package)

    def add(
        self, kind: str, about: str | None, name: str, parent: str | None, values: list[tuple[str | None, Printed]]
    ) -> bool:
        """Add what a line of a block says; whether a table has a column for it.

        Parameters
        ----------
        kind, about
            Kind of the block, and the package it is about.
        name, parent
            Name of the values, and the name it stands under.
        values
            The values with their column heads.
        """
        found = dict(_columns(kind, name, parent, values)) or self._activity(kind, about, name, values)
        if not found:
            return False
        if kind.startswith("package"):
            if self._package.get("package_name", about) != about or _contradicts(self._package, found):
                self._close_package()
            self._package["package_name"] = about
            self._package.update(found)
            return True
        if _contradicts(self._group, found):
            self._close()
        self._group.update(found)
        return True

    def _activity(
        self, kind: str, about: str | None, name: str, values: list[tuple[str | None, Printed]]
    ) -> dict[str, object]:
        """A count of what the threads did: the average, in a trace the thread's own."""
        column = _ACTIVITY_OF.get((kind, fold(name)))
        value = dict(values).get("AVERAGE" if self.is_average else "TOTAL")
        # Of the blocks of buffer pools the one of all pools counts.
        if column is None or value is None or value.number is None or not (about or "TOTAL").upper().startswith("TOT"):
            return {}
        return {column: value.number}

    def _close_package(self) -> None:
        if len(self._package) > 1:
            self._done.append({**self._common("package"), **self._package})
        self._package = {}

    def _close(self) -> None:
        if self._group:
            self._done.append({**self._common("plan"), **self._group})
        self._close_package()
        self._group = {}

    def _common(self, level: str) -> dict[str, object]:
        named = {subsystem.IDENTIFIERS[name][0]: value for name, value in self._identifiers.items()}
        return {"level": level, "is_average": self.is_average, "statistics": "interval", **named}

    def rows(self) -> Iterator[dict[str, object]]:
        """The rows; afterwards none is held."""
        self._close()
        yield from self._done
        self._done, self._identifiers = [], {}


def _contradicts(held: dict[str, object], found: dict[str, object]) -> bool:
    return any(held.get(column, value) != value for column, value in found.items())


def _columns(
    kind: str, name: str, parent: str | None, values: list[tuple[str | None, Printed]]
) -> Iterator[tuple[str, object]]:
    folded = fold(name)
    if kind == "package_value":
        column = {fold("COLLECTION ID"): "collection", fold("PROGRAM NAME"): "program"}.get(folded)
        text = values[0][1].text if values else ""
        if column == "collection":
            yield column, text
        elif folded == fold("OCCURRENCES") and values and values[0][1].number is not None:
            yield "occurrences", values[0][1].number
        return
    for head, value in values:
        if value.type not in {NUMBER, DURATION}:
            continue
        column = _column(kind, folded, fold(parent or ""), head)
        if column is not None:
            yield column, value.number


def _column(kind: str, name: str, parent: str, head: str | None) -> str | None:
    if kind == "highlights":
        return _HIGHLIGHT_OF.get(name)
    if kind in {"suspensions", "package_suspensions"}:
        cause = _CAUSE_OF.get(name)
        ending = "seconds" if head in _SECONDS_HEADS else "events" if head in _EVENT_HEADS else None
        return f"class3_{cause}_{ending}" if cause and ending else None
    if kind == "package_times":
        return _PACKAGE_TIMES.get(name) if not parent else None
    if kind == "times":
        return _times_column(name, parent, _CLASS_OF.get(head or ""))
    return None


def _times_column(name: str, parent: str, number: str | None) -> str | None:
    if number is None:
        return None
    if (number, name) in _ALONE:
        return _ALONE[number, name]
    if name in {fold("SECP CPU"), fold("IIPCP CPU")}:
        return f"class{number}_secp_cpu_seconds"
    if name in _TIME_OF:
        return f"class{number}_{_TIME_OF[name]}_seconds"
    time, part = _TIME_OF.get(parent), _PART_OF.get(name)
    if time is None or part is None or (part == "parallel" and time == "elapsed"):
        return None
    return f"class{number}_{time}_{part}_seconds"
