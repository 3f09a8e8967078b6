"""Db2 for z/OS.

Statistics (SMF 100) count from the start of Db2. What a row says of an interval is the difference of two successive
records of the same start (`plexlens.metrics.cumulative`); levels and high-water marks are as recorded, the latter since
the start. The first record of the data and the first after a start tell no interval; `db2_subsystem` counts them.

Members of a data sharing group are rows of their own; rolled up by ``group_name`` they become the group.

Accounting (SMF 101) has a record for each thread or transaction, written when it ends or is reused. Records are added
up by the quarter of an hour in which they were written; a thread that ran for hours counts where it ended. Rates per
second are therefore not defined on them. Class 1 is the whole thread, class 2 its time in Db2, class 3 its waits there,
class 7 and 8 the same of packages (IFCID 239). CP is a general processor, SE a specialty engine (zIIP), SECP work that
a zIIP could have run but a CP did.
"""

from __future__ import annotations

from plexlens.metrics.db2.accounting import ACCOUNTING, CORRELATION, USER
from plexlens.metrics.db2.accounting_pool import POOL_USE
from plexlens.metrics.db2.accounting_sharing import SHARING_USE
from plexlens.metrics.db2.address_space import ADDRESS_SPACE
from plexlens.metrics.db2.data_set import DATA_SET
from plexlens.metrics.db2.group_pool import GROUP_POOL
from plexlens.metrics.db2.locking import LOCKING
from plexlens.metrics.db2.log import LOG
from plexlens.metrics.db2.package import PACKAGE
from plexlens.metrics.db2.pool import POOL
from plexlens.metrics.db2.simulation import SIMULATION
from plexlens.metrics.db2.storage import STORAGE
from plexlens.metrics.db2.subsystem import SUBSYSTEM_GRAIN

STATISTICS = (SUBSYSTEM_GRAIN, POOL, SIMULATION, GROUP_POOL, LOCKING, LOG, ADDRESS_SPACE, STORAGE)

GRAINS = (*STATISTICS, ACCOUNTING, CORRELATION, USER, POOL_USE, SHARING_USE, PACKAGE, DATA_SET)
