"""Waits of all lines at once against the lines one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plexlens.capacity.lines import Holds, Law, Line, Wait
from plexlens.capacity.model import SystemModel
from plexlens.capacity.waiting import Load, Waiting, waiting
from tests.capacity.test_predict import one_class
from tests.draws import draws

#: A queue that closed classes fill is this busy at most, and the wait of unknown cause grows by this factor at most.
MOST_BUSY, MOST_GROWTH = 0.998, 1000.0


def slowly(system: SystemModel, load: Load, engines: Mapping[str, float], *, is_closed: bool) -> Waiting:
    """The same, line by line and class by class."""
    more, used, is_full = {}, {}, False
    for name, line in system.lines.items():
        known = sum(line.shares.values())
        requests = sum(share * load.growth.get(brings, load.whole) for brings, share in line.shares.items())
        requests += max(0.0, 1.0 - known) * load.whole
        if line.shared:
            requests /= load.spread
        longer = {Holds.ENGINES: load.stretch, Holds.RESPONSE: load.hold, Holds.NOTHING: {}}[line.holds]
        hold = sum(share * longer.get(brings, 1.0) for brings, share in line.shares.items()) / known if known else 1.0
        used[name] = line.used(requests, hold)
        if is_closed and line.law is Law.QUEUE and line.busy * requests * hold >= MOST_BUSY:
            requests = MOST_BUSY / (line.busy * hold)
        now = line.wait(requests, hold, load.engines / load.spread)
        is_full = is_full or now is None
        more[name] = (now or 0.0) - (line.wait(1.0) or 0.0)
    places = {"general engines": system.busy / system.engines}
    places |= {name: line.busy for name, line in system.lines.items() if line.law is Law.QUEUE}
    busiest = max(places, key=lambda name: places[name])
    then = used[busiest] if busiest in used else engines[busiest]
    unknown = MOST_GROWTH if then >= 1.0 else min(MOST_GROWTH, (1.0 - min(places[busiest], MOST_BUSY)) / (1.0 - then))
    seconds, entering = {}, {}
    for class_model in system.classes:
        whole = class_model.other * unknown
        of_entering = 0.0
        for wait in class_model.waits:
            at_lines = sum(wait.requests * share * more.get(name, 0.0) for name, share in wait.lines.items())
            value = max(0.0, wait.seconds + at_lines) if wait.lines else wait.seconds * unknown
            whole += value
            of_entering += value if wait.kind in ("locks", "threads", "open TCBs") else 0.0
        seconds[class_model.name], entering[class_model.name] = whole, of_entering
    spin = sum(rate * load.whole * sum(max(0.0, more[name]) for name in names) for rate, names in system.spins)
    own = {name: busy for name, busy in used.items() if system.lines[name].holds is not Holds.RESPONSE}
    causes = own if own and max(own.values()) > 0.9 else used
    return Waiting(seconds, entering, used, spin, max(causes, key=lambda name: causes[name]) if is_full else "")


NAMES = ("ONLINE.1", "BATCH.1", "ELSEWHERE.1")
SHARES = st.dictionaries(st.sampled_from(NAMES), st.floats(0.05, 0.4), max_size=3)


@st.composite
def lines(draw: st.DrawFn) -> Line:
    law = draw(st.sampled_from(list(Law)))
    return Line(
        draw(st.sampled_from(("volume", "locks", "QR TCB"))),
        "X",
        draw(st.sampled_from((1, 1, 2, 5))),
        draw(st.floats(0.0, 0.9)),
        draw(st.floats(1e-6, 0.1)),
        law=law,
        factor=draw(st.floats(0.2, 3.0)),
        rate=draw(st.floats(0.0, 100.0)),
        shares=draw(SHARES),
        holds=draw(st.sampled_from(list(Holds))),
        shared=draw(st.booleans()),
        most=draw(st.sampled_from((None, None, 3))) if law is Law.QUEUE else None,
    )


@st.composite
def systems(draw: st.DrawFn) -> SystemModel:
    (system,) = one_class().systems
    (only,) = system.classes
    there = {f"line {number}": line for number, line in enumerate(draw(st.lists(lines(), min_size=1, max_size=6)))}

    def wait() -> st.SearchStrategy[Wait]:
        named = st.dictionaries(st.sampled_from([*there, "line of another system"]), st.floats(0.0, 1.0), max_size=3)
        return st.builds(
            Wait, st.sampled_from(("locks", "threads", "volume")), named, st.floats(0.0, 5.0), st.floats(0.0, 0.1)
        )

    classes = tuple(
        replace(only, name=name, waits=tuple(draw(st.lists(wait(), max_size=4))), other=draw(st.floats(0.0, 0.1)))
        for name in NAMES[:2]
    )
    spins = ((draw(st.floats(0.0, 100.0)), tuple(draw(st.lists(st.sampled_from([*there]), unique=True)))),)
    return replace(system, classes=classes, lines=there, spins=spins, busy=draw(st.floats(0.1, 0.95)))


LOADS = st.builds(
    Load,
    st.fixed_dictionaries({name: st.floats(0.0, 4.0) for name in NAMES[:2]}),
    st.floats(0.0, 4.0),
    st.floats(0.3, 1.0),
    st.dictionaries(st.sampled_from(NAMES[:2]), st.floats(0.5, 5.0)),
    st.dictionaries(st.sampled_from(NAMES[:2]), st.floats(0.5, 5.0)),
    st.floats(0.5, 3.0),
)


@given(systems(), LOADS, st.floats(0.0, 1.2), st.booleans())
@settings(max_examples=draws(150, soak=5000))
def test_lines_together_are_the_lines(system: SystemModel, load: Load, busy: float, is_closed: bool) -> None:
    engines = {"general engines": busy, "zIIPs": 0.0}
    found, expected = (answer(system, load, engines, is_closed=is_closed) for answer in (waiting, slowly))
    assert found.saturated == expected.saturated
    assert found.spin == pytest.approx(expected.spin, rel=1e-9, abs=1e-15)
    for name in ("seconds", "entering", "used"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=1e-9, abs=1e-12), name
