"""Networks from Python against closed forms and worked examples of the textbooks."""

from __future__ import annotations

import math

import pytest

from plexlens._core import QueueingError, erlang_c, run_network, solve_network


def test_two_servers_are_the_closed_form() -> None:
    # M/M/2: s / (1 - rho^2) with rho = 0.75.
    found = solve_network([("cpu", "queue", 2, [1.0])], [("all", 1.5, 0, 0.0, 0, 1.0)])
    assert found["response"][0] == pytest.approx(1 / (1 - 0.75**2))
    assert found["utilisation"][0] == pytest.approx(0.75)
    # C(2, 1.5) = 2 rho^2 / (1 + rho) = 9/14.
    assert erlang_c(2, 1.5) == pytest.approx(9 / 14)


def test_priorities_by_hand() -> None:
    # First: 0.5 / (1 - 0.3). Second, Cobham: D / 0.7 + (0.6 x 0.5^2 + 0.5 x 0.4^2) / (0.7 x 0.5).
    classes = [("first", 0.6, 0, 0.0, 0, 1.0), ("second", 0.5, 0, 0.0, 1, 1.0)]
    found = solve_network([("cpu", "priority", 1, [0.5, 0.4])], classes)
    assert found["response"][0] == pytest.approx(0.5 / 0.7)
    assert found["response"][1] == pytest.approx(0.4 / 0.7 + (0.6 * 0.25 + 0.5 * 0.16) / (0.7 * 0.5))
    assert not found["exact"]


def test_closed_network_worked_by_the_recursion() -> None:
    """Mean value analysis by hand, as in Lazowska and others (1984), chapter 6.

    Demands 0.605 (CPU), 2.1 and 1.35 (disks), think time 15 s, 3 users.
    One user: R = 4.055, X = 1 / 19.055 = 0.05248; queues 0.03175, 0.11021, 0.07085.
    Two: R = 0.62421 + 2.33144 + 1.44564 = 4.40129, X = 2 / 19.40129 = 0.10309.
    """
    cpu, first, second, think = 0.605, 2.1, 1.35, 15.0
    queues = [0.0, 0.0, 0.0]
    throughput = response = 0.0
    for users in (1, 2, 3):
        times = [demand * (1 + queue) for demand, queue in zip((cpu, first, second), queues, strict=True)]
        response = sum(times)
        throughput = users / (think + response)
        queues = [throughput * time for time in times]
        if users == 2:
            assert response == pytest.approx(4.40129, abs=5e-5)
            assert throughput == pytest.approx(0.10309, abs=5e-6)
    stations = [("cpu", "queue", 1, [cpu]), ("disk 1", "queue", 1, [first]), ("disk 2", "queue", 1, [second])]
    found = solve_network(stations, [("users", None, 3, think, 0, 1.0)])
    assert found["exact"]
    assert found["throughput"][0] == pytest.approx(throughput)
    assert found["response"][0] == pytest.approx(response)


def test_too_much_work_says_where_and_how_much() -> None:
    with pytest.raises(QueueingError, match=r"cpu busy 150\.0 %") as caught:
        solve_network([("cpu", "priority", 2, [1.0])], [("all", 3.0, 0, 0.0, 0, 1.0)])
    assert caught.value.station == "cpu"
    assert caught.value.utilisation == pytest.approx(1.5)


@pytest.mark.parametrize(
    ("stations", "classes", "text"),
    [
        ([("cpu", "magic", 1, [1.0])], [("all", 1.0, 0, 0.0, 0, 1.0)], "give queue, priority or delay"),
        ([("cpu", "queue", 1, [1.0, 2.0])], [("all", 0.1, 0, 0.0, 0, 1.0)], "2 demands for 1 classes"),
        ([("cpu", "queue", 0, [1.0])], [("all", 0.1, 0, 0.0, 0, 1.0)], "number of servers"),
        ([("cpu", "queue", 1, [math.nan])], [("all", 0.1, 0, 0.0, 0, 1.0)], "service demand"),
        ([("cpu", "queue", 1, [1.0])], [("all", -0.1, 0, 0.0, 0, 1.0)], "arrival rate"),
        ([("cpu", "queue", 1, [1.0])], [("all", 0.1, 0, 0.0, 999, 1.0)], "priority of class all is 999"),
        ([("cpu", "queue", 1, [1.0])], [("all", 0.1, 0, 0.0, 0, 0.5)], "number of visits of all is 0.5"),
    ],
)
def test_what_means_nothing_is_refused(stations: list, classes: list, text: str) -> None:  # type: ignore[type-arg]
    with pytest.raises(QueueingError, match=text) as caught:
        solve_network(stations, classes)
    assert caught.value.station is None


def test_run_agrees_with_the_closed_form() -> None:
    stations = [("cpu", "priority", 1, [0.5, 0.4])]
    classes = [("first", 0.6, 0, 0.0, 0, 1.0), ("second", 0.5, 0, 0.0, 0, 1.0)]
    found = run_network(stations, classes, seed=3, warm_up=500.0, seconds=60_000.0, slice=0.01)
    # Processor sharing of equals: s / (1 - 0.5).
    for (mean, half), expected in zip(found["response"], (1.0, 0.8), strict=True):
        assert abs(mean - expected) < 2 * half < 0.1
    assert found["utilisation"][0] == pytest.approx(0.5, abs=0.02)
    assert found["laws_hold"]
    again = run_network(stations, classes, seed=3, warm_up=500.0, seconds=60_000.0, slice=0.01)
    assert again["response"] == found["response"]


@pytest.mark.parametrize("wrong", [{"seconds": 0.0}, {"warm_up": -1.0}, {"slice": 0.0}, {"seconds": math.inf}])
def test_lengths_that_mean_nothing(wrong: dict[str, float]) -> None:
    how = {"seed": 1, "warm_up": 1.0, "seconds": 10.0} | wrong
    with pytest.raises(QueueingError, match=next(iter(wrong))):
        run_network([("cpu", "queue", 1, [0.1])], [("all", 1.0, 0, 0.0, 0, 1.0)], **how)  # type: ignore[arg-type]
