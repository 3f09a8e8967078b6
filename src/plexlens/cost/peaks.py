"""Four-hour averages by hour of partitions, capacity groups, machines and products, and their peaks.

The figure of a product is the highest sum, in one hour, over the partitions in which it runs; it is not the sum of the
partitions' own peaks (z/OS Planning for Sub-Capacity Pricing, How the peak four-hour rolling average MSU value is
determined). What counts for a partition under a limit is the lower of its average and the limit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from plexlens.cost.rolling import Series, known_share, of_hours, rolling
from plexlens.cost.use import PartitionUse, Use


@dataclass(frozen=True)
class PartitionHours:
    """A partition by hour.

    Attributes
    ----------
    average
        Four-hour average, mean over the hour, time without data counted as zero; not a number in an hour without data.
    known
        Share of those four hours of which the use is known.
    defined, group_limit
        Limits at the end of the hour; not a number where there is no limit.
    recorded
        What the system recorded (SMF70LAC), mean over the hour.
    """

    partition: PartitionUse
    average: Series
    known: Series
    defined: Series
    group_limit: Series
    recorded: Series

    @property
    def charged(self) -> Series:
        """The lower of the average and the defined capacity."""
        result: Series = np.fmin(self.average, self.defined)
        result[np.isnan(self.average)] = np.nan
        return result


@dataclass(frozen=True)
class Peak:
    """The highest hour of a sum of partitions.

    Attributes
    ----------
    msu
        The sum.
    hour
        Its place among the hours of the data; the first one of equals.
    parts
        What each partition had in it, by name.
    """

    msu: float
    hour: int
    parts: Mapping[str, float]


def partition_hours(use: Use, partition: PartitionUse, run: Series | None = None) -> PartitionHours:
    """A partition by hour.

    Parameters
    ----------
    use, partition
        The data.
    run
        Rates by five minutes in place of those measured.
    """
    covered = partition.samples.covered
    average = rolling(partition.samples.msu if run is None else run, partition.start)
    ends = [hour.periods.stop - 1 for hour in use.hours]
    reports = np.isfinite(partition.recorded)
    return PartitionHours(
        partition,
        of_hours(average, covered, use.hours),
        of_hours(known_share(covered, partition.start), covered, use.hours),
        partition.defined[ends],
        partition.group_limit[ends],
        of_hours(np.where(reports, partition.recorded, 0.0), reports.astype(float), use.hours),
    )


def peak_of(parts: Mapping[str, Series]) -> Peak:
    """The hour with the highest sum; an hour that a partition has no data of counts as zero for it.

    Parameters
    ----------
    parts
        Values by hour of each partition, by name; at least one.
    """
    total = np.nansum(np.array(list(parts.values())), axis=0)
    hour = int(np.argmax(total))
    return Peak(float(total[hour]), hour, {name: float(np.nan_to_num(values[hour])) for name, values in parts.items()})


def charged_by_hour(of_machine: Sequence[PartitionHours]) -> dict[str, Series]:
    """MSU that count for each partition of a machine by hour, under its own limit and that of its group.

    Where the members of a group have more than its limit together, each counts with its share of what they have.
    """
    result = {hours.partition.name: hours.charged for hours in of_machine}
    for group in dict.fromkeys(hours.partition.group for hours in of_machine if hours.partition.group):
        members = [hours for hours in of_machine if hours.partition.group == group]
        total = np.nansum([result[hours.partition.name] for hours in members], axis=0)
        limit = np.fmin.reduce([hours.group_limit for hours in members])
        factor = np.where(np.isfinite(limit) & (total > limit), limit / np.where(total > 0, total, 1), 1.0)
        for hours in members:
            result[hours.partition.name] = result[hours.partition.name] * factor
    return result


def group_shares(limit: float, weights: Mapping[str, float]) -> dict[str, float]:
    """Share of each partition in the limit of its capacity group, MSU.

    limit x weight / sum of weights (z/OS MVS Planning: Workload Management, Group capacity limit).

    Parameters
    ----------
    limit
        Limit of the group, MSU.
    weights
        Weight of each partition.
    """
    total = sum(weights.values())
    return {name: limit * weight / total if total else 0.0 for name, weight in weights.items()}
