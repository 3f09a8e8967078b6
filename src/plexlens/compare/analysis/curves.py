"""Curves of a study: throughput over processors with a fitted law; response and throughput over load or storage."""

from __future__ import annotations

from dataclasses import dataclass

from plexlens.compare.analysis.entries import Entry
from plexlens.compare.numbers.knee import GoalMet, Knee, find_knee, least_that_meets
from plexlens.compare.numbers.scalability import LEVEL, Scalability, fit_scalability


@dataclass(frozen=True)
class CapacityCurve:
    """Throughput over processors, and the law fitted to it.

    Attributes
    ----------
    labels
        What each point is called.
    predicted
        Processors beyond the last point, throughput by the law, and its interval (None where none can be estimated).
    """

    id: str
    title: str
    table: str
    x_title: str
    y_title: str
    y_unit: str
    labels: tuple[str, ...]
    law: Scalability
    predicted: tuple[tuple[float, float, tuple[float, float] | None], ...]
    note: str

    def results(self) -> dict[str, float | None]:
        """Numbers that findings may refer to."""
        law = self.law
        values: dict[str, float | None] = {
            "one": law.one,
            "serial": law.serial,
            "coherency": law.coherency,
            "peak": law.peak,
            "ceiling": law.ceiling,
            "largest_residual_percent": 100 * max(abs(residual) for residual in law.residuals),
        }
        for processors, value, interval in self.predicted:
            values[f"at {processors:g}"] = value
            if interval is not None:
                values[f"low at {processors:g}"], values[f"high at {processors:g}"] = interval
        return values


@dataclass(frozen=True)
class LoadCurve:
    """A measured quantity over load or size.

    Attributes
    ----------
    points
        Name, x and y of each, in rising order of x.
    knee
        Where it turns; None where it does not within what was measured.
    goal, met
        The stated goal for y, and the least x that meets it; None where no goal is stated.
    """

    id: str
    title: str
    table: str
    x_title: str
    x_unit: str
    y_title: str
    y_unit: str
    points: tuple[tuple[str, float, float], ...]
    knee: Knee | None
    goal: float | None
    met: GoalMet | None
    note: str

    def results(self) -> dict[str, float | None]:
        """Numbers that findings may refer to."""
        values: dict[str, float | None] = {
            "first_x": self.points[0][1],
            "first_y": self.points[0][2],
            "last_x": self.points[-1][1],
            "last_y": self.points[-1][2],
            "knee_x": None if self.knee is None else self.knee.x,
            "knee_y": None if self.knee is None else self.knee.y,
            "goal": self.goal,
        }
        if self.met is not None:
            for name, place in (("met", self.met.place), ("fails", self.met.fails)):
                values[f"{name}_x"] = None if place is None else self.points[place][1]
                values[f"{name}_y"] = None if place is None else self.points[place][2]
            values["crossing"] = self.met.crossing
        return values


Curve = CapacityCurve | LoadCurve


def read_curve(entry: Entry) -> Curve:
    """A curve from its ``[[curves]]`` entry."""
    kind = entry.one_of("kind", ("capacity", "load"))
    table = entry.table()
    rows = entry.rows(table)
    label = entry.text("label", table.columns[0])
    entry.numbers.column(table, label, f"{entry.where}, key 'label'", printed=True)
    y = entry.sums("y", table, rows)
    labels = [table.rows[number][label] for number in rows]
    if kind == "capacity":
        entry.only(*_BOTH, "predict")
        try:
            law = fit_scalability(entry.sums("x", table, rows), y)
        except ValueError as error:
            raise entry.wrong("x", str(error), "leave rows out with 'but', or name more") from error
        further = entry.content.get("predict", [])
        if not isinstance(further, list) or not all(isinstance(name, (int, float)) for name in further):
            raise entry.wrong("predict", f"{further!r} is not a list of numbers", "write predict = [8, 10]")
        predicted = tuple((float(n), law.at(n), law.interval(n, LEVEL)) for n in further)
        return CapacityCurve(
            entry.text("id"), entry.text("title"), table.id, entry.text("x_title", "Processors"), entry.text("y_title"),
            entry.text("y_unit"), tuple(labels), law, predicted, entry.text("note", ""),
        )  # fmt: skip
    entry.only(*_BOTH, "x_unit", "x_divisor", "goal", "shape")
    divisor = entry.number("x_divisor", 1.0)
    x = [total / divisor for total in entry.sums("x", table, rows)]
    points = sorted(zip(labels, x, y, strict=True), key=lambda point: point[1])
    if len({point[1] for point in points}) != len(points):
        raise entry.wrong("x", "two rows have the same x", "leave one of them out with 'but'")
    xs, ys = [point[1] for point in points], [point[2] for point in points]
    goal = entry.number("goal") if "goal" in entry.content else None
    concave = entry.one_of("shape", ("convex", "concave"), "convex") == "concave"
    if goal is not None and concave:
        raise entry.wrong("goal", "a goal applies only to values that must be at or below it", "remove the goal")
    try:
        met = None if goal is None else least_that_meets(xs, ys, goal)
    except ValueError as error:
        raise entry.wrong("goal", str(error), "state a goal above zero, for numbers above zero") from error
    return LoadCurve(
        entry.text("id"), entry.text("title"), table.id, entry.text("x_title"), entry.text("x_unit"),
        entry.text("y_title"), entry.text("y_unit"), tuple(points), find_knee(xs, ys, concave=concave),
        goal, met, entry.text("note", ""),
    )  # fmt: skip


_BOTH = ("id", "kind", "title", "table", "rows", "but", "label", "x", "y", "x_title", "y_title", "y_unit", "note")
