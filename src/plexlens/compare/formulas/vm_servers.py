"""Virtual machines that serve others: how busy they are, how many are needed, what file pool counters add up to."""

from __future__ import annotations

import math
from fractions import Fraction

from plexlens.compare.formulas.formula import Formula
from plexlens.compare.quantity import Quantity, exact

_10 = exact(10)
_100 = exact(100)
_1000 = exact(1000)
_DFW = "VM/ESA 1.1 performance report, 1992, DASD fast write for OfficeVision, tables 42 to 44"
_SFS = "VM/ESA 1.1 performance report, 1992, appendix B, derived results"
_RESERVE = "VM/ESA 1.1 performance report, 1992, table 61"


def _whole(busy: Quantity, limit: Quantity) -> Quantity:
    """The servers that carry a load, which is a whole number."""
    needed = busy / limit
    value, low, high = (Fraction(math.ceil(bound)) for bound in (needed.value, needed.low, needed.high))
    return Quantity(value, low, high)


FORMULAS = (
    Formula(
        "server_cpu_ms_per_second",
        "Processor time that a server uses in a second",
        "ms/s",
        "cpu_seconds x 1000 / elapsed_seconds",
        _DFW + ", CPU Msec/Sec",
        ("cpu_seconds", "elapsed_seconds"),
        (),
        lambda cpu_seconds, elapsed_seconds: cpu_seconds * _1000 / elapsed_seconds,
        "{cpu_seconds} x 1000 / {elapsed_seconds}",
    ),
    Formula(
        "server_busy_ms_per_second",
        "Time in a second in which a server computes or does I/O",
        "ms/s",
        "cpu + dasd: a server that does one thing at a time can have 1000",
        _DFW + ", Busy Msec/Sec",
        ("cpu", "dasd"),
        (),
        lambda cpu, dasd: cpu + dasd,
        "{cpu} + {dasd}",
    ),
    Formula(
        "server_active_ms_per_second",
        "Time in a second in which a server is active",
        "ms/s",
        "1000 - 10 x dormant - non_dormant x test_idle / 10: neither dormant nor idle on test, from percentages; "
        "test_idle is of the time that is not dormant",
        _DFW + ", Active Msec/Sec",
        ("dormant", "non_dormant", "test_idle"),
        (),
        lambda dormant, non_dormant, test_idle: _1000 - _10 * dormant - non_dormant * test_idle / _10,
        "1000 - 10 x {dormant} - {non_dormant} x {test_idle} / 10",
    ),
    Formula(
        "server_capacity_factor",
        "Work that a server can do against before",
        "",
        "before / after: time a second that the same work takes; busy time bounds it on one side, active time on the "
        "other, which has waits in it as well",
        _DFW,
        ("before", "after"),
        (),
        lambda before, after: before / after,
        "{before} / {after}",
    ),
    Formula(
        "servers_needed",
        "Servers needed at least",
        "servers",
        "busy / limit, rounded up: busy milliseconds a second of all over what one may use",
        _DFW,
        ("busy", "limit"),
        (),
        _whole,
        "{busy} / {limit} rounded up",
    ),
    Formula(
        "server_utilisation_percent",
        "Share of time that a server is taken up",
        "%",
        "running + page_wait, of the time that it is not dormant: nobody else is served in either",
        _RESERVE,
        ("running", "page_wait"),
        (),
        lambda running, page_wait: running + page_wait,
        "{running} + {page_wait}",
    ),
    Formula(
        "server_taken_percent",
        "Share of time that a server is taken up",
        "%",
        "per_hour x ms / 36,000: requests an hour times milliseconds each (utilisation law)",
        "VM/ESA 1.1 performance report, 1992, appendix F",
        ("per_hour", "ms"),
        (),
        lambda per_hour, ms: per_hour * ms / exact(36_000),
        "{per_hour} x {ms} / 36,000",
    ),
    Formula(
        "file_pool_agents",
        "Agents of file pool servers in use",
        "agents",
        "ms_per_command x commands / 1000: milliseconds that a command takes of them, times commands a second "
        "(Little's law)",
        _SFS + ", Agents Held and Agents In-call",
        ("ms_per_command", "commands"),
        (),
        lambda ms_per_command, commands: ms_per_command * commands / _1000,
        "{ms_per_command} x {commands} / 1000",
    ),
    Formula(
        "file_pool_ms",
        "Time of one unit of work, request, lock wait or block I/O",
        "ms",
        "ms_per_command / per_command",
        _SFS,
        ("ms_per_command", "per_command"),
        (),
        lambda ms_per_command, per_command: ms_per_command / per_command,
        "{ms_per_command} / {per_command}",
    ),
    Formula(
        "file_pool_seconds_per_command",
        "Time that file pool servers spend on a command",
        "s",
        "ms_per_command / 1000",
        "VM/ESA 1.1 performance report, 1992, IO TIME/CMD (Q) and SFS TIME/CMD (Q)",
        ("ms_per_command",),
        (),
        lambda ms_per_command: ms_per_command / _1000,
        "{ms_per_command} / 1000",
    ),
    Formula(
        "blocks_per_io",
        "Blocks moved by one I/O",
        "blocks",
        "blocks / ios, each per command",
        _SFS + ", Blocking Factor and Chaining Factor",
        ("blocks", "ios"),
        (),
        lambda blocks, ios: blocks / ios,
        "{blocks} / {ios}",
    ),
    Formula(
        "checkpoint_percent",
        "Time that a file pool server spends on checkpoints",
        "%",
        "duration / seconds_between x 100",
        _SFS + ", Checkpoint Utilization",
        ("duration", "seconds_between"),
        (),
        lambda duration, seconds_between: duration / seconds_between * _100,
        "{duration} / {seconds_between} x 100",
    ),
)
