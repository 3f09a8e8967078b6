"""Fixed points against closed forms, and against substitution that never jumps."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plexlens.capacity.change import Change
from plexlens.capacity.lines import Holds, Law, Line, Wait
from plexlens.capacity.model import Model
from plexlens.capacity.network import at_base
from plexlens.capacity.predict import at, saturation
from plexlens.capacity.substitution import Substitution, Vector
from tests.capacity.test_predict import one_class

Map = Callable[[Vector], Vector | None]


def search(image_of: Map, start: list[float], *, most: int = 1000) -> tuple[Vector | None, int]:
    """The fixed point, None where there is none, and how often the map was asked."""
    found = Substitution(np.array(start))
    for asked in range(1, most + 1):
        image = image_of(found.at)
        if image is None:
            if not found.go_back():
                return None, asked
            continue
        if np.max(np.abs(image - found.at) / np.abs(image)) < 1e-10:
            return image, asked
        found.follow(image)
        if found.grows:
            return None, asked
    raise AssertionError(f"nothing after {most} steps")


def plain(image_of: Map, start: list[float], *, most: int = 200_000) -> Vector | None:
    """The same, halfway to the image each time."""
    at = np.array(start)
    for _ in range(most):
        image = image_of(at)
        if image is None:
            return None
        if np.max(np.abs(image - at) / np.abs(image)) < 1e-12:
            return image
        at = (at + image) / 2
    raise AssertionError("nothing")


@pytest.mark.parametrize("slope", [0.0, 0.5, 0.99, 0.9999, -0.5, -1.5, -2.5])
def test_a_line_by_hand(slope: float) -> None:
    # x = 1 + slope x has the solution 1 / (1 - slope).
    found, asked = search(lambda x: 1.0 + slope * x, [1.0])
    assert found is not None
    assert found[0] == pytest.approx(1.0 / (1.0 - slope), rel=1e-6)
    assert asked < 60


@pytest.mark.parametrize("curve", [0.1, 0.2, 0.24, 0.249, 0.2499, 0.24999])
def test_the_smaller_of_two_fixed_points(curve: float) -> None:
    # x = 1 + c x^2 has (1 - sqrt(1 - 4 c)) / (2 c), and a greater one, from which substitution runs away.
    found, asked = search(lambda x: 1.0 + curve * x * x, [1.0])
    assert found is not None
    assert found[0] == pytest.approx((1.0 - math.sqrt(1.0 - 4.0 * curve)) / (2.0 * curve), rel=1e-4)
    assert asked < 100


@pytest.mark.parametrize("curve", [0.2501, 0.26, 0.3, 1.0])
def test_beyond_the_fold_there_is_none(curve: float) -> None:
    found, asked = search(lambda x: 1.0 + curve * x * x, [1.0])
    assert found is None
    assert asked < 100


@pytest.mark.parametrize("slope", [0.5, 0.9, 0.99])
def test_a_fixed_point_where_the_map_is_not_defined(slope: float) -> None:
    # The solution is 1.5, and nothing is known from 1.2 on; then one that lies just before the end.
    def image_of(end: float) -> Map:
        return lambda x: None if x[0] >= end else 1.5 * (1.0 - slope) + slope * x

    assert search(image_of(1.2), [1.0])[0] is None
    found, asked = search(image_of(1.501), [1.0])
    assert found is not None
    assert found[0] == pytest.approx(1.5, rel=1e-6)
    assert asked < 100


@given(
    st.lists(st.floats(0.01, 1.0), min_size=3, max_size=3),
    st.lists(st.floats(0.0, 1.0), min_size=9, max_size=9),
    st.floats(0.0, 0.999),
    st.floats(0.0, 0.3),
)
def test_queues_that_make_each_other_longer(base: list[float], links: list[float], share: float, bend: float) -> None:
    """Three queues, whose busy share is what they and the others make of each other."""
    matrix = np.array(links).reshape(3, 3)
    matrix *= share / max(1e-3, float(np.max(np.abs(np.linalg.eigvals(matrix)))))

    def image_of(x: Vector) -> Vector | None:
        if (x > 50.0).any():
            return None
        image: Vector = np.array(base) + matrix @ x * (1.0 + bend * x)
        return image

    # Substitution alone is slow near a fold: it says what the outcome is, where it comes to one.
    try:
        expected = plain(image_of, base)
    except AssertionError:
        return
    found, _ = search(image_of, base)
    assert (found is None) == (expected is None)
    if found is not None and expected is not None:
        assert found == pytest.approx(expected, rel=1e-5)


# --- a system --------------------------------------------------------------------------------------------------------

BUSY, SERVICE = 0.1, 0.5


def contended() -> Model:
    """One class of 1 s, and a lock that a transaction holds as long as it lasts: 10 % of the time, as measured."""
    model = one_class()
    (system,) = model.systems
    wait = Wait("contention", {"contention LOCK": 1.0}, 1.0, SERVICE * BUSY / (1.0 - BUSY))
    (only,) = system.classes
    classes = (replace(only, general=1e-9, eligible=0.0, io_service=1.0, other=0.0, waits=(wait,)),)
    line = Line(
        "contention", "LOCK", 1, BUSY, SERVICE, law=Law.LOCKS, rate=only.rate, shares={only.name: 1.0},
        holds=Holds.RESPONSE,
    )  # fmt: skip
    made = at_base(replace(system, classes=classes, lines={"contention LOCK": line}))
    return replace(model, systems=(made,))


def response_by_hand(load: float) -> float | None:
    """A response of h times that measured, A: h A = 1 + F h B / (1 - B), where B = b load h; a quadratic in h."""
    measured = 1.0 + SERVICE * BUSY / (1.0 - BUSY)
    beta = BUSY * load
    root = (measured + beta) ** 2 - 4.0 * beta * (measured + SERVICE)
    if root < 0.0:
        return None
    return measured * (measured + beta - math.sqrt(root)) / (2.0 * beta * (measured + SERVICE))


@pytest.mark.parametrize("load", [0.5, 1.0, 1.5, 2.5, 2.9, 2.917])
def test_a_lock_that_is_held_while_others_wait_for_it(load: float) -> None:
    model = contended()
    (system,) = model.systems
    (found,) = at(model, system, Change(scale=load)).classes.values()
    assert found.response == pytest.approx(response_by_hand(load), rel=1e-3 if load > 2.9 else 1e-5)


def test_load_from_which_such_a_lock_has_no_end() -> None:
    # (A + B)^2 = 4 B (A + F) gives B = A + 1 - sqrt(2 A + 1) for F = 1/2: the lock is only 43 % busy there.
    model = contended()
    (system,) = model.systems
    measured = 1.0 + SERVICE * BUSY / (1.0 - BUSY)
    limit = (measured + 1.0 - math.sqrt(2.0 * measured + 1.0)) / BUSY
    assert response_by_hand(limit * 0.9999) is not None
    assert response_by_hand(limit * 1.0001) is None
    assert saturation(model, system, Change()) == (pytest.approx(limit, rel=1e-4), "contention LOCK")
