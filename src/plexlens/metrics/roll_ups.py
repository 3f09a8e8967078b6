"""Roll-ups of many grains for a caller with many questions to the same database, such as a report.

The reader says what it will ask before it asks. Then the facts of a grain are taken from the raw tables once, with the
columns that some question names, and questions that differ in columns alone are answered by one statement.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import pyarrow as pa

from plexlens.metrics.definition import Grain
from plexlens.metrics.engine_table import fresh_name
from plexlens.metrics.evaluate import Cut, available, evaluate
from plexlens.metrics.grain_data import GrainData
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.moments import shown_on
from plexlens.metrics.query import Query
from plexlens.metrics.reduction import narrowed
from plexlens.pdb.engine import quoted

#: What tells questions apart that cannot be answered by one statement: the grain, what is kept apart, which rows count.
_Rows = tuple[str, tuple[str, ...], str | None]


class RollUps:
    """Numbers from the grains of a database, for a caller that announces its questions first.

    Parameters
    ----------
    inputs
        The raw tables. The engine behind them must allow temporary tables.
    grains
        Definitions by name.
    utc_offset
        Seconds by which the clock on which hours and days begin is ahead of UTC.
    day_begins
        Seconds after midnight of that clock at which a day begins.
    """

    def __init__(
        self, inputs: Inputs, grains: Mapping[str, Grain], utc_offset: float = 0.0, day_begins: float = 0.0
    ) -> None:
        self.inputs = inputs
        self.grains = grains
        self.utc_offset = utc_offset
        self.day_begins = day_begins
        self._data: dict[str, GrainData | None] = {}
        self._needs: dict[str, tuple[set[str], set[str | None]]] = {}
        self._asked: dict[_Rows, list[frozenset[str]]] = {}
        self._kept: dict[_Rows, Query] = {}

    def another(self) -> RollUps:
        """A reader of the same facts that announces questions of its own."""
        roll_ups = RollUps(self.inputs, self.grains, self.utc_offset, self.day_begins)
        roll_ups._data = self._data
        return roll_ups

    def grain(self, name: str) -> Grain:
        """A grain definition by name; the KeyError lists the valid names."""
        if name not in self.grains:
            raise KeyError(f"no grain {name!r}; known are {', '.join(sorted(self.grains))}")
        return self.grains[name]

    def need(self, name: str, columns: Iterable[str], where: str | None, *, by: Sequence[str] | None = None) -> None:
        """Announce the columns and conditions of a question about a grain.

        Parameters
        ----------
        name, columns, where
            The grain, the columns and the condition.
        by
            What the question keeps apart, of all time; None where it is of a length of time.

        Raises
        ------
        KeyError
            There is no such grain or column; the message lists the valid names.
        """
        columns = tuple(name for name in columns if name)
        grain = self.grain(name)
        described = {*self.named(grain), "system", "sysplex"}
        for column in columns:
            if column not in described:
                grain.column(column)
        wanted, wheres = self._needs.setdefault(name, (set(), set()))
        wanted.update(columns)
        wheres.add(where)
        if by is not None:
            # Names of systems repeat from sysplex to sysplex: where there are several, rows are kept apart by it too.
            for apart in (tuple(by), tuple(dict.fromkeys(("sysplex", *by)))):
                self._asked.setdefault((name, apart, where), []).append(frozenset(columns))

    @staticmethod
    def named(grain: Grain) -> tuple[str, ...]:
        """Names of the keys and attributes of a grain."""
        return (*(key.name for key in grain.keys), *(attribute.name for attribute in grain.attributes))

    def data(self, name: str) -> GrainData | None:
        """The facts of a grain; None if the database has no source of it, or the grain has no rows.

        Raises
        ------
        KeyError
            No grain has that name.
        """
        if name not in self._data:
            grain = self.grain(name)
            columns, wheres = self._needs.get(name, (set(), set()))
            grain_data = GrainData(self.inputs, grain, columns, wheres) if available(self.inputs, grain) else None
            self._data[name] = grain_data if grain_data is not None and grain_data.kinds else None
        return self._data[name]

    @property
    def read(self) -> Iterable[GrainData]:
        """Every grain with data that has been requested so far."""
        return (data for data in self._data.values() if data is not None)

    def rows(
        self,
        data: GrainData,
        columns: Sequence[str],
        *,
        by: Sequence[str] = (),
        time: str = "all",
        where: str | None = None,
        order: str = "",
        descending: bool = True,
        limit: int = 0,
        undated: bool = False,
        cut: Cut = Cut.ALIGNED,
    ) -> tuple[pa.Table, int]:
        """Rolled-up rows of a grain.

        Parameters
        ----------
        data
            The grain.
        columns
            Facts, metrics and attributes to return.
        by
            What to keep apart; nothing gives one row for each time.
        time, where
            As `plexlens.metrics.evaluate.evaluate` takes them.
        order, descending
            Column to order by, nulls last; ties and no order: by the names of the rows, then time.
        limit
            Rows to return at most; 0 for all.
        undated
            Whether rows without a time are included; their ``time`` is null.
        cut
            As `plexlens.metrics.evaluate.evaluate` takes it.

        Returns
        -------
        pyarrow.Table, int
            Columns ``by``, ``time`` unless it is ``all``, and ``columns``; and the number of rows there are.
        """
        wanted = frozenset({*columns, *by} | ({order} if order else set()))
        table = self._rolled_up(data, wanted, tuple(by), time, where, cut=cut)
        names = [*by, *(["time"] if time != "all" else [])]
        if time != "all" and not undated:
            table = table.where('"time" is not null')
        table = table.select(
            *names, *(c for c in dict.fromkeys((*columns, *([order] if order else []))) if c not in names)
        )
        ordering = [f"{quoted(order)} {'desc' if descending else 'asc'} nulls last"] if order else []
        ordering += [f"{quoted(name)} asc nulls last" for name in names]
        if not limit:
            rows = table.ordered(*ordering)
            return rows, rows.num_rows
        return table.first(*ordering, limit=limit)

    def _rolled_up(
        self,
        data: GrainData,
        wanted: frozenset[str],
        by: tuple[str, ...],
        time: str,
        where: str | None,
        *,
        cut: Cut = Cut.ALIGNED,
    ) -> Query:
        key = (data.name, by, where)
        names = self._asked.get(key, []) if time == "all" else []
        # A question alone takes the rows that it shows; several take them from a table of all.
        together = frozenset[str]().union(*names) if len(names) > 1 else frozenset[str]()
        if not wanted <= together | frozenset(by):
            return self._evaluated(data, wanted, by, time, where, cut=cut)
        if key not in self._kept:
            query = self._evaluated(data, together | frozenset(by), by, time, where)
            self._kept[key] = query.kept(fresh_name("rolled_up"))
        return self._kept[key]

    def _evaluated(
        self,
        data: GrainData,
        wanted: frozenset[str],
        by: tuple[str, ...],
        time: str,
        where: str | None,
        *,
        cut: Cut = Cut.ALIGNED,
    ) -> Query:
        utc_offset = self.utc_offset - self.day_begins
        table = evaluate(
            self.inputs,
            narrowed(data.grain, wanted, (where,)),
            # The kind of source is the same in all kept rows: grouping by it rolls everything up.
            by=by or ("source_kind",),
            time=time,
            where=where,
            kept=data.rows_for(wanted, time, where, utc_offset),
            summed=data.summed_for(by, wanted, time, where, utc_offset),
            entities=data.entities,
            utc_offset=self.utc_offset,
            day_begins=self.day_begins,
            cut=cut,
            shown=wanted,
        )
        assert table is not None
        return table

    def ends(
        self, data: GrainData, by: Sequence[str], where: str | None, *, is_local: bool
    ) -> dict[tuple[str | None, ...], dict[datetime, datetime]]:
        """End of each interval of each entity, by the interval's name."""
        rows = data.kept.where(where).where('"interval" is not null and interval_end is not null')
        ends = rows.grouped(tuple(dict.fromkeys((*by, "interval"))), {"ends": "max(interval_end)"}).rows()
        moments: dict[tuple[str | None, ...], dict[datetime, datetime]] = {}
        for row in ends:
            start, end = (shown_on(row[name], is_local=is_local) for name in ("interval", "ends"))
            if start is not None and end is not None:
                moments.setdefault(tuple(row[name] for name in by), {})[start] = end
        return moments
