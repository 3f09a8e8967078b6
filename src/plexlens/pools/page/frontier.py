"""The frontier of a recommendation: savings by number of moved objects, and those of simple rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plexlens.metrics.unit import FRACTION, PER_SECOND, Unit
from plexlens.pools.prediction import State
from plexlens.pools.search.frontier import Frontier, Point
from plexlens.pools.search.recommendation import Recommendation
from plexlens.report.model import Block, Note
from plexlens.report.model.fields import Definitions, Field, Subject

PLACEMENT = Subject("pool_placement", "Placement", "a placement of objects in pools with sizes, simulated")

_COUNT = Unit("", "count", 1.0, 0)
_CPU = Unit("s/h", "s/h", 1.0, 2)
_SIMULATED = "The whole trace, simulated"


@dataclass(frozen=True)
class _Row:
    name: str
    point: Point
    cost: float
    now: State
    delay_weight: float
    seconds: float

    @property
    def altered(self) -> int:
        """Pools whose size changes, new ones included."""
        present = {name: pool.size for name, pool in self.now.configuration.pools.items()}
        return sum(present.get(name) != pool.size for name, pool in self.point.state.configuration.pools.items())

    @property
    def saved(self) -> float | None:
        now = self.now.cost(self.delay_weight)
        return 1 - self.cost / now if now > 0 else None

    def rate(self, amount: float, length: float = 1.0) -> float:
        return amount * length / self.seconds if self.seconds > 0 else amount


def frontier_blocks(recommendation: Recommendation, seconds: float, definitions: Definitions) -> list[Block]:
    """A table of the frontier, a table of the simple rules, and how far the best placement can be from the optimum."""
    frontier = recommendation.frontier
    if frontier is None:
        return []
    weight = frontier.delay_weight
    knee = frontier.knee

    def rows(points: Sequence[Point], *, counted: bool) -> list[_Row]:
        return [
            _Row(
                _name(point, frontier, knee) if counted else point.name,
                point,
                point.state.cost(weight),
                recommendation.before,
                weight,
                seconds,
            )
            for point in points
        ]

    tables = [
        definitions.table(
            "frontier", "Savings by number of moved objects", _fields(seconds > 0), rows(frontier.points, counted=True)
        ),
        definitions.table(
            "simple_rules",
            "Simple rules for the same storage",
            _fields(seconds > 0),
            rows(frontier.rules, counted=False),
        ),
    ]
    return [*(table for table in tables if table is not None), Note(_bound(frontier))]


def _name(point: Point, frontier: Frontier, knee: Point | None) -> str:
    moves = {0: "no object moves", 1: "1 object moves"}.get(point.moved, f"{point.moved:,} objects move")
    marks = [
        *(["recommended"] if point is frontier.chosen else []),
        *(["knee"] if point is knee else []),
    ]
    return moves + (f" ({', '.join(marks)})" if marks else "")


def _bound(frontier: Frontier) -> str:
    if frontier.gap is None:
        return "No object can move, so only sizes were chosen."
    error = (
        "All placements by these curves had been simulated before, so how far the curves are wrong is not known."
        if frontier.model_error is None
        else f"The composed cost of a placement differs from its simulated cost by at most {frontier.model_error:.1%}."
    )
    return (
        f"By the composed curves, no placement in as many pools saves more than another {frontier.gap:.2%} of the cost "
        f"(duality gap). {error} For the steps and commands of another line, give its number to --most-moves."
    )


def _fields(timed: bool) -> list[Field[_Row]]:
    rate, cpu = (PER_SECOND, _CPU) if timed else (_COUNT, Unit("s", "s", 1.0, 2))
    of_hour = " x 3600 / seconds of the trace" if timed else ""
    return [
        Field(PLACEMENT, "placement", "Placement", lambda row: row.name, key=True),
        Field(
            PLACEMENT, "moved", "Moved", lambda row: row.point.moved, _COUNT,
            "objects in another pool than now; each needs an ALTER TABLESPACE or ALTER INDEX", "The placement",
            group="Objects",
        ),
        Field(
            PLACEMENT, "pools_altered", "Altered", lambda row: row.altered, _COUNT,
            "pools whose size changes; each needs an -ALTER BUFFERPOOL", "The placement", group="Pools",
        ),
        Field(
            PLACEMENT, "reads", "Read I/O", lambda row: row.rate(row.point.state.total.read_ios), rate,
            "read I/Os" + (" / seconds of the trace" if timed else ""), _SIMULATED,
        ),
        Field(
            PLACEMENT, "cpu", "CPU", lambda row: row.rate(row.point.state.cpu_seconds, 3600.0), cpu,
            f"CPU of read and write I/O{of_hour}", _SIMULATED,
        ),
        Field(
            PLACEMENT, "saved", "Saved", lambda row: row.saved, FRACTION,
            "1 - cost / cost of the present pools; the cost is CPU plus delay at its weight", _SIMULATED,
        ),
    ]  # fmt: skip
