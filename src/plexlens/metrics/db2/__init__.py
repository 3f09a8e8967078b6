"""Db2 for z/OS.

Statistics (SMF 100) count from the start of Db2. What a row says of an interval is the difference of two successive
records of the same start (`plexlens.metrics.cumulative`); levels and high-water marks are as recorded, the latter since
the start. The first record of the data and the first after a start tell no interval; `db2_subsystem` counts them.

Members of a data sharing group are rows of their own; rolled up by ``group_name`` they become the group.
"""

from __future__ import annotations

from plexlens.metrics.db2.address_space import ADDRESS_SPACE
from plexlens.metrics.db2.group_pool import GROUP_POOL
from plexlens.metrics.db2.locking import LOCKING
from plexlens.metrics.db2.log import LOG
from plexlens.metrics.db2.pool import POOL
from plexlens.metrics.db2.subsystem import SUBSYSTEM_GRAIN

STATISTICS = (SUBSYSTEM_GRAIN, POOL, GROUP_POOL, LOCKING, LOG, ADDRESS_SPACE)

GRAINS = (*STATISTICS,)
