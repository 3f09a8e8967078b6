"""Address spaces, steps and jobs, from SMF 30.

One record says what an address space used: in an interval (subtype 2), from the last interval to the end of the step
(subtype 3), in the step (4), in the job, session or started task (5). Interval records of a step add up to its step
record, steps to the job. So that nothing counts twice each grain has its own subtypes: ``address_space`` the intervals
(2 and 3), ``job_step`` the steps (4), ``job`` the jobs (5). A job that has no record of its end, because it still runs
or its record is not in the data, is counted from its intervals instead, and its row says so (``counted_from``). A job
that began before the data does is whole in ``job``, its intervals are not: the two grains then differ.

System address spaces without full function start have subtype 6, whose values are cumulative since they started. They
are rows of ``address_space`` as differences of successive records; the first record of one is only the base of the
next, and where a value is smaller than the one before the address space started anew and the record counts as it
stands.

Rows of ``address_space`` bear the SMF interval of their system in which their own ended, so that a region, and a step
that ran for a part of it, stand in the same interval; rates are per second of that interval. Without interval
synchronization the records of an address space end where they may: times and counts are right, their place is to
within an interval. Rows of ``job_step`` and ``job`` span from initiation to the time the record was written. Local
times become UTC by the difference that interval records of the same system and day show (SMF30IDT, SMF30IST against
SMF30ISS); without any they stay local. IBM documentation, z/OS MVS System Management Facilities, record type 30.
"""

from __future__ import annotations

from plexlens.metrics.jobs.address_space import ADDRESS_SPACE
from plexlens.metrics.jobs.job import JOB
from plexlens.metrics.jobs.step import JOB_STEP

GRAINS = (ADDRESS_SPACE, JOB_STEP, JOB)
