"""The tests of one series: its weekly profile, changes of its level, odd hours and days, with probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property

import numpy as np
import ruptures

from plexlens.changes.levels import FEWEST_DAYS, Calendar, Component, Kind, levels
from plexlens.changes.odd import Odd, is_heavy, odd_days, odd_episodes, shape_of
from plexlens.changes.profile import (
    FEWEST_WEEKS,
    TO_DEVIATION,
    Places,
    local_level,
    median_known,
    on_days,
    scaled,
    spread,
    unscaled,
    weekly_profile,
)
from plexlens.forecast.daily import WEEK, Values
from plexlens.forecast.series import WHOLE_DAY

#: Fewest whole days of a series that is judged.
FEWEST_WHOLE = 2 * WEEK

#: Fewest whole days of a series whose hours are judged: of two weeks the trial had false alarms in a sixth of the
#: databases.
FEWEST_FOR_HOURS = 3 * WEEK

#: Times the deviation of the days from which a day takes no part in the tests of levels: it is an odd day.
SET_ASIDE = 4.0

#: Largest share of the days that may be set aside.
MOST_SET_ASIDE = 0.15

#: Probability above which a change is not kept: none of the bounds of the false discovery rate lies above it.
KEEP = 0.01

#: A value that changes at most this often, and stays otherwise, is a setting that was changed.
FEW_STEPS = 8


class Why(StrEnum):
    """Why a series is not tested, or not for all."""

    EMPTY = "no values"
    SHORT = "fewer than two weeks of whole days"
    CONSTANT = "constant"
    HELD = "constant but for a few steps"
    WANDERS = "the level wanders: no test of levels"
    NO_HOURS = "fewer than three weeks: no test of odd hours"
    HEAVY = "large deviations are too usual: no test of odd hours"
    FEW = "episodes too few or too alike to say which hours or days are odd"


@dataclass(frozen=True)
class Event:
    """A change of a series, to be judged with all others.

    Attributes
    ----------
    kind
        ``level shift``, ``temporary shift``, ``trend``, ``odd hours``, ``odd day``.
    start, end
        Intervals of the grid: from the first that is changed to the first after it.
    peak
        Interval farthest from what is usual; None but for odd hours.
    p
        Its probability in noise; None for a step of a value that is constant otherwise.
    before, after
        The level before and with it, in the unit of the series; for a trend at the beginning and the end, for odd hours
        and days the usual and the measured value.
    course
        Of odd hours: the first interval of the days around them, the values from there on, and the usual values.
    """

    kind: str
    start: int
    end: int
    peak: int | None
    p: float | None
    before: float
    after: float
    course: tuple[int, Values, Values] | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class Detected:
    """A series as judged by itself.

    Attributes
    ----------
    chances
        Probability in noise of the clearest change, by test: ``level``, ``hours``, ``days``. Without a test that could
        not be made.
    events
        Possible changes, in the order of each test.
    notes
        What could not be tested, and why.
    known, missing, whole
        Intervals with a value, without one between the first and the last, and whole days.
    usual
        Mean of each day as the weekly profile and the level of the days around it would have it; not a number on days
        that are not whole.
    daily
        Mean of each day.
    carried
        Share of the noise carried over from day to day, at its upper bound.
    slots
        Slots of a day.
    """

    chances: dict[str, float]
    events: tuple[Event, ...]
    notes: tuple[Why, ...]
    known: int
    missing: int
    whole: int
    daily: Values
    usual: Values = field(default_factory=lambda: np.zeros(0))
    carried: float = 0.0
    slots: int = 96


#: Kinds of changes that are steps of the level.
LEVELS = (str(Kind.SHIFT), str(Kind.TEMPORARY))

#: Test of each kind of change.
TEST_OF = {
    str(Kind.SHIFT): "level", str(Kind.TEMPORARY): "level", str(Kind.TREND): "level", "odd hours": "hours",
    "odd day": "days",
}  # fmt: skip


@dataclass(frozen=True)
class _Days:
    """The days of a series: means of all days, values of the whole days beyond the profile, and the whole days."""

    daily: Values
    of_whole: Values
    whole: Places
    calendar: Calendar


@dataclass(frozen=True)
class _Parts:
    """A series divided into weekly profile, level of the days around, and what is left.

    Attributes
    ----------
    values
        The series.
    residual
        What its values have beyond the weekly profile, on the scale of `plexlens.changes.profile.scaled`.
    of_day, around
        Mean of that on each whole day, and the median of the days around each day.
    level
        The level at each slot: that of the days around, but for days on which it steps.
    whole
        The whole days.
    profile, is_log
        What the weekly profile has on each day, on that scale, and whether that is logarithms.
    """

    values: Values
    residual: Values
    of_day: Values
    around: Values
    level: Values
    whole: Places
    profile: Values
    is_log: bool

    @classmethod
    def of(cls, values: Values, whole: Places, weekday: int) -> _Parts:
        """Divide a series whose first day is a weekday."""
        days = len(values)
        on_scale, is_log = scaled(values)

        def divided(level: Values) -> tuple[Values, Values, Values]:
            profile = on_days(weekly_profile(on_scale - level[:, None], weekday), weekday, days)
            residual = on_scale - profile
            of_day = np.full(days, np.nan)
            of_day[whole] = np.nanmean(residual[whole], axis=1)
            return profile, residual, of_day

        *_, of_day = divided(np.zeros(days))
        # Without the level of the days around each day the profile is of weeks that are alike.
        profile, residual, of_day = divided(_filled(local_level(of_day)))
        around = _filled(local_level(of_day))
        # Without a profile of each weekday an hour is judged within its day.
        of_days = around if days >= FEWEST_WEEKS * WEEK else np.where(np.isfinite(of_day), of_day, around)
        level = np.repeat(of_days[:, None], values.shape[1], axis=1)
        return cls(values, residual, of_day, around, level, whole, profile, is_log)

    @cached_property
    def expected(self) -> Values:
        """Values of the profile and the level, in the unit of the series."""
        return unscaled(self.profile + self.level, self.values, is_log=self.is_log)

    @property
    def is_mostly_alike(self) -> bool:
        """Whether half of the values are the same, as of rare events: each event then is an episode like the others."""
        known = self.values[np.isfinite(self.values)]
        return bool((known == median_known(known)).mean() >= 0.5)

    def days_apart(self) -> Values:
        """Distance of each whole day from the days around it, over the deviation of these; zero where that is zero."""
        distance = (self.of_day - self.around)[self.whole]
        deviation = TO_DEVIATION * float(median_known(np.abs(distance)))
        return distance / deviation if deviation else np.zeros(len(distance))

    def stepped(self, steps: Sequence[int]) -> _Parts:
        """The same with the level of a day on which it steps before and after the step."""
        days, slots = self.values.shape
        level = self.level
        for place in steps:
            day = place // slots
            if not place % slots or day >= days:
                continue
            before, after = self.of_day[max(0, day - WEEK) : day], self.of_day[day + 1 : day + 1 + WEEK]
            for rows, other in ((slice(None, place % slots), before), (slice(place % slots, None), after)):
                if np.isfinite(other).any():
                    level[day, rows] = np.nanmedian(other)
        return replace(self, level=level)

    def hours_apart(self, weekday: int) -> Values:
        """Distance of each value from the profile and the days around, over the deviation of its hour."""
        rest = self.residual - self.level
        scale = spread(rest, weekday)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(scale > 0, rest / scale, np.nan)

    def odd_day(self, day: int, daily: Values, p: float) -> Event:
        """An odd day with what is usual on it."""
        slots = self.values.shape[1]
        usual = np.nanmean(np.where(np.isfinite(self.values[day]), self.expected[day], np.nan))
        return Event("odd day", day * slots, (day + 1) * slots, None, p, float(usual), float(daily[day]))

    def odd_hours(self, odd: Odd) -> Event:
        """Odd hours with what is usual at their peak, and the course of the days around."""
        days, slots = self.values.shape
        # Copies: a view would keep the whole series.
        first, last = max(0, odd.start // slots - 1), min(days, odd.peak // slots + 2)
        course = first * slots, self.values[first:last].flatten(), self.expected[first:last].flatten()
        usual, value = float(self.expected.flat[odd.peak]), float(self.values.flat[odd.peak])
        return Event("odd hours", odd.start, odd.end, odd.peak, odd.p, usual, value, course)


class Detector:
    """The tests of series on one grid; what they share is worked out once."""

    def __init__(self, weekday: int) -> None:
        self.weekday = weekday
        self._calendars: dict[bytes, Calendar] = {}

    def detect(self, values: Values) -> Detected:
        """Judge a series.

        Parameters
        ----------
        values
            A row per day of the local clock, a column per slot; not a number where nothing was measured.
        """
        known_at = np.isfinite(values)
        counts = known_at.sum(axis=1)
        known = int(counts.sum())
        flat = np.flatnonzero(known_at)
        missing = int(flat[-1] - flat[0] + 1 - known) if known else 0
        usual_count = float(np.median(counts[counts > 0])) if known else 0.0
        is_whole = counts >= WHOLE_DAY * max(usual_count, 1.0)
        whole = np.flatnonzero(is_whole)
        with np.errstate(invalid="ignore"):
            daily = np.where(is_whole, np.nansum(values, axis=1) / np.maximum(counts, 1), np.nan)

        def untested(why: Why, events: Sequence[Event] = ()) -> Detected:
            return Detected({}, tuple(events), (why,), known, missing, len(whole), daily)

        if not known:
            return untested(Why.EMPTY)
        if len(whole) < FEWEST_WHOLE:
            return untested(Why.SHORT)
        measured = values[known_at]
        steps = np.flatnonzero(np.diff(measured))
        if not len(steps):
            return untested(Why.CONSTANT)
        if len(steps) <= FEW_STEPS:
            return untested(Why.HELD, _held(measured, flat, steps))
        return self._tested(values, daily, whole, known, missing)

    def _tested(self, values: Values, daily: Values, whole: Places, known: int, missing: int) -> Detected:
        parts = _Parts.of(values, whole, self.weekday)
        chances: dict[str, float] = {}
        notes: list[Why] = []
        events: list[Event] = []
        scores = parts.days_apart()
        p, days = odd_days(scores)
        if days:
            chances["days"] = p
            events += [parts.odd_day(int(whole[day.start]), daily, day.p) for day in days if day.p < KEEP]
        # Where an odd day was, the level of the days around it stands: it takes no part.
        aside = np.abs(scores) > SET_ASIDE
        if aside.mean() > MOST_SET_ASIDE:
            aside[:] = False
        calendar = self._calendar(whole)
        of_whole = np.where(aside, parts.around[whole], parts.of_day[whole])
        result = levels(of_whole, calendar, KEEP)
        if result.p is None:
            notes.append(Why.WANDERS)
        else:
            chances["level"] = result.p
            events += self._changes(_Days(daily, of_whole, whole, calendar), parts.residual, result.changes)
        steps = [place for event in events if event.kind in LEVELS for place in (event.start, event.end)]
        parts = parts.stepped(steps)
        p = 1.0
        episodes: list[Odd] = []
        if len(whole) < FEWEST_FOR_HOURS:
            notes.append(Why.NO_HOURS)
        elif not parts.is_mostly_alike:
            apart = parts.hours_apart(self.weekday).ravel()
            if is_heavy(apart, len(whole) / 7):
                notes.append(Why.HEAVY)
            else:
                p, episodes = odd_episodes(apart, shape_of(apart, len(whole) / 7))
        if episodes:
            chances["hours"] = p
            events += [parts.odd_hours(episode) for episode in episodes if episode.p < KEEP]
        if not days or (not episodes and not {Why.NO_HOURS, Why.HEAVY} & set(notes)):
            notes.append(Why.FEW)
        usual = np.full(len(values), np.nan)
        expected = np.where(np.isfinite(values), parts.expected, np.nan)
        usual[whole] = np.nanmean(expected[whole], axis=1)
        return Detected(
            chances, tuple(events), tuple(notes), known, missing, len(whole), daily, usual, result.carried,
            values.shape[1],
        )  # fmt: skip

    def _calendar(self, whole: Places) -> Calendar:
        key = whole.tobytes()
        if key not in self._calendars:
            # Each holds some ten megabytes; most series of a grain have the same days.
            if len(self._calendars) >= 4:
                self._calendars.pop(next(iter(self._calendars)))
            self._calendars[key] = Calendar(tuple(whole.tolist()), self.weekday)
        return self._calendars[key]

    def _changes(self, days: _Days, residual: Values, changes: Sequence[Component]) -> list[Event]:
        """Changes of the level, placed to the interval, with the level before and after each."""
        count, slots = residual.shape
        whole = days.whole
        changes = placed(days.of_whole, days.calendar, changes)
        places = {place for change in changes if change.kind is not Kind.TREND for place in (change.start, change.end)}
        bounds = sorted({0, len(whole), *places})
        events = []
        for change in changes:
            if change.kind is Kind.TREND:
                first, last = int(whole[0]), int(whole[-1])
                month = min(4 * WEEK, len(whole) // 2)
                before, after = self._level(days.daily, whole[:month], whole[-month:])
                events.append(Event(str(change.kind), first * slots, (last + 1) * slots, None, change.p, before, after))
                continue
            earlier, later = bounds[bounds.index(change.start) - 1], bounds[bounds.index(change.start) + 1]
            before, after = self._level(days.daily, whole[earlier : change.start], whole[change.start : later])
            start = instant(residual, days.of_whole, whole, change.start)
            end = count * slots if change.end == len(whole) else instant(residual, days.of_whole, whole, change.end)
            events.append(Event(str(change.kind), start, end, None, change.p, before, after))
        return events

    def _level(self, daily: Values, first: Places, second: Places) -> tuple[float, float]:
        """Mean of two sets of days, each weekday of the same weight where both have it."""
        weekdays = [(days + self.weekday) % WEEK for days in (first, second)]
        both = np.intersect1d(weekdays[0], weekdays[1])
        if not len(both):
            return float(daily[first].mean()), float(daily[second].mean())
        before, after = (
            float(np.mean([daily[days][of == weekday].mean() for weekday in both]))
            for days, of in zip((first, second), weekdays, strict=True)
        )
        return before, after


def _filled(level: Values) -> Values:
    """The level on each day, that of the nearest day where it is not known."""
    known = np.flatnonzero(np.isfinite(level))
    result: Values = np.interp(np.arange(len(level)), known, level[known])
    return result


def _held(measured: Values, places: Places, steps: Places) -> list[Event]:
    """Steps of a value that is constant between them."""
    ends = [*(int(places[step + 1]) for step in steps[1:]), int(places[-1]) + 1]
    return [
        Event(str(Kind.SHIFT), int(places[step + 1]), end, None, None, float(measured[step]), float(measured[step + 1]))
        for step, end in zip(steps, ends, strict=True)
    ]


def placed(daily: Values, calendar: Calendar, changes: Sequence[Component]) -> list[Component]:
    """The changes at the days that together explain most.

    Changes were events one after the other. Where there are several, the days are those of the exact partition into as
    many parts (ruptures), each taken for the change that it is within a week of.
    """
    steps = [place for change in changes if change.kind is not Kind.TREND for place in (change.start, change.end)]
    wanted = sorted({place for place in steps if place < len(daily)})
    if len(wanted) < 2:
        return list(changes)
    beside = [calendar.vector(change) for change in changes if change.kind is Kind.TREND]
    rest = calendar.without_weekdays(daily, wanted, beside)
    signal = rest.reshape(-1, 1)
    parts = ruptures.KernelCPD(kernel="linear", min_size=FEWEST_DAYS).fit(signal).predict(n_bkps=len(wanted))[:-1]
    moved = {
        old: new for old, new in zip(wanted, parts, strict=True) if abs(old - new) <= WEEK
    }  # fmt: skip
    return [
        change if change.kind is Kind.TREND
        else replace(change, start=moved.get(change.start, change.start), end=moved.get(change.end, change.end))
        for change in changes
    ]  # fmt: skip


def instant(residual: Values, of_whole: Values, whole: Places, place: int) -> int:
    """The interval at which a step happens, in the two days around the day that is the first of the new level.

    It is the place that divides the intervals best between the levels of up to a week before and after.
    """
    before = float(np.median(of_whole[max(0, place - WEEK) : place]))
    after = float(np.median(of_whole[place : place + WEEK]))
    slots = int(residual.shape[1])
    first, last = int(whole[place - 1]), int(whole[place])
    window = residual[first : last + 1].ravel()
    toward = np.nan_to_num((window - (before + after) / 2) * np.sign(after - before))
    # What lies after the place speaks for it, what lies before it against it.
    gain = np.concatenate([np.cumsum(toward[::-1])[::-1], [0.0]]) - np.concatenate([[0.0], np.cumsum(toward)])
    return first * slots + int(np.argmax(gain))
