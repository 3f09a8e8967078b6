"""The volumes of a system, and which class's I/O goes to which of them.

SMF 74-1 has the devices, SMF 72-3, 110-1 and 101 the I/O of classes without a device. SMF 42-6 connects them: it has
the data sets of each job by device. A class's I/O is spread as that of the jobs that do it: jobs of its own service
class, the regions that it runs in, or the database services of its Db2. Without SMF 42-6 a class uses all volumes
alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field

from plexlens.capacity.accounts import Account, Waited
from plexlens.capacity.attribution import base
from plexlens.capacity.lines import Line, Wait, queue_factor
from plexlens.capacity.resources import Device, JobUse
from plexlens.capacity.seen import NOTHING, Queues, Seen, per_transaction

#: Share of the I/Os asked for from which data sets are taken to be all that a job uses: intervals end at other times.
_ALL = 0.9

_Shares = Mapping[str, float]
"""Share of I/Os by device."""


@dataclass
class _Asked:
    """I/O of class periods by job and device under construction.

    Attributes
    ----------
    ios
        By class period and device.
    jobs
        Of these, those whose job is known: by job, class period and device.
    """

    ios: dict[str, dict[str, float]] = field(default_factory=dict)
    jobs: dict[tuple[str, ...], dict[tuple[str, str], float]] = field(default_factory=dict)

    def add(self, period: str, ios: float, spread: _Shares, jobs: Iterable[str]) -> None:
        """Count I/Os of a class period."""
        mine = self.ios.setdefault(period, {})
        known = self.jobs.setdefault(tuple(sorted(jobs)), {})
        for device, share in spread.items():
            mine[device] = mine.get(device, 0.0) + ios * share
            known[period, device] = known.get((period, device), 0.0) + ios * share


class _Spread:
    """Spread of the I/O of jobs over devices; jobs without records use all devices alike."""

    def __init__(self, there: tuple[Device, ...], uses: Iterable[JobUse]) -> None:
        every = sum(device.ios for device in there)
        self._alike = {device.name: device.ios / every for device in there} if every else {}
        self._each = {device.name: device.used / device.ios for device in there}
        self._uses = [use for use in uses if use.device in self._alike and use.ios > 0]
        self.jobs = {use.job for use in self._uses}

    def named(self, names: Iterable[str]) -> set[str]:
        """The jobs that have records of SMF 42-6."""
        return self.jobs & set(names)

    def of_class(self, names: Iterable[str]) -> set[str]:
        """Jobs of service classes."""
        wanted = set(names)
        return {use.job for use in self._uses if use.service_class in wanted}

    def ios(self, jobs: Set[str]) -> dict[str, float]:
        """I/Os of jobs by device."""
        values: dict[str, float] = {}
        for use in self._uses:
            if use.job in jobs:
                values[use.device] = values.get(use.device, 0.0) + use.ios
        return values

    def times(self, jobs: Set[str]) -> tuple[float, float]:
        """Seconds of service, and of waiting, of all I/Os of jobs."""
        mine = [use for use in self._uses if use.job in jobs]
        return sum(job_use.used for job_use in mine), sum(job_use.waited for job_use in mine)

    def service(self, shares: _Shares) -> float:
        """Seconds that a request is served, of requests so spread."""
        return sum(share * self._each[device] for device, share in shares.items())

    def of(self, jobs: Set[str], value: float) -> dict[str, float]:
        """Shares by device of the given number of I/Os of jobs: as their data sets, as far as those reach."""
        values = self.ios(jobs)
        whole = sum(values.values())
        if not whole:
            return dict(self._alike)
        known = min(1.0, whole / value) if value and whole < _ALL * value else 1.0
        results = {device: known * ios / whole for device, ios in values.items()}
        if known < 1.0:
            for device, share in self._alike.items():
                results[device] = results.get(device, 0.0) + (1.0 - known) * share
        return results


@dataclass
class VolumeLines:
    """The volumes of a system under construction.

    Parameters
    ----------
    made
        Lines and waits to add to.
    seen
        Transactions.
    there, uses
        Devices, and the jobs that use them.
    servers
        Service classes of address spaces by the class that they serve.
    """

    made: Queues
    seen: Seen
    there: tuple[Device, ...]
    uses: tuple[JobUse, ...]
    servers: Mapping[str, Set[str]]
    _asked: _Asked = field(init=False, default_factory=_Asked)
    _spread: _Spread = field(init=False)

    def __post_init__(self) -> None:
        self._spread = _Spread(self.there, self.uses)

    def add(self, own_io: Set[str]) -> None:
        """Add the lines of the devices, and the waits of each class there.

        Parameters
        ----------
        own_io
            Class periods that are charged with I/O of their own, in which that of Db2 on their behalf is contained.
        """
        self._charged()
        self._files()
        self._db2(own_io)
        self._own_jobs()
        for device in self.there:
            service = device.used / device.ios
            mine = self._grown(device.name)
            shares = {period: min(1.0, count / device.ios) for period, count in mine.items() if count > 0.0}
            factor = queue_factor(device.servers, device.busy, service, device.ios, device.waited)
            self.made.add(
                Line(
                    "volume", device.name, device.servers, device.busy, service, factor=factor,
                    rate=device.ios / device.seconds, shares=_at_most_all(shares), shared=True,
                )
            )  # fmt: skip

    def _grown(self, device: str) -> dict[str, float]:
        """I/Os of each class period at a device.

        What its jobs do there besides (prefetch, writes) grows with its classes.
        """
        values: dict[str, float] = {}
        for jobs, rows in self._asked.jobs.items():
            mine = {period: count for (period, where), count in rows.items() if where == device}
            whole = sum(mine.values())
            factor = max(1.0, self._spread.ios(set(jobs)).get(device, 0.0) / whole) if whole and jobs else 1.0
            for period, count in mine.items():
                values[period] = values.get(period, 0.0) + factor * count
        return values

    def _accounts(self, kind: str) -> Mapping[str, Account]:
        return self.seen.of.get(kind, {})

    def _regions_of(self, name: str) -> set[str]:
        """Jobs in which a class reads and writes files: its regions, else all that serve it."""
        account = self._accounts("SMF 110-1").get(name)
        waits = account.waits.items() if account is not None else ()
        regions = {kind.removeprefix("files ") for kind, entry in waits if kind.startswith("files ") and entry.count}
        return self._spread.named(regions) or self._spread.of_class(self.servers.get(name, ()))

    def _is_charged(self, name: str) -> bool:
        return any(self.seen.facts[period]["dasd_requests"] for period in self.seen.periods(name))

    def _charged(self) -> None:
        """I/O that SMF 72-3 charges to classes, or to the address spaces that serve them."""
        for period, facts in self.seen.facts.items():
            ended = self.seen.ended.get(period)
            if not ended or not facts["dasd_requests"]:
                continue
            name = base(period)
            own = self._spread.of_class({name})
            jobs = own or self._regions_of(name)
            queued = (facts["dasd_wait_seconds"] or 0.0) + (facts["dasd_ios_queue_seconds"] or 0.0)
            shares = self._spread.of(jobs, facts["dasd_requests"] if own else 0.0)
            self._asked.add(period, facts["dasd_requests"], shares, jobs)
            self.made.wait(period, Wait("volume", _lines(shares), facts["dasd_requests"] / ended, queued / ended))

    def _files(self) -> None:
        """I/O of CICS tasks to files (SMF 110-1, FCIOWTT) where SMF 72-3 charges none."""
        for name, account in self._accounts("SMF 110-1").items():
            waited = account.waited("files")
            if waited.seconds > NOTHING and waited.count and not self._is_charged(name):
                jobs = self._regions_of(name)
                self._served(name, waited, self._spread.of(jobs, waited.count), jobs)

    def _db2(self, own_io: Set[str]) -> None:
        """I/O of Db2 for its threads (SMF 101), by the Db2 that did it."""
        accounts = self._accounts("SMF 101")
        whole: dict[str, float] = {}
        for account in accounts.values():
            for member, entry in account.members.items():
                whole[member] = whole.get(member, 0.0) + entry.count
        for name, account in accounts.items():
            for member, entry in account.members.items():
                if entry.seconds > NOTHING and entry.count:
                    jobs = self._spread.named({f"{member}DBM1"})
                    self._served(name, entry, self._spread.of(jobs, whole[member]), jobs, but=own_io)

    def _served(
        self, name: str, waited: Waited, shares: _Shares, jobs: set[str], *, but: Set[str] = frozenset()
    ) -> None:
        """Waits of a service class for I/O: the time that devices need for it is service, the rest is waiting."""
        seconds, count = per_transaction(self.seen, name, waited)
        # Where devices are measured, the time that a request is served there is known.
        each = self._spread.service(shares)
        service = min(seconds, count * each) if each else seconds
        for period in self.seen.periods(name):
            if period not in but:
                self._asked.add(period, count * self.seen.ended[period], shares, jobs)
                self.made.io_service[period] = self.made.io_service.get(period, 0.0) + service
                self.made.wait(period, Wait("volume", _lines(shares), count, seconds - service))

    def _own_jobs(self) -> None:
        """I/O of a class's jobs that only SMF 42-6 records: per transaction, or as background load."""
        serving = {name for names in self.servers.values() for name in names}
        for name in sorted({base(period) for period in self.seen.facts} - serving):
            jobs = {job for job in self._spread.of_class({name}) if not job.endswith("DBM1")}
            periods, ios = self.seen.periods(name), self._spread.ios(jobs)
            if not ios or self._is_charged(name) or name in self._accounts("SMF 101"):
                continue
            if not periods:
                background = next(period for period in self.seen.facts if base(period) == name)
                for device, count in ios.items():
                    self._asked.add(background, count, {device: 1.0}, jobs)
                continue
            count, ended = sum(ios.values()), self.seen.count(name)
            used, waited = (seconds / ended for seconds in self._spread.times(jobs))
            shares = {device: value / count for device, value in ios.items()}
            for period in periods:
                self._asked.add(period, count * self.seen.ended[period] / ended, shares, jobs)
                self.made.io_service[period] = self.made.io_service.get(period, 0.0) + used
                self.made.wait(period, Wait("volume", _lines(shares), count / ended, waited))


def _at_most_all(shares: _Shares) -> dict[str, float]:
    whole = sum(shares.values())
    return {name: share / max(1.0, whole) for name, share in shares.items()}


def _lines(shares: _Shares) -> dict[str, float]:
    return {f"volume {device}": share for device, share in shares.items() if share > 0.0}
