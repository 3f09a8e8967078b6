"""Macros and conditional assembly: generation of the statements of a source.

A member of a macro library holds one macro: it is expanded as if called with its defaults. The language is the part of
conditional assembly that mapping macros use; whatever is outside it is an error with its place, never a guess.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from plexlens.dsect.conditions import LONGEST, Term, arithmetic, as_number, character, logical, substitute
from plexlens.dsect.fault import FaultError
from plexlens.dsect.statements import Statement, closing, split_list, split_operand
from plexlens.dsect.terms import is_symbol, self_defining

_MOST_STEPS = 200_000
#: Branches in one call, as long as ACTR does not say otherwise; the assembler's own limit.
_MOST_BRANCHES = 4096
_MOST_GENERATED = 100_000
_MOST_ELEMENTS = 10_000
_DEEPEST = 40
_SECTIONS = frozenset({"DSECT", "CSECT", "RSECT", "COM", "START"})
_CONTROL = frozenset({"AIF", "AGO", "SETA", "SETB", "SETC", "ACTR", "MACRO", "MEND", "MEXIT"})
_STORAGE = frozenset({"DS", "DC", "EQU", "ORG"})
#: System variables whose value no offset depends on; date and time have their length alone.
_SYSTEM = {
    **{"SYSPARM": "", "SYSECT": "", "SYSLOC": "", "SYSSTYP": "", "SYSNDX": "0000", "SYSNEST": "0"},
    **{"SYSMAC": "OPEN CODE", "SYSASM": "HIGH LEVEL ASSEMBLER", "SYSVER": "1.6.0"},
    **{"SYSDATE": "00/00/00", "SYSDATC": "00000000", "SYSTIME": "00.00"},
}
_EXPAND = "assemble the source with PRINT GEN and give the statements that it generates, or simplify this one"


@dataclass(frozen=True)
class Macro:
    """A macro definition.

    Attributes
    ----------
    prototype : Statement
        Its prototype.
    body : tuple of Statement
        The statements behind it, MEND included.
    label : str
        The parameter in the prototype's name field; empty when there is none.
    positional : tuple of str
        Positional parameters.
    keywords : dict of str to str
        Keyword parameters and their defaults.
    """

    prototype: Statement
    body: tuple[Statement, ...]
    label: str
    positional: tuple[str, ...]
    keywords: dict[str, str]


@dataclass
class _Set:
    """A SET symbol: a scalar, or elements by subscript."""

    kind: str
    indexed: bool = False
    values: dict[int, Term] = field(default_factory=dict)

    def get(self, at: int) -> Term:
        return self.values.get(at, "" if self.kind == "C" else 0)


class _Frame:
    """Variables of one macro call, or of open code."""

    def __init__(self, expander: Expander, *, call: Sequence[str] = (), system: dict[str, str] | None = None) -> None:
        self._expander = expander
        self._call = list(call)
        self.parameters: dict[str, str] = {}
        self.system = system or {}
        self.sets: dict[str, _Set] = {}
        self.branches = _MOST_BRANCHES

    def _operand(self, name: str, subscripts: list[int]) -> str | None:
        """Value of a parameter or system variable, or of an entry of its sublist."""
        if name == "SYSLIST":
            if not subscripts:
                raise FaultError("&SYSLIST has no subscript", "write &SYSLIST(n)")
            first, *subscripts = subscripts
            if first == 0:
                return self.system.get("SYSLABEL", "")
            value = self._call[first - 1] if 1 <= first <= len(self._call) else ""
        elif name in self.parameters:
            value = self.parameters[name]
        elif name in self.system:
            value = self.system[name]
        else:
            return None
        for subscript in subscripts:
            entries = _entries(value)
            value = entries[subscript - 1] if 1 <= subscript <= len(entries) else ""
        return value

    def value(self, name: str, subscripts: list[int]) -> Term:
        operand = self._operand(name, subscripts)
        if operand is not None:
            return operand
        content = self.sets.get(name)
        if content is None:
            raise FaultError(
                f"&{name} is not defined here",
                "define it with LCLx, GBLx or SETx, or as a parameter; only a few system variables are supported",
            )
        return content.get(subscripts[0] if subscripts else 0)

    def takes_subscripts(self, name: str) -> bool:
        content = self.sets.get(name)
        return content.indexed if content else True

    def attribute(self, letter: str, name: str, subscripts: list[int]) -> Term:
        if letter == "N" and name == "SYSLIST" and not subscripts:
            return len(self._call)
        content = self.sets.get(name) if self._operand(name, subscripts or [1]) is None else None
        if letter == "N" and content:
            return max(content.values, default=0) if content.indexed else 0
        value = str(self.value(name, subscripts))
        if letter == "K":
            return len(value)
        if letter == "N":
            return len(_entries(value)) if value else 0
        if letter == "T":
            return self._type(value)
        return self.symbol_attribute(letter, value)

    def _type(self, value: str) -> str:
        if not value:
            return "O"
        known = self_defining(value, 0)
        if known and known[1] == len(value):
            return "N"
        return str(self.symbol_attribute("T", value.upper())) if is_symbol(value) else "U"

    def symbol_value(self, name: str) -> Term:
        if name not in self._expander.equates:
            raise FaultError(f"{name} has no value in conditional assembly", "define it before, as NAME EQU number")
        return self._expander.equates[name]

    def symbol_attribute(self, letter: str, name: str) -> Term:
        if letter == "D":
            return int(name.upper() in self._expander.defined)
        if letter == "T" and name.upper() not in self._expander.names:
            return "U"
        raise FaultError(f"attribute {letter}'{name} is not supported in conditional assembly", _EXPAND)


def _entries(value: str) -> list[str]:
    """Entries of a sublist; a value without parentheses is one entry."""
    if value.startswith("(") and closing(value, 0) == len(value) - 1:
        return split_list(value[1:-1])
    return [value]


class Expander:
    """Generates the statements of a source.

    Parameters
    ----------
    statements
        The source.

    Attributes
    ----------
    notes : list of str
        What the user should know of the expansion.
    defined : set of str
        Names of the statements generated so far.
    equates : dict of str to int
        Those of them that EQU gives a plain value.
    names : set of str
        All names in the source.
    """

    def __init__(self, statements: Sequence[Statement]) -> None:
        self.notes: list[str] = []
        self.defined: set[str] = set()
        self.equates: dict[str, int] = {}
        self.names = {statement.name for statement in statements}
        self._globals: dict[str, _Set] = {}
        self._made: list[Statement] = []
        self._steps = 0
        self._calls = 0
        self._section = ("", "")
        self._macros, self._open = _definitions(statements)

    def statements(self) -> list[Statement]:
        """The generated statements.

        Raises
        ------
        DsectError
            A statement of conditional assembly that cannot be followed.
        """
        if self._macros and not self._in_use():
            if self._open:
                line = self._open[0].line
                self.notes.append(f"statements outside the macro, from line {line} on, not read: {len(self._open)}")
            inner = {statement.operation for macro in self._macros.values() for statement in macro.body}
            outer = [macro for name, macro in self._macros.items() if name not in inner]
            for macro in outer or self._macros.values():
                name = macro.prototype.operation
                self.notes.append(f"macro {name} (line {macro.prototype.line}) was expanded with its defaults")
                self._expand(macro, replace(macro.prototype, name="", operand=""), 1)
        else:
            self._run(self._open, _Frame(self, system=dict(_SYSTEM)), 0)
        return self._made

    def _in_use(self) -> bool:
        """Whether open code calls a macro, or defines a section or storage."""
        return any(statement.operation in self._macros.keys() | _SECTIONS | _STORAGE for statement in self._open)

    def _run(self, body: Sequence[Statement], frame: _Frame, depth: int) -> None:
        targets = _targets(body)
        at = 0
        while at < len(body):
            statement = body[at]
            at += 1
            self._steps += 1
            if self._steps > _MOST_STEPS:
                raise statement.error("conditional assembly does not end", "check the loop's condition")
            try:
                if statement.wrong:
                    raise FaultError(*statement.wrong)
                if statement.operation in ("MEXIT", "MEND"):
                    if depth:
                        return
                    raise FaultError(f"{statement.operation} without MACRO", "include the whole macro definition")
                if statement.operation in ("AIF", "AGO"):
                    target = _branch(statement, frame)
                    if target and target not in targets:
                        raise FaultError(f"sequence symbol {target} is not defined", "check the branch")
                    at = self._jump(targets[target], frame) if target else at
                elif not self._set(statement, frame):
                    self._generate(statement, frame, depth)
            except FaultError as fault:
                if depth or statement.operation in _CONTROL:
                    raise statement.error(fault.what, fault.remedy) from fault
                # What is wrong with a statement of open code matters only where its section is wanted.
                self._made.append(replace(statement, wrong=(fault.what, fault.remedy)))

    @staticmethod
    def _jump(target: int, frame: _Frame) -> int:
        """Target of the branch, counted against the limit as the assembler counts."""
        frame.branches -= 1
        if frame.branches < 0:
            raise FaultError("conditional assembly does not end", "check the loop's condition, or set ACTR")
        return target

    def _set(self, statement: Statement, frame: _Frame) -> bool:
        """Execute a statement that only changes variables; False for any other statement."""
        operation = statement.operation
        if operation == "ANOP":
            return True
        if operation == "ACTR":
            frame.branches = min(arithmetic(statement.operand, frame), _MOST_STEPS)
            return True
        if operation[:3] in ("LCL", "GBL") and operation[3:] in ("A", "B", "C"):
            self._declare(statement, frame)
            return True
        if operation not in ("SETA", "SETB", "SETC"):
            return False
        name = statement.name.removeprefix("&")
        subscript = 0
        if name.endswith(")") and "(" in name:
            name, index = name[:-1].split("(", 1)
            subscript = arithmetic(index, frame)
            if not 1 <= subscript <= _MOST_ELEMENTS:
                raise FaultError(f"subscript {subscript} of &{name}", f"use 1 to {_MOST_ELEMENTS}")
        if not statement.name.startswith("&") or not is_symbol(name) or name in frame.parameters:
            raise FaultError(f"`{statement.name}` cannot be set", "name a SET symbol, &NAME, before the operation")
        content = frame.sets.setdefault(name, _Set(operation[3], indexed=subscript > 0))
        if content.indexed != (subscript > 0) or content.kind != operation[3]:
            raise FaultError(
                f"&{name} is used with and without a subscript, or with two types",
                "use it always with or always without a subscript, and with a single SETx",
            )
        for place, operand in enumerate(split_list(statement.operand)):
            if place and not content.indexed:
                raise FaultError("several values for one variable", "give one, or a variable with subscript")
            content.values[subscript + place] = _evaluated(content.kind, operand, frame)
        return True

    def _declare(self, statement: Statement, frame: _Frame) -> None:
        kind = statement.operation[3]
        for part in split_list(statement.operand):
            name, parenthesis, _ = part.strip().removeprefix("&").upper().partition("(")
            if not is_symbol(name):
                raise FaultError(f"`{part}` is not a variable symbol", "write &NAME")
            fresh = _Set(kind, indexed=bool(parenthesis))
            if statement.operation.startswith("GBL"):
                fresh = self._globals.setdefault(name, fresh)
            frame.sets[name] = fresh

    def _generate(self, statement: Statement, frame: _Frame, depth: int) -> None:
        if statement.operation in ("MACRO", "AREAD", "AINSERT"):
            raise FaultError(f"{statement.operation} is not supported within a macro", _EXPAND)
        name = "" if statement.name.startswith(".") else substitute(statement.name, frame).upper()
        operation = substitute(statement.operation, frame).upper()
        operand = substitute(statement.operand, frame)
        if operation == "MNOTE":
            self._note(statement, operand)
            return
        remark = statement.remark
        if "&" in statement.operand:
            operand, more = split_operand(operand)
            remark = f"{more} {remark}".strip()
        result = replace(statement, name=name, operation=operation, operand=operand, remark=remark)
        macro = self._macros.get(operation)
        if macro:
            self._expand(macro, result, depth + 1)
            return
        if operation in _SECTIONS:
            self._section = (name, operation)
        if name:
            self.defined.add(name)
            term = self_defining(operand, 0) if operation == "EQU" else None
            if term and term[1] == len(operand):
                self.equates[name] = term[0]
        self._made.append(result)
        if len(self._made) > _MOST_GENERATED:
            raise FaultError(f"more than {_MOST_GENERATED} statements are generated", "check the loop's condition")

    def _note(self, statement: Statement, operand: str) -> None:
        severity, comma, message = operand.partition(",")
        severity, message = (severity, message) if comma and not operand.startswith("'") else ("0", operand)
        text = message.strip("'").replace("''", "'")
        if severity.strip() not in ("", "*") and as_number(severity) >= 8:
            raise FaultError(f"the macro refuses: {text}", "call it with other operands: add a line that calls it")
        self.notes.append(f"line {statement.line}: the macro says: {text}")

    def _expand(self, macro: Macro, call: Statement, depth: int) -> None:
        if depth > _DEEPEST:
            raise FaultError(
                f"macros call each other more than {_DEEPEST} deep", "check the condition of the inner call"
            )
        self._calls += 1
        operands: list[str] = []
        parameters = dict.fromkeys(macro.positional, "") | macro.keywords
        if macro.label:
            parameters[macro.label] = call.name
        for operand in split_list(call.operand) if call.operand.strip(",") else []:
            keyword, equals, value = operand.partition("=")
            if equals and is_symbol(keyword) and keyword.upper() in macro.keywords:
                parameters[keyword.upper()] = value
                continue
            if equals and is_symbol(keyword):
                known = ", ".join(macro.keywords) or "none"
                raise FaultError(f"{macro.prototype.operation} has no operand {keyword}=", f"its keywords are: {known}")
            if len(operands) < len(macro.positional):
                parameters[macro.positional[len(operands)]] = operand
            operands.append(operand)
        system = {
            **_SYSTEM,
            "SYSNDX": f"{self._calls:04}",
            "SYSECT": self._section[0],
            "SYSLOC": self._section[0],
            "SYSSTYP": self._section[1],
            "SYSMAC": macro.prototype.operation,
            "SYSNEST": str(depth),
            "SYSLABEL": call.name,
        }
        frame = _Frame(self, call=operands, system=system)
        frame.parameters = parameters
        within = f"in macro {macro.prototype.operation}, called in line {call.line}"
        self._run([replace(statement, within=within) for statement in macro.body], frame, depth)


def _evaluated(kind: str, text: str, frame: _Frame) -> Term:
    if kind == "A":
        return arithmetic(text, frame)
    return int(logical(text, frame)) if kind == "B" else character(text, frame)


def _definitions(statements: Sequence[Statement]) -> tuple[dict[str, Macro], list[Statement]]:
    """Macro definitions of a source by name, and its open code."""
    macros: dict[str, Macro] = {}
    rest: list[Statement] = []
    at = 0
    while at < len(statements):
        statement = statements[at]
        at += 1
        if statement.operation != "MACRO":
            rest.append(statement)
            continue
        start = at
        nested = 1
        while at < len(statements) and nested:
            nested += {"MACRO": 1, "MEND": -1}.get(statements[at].operation, 0)
            at += 1
        if nested or at - start < 2:
            raise statement.error("the macro definition is not complete", "add a prototype and a closing MEND")
        prototype = statements[start]
        if prototype.wrong:
            raise prototype.error(*prototype.wrong)
        macros[prototype.operation] = _macro(prototype, tuple(statements[start + 1 : at]))
    return macros, rest


def _macro(prototype: Statement, body: tuple[Statement, ...]) -> Macro:
    positional: list[str] = []
    keywords: dict[str, str] = {}
    for part in split_list(prototype.operand) if prototype.operand.strip(",") else []:
        name, equals, default = part.partition("=")
        if part and not (name.startswith("&") and is_symbol(name[1:]) and len(default) <= LONGEST):
            raise prototype.error(f"`{part[:40]}` is not a parameter", "parameters are &NAME or &NAME=default")
        if equals:
            keywords[name[1:].upper()] = default
        else:
            positional.append(name[1:].upper())
    label = prototype.name.removeprefix("&") if prototype.name.startswith("&") else ""
    return Macro(prototype, body, label, tuple(positional), keywords)


def _targets(body: Sequence[Statement]) -> dict[str, int]:
    """Position of each sequence symbol."""
    targets: dict[str, int] = {}
    for at, statement in enumerate(body):
        if statement.name.startswith("."):
            if statement.name in targets:
                raise statement.error(f"sequence symbol {statement.name} is defined twice", "rename one of them")
            targets[statement.name] = at
    return targets


def _branch(statement: Statement, frame: _Frame) -> str:
    """Sequence symbol to which AIF or AGO branches; empty if it falls through to the next statement."""
    parts = split_list(statement.operand)
    if statement.operation == "AGO":
        if not statement.operand.startswith("("):
            return _target(parts[0])
        condition, target = _condition(parts[0])
        chosen = arithmetic(condition, frame)
        targets = [target, *parts[1:]]
        return _target(targets[chosen - 1]) if 1 <= chosen <= len(targets) else ""
    for part in parts:
        condition, target = _condition(part.strip())
        if logical(condition, frame):
            return _target(target)
    return ""


def _condition(text: str) -> tuple[str, str]:
    """The parenthesised expression at the start of a part, and the text after it."""
    close = closing(text, 0) if text.startswith("(") else -1
    if close < 0:
        raise FaultError(f"`{text[:40]}` has no condition in parentheses", "write (condition).SYMBOL")
    return text[1:close], text[close + 1 :]


def _target(text: str) -> str:
    name = text.strip().upper()
    if not name.startswith(".") or not is_symbol(name[1:]):
        raise FaultError(f"`{text[:40]}` is not a sequence symbol", "write .SYMBOL")
    return name
