"""Every command that findings print, checked by what its text says and by the records, not by its template.

The object exists, the new value differs from the value in force in the direction that the rule means, and what takes it
back is the value in force.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plexlens.expression.tree import Binary, Call, Expression, Name, Number, Text, Unary, names_of
from plexlens.findings import Findings, Rule, check, load_rules
from plexlens.findings.template import Filling
from plexlens.metrics.inputs import Inputs
from plexlens.pdb import Pdb, ingest
from tests.cli.command import run
from tests.draws import draws
from tests.example_file import write_example
from tests.findings.made import database
from tests.findings.recorded import Recorded, pool_name, undone
from tests.oracle import slow_commands

RULES = {rule.id: rule for rule in load_rules()}

#: Rules that make something smaller; every other command with a number makes it larger, or sets what is not recorded.
SMALLER = {"db2.pool_page_ins", "db2.pool_idle", "db2.edm_skeleton_pool_large"}

REAL = Path(__file__).parents[3] / "shared" / "data"
SCENARIOS = Path(__file__).parents[2] / "scenarios"


def check_texts(rule: str, command: str, undo: str) -> None:
    """What can be told of a command from its text and the one that takes it back."""
    new, old = slow_commands.last(command), slow_commands.last(undo)
    assert set(old) <= set(new), f"{rule}: {undo} takes back what {command} does not set"
    for key, was in old.items():
        now = new[key]
        if key[1] == "SPSIZE":
            continue
        assert now.value != was.value, f"{rule}: {command} changes nothing"
        if was.number is not None and now.number is not None:
            assert (now.number < was.number) == (rule in SMALLER), f"{rule}: {command} against {undo}"
    assert not re.search(r"\bnan\b|\binf\b|\u2013|[{}\[\]]", command + undo)


# --- perturbed settings -----------------------------------------------------------------------------------------------


_CALLS = {"greatest": max, "least": min}
_SIGNS: dict[str, Callable[[float, float], float | None]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b if b else None,
    "<": lambda a, b: float(a < b),
    "<=": lambda a, b: float(a <= b),
    ">": lambda a, b: float(a > b),
    ">=": lambda a, b: float(a >= b),
    "=": lambda a, b: float(a == b),
    "!=": lambda a, b: float(a != b),
}

Value = float | str | None


def value(expression: Expression, of: Mapping[str, Value]) -> Value:
    """The value of an expression, slowly; what is not known is None, as in SQL."""
    result: Value
    if isinstance(expression, Number):
        result = expression.in_base
    elif isinstance(expression, Text):
        result = expression.value
    elif isinstance(expression, Name):
        result = of[expression.name]
    elif isinstance(expression, Call):
        result = called(expression.function, [value(one, of) for one in expression.arguments])
    elif isinstance(expression, Unary):
        inner = value(expression.operand, of)
        negated = float(not inner) if expression.operator == "not" else -float(inner or 0.0)
        result = None if inner is None else negated
    else:
        assert isinstance(expression, Binary)
        result = joined(expression.operator, value(expression.left, of), value(expression.right, of))
    return result


def called(function: str, values: list[Value]) -> Value:
    if function == "known":
        return float(values[0] is not None)
    if function == "contains":
        return float(str(values[1]) in str(values[0]))
    known = [float(one) for one in values if one is not None]
    return _CALLS[function](known) if known else None


def joined(sign: str, left: Value, right: Value) -> Value:
    if sign in ("and", "or"):
        decisive = 0.0 if sign == "and" else 1.0
        if decisive in (left, right):
            return decisive
        return None if None in (left, right) else 1.0 - decisive
    return None if left is None or right is None else _SIGNS[sign](float(left), float(right))


@pytest.mark.parametrize("rule", [one for one in RULES.values() if one.undo.expressions], ids=lambda rule: rule.id)
@settings(max_examples=draws(25, soak=600), deadline=None)
@given(data=st.data())
def test_whatever_a_setting_is_the_command_changes_it(rule: Rule, data: st.DataObject) -> None:
    numbers = {name for one in rule.commanded for name in names_of(one)} - rule.named
    sizes = st.integers(1, 12) | st.integers(1, 5_000_000)
    fractions = st.integers(0, 98).map(lambda n: n / 100)
    values: dict[str, Value] = {
        name: data.draw(fractions if name in ("vdwqt", "vpseqt", "dwqt") else sizes, label=name) * 1.0
        for name in sorted(numbers)
    }
    for name in ("structure_bytes", "structure_bytes_maximum", "buffer_limit"):
        # Sizes of structures are whole MiB, limits of buffers whole KiB; a structure is no larger than its maximum.
        if name in values:
            values[name] = float(str(values[name])) * (1024.0 if name == "buffer_limit" else 1024.0**2)
    if "structure_bytes_maximum" in values:
        values["structure_bytes"] = min(float(str(values[n])) for n in ("structure_bytes", "structure_bytes_maximum"))
    if "lock_entries" in values:
        values["lock_entries"] = 2.0 ** data.draw(st.integers(18, 30), label="lock entries")
    for name in rule.named:
        values[name] = {"structure": "DSNDB0A_GBP1", "page_fix": "NO", "db2_version": "12"}.get(name, "X1")
    # What the conditions of these rules leave open.
    if rule.id == "mq.few_dispatchers":
        values["tasks"] = float(data.draw(st.integers(1, 99), label="tasks"))
        values["channels"] = max(1001.0, 50.0 * float(str(values["tasks"])) + data.draw(st.integers(1, 400)))
    if rule.id == "db2.pool_idle":
        values["buffers"] = float(data.draw(st.integers(10_001, 5_000_000), label="buffers"))
    worked = {one: value(one, values) for one in rule.commanded}
    filling = Filling(
        {name: str(values[name]) for name in rule.named},
        {one: None if number is None else float(number) for one, number in worked.items()},
        {"Db2": (12, 1)},
    )
    command, _ = rule.command.commands(filling)
    undo = rule.undo.commands(filling)[0] if command else ""
    # Where there is no room (a structure at its maximum) there is no command, and nothing to take back.
    check_texts(rule.id, command, undo)


# --- data -------------------------------------------------------------------------------------------------------------


def check_data(found: Findings, inputs: Inputs) -> int:
    """Check every command against the records; how many settings were checked."""
    recorded = Recorded(inputs)
    checked = 0
    for finding in (one for lead in found.fired for one in lead.all):
        check_texts(finding.rule.id, finding.command, finding.undo)
        assert all(value in recorded.names for value in slow_commands.headings(finding.command)), finding.command
        for word, name in slow_commands.objects(finding.command):
            whole = name if word != "GROUPBUFFERPOOL" else name.removeprefix("G")
            # Named by its group: where no facility was measured, nothing tells whether the structure is there.
            unmeasured = word == "STRNAME" and not inputs.has("smf74_4_request")
            known = bool({name, whole} & recorded.names)
            assert known or unmeasured, f"{finding.rule.id}: {finding.command}: no {word} {name}"
        checked += len(slow_commands.settings(finding.command))
    for one in undone(found, recorded):
        assert one.setting.number == one.in_force, f"{one.rule}: {one.setting}, and {one.in_force:.0f} are in force"
    return checked


def found_in(files: list[Path]) -> tuple[Findings, int]:
    with Pdb.temporary() as pdb:
        ingest(files, pdb)
        inputs = Inputs(pdb.connect())
        found = check(inputs)
        return found, check_data(found, inputs)


def test_commands_of_the_example(tmp_path: Path) -> None:
    write_example(tmp_path / "example.smf")
    found, checked = found_in([tmp_path / "example.smf"])
    assert checked > 30
    named = {place for lead in found.fired for one in lead.all for place in slow_commands.objects(one.command)}
    assert {("BUFFERPOOL", "BP2"), ("BUFFERPOOL", "BP9")} <= named
    # BP2, BP9 and BP11 of DE34, a Db2 8, were enlarged from 20,000 to 40,000 buffers: a fifth more than 40,000.
    commands = {one.name: (one.command, one.undo) for lead in found.fired for one in lead.all if "DE34" in one.name}
    for pool in ("BP2", "BP9", "BP11"):
        assert commands[f"T104 / DE34 / {pool}"][1] in (f"-ALTER BUFFERPOOL({pool}) VPSIZE(40000)", "")
    texts = "".join(one.command for lead in found.fired for one in lead.all if "DE34" in one.name)
    assert "VPSIZE(48000)" in texts
    assert "SPSIZE" not in texts


@pytest.mark.skipif(not REAL.is_dir(), reason="no real files beside this checkout")
@pytest.mark.parametrize("folder", ["mq", "rmf"])
def test_commands_of_real_files(folder: str) -> None:
    found_in(sorted((REAL / folder).iterdir()))


@pytest.mark.parametrize("scenario", sorted(path.stem for path in SCENARIOS.glob("*.toml")))
def test_commands_of_simulated_scenarios(scenario: str, tmp_path: Path) -> None:
    dump = tmp_path / "run.smf"
    words = ["simulate", str(SCENARIOS / f"{scenario}.toml"), "-o", str(dump), "--seconds", "60"]
    done = run(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found_in([dump])


def test_a_command_changes_the_value_in_force_at_the_end_of_the_data() -> None:
    """Enlarged from 20,000 to 40,000 after the first of four intervals; only the first had many reads."""
    row = {"subsystem": "DB2A", "pool": "BP1"}
    rows = [row | {"interval": n, "sync_reads": 180000 * (n == 0), "buffers": 20000 * (1 + (n > 0))} for n in range(4)]
    inputs, grains = database({"db2_pool": rows})
    (finding,) = check(inputs, rules=[RULES["db2.pool_read_rate"]], grains=grains).fired
    assert finding.holding == 1
    assert finding.command == "-ALTER BUFFERPOOL(BP1) VPSIZE(48000)"
    assert finding.undo == "-ALTER BUFFERPOOL(BP1) VPSIZE(40000)"


@pytest.mark.parametrize(
    ("text", "objects"),
    [
        ("-ALTER BUFFERPOOL(BP1) VPSIZE(48000)", [("BUFFERPOOL", "BP1")]),
        ("* MQPA\nALTER PSID(4) EXPAND(SYSTEM)", [("PSID", "4")]),
        ("SETIOS HYPERPAV=YES\nD M=DEV(08A1)", [("DEV", "08A1")]),
        ("SETXCF START,ALTER,STRNAME=DSNDB0A_LOCK1,SIZE=65536", [("STRNAME", "DSNDB0A_LOCK1")]),
        ("SETXCF START,CLASSDEF,CLASS=class,CLASSLEN=nnnnn", []),
        ("-DISPLAY DATABASE(*) SPACENAM(*) LOCKS", []),
        ("PAGEADD PAGE=dsname", []),
    ],
)
def test_the_checker_finds_the_objects_of_a_command(text: str, objects: list[tuple[str, str]]) -> None:
    assert slow_commands.objects(text) == objects


# --- commands of plexlens pools ---------------------------------------------------------------------------------------


def plexlens(*words: str, cwd: Path) -> str:
    done = run(*words, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout


def scripts(node: Any) -> Iterator[tuple[str, str]]:
    """Every pair of commands and what takes them back, wherever it stands in the object."""
    if isinstance(node, dict):
        if "commands" in node and "reverse" in node:
            yield "\n".join(node["commands"]), "\n".join(node["reverse"])
        for value in node.values():
            yield from scripts(value)
    elif isinstance(node, list):
        for value in node:
            yield from scripts(value)


def test_commands_of_pools_change_what_the_statistics_tell(tmp_path: Path) -> None:
    """The pool is in the trace's statistics, the reverse is its size in force, and what is asked for is what is set."""
    seconds = ("--seconds", "30", "--page-trace")
    plexlens("simulate", str(SCENARIOS / "capacity.toml"), *seconds, "-o", "trace.smf", cwd=tmp_path)
    with Pdb.temporary() as pdb:
        ingest([tmp_path / "trace.smf"], pdb)
        rows = Recorded(Inputs(pdb.connect())).rows("smf100_ifcid2_qbst", "qbstpid", "qbstvpl")
    sizes = {pool_name(int(number)): float(buffers) for number, buffers in rows}
    assert sizes
    for asked, grows in (("BP1=40000", True), ("BP1=5000", False)):
        found = json.loads(plexlens("pools", "trace.smf", "--pool", asked, "--json", cwd=tmp_path))
        ((command, undo),) = scripts(found)
        new, old = slow_commands.last(command), slow_commands.last(undo)
        key = ("BUFFERPOOL BP1", "VPSIZE")
        assert set(new) == set(old) == {key}
        size = float(asked.partition("=")[2])
        assert (new[key].number, old[key].number) == (size, sizes["BP1"])
        assert (size > sizes["BP1"]) == grows
    recommended = list(
        scripts(json.loads(plexlens("pools", "trace.smf", "--budget", "250MiB", "--json", cwd=tmp_path)))
    )
    assert recommended
    for command, undo in recommended:
        new, old = slow_commands.last(command), slow_commands.last(undo)
        assert set(new) == set(old)
        for key, setting in new.items():
            assert setting.of.removeprefix("BUFFERPOOL ") in sizes
            assert setting.value != old[key].value, f"{command} changes nothing"
            if key[1] == "VPSIZE":
                assert old[key].number == sizes[setting.of.removeprefix("BUFFERPOOL ")]
