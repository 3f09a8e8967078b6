"""CICS Transaction Server, from SMF 110-1 (monitoring) and SMF 110-2 (statistics).

Statistics are counted from the last reset: each interval, end-of-day and requested-reset collection resets them, so
that collections add up. Requested collections without a reset are left out, for the next one counts the same again.
Unsolicited ones tell what a resource counted until it went away. Peaks are those since the last reset; what is current
is the state when statistics were collected. IBM CICS TS documentation, "Introduction to CICS statistics".

Monitoring writes a performance record for each task, when it ends, and for a long one more often if the region is set
so (MNCONV, MNSYNC, MNFREQ). A wait clock holds a time and how often it was waited.
IBM CICS TS documentation, "Performance class data: listing of data fields".

What a transaction costs outside its region (network, Db2, MQ) is in neither: the grains of cost set the CPU time
of address spaces and report classes beside the transactions of the same time.
"""

from __future__ import annotations

from plexlens.metrics.cics.address_space_cost import ADDRESS_SPACE_COST
from plexlens.metrics.cics.cost import CLASS_COST
from plexlens.metrics.cics.db2 import DB2
from plexlens.metrics.cics.region import REGION
from plexlens.metrics.cics.storage import STORAGE
from plexlens.metrics.cics.tcb import TCB, TCB_POOL
from plexlens.metrics.cics.tcpip import TCPIP
from plexlens.metrics.cics.transaction import TRANSACTION

GRAINS = (REGION, TRANSACTION, TCB, TCB_POOL, DB2, TCPIP, STORAGE, ADDRESS_SPACE_COST, CLASS_COST)
