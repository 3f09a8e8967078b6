"""IBM MQ for z/OS, from SMF 115 (statistics) and SMF 116 (accounting).

Statistics are counted from zero in every interval (STATIME): the queue manager clears them when it writes the record,
so that intervals add up. What is not a count of the interval says so: buffers available, pages of page sets, channels,
depths and storage are states when the record was written, highest and lowest values are those within the interval.
IBM MQ documentation, "Interpreting IBM MQ for z/OS performance statistics".

Accounting of class 3 (subtypes 1 and 2) is written when a task ends, and for a long-running task at each accounting
interval; its counts are those since the task's record before. Rows bear the interval of the task (WTASINTS,
WTASINTE), so that different tasks have different intervals: no rate per second is defined on them. Queues that a
subtype 1 record had no room for follow in subtype 2 records, which hold no times: their rows are placed at the time the
record was written. Class 1 (subtype 0) covers a thread from its start to its end. Accounting of channels (subtype 10)
follows the interval of the channel initiator; a channel that ran longer has a row in each.
IBM MQ documentation, "Interpreting IBM MQ for z/OS accounting data".
"""

from __future__ import annotations

from plexlens.metrics.mq.buffers import PAGE_SET, POOL
from plexlens.metrics.mq.calls import CALL
from plexlens.metrics.mq.channels import CHANNEL, INITIATOR
from plexlens.metrics.mq.channels import TASK as INITIATOR_TASK
from plexlens.metrics.mq.log import LOG, LOG_WRITE
from plexlens.metrics.mq.queue_manager import QUEUE_MANAGER_GRAIN, STORAGE
from plexlens.metrics.mq.queues import QUEUE, QUEUE_STATISTICS
from plexlens.metrics.mq.sharing import DB2, SHARED_DATA_SET, STRUCTURE
from plexlens.metrics.mq.tasks import TASK, THREAD

GRAINS = (
    QUEUE_MANAGER_GRAIN,
    STORAGE,
    POOL,
    PAGE_SET,
    LOG,
    LOG_WRITE,
    STRUCTURE,
    SHARED_DATA_SET,
    DB2,
    INITIATOR,
    INITIATOR_TASK,
    CHANNEL,
    QUEUE_STATISTICS,
    QUEUE,
    CALL,
    TASK,
    THREAD,
)
