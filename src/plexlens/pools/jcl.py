"""A change of pools as jobs for z/OS: commands by IKJEFT01, SQL by DSNTEP2, and the job that reverses it.

Statements run in the order of the change, in as many steps as there are turns from commands to SQL and back. A step
runs only if the steps before it ended with 4 or less (COND). Sources: Db2 12 for z/OS, *DSN command processor* and
*DSNTEP2 and DSNTEP4 sample programs*; z/OS MVS JCL Reference (COND; statements end in column 71).
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence

from plexlens.errors import UsageError
from plexlens.pools.alter import Script

#: Columns of an input line that TSO and DSNTEP2 read.
_COLUMNS = 71

_HEAD = """\
//{job:<8} JOB (ACCT),'{title}',CLASS=A,MSGCLASS=X,REGION=0M
//* {what}
//* Set the job card, the libraries and the plan name of DSNTEP2 first.
"""

_STEP = """\
//{step:<8} EXEC PGM=IKJEFT01,DYNAMNBR=20{condition}
//STEPLIB  DD DISP=SHR,DSN=hlq.SDSNEXIT
//         DD DISP=SHR,DSN=hlq.SDSNLOAD
//SYSTSPRT DD SYSOUT=*
//SYSPRINT DD SYSOUT=*
//SYSUDUMP DD SYSOUT=*
//SYSTSIN  DD *
 DSN SYSTEM({subsystem})
{commands} END
/*
"""

_RUN = " RUN PROGRAM(DSNTEP2) PLAN(DSNTEP2) LIB('hlq.RUNLIB.LOAD')\n"


def jobs(script: Script, subsystem: str) -> tuple[str, str]:
    """The job of a change, and the job of its reverse: two files, since what is in one is submitted together.

    Parameters
    ----------
    script
        The change, of a single Db2.
    subsystem
        Name of the Db2.

    Raises
    ------
    UsageError
        A name that no Db2 has, a change without a statement, or a statement that is neither SQL nor a command of Db2.
    """
    if re.fullmatch(r"[A-Z@#$][A-Z0-9@#$]{0,3}", subsystem) is None:
        raise UsageError(
            file="",
            what=f"{subsystem!r} is not the name of a Db2 subsystem",
            remedy="name the Db2 with --subsystem, 1 to 4 of the characters A-Z 0-9 @ # $",
        )
    if not any(_kind(line) != "remark" for line in script.change):
        raise UsageError(file="", what="nothing changes, so there is no job", remedy="leave --jcl out")
    change = _job("CHANGE", "Buffer pools: the change", script.change, subsystem)
    return change, _job("REVERSE", "Buffer pools: the reverse of the change", script.reverse, subsystem)


def _job(title: str, what: str, lines: Sequence[str], subsystem: str) -> str:
    text = _HEAD.format(job=f"{subsystem}POOL"[:8], title=f"POOLS {title}", what=f"{what}, for {subsystem}.")
    for number, (kind, remarks, own) in enumerate(_steps(lines), 1):
        for remark in remarks:
            text += "".join(f"//* {part}\n" for part in textwrap.wrap(remark.removeprefix("--").strip(), _COLUMNS - 4))
        if not own:
            continue
        condition = "" if number == 1 else ",COND=(4,LT)"
        step = f"{'ALTER' if kind == 'command' else 'SQL'}{number}"
        if kind == "command":
            commands = "".join(_continued(line) for line in own)
            text += _STEP.format(step=step, condition=condition, subsystem=subsystem, commands=commands)
        else:
            text += _STEP.format(step=step, condition=condition, subsystem=subsystem, commands=_RUN)
            text += "//SYSIN    DD *\n" + "".join(f"{part}\n" for line in own for part in _wrapped(line)) + "/*\n"
    return text


def _kind(line: str) -> str:
    if not line.strip() or line.startswith("--"):
        return "remark"
    if line.startswith("-"):
        return "command"
    if line.rstrip().endswith(";"):
        return "sql"
    raise UsageError(
        file="", what=f"{line!r} is neither SQL nor a command of Db2", remedy="leave --jcl out, and run it yourself"
    )


def _steps(lines: Sequence[str]) -> Iterator[tuple[str, list[str], list[str]]]:
    """Kind, remarks and statements of each step."""
    kind, remarks, own = "", list[str](), list[str]()
    waiting: list[str] = []
    for line in lines:
        text = _kind(line)
        if text == "remark":
            waiting += [line] if line.strip() else []
            continue
        if own and text != kind:
            yield kind, remarks, own
            remarks, own = [], []
        kind = text
        remarks += waiting
        waiting = []
        own.append(line)
    yield kind, [*remarks, *waiting], own


def _continued(command: str) -> str:
    """A command with the continuation sign of TSO where it is longer than a line."""
    parts = textwrap.wrap(command, _COLUMNS - 3, break_long_words=False, break_on_hyphens=False)
    return "".join(f" {part}{' -' if at < len(parts) - 1 else ''}\n" for at, part in enumerate(parts))


def _wrapped(statement: str) -> list[str]:
    return textwrap.wrap(statement, _COLUMNS - 1, break_long_words=False, break_on_hyphens=False)
