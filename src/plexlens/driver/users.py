"""Users of Locust that follow a test plan. Importing this module imports Locust, which patches the process."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator
from itertools import accumulate
from typing import Any

import gevent
import numpy as np
from locust import User, constant, task
from locust.exception import StopUser

from plexlens.driver.account import Account, cpu_seconds
from plexlens.driver.arrivals import Arrivals
from plexlens.driver.connection import Connection, Connections, Connector, Style
from plexlens.driver.exchange import Request, exchange
from plexlens.driver.outcome import Outcome, outcome_of
from plexlens.driver.plan import Plan, Users
from plexlens.driver.request_log import Clock, RequestLog
from plexlens.driver.think_time import Draws, stream

#: Numbers of the generators of a plan's seed: arrivals, choice of requests; each user has its own after these.
_ARRIVALS, _CHOICE, _USERS = 0, 1, 2
#: Seconds from the start of Locust's users to the begin of the plan.
LEAD = 0.2
#: Seconds between lines of the driver's own account.
NOTED = 0.1


class Drive:
    """A test plan that runs.

    Attributes
    ----------
    plan, log, environment
        The plan, the result file, and Locust's environment.
    due
        Requests that the plan wanted so far.
    """

    def __init__(self, plan: Plan, log: RequestLog, environment: Any, account: Account | None = None) -> None:
        self.plan = plan
        self._account = account
        self.log = log
        self.environment = environment
        self.clock: Clock = log.clock
        self.due = 0
        self.ending = False
        self.begin = self.end = 0.0
        self._cpu = 0.0
        self._connector = Connector(plan.server)
        self._shared = Connections(self._connector, plan.style, plan.most)
        self._shares = list(accumulate(request.weight for request in plan.requests))
        self._numbers = iter(range(10**9))
        self._choice = stream(plan.seed, _CHOICE)
        self._arrivals: Iterator[float] = iter(())
        self._next: float | None = None

    def start(self) -> None:
        """The test begins now."""
        # Locust takes some moments to start the users; the first request is not late for that.
        self.begin = self.clock.now() + LEAD
        self._cpu = cpu_seconds()
        gevent.spawn(self._watch)
        if self._account is not None:
            gevent.spawn(self._note, self._account)

    def _note(self, account: Account) -> None:
        while True:
            account.note(self.log.number)
            gevent.sleep(NOTED)

    def next_number(self) -> int:
        """A number for the next user."""
        return next(self._numbers)

    def connections(self) -> Connections:
        """The connections of a user: its own, or those of the pool."""
        if self.plan.style is Style.POOLED:
            return self._shared
        # Each user has a TLS session of its own, as users of different machines have.
        return Connections(Connector(self.plan.server), self.plan.style)

    def chosen(self, generator: np.random.Generator) -> Request:
        """A request by weight."""
        if len(self.plan.requests) == 1:
            return self.plan.requests[0]
        place = bisect(self._shares, generator.random() * self._shares[-1])
        return self.plan.requests[min(place, len(self._shares) - 1)]

    def run_arrivals(self, arrivals: Arrivals) -> None:
        """Send a request at each arrival, whatever became of those before."""
        self._choice = stream(self.plan.seed, _CHOICE)
        self._arrivals = arrivals.times(stream(self.plan.seed, _ARRIVALS))
        self._next = next(self._arrivals, None)
        while self._next is not None:
            due = self.begin + self._next
            gevent.sleep(max(0.0, due - self.clock.now()))
            if self.ending:
                return
            self._next = next(self._arrivals, None)
            gevent.spawn(self.send, self.chosen(self._choice), self._shared, "", due)

    def _unsent(self) -> None:
        """Give an outcome to arrivals that were due before the end, and that a late driver did not send."""
        while self._next is not None and self.begin + self._next <= self.end:
            self.due += 1
            flight = self.log.begin(self.chosen(self._choice).name, "", self.begin + self._next)
            self.log.end(flight, Outcome.NOT_SENT, "the driver was late")
            self._next = next(self._arrivals, None)

    def send(self, request: Request, connections: Connections, client: str, scheduled: float) -> None:
        """Send a request, and write what became of it."""
        self.due += 1
        flight = self.log.begin(request.name, client, scheduled)
        connections.place()
        connection: Connection | None = None
        limit = gevent.Timeout(self.plan.timeout, TimeoutError(f"no response within {self.plan.timeout:g} s"))
        try:
            flight.started = self.clock.now()
            limit.start()
            connection, flight.connection = connections.take()
            if flight.connection != "reused":
                flight.connect_seconds = connection.connect_seconds + connection.tls_seconds
                if self.plan.server.tls:
                    flight.tls_seconds = connection.tls_seconds
                    flight.tls = "resumed" if connection.resumed else "full"
            waited = self.clock.now() - flight.started
            keep = self.plan.style is not Style.NEW
            response = exchange(connection, request, self.plan.server, keep=keep)
            limit.cancel()
            flight.status, flight.sent, flight.received = response.status, response.sent, response.received
            flight.first_byte_seconds = waited + response.first_byte
            outcome, detail = response.outcome, response.detail
            connections.give_back(connection, reusable=response.reusable)
        except Exception as error:
            limit.cancel()
            outcome, detail = outcome_of(error, connected=connection is not None)
            if connection is not None:
                connection.close()
        finally:
            limit.cancel()
            connections.leave()
        self._told(request, flight.received or 0, outcome, self.log.end(flight, outcome, detail))

    def _told(self, request: Request, received: int, outcome: Outcome, response: float | None) -> None:
        """Have Locust's own numbers contain the request too."""
        if response is not None:
            self.environment.events.request.fire(
                request_type=request.protocol.value,
                name=request.name,
                response_time=response * 1e3,
                response_length=received,
                exception=RuntimeError(outcome.value) if outcome else None,
                context={},
            )

    def _watch(self) -> None:
        """End the test when the plan says so, and wait for what is in flight no longer than a request may take."""
        gevent.sleep(max(0.0, self.begin + self.plan.seconds - self.clock.now()))
        # The last arrival can be due at the very end, and a late driver has some left.
        late = self.clock.now() + self.plan.timeout
        while self._next is not None and self.clock.now() < late:
            gevent.sleep(0.01)
        self.ending = True
        last = self.clock.now() + self.plan.timeout + 1.0
        gevent.sleep(0.01)
        while self.log.flights and self.clock.now() < last:
            gevent.sleep(0.02)
        self.close()
        self.environment.runner.quit()

    def close(self) -> None:
        """End the test: what is in flight gets its line."""
        self.ending = True
        if not self.end:
            self.end = self.clock.now()
            self._unsent()
        self.log.close()

    def facts(self) -> dict[str, Any]:
        """Facts that the result file does not hold; seconds."""
        return {
            "begin": self.begin,
            "end": self.end,
            "due": self.due,
            "with_outcome": self.log.number,
            "cpu_seconds": cpu_seconds() - self._cpu,
            "seed": self.plan.seed,
        }


class ArrivalsUser(User):  # type: ignore[misc]
    """A user of Locust that brings all open arrivals."""

    abstract = True
    fixed_count = 1
    wait_time = constant(0)

    @task
    def arrive(self) -> None:
        """Bring the arrivals of the plan, then wait for the end of the test."""
        drive: Drive = self.environment.plexlens_drive
        assert isinstance(drive.plan.load, Arrivals)
        drive.run_arrivals(drive.plan.load)
        gevent.sleep(10**6)


class ThinkingUser(User):  # type: ignore[misc]
    """A user of Locust who thinks, sends a request, waits for the response, and thinks again."""

    abstract = True
    wait_time = constant(0)

    def on_start(self) -> None:
        """Take a number, from which the user's random numbers follow, and begin at its place of the ramp."""
        self.drive: Drive = self.environment.plexlens_drive
        load = self.drive.plan.load
        assert isinstance(load, Users)
        number = self.drive.next_number()
        self.client_name = f"user {number + 1}"
        self.generator = stream(self.drive.plan.seed, _USERS, number)
        self.draws = Draws(load.think, self.generator)
        self.connections = self.drive.connections()
        self.free = self.drive.begin + load.ramp_seconds * number / load.number

    @task
    def think_and_send(self) -> None:
        """Think, and send a request; the request is due at the end of the think time, however late the driver is."""
        due = self.free + self.draws.next()
        drive = self.drive
        if due > drive.begin + drive.plan.seconds:
            raise StopUser
        gevent.sleep(max(0.0, due - drive.clock.now()))
        if drive.ending:
            raise StopUser
        drive.send(drive.chosen(self.generator), self.connections, self.client_name, due)
        self.free = drive.clock.now()

    def on_stop(self) -> None:
        """Close the user's connections."""
        if self.drive.plan.style is not Style.POOLED:
            self.connections.close()
