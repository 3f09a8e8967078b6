"""DASD: devices (SMF 74-1), data sets (SMF 42-6), and the channel paths to them (SMF 73).

Devices and channel paths come from RMF reports in XML too, where no record of the interval is there.

``dasd_device``: all fields are totals of the interval, counted or timed by the channel subsystem and IOS; those that
are numbers of samples (reserved, allocated, not ready) become times: samples with the condition over all samples,
times the interval. Times come with the number of I/Os that they are of (SMF74MEC), which can be lower than the I/Os
started (SMF74SSC). A response time is IOS queue, pending, disconnect and connect time together; over several devices
or intervals it is the sum of the times over the sum of the I/Os. Times of devices whose measurement RMF marked as
incorrect (SMF74CNF) are null, and the devices counted. By ``lcu`` or ``system`` the same definitions give the logical
control unit and the system. Formulas are those of the overview conditions for SMF 74-1 (z/OS RMF User's Guide).

``data_set``: what a job did with a data set while it had it open, written at CLOSE and, with interval recording, at
the end of each interval. The record has means; times are means times I/Os, so that they add up, in microseconds where
the release records them and in units of 128 microseconds before. Rows have intervals of their own, so rates are per
second of open data set.

``channel``: what a channel path did in the interval. Busy time comes from the measurement group of the channel: timed
(group 1), or work done over the most work it can do (group 2: FICON and OSA); without the channel path measurement
facility from samples. Totals are those of all partitions that share the channel, and the same in the records of all
systems of the machine: over several systems they count as often. Formulas are those of the overview conditions for SMF
73 (z/OS RMF User's Guide).
"""

from __future__ import annotations

from plexlens.metrics.dasd.channel import CHANNEL
from plexlens.metrics.dasd.data_set import DATA_SET
from plexlens.metrics.dasd.device import DEVICE

GRAINS = (DEVICE, DATA_SET, CHANNEL)
