"""Who called: the thread identification of an accounting record (WTID), and the names in its correlation id."""

from __future__ import annotations

from typing import Any

import ibis
import ibis.expr.datatypes as dt

from plexlens.metrics.definition import Key
from plexlens.metrics.inputs import RECORD, Inputs
from plexlens.metrics.mq.records import QUEUE_MANAGER

#: Keys of accounting grains: the connection and what is known of the program behind it.
APPLICATION_KEYS = (
    QUEUE_MANAGER,
    Key("connection", "Connection"),
    Key("application_type", "Kind of application"),
    Key("program", "Transaction, PSB or job"),
    Key("user", "User"),
    Key("channel", "Channel"),
    Key("partner", "Partner of the channel"),
)

#: QWHCATYP and WTIDATYP (thread cross-reference data).
_APPLICATION_TYPES = {
    1: "CICS",
    2: "batch or TSO",
    3: "IMS control region",
    4: "IMS dependent region",
    5: "command server",
    6: "channel initiator",
    7: "RRS batch",
}

#: Which bytes of the correlation id hold a name, by kind of application: first byte from 0, length.
_PROGRAM = {1: (4, 4), 2: (0, 8), 4: (4, 8), 7: (0, 8)}

#: Stands for an EBCDIC byte that is no printable character.
_NO_CHARACTER = "\x1a"

_DIGITS = "0123456789ABCDEF"

#: The character of every EBCDIC byte, in order.
_EBCDIC = "".join(
    character if character.isascii() and character.isprintable() else _NO_CHARACTER
    for character in bytes(range(256)).decode("cp037")
)


def _hex_of_engine(value: Any) -> Any:
    """Upper-case hexadecimal digits of a binary value: ``hex`` of the engine."""


_hex = ibis.udf.scalar.builtin(_hex_of_engine, name="hex", signature=((dt.binary,), dt.string))


def _text(digits: Any, first: int, length: int) -> Any:
    """EBCDIC text of some bytes given as hexadecimal digits; null where a byte is no printable character."""
    result = ibis.literal("")
    for byte in range(first, first + length):
        high, low = (ibis.literal(_DIGITS).find(digits.substr(2 * byte + half, 1)) for half in (0, 1))
        result = result + ibis.literal(_EBCDIC).substr(16 * high + low, 1)
    return ibis.ifelse(result.contains(_NO_CHARACTER), ibis.null("string"), result.rstrip())


def program(application_type: Any, correlation: Any) -> Any:
    """Transaction, PSB or job name in a correlation id (thread cross-reference data); null where it holds none."""
    digits = _hex(correlation.cast("binary"))
    kind = application_type.cast("int64")
    return ibis.cases(
        *((kind == code, _text(digits, first, length)) for code, (first, length) in _PROGRAM.items()),
        else_=ibis.null("string"),
    ).nullif("")


def application_type(code: Any) -> Any:
    """Kind of application in words."""
    kind = code.cast("int64")
    return ibis.cases(*((kind == number, name) for number, name in _APPLICATION_TYPES.items()), else_="other")


def applications(inputs: Inputs) -> Any:
    """The application keys of every accounting record that has a thread identification, by record."""
    table = inputs.table("smf116_1_wtid", "wtidatyp", text=("wtidccn", "wtidopid", "wtidchl", "wtidchlc", "wtidcori"))
    return table.select(
        *RECORD,
        connection=table.wtidccn,
        application_type=application_type(table.wtidatyp),
        program=program(table.wtidatyp, table.wtidcori),
        user=table.wtidopid,
        channel=table.wtidchl,
        partner=table.wtidchlc,
    )


def task_times(inputs: Inputs) -> Any:
    """Accounting interval of each class 3 record: start and end by record.

    A subtype 2 record continues a subtype 1 record and holds no times; its rows end when the record was built.
    """
    built = inputs.table("smf115_qwhs", text=("qwhsstck",))
    result = built.select(*RECORD, built=built.qwhsstck.cast("timestamp('UTC')"))
    if not inputs.has("smf116_1_wtas"):
        return result.select(*RECORD, task_start=ibis.null("timestamp('UTC')"), task_end=result.built)
    tasks = inputs.table("smf116_1_wtas", text=("wtasints", "wtasinte", "wtasstrt"))
    tasks = tasks.select(
        *RECORD,
        start=ibis.coalesce(tasks.wtasints.cast("timestamp('UTC')"), tasks.wtasstrt.cast("timestamp('UTC')")),
        end=tasks.wtasinte.cast("timestamp('UTC')"),
    )
    result = result.left_join(tasks, list(RECORD))
    return result.select(
        source_id=result.source_id,
        record_no=result.record_no,
        task_start=result.start,
        task_end=ibis.coalesce(result.end, result.built),
    )


def with_application(inputs: Inputs, table: Any) -> Any:
    """A table of accounting sections with the application keys and its interval added.

    The result has `task_start`, `task_end`, `queue_manager` and the names of `APPLICATION_KEYS` besides.
    """
    who = applications(inputs)
    when = task_times(inputs)
    table = table.left_join(who, list(RECORD)).drop("source_id_right", "record_no_right")
    table = table.left_join(when, list(RECORD)).drop("source_id_right", "record_no_right")
    return table.mutate(queue_manager=table.subsystem)


def accounting(table: Any) -> dict[str, Any]:
    """Identity, interval and application keys of a table made by `with_application`."""
    return {
        "system": table.system,
        "sysplex": table.sysplex,
        "interval_start": table.task_start,
        "interval_end": table.task_end,
        **{key.name: table[key.name] for key in APPLICATION_KEYS},
    }
