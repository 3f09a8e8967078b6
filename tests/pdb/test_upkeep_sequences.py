"""Any sequence of ingests, compactions, expiries, rebuilds and undos gives the rows of a slow model in plain Python."""

from __future__ import annotations

import shutil
import tempfile
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plexlens.ingest import kinds
from plexlens.pdb import Pdb, ingest
from plexlens.pdb.durable import Disk
from plexlens.pdb.upkeep.compact import compact
from plexlens.pdb.upkeep.expire import expire, purge
from plexlens.pdb.upkeep.rebuild import find, rebuild
from plexlens.pdb.upkeep.undo import undo
from plexlens.pdb.upkeep.verify import verify
from tests.draws import draws
from tests.pdb import fake_source
from tests.pdb.fake_source import Record, held_in_files, write
from tests.pdb.test_crash_upkeep import figures

#: Days a table of requests is kept, and how much later the inventory of records goes.
KEPT, LATER = 2, 2


@dataclass
class Model:
    """Rows by record number, each with the dump that brought it."""

    dumps: dict[str, list[int]] = field(default_factory=dict)
    records: dict[int, str] = field(default_factory=dict)
    requests: dict[int, str] = field(default_factory=dict)
    first_requests: date = date.min
    first_records: date = date.min

    def ingest(self, name: str, numbers: list[int]) -> None:
        if name not in self.dumps:
            self.dumps[name] = numbers
            self._read(name)

    def _read(self, name: str, *, with_expired: bool = False) -> None:
        for number in self.dumps[name]:
            day = Record(number).day
            if number in self.records or (day < self.first_records and not with_expired):
                continue
            self.records[number] = name
            if day >= self.first_requests or with_expired:
                self.requests[number] = name

    def expire(self, today: date) -> None:
        if self.records:
            self.first_requests = max(self.first_requests, today - timedelta(KEPT))
            self.first_records = max(self.first_records, self.first_requests - timedelta(LATER))
        self.requests = {n: name for n, name in self.requests.items() if Record(n).day >= self.first_requests}
        self.records = {n: name for n, name in self.records.items() if Record(n).day >= self.first_records}

    def rebuild(self, name: str, *, with_expired: bool) -> None:
        self.records = {n: of for n, of in self.records.items() if of != name}
        self.requests = {n: of for n, of in self.requests.items() if of != name}
        self._read(name, with_expired=with_expired)

    @property
    def figures(self) -> dict[str, int]:
        return figures(list(self.records), list(self.requests))


# Records of six days, 1000 a day; dumps overlap.
RANGES = st.builds(
    lambda first, count, step: list(range(first, first + count * step, step)),
    st.integers(0, 4500),
    st.integers(1, 40),
    st.sampled_from([1, 7, 53]),
)
STEPS = st.one_of(
    st.tuples(st.just("ingest"), RANGES),
    st.tuples(st.just("compact"), st.none()),
    st.tuples(st.just("expire"), st.integers(1, 8)),
    st.tuples(st.just("rebuild"), st.booleans()),
    st.tuples(st.just("undo"), st.none()),
    st.tuples(st.just("purge"), st.none()),
)


@pytest.mark.drawn
@settings(max_examples=draws(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEPS, min_size=2, max_size=9))
def test_every_sequence_gives_the_rows_of_the_model(
    steps: list[tuple[str, object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kinds, "SOURCES", (fake_source.KIND,))
    folder = Path(tempfile.mkdtemp())
    try:
        _follow(steps, folder)
    finally:
        shutil.rmtree(folder)


def _follow(steps: list[tuple[str, object]], folder: Path) -> None:
    pdb = Pdb.create(folder / "p")
    pdb.disk = Disk(sync=False)
    (pdb.path / "retention.toml").write_text(f'raw = "{KEPT} days"\n')
    model = Model()
    #: The model after each commit, and the commits whose state can come back.
    after: dict[int, Model] = {0: deepcopy(model)}
    for number, (verb, given_with) in enumerate(steps):
        before = pdb.head
        if verb == "ingest":
            assert isinstance(given_with, list)
            path = write(folder / f"{number}.fake", given_with, padding=number)
            ingest([path], pdb)
            model.ingest(str(path), given_with)
        elif verb == "compact":
            compact(pdb)
        elif verb == "expire":
            assert isinstance(given_with, int)
            today = date(2024, 3, 1) + timedelta(given_with)
            expire(pdb, today=today)
            # Nothing is remembered where nothing goes.
            if pdb.head.commit > before.commit:
                model.expire(today)
        elif verb == "rebuild":
            for one in find(pdb):
                rebuild(pdb, [one], with_expired=bool(given_with))
                model.rebuild(one.source.file, with_expired=bool(given_with))
                after[pdb.head.commit] = deepcopy(model)
        elif verb == "purge":
            purge(pdb)
            after = {}
        elif earlier := [commit for commit in after if commit < before.state]:
            undo(pdb)
            model = deepcopy(after[max(earlier)])
        # A commit that another one made in between (purge) has the same state.
        after[pdb.head.commit] = deepcopy(model)
        assert held_in_files(pdb) == model.figures, (number, verb)
    again = Pdb.open(pdb.path)
    assert held_in_files(again) == model.figures
    assert verify(again).problems == []
