"""Default CPU time of an I/O where the site's data does not yield it; shared by metrics and predictions."""

from __future__ import annotations

#: CPU seconds of an I/O.
CPU_OF_IO = 33e-6

#: Where that comes from.
SOURCE = "DB2 Buffer Pool Tuning (2014), CPU Sec Cost: 33 µs per I/O for each of its 21 objects"

#: Seconds.
DAY = 86400.0
