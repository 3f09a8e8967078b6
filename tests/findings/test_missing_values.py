"""No text of a rule has a hole: whatever value is missing, a clause or a sentence goes with it."""

from __future__ import annotations

import re

import pytest

from plexlens.expression.tree import Binary, Expression, Name, names_of
from plexlens.findings import Rule, load_rules
from plexlens.findings.template import Filling, Template

RULES = {rule.id: rule for rule in load_rules()}

#: What a hole looks like: a dash for a value, what is left of a place, a mark or a word with nothing beside it.
HOLES = (
    "\u2013",
    "\0",
    "{",
    "[[",
    "()",
    "( ",
    " )",
    " ,",
    " .",
    " ;",
    " :",
    ",,",
    ", .",
    ", ;",
    "..",
    "  ",
    "None",
    "nan",
)
_HANGING = re.compile(r"\b(and|or|of|by|with|for|at|to|in|than|the|its)[.,;:)]")


def filling(rule: Rule, missing: str = "", texts: tuple[str, ...] = ("sentence", "action")) -> Filling:
    """Every value known but those that read the missing column."""
    templates: list[Template] = [getattr(rule, name) for name in texts]
    numbers: dict[Expression, float | None] = {
        expression: None if missing in names_of(expression) else 7.0
        for template in templates
        for expression in template.expressions
    }
    names = {name: None if name == missing else f"THE_{name.upper()}" for name in rule.named}
    return Filling(names, numbers, {"Db2": (13, 1), "z/OS": (3, 1)})


def required(expression: Expression) -> frozenset[str]:
    """Columns without which a condition cannot hold: each side of an ``and``, what both sides of an ``or`` need."""
    if isinstance(expression, Binary) and expression.operator == "and":
        return required(expression.left) | required(expression.right)
    if isinstance(expression, Binary) and expression.operator == "or":
        return required(expression.left) & required(expression.right)
    if isinstance(expression, Binary) and expression.operator in ("<", "<=", ">", ">=", "="):
        return frozenset(
            side.name for side in (expression.left, expression.right) if isinstance(side, Name)
        ) | frozenset(names_of(expression) if not re.search("greatest|least|known", str(expression)) else ())
    return frozenset()


def columns(rule: Rule) -> list[str]:
    """Every column that the sentence and the action read."""
    read = set().union(*(names_of(one) for one in rule.written)) | rule.named
    return sorted(read)


def holes(text: str, whole: str) -> list[str]:
    """What the text has of a hole, and the whole text has not."""
    return [hole for hole in HOLES if hole in text] + sorted(set(_HANGING.findall(text)) - set(_HANGING.findall(whole)))


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.id)
def test_each_value_missing_in_turn(rule: Rule) -> None:
    known = filling(rule)
    texts = rule.sentence.sentences(known, "THE TITLE."), rule.action.sentences(known, "")
    for missing in ["", *columns(rule)]:
        values = filling(rule, missing)
        sentence = rule.sentence.sentences(values, "THE TITLE.")
        action = rule.action.sentences(values, "")
        for text, whole in zip((sentence, action), texts, strict=True):
            assert holes(text, whole) == [], f"without {missing or 'nothing missing'}: {text}"
            assert not text or text.endswith("."), text
        # What the rule is about stays said: only a value without which it cannot fire may take the first sentence away.
        if missing not in required(rule.condition.expression) | set(rule.by):
            assert not sentence.startswith("THE TITLE."), f"without {missing}: the sentence is lost"
        if not missing:
            assert action


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.id)
def test_a_command_without_its_number_is_left_out(rule: Rule) -> None:
    for template in (rule.command, rule.undo):
        wanted = {name for one in template.expressions for name in names_of(one)} | template.names
        for missing in ["", *sorted(wanted)]:
            text, lacking = template.commands(filling(rule, missing, ("command", "undo")))
            assert not any(hole in text for hole in ("\u2013", "\0", "{", "[[", "None", "nan")), text
            assert all(line == line.strip() and line for line in text.splitlines()), text
            if missing:
                read = [p for p in lacking if p.name == missing or (p.expression and missing in names_of(p.expression))]
                assert lacking == tuple(read)
