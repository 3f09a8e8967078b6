"""Sections of a source: the location counter advanced over DS, DC, ORG and EQU by the assembler's rules.

The statements are gone through until every symbol has its value, so that a duplication factor, length or EQU may use a
symbol defined further down. What depends on itself, or on a symbol that is nowhere, is an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from plexlens.dsect.expressions import UnresolvedError, Value, evaluate, evaluate_absolute
from plexlens.dsect.fault import DsectError, FaultError
from plexlens.dsect.operands import DataOperand, parse_operands
from plexlens.dsect.statements import Statement, split_list
from plexlens.dsect.terms import bounded, is_symbol, self_defining

#: Passes after which forward references are taken to have no end.
_MOST_PASSES = 16
_DUMMY = "DSECT"
_SECTIONS = frozenset({"DSECT", "CSECT", "RSECT", "COM", "START"})
#: Instructions that neither define fields nor move the location counter.
_SILENT = frozenset(
    {
        *("TITLE", "EJECT", "SPACE", "CEJECT", "PRINT", "PUSH", "POP", "PUNCH", "REPRO", "MNOTE", "ISEQ", "EXITCTL"),
        *("USING", "DROP", "ENTRY", "EXTRN", "WXTRN", "AMODE", "RMODE", "ALIAS", "XATTR", "CATTR", "ACONTROL"),
        # The last two name bits by EQU and take no storage.
        *("ADATA", "DXD", "IEZBITS", "IEZBIT"),
    }
)


@dataclass(frozen=True)
class Storage:
    """Bytes that an operand of DS or DC takes.

    Attributes
    ----------
    statement : Statement
        The statement.
    number : int
        The operand's number in it, from 1.
    operand : DataOperand
        The operand.
    offset : int
        First byte in the section.
    factor : int
        Duplication factor; zero takes no storage.
    lengths : tuple of int
        Length in bytes of each nominal value of one duplicate; of bit lengths, the bytes that hold the whole.
    first_bit, bits : int
        Of bit lengths, the first bit counted from the left of ``offset``, and how many; ``bits`` is 0 otherwise.
    """

    statement: Statement
    number: int
    operand: DataOperand
    offset: int
    factor: int
    lengths: tuple[int, ...]
    first_bit: int = 0
    bits: int = 0


@dataclass(frozen=True)
class Equate:
    """An EQU in a section.

    Attributes
    ----------
    statement : Statement
        The statement.
    value : Value
        The symbol's value.
    written : str
        The form of a self-defining value: ``X``, ``B``, ``C`` or ``N`` for a number; empty for an expression.
    """

    statement: Statement
    value: Value
    written: str


@dataclass
class Section:
    """A control section, dummy or not.

    Attributes
    ----------
    name : str
        Its name; empty for the unnamed one.
    is_dummy : bool
        Whether DSECT defines it.
    line : int
        Where it begins.
    items : list of Storage or Equate
        What it holds, in the order of the source.
    length : int
        Bytes to its highest location.
    fault : DsectError or None
        Why it cannot be used: its first statement that is wrong, unknown, or without a value.
    """

    name: str
    is_dummy: bool
    line: int
    items: list[Storage | Equate] = field(default_factory=list)
    length: int = 0
    fault: DsectError | None = None


@dataclass(frozen=True)
class Assembly:
    """All sections of a source.

    Attributes
    ----------
    sections : tuple of Section
        In the order in which they begin.
    unexpanded : dict of str to int
        Operations outside dummy sections that are not supported assembler instructions (macros, machine instructions),
        and the line of the first of each.
    notes : tuple of str
        What the user should know.
    """

    sections: tuple[Section, ...]
    unexpanded: dict[str, int]
    notes: tuple[str, ...]


def assemble(statements: Sequence[Statement]) -> Assembly:
    """Assign an address to every field.

    Parameters
    ----------
    statements
        The statements, macros expanded.

    Returns
    -------
    Assembly
        A section with a statement that is wrong, unknown or without a value carries that fault; others can be used.
    """
    known: dict[str, Value] = {}
    lengths: dict[str, int] = {}
    facts = -len(statements) - 1
    operands: dict[int, list[DataOperand]] = {}
    for _ in range(_MOST_PASSES):
        assembly = _Pass(statements, (known, lengths), operands)
        assembly.run()
        if not assembly.waiting:
            break
        now = len(assembly.symbols) + len(assembly.lengths) - assembly.waiting
        if now <= facts:
            break
        facts, known, lengths = now, assembly.symbols, assembly.lengths
    for section, statement, symbol in assembly.blocking:
        section.fault = section.fault or _unresolved(statements, statement, symbol)
    lacking = [f"{name} in line {statement.line} ({symbol})" for name, statement, symbol in assembly.valueless]
    if lacking:
        more = f" and {len(lacking) - 8} more" if len(lacking) > 8 else ""
        assembly.notes.append(f"EQU without a value, because a symbol is not defined: {', '.join(lacking[:8])}{more}")
    return Assembly(tuple(assembly.sections.values()), assembly.unexpanded, tuple(assembly.notes))


def _unresolved(statements: Sequence[Statement], statement: Statement, symbol: str) -> DsectError:
    """The error of a statement that needs a symbol without a value."""
    if symbol != "*" and symbol not in {other.name for other in statements}:
        return statement.error(
            f"symbol {symbol} is not defined", "add the statement that defines it, or its value as EQU"
        )
    what = "the location counter" if symbol == "*" else f"symbol {symbol}"
    return statement.error(
        f"it needs {what}, whose value depends on this statement or on an undefined one",
        "break the circle: write a number for the length or duplication factor",
    )


class _Pass:
    """A pass over the statements, using symbol values from the previous pass."""

    def __init__(
        self,
        statements: Sequence[Statement],
        known: tuple[dict[str, Value], dict[str, int]],
        operands: dict[int, list[DataOperand]],
    ) -> None:
        self.symbols: dict[str, Value] = {}
        self.lengths: dict[str, int] = {}
        self.sections: dict[str, Section] = {}
        self.unexpanded: dict[str, int] = {}
        self.notes: list[str] = []
        #: What lacks a symbol: statements that place fields with their section, and names of EQU statements.
        self.blocking: list[tuple[Section, Statement, str]] = []
        self.valueless: list[tuple[str, Statement, str]] = []
        self._statements = statements
        self._known, self._known_lengths = known
        self._operands = operands
        self._lines: dict[str, int] = {}
        self._locations: dict[str, int | None] = {}
        self._highest: dict[str, int | None] = {}
        self._here: Section | None = None

    @property
    def waiting(self) -> int:
        """Number of statements that lack a symbol."""
        return len(self.blocking) + len(self.valueless)

    def run(self) -> None:
        for index, statement in enumerate(self._statements):
            if statement.operation == "END":
                if index + 1 < len(self._statements):
                    self.notes.append(f"text after END (line {statement.line}) was not read")
                break
            try:
                if statement.wrong:
                    raise FaultError(*statement.wrong)
                self._obey(index, statement)
            except UnresolvedError as missing:
                if statement.operation == "EQU":
                    self.valueless.append((statement.name, statement, missing.symbol))
                elif self._here:
                    self.blocking.append((self._here, statement, missing.symbol))
                    self._lose()
            except FaultError as fault:
                self._counter()
                assert self._here is not None
                self._here.fault = self._here.fault or statement.error(fault.what, fault.remedy)
                self._lose()

    def _lose(self) -> None:
        """Mark the section's location counter as unknown from here on."""
        if self._here:
            self._locations[self._here.name] = self._highest[self._here.name] = None

    def _in_dummy(self) -> bool:
        return self._here is not None and self._here.is_dummy

    def _obey(self, index: int, statement: Statement) -> None:
        operation = statement.operation
        if operation in _SECTIONS:
            self._begin(statement)
        elif operation in ("DS", "DC"):
            self._store(index, statement)
        elif operation == "EQU":
            self._equate(statement)
        elif operation == "ORG":
            self._origin(statement)
        elif operation == "CNOP":
            self._pad(statement)
        elif operation == "*PROCESS":
            if "NOALIGN" in statement.operand.upper():
                raise FaultError("option NOALIGN is not supported", "remove it if the product was built without it")
        elif operation == "ICTL":
            if [part.strip() for part in split_list(statement.operand)] not in (["1"], ["1", "71"], ["1", "71", "16"]):
                raise FaultError("columns other than 1, 71 and 16", "bring the source to the standard columns")
        elif operation not in _SILENT:
            self._unknown(statement)

    def _unknown(self, statement: Statement) -> None:
        operation = statement.operation
        text = f"COPY {statement.operand}".strip() if operation == "COPY" else operation or statement.name
        if not self._in_dummy():
            self.unexpanded.setdefault(text, statement.line)
            return
        if operation == "COPY":
            raise FaultError(f"member {statement.operand or '?'} is not available", "replace the COPY by its text")
        if operation in ("LOCTR", "OPSYN", "LTORG"):
            raise FaultError(f"{operation} within a DSECT is not supported", "remove it from the section")
        raise FaultError(
            f"{operation or 'a name alone'} is not an assembler instruction that defines data or a macro of this file",
            "add the definition of the macro (MACRO to MEND) before this line, or replace the line by the generated "
            "statements; delete it if it generates no storage",
        )

    def _name(self, statement: Statement, length: int | None) -> None:
        """Enter a statement's name with its length attribute."""
        name = statement.name
        if not name or name.startswith("."):
            return
        if not is_symbol(name):
            raise FaultError(f"`{name}` cannot be a symbol", "a name has letters, digits and $ # @ _, no digit first")
        if name in self._lines:
            raise FaultError(
                f"symbol {name} is defined a second time (first in line {self._lines[name]})",
                "import the two mappings from separate files, or rename a symbol",
            )
        self._lines[name] = statement.line
        if length is not None:
            self.lengths[name] = length

    def _define(self, statement: Statement, value: Value) -> None:
        self._name(statement, value.length)
        if statement.name in self._lines:
            self.symbols[statement.name] = value

    def value(self, name: str) -> Value:
        """Value of a symbol, from this pass or the one before."""
        value = self.symbols.get(name) or self._known.get(name)
        if value is None:
            raise UnresolvedError(name)
        return value

    def length(self, name: str) -> int:
        """Length attribute of a symbol."""
        length = self.lengths.get(name, self._known_lengths.get(name))
        if length is None:
            raise UnresolvedError(name)
        return length

    def _counter(self) -> Value | None:
        if self._here is None:
            # Without a section the assembler begins the unnamed one.
            self._enter("", is_dummy=False, line=1)
        assert self._here is not None
        location = self._locations[self._here.name]
        return None if location is None else Value(location, self._here.name)

    def _enter(self, name: str, *, is_dummy: bool, line: int) -> None:
        self._here = self.sections.setdefault(name, Section(name, is_dummy, line))
        self._locations.setdefault(name, 0)
        self._highest.setdefault(name, 0)

    def _begin(self, statement: Statement) -> None:
        name = "" if statement.name.startswith(".") else statement.name
        if name not in self.sections:
            self._define(statement, Value(0, name, 1))
        elif self.sections[name].is_dummy != (statement.operation == _DUMMY):
            first = self.sections[name].line
            raise FaultError(
                f"section {name or 'without name'} is of another kind in line {first}", "rename one of them"
            )
        self._enter(name, is_dummy=statement.operation == _DUMMY, line=statement.line)

    def _move(self, location: int) -> None:
        assert self._here is not None
        name = self._here.name
        self._locations[name] = bounded(location)
        highest = self._highest[name]
        if highest is not None:
            self._highest[name] = self._here.length = max(highest, location)

    def _equate(self, statement: Statement) -> None:
        parts = split_list(statement.operand)
        here = self._counter()
        if not statement.name or not parts[0]:
            raise FaultError("EQU needs a name and a value", "write NAME EQU value")
        value = evaluate(parts[0], self, here)
        if len(parts) > 1 and parts[1]:
            length = evaluate_absolute(parts[1], self, here)
            if not 0 <= length <= 65535:
                raise FaultError(f"length attribute {length}", "use 0 to 65535")
            value = Value(value.number, value.section, length)
        self._define(statement, value)
        term = self_defining(parts[0], 0)
        written = ""
        if term and term[1] == len(parts[0]):
            written = "N" if parts[0][0].isdigit() else parts[0][0].upper()
        assert self._here is not None
        self._here.items.append(Equate(statement, value, written))

    def _origin(self, statement: Statement) -> None:
        here = self._counter()
        assert self._here is not None
        name = self._here.name
        if here is not None:
            self._define(statement, here)
        parts = split_list(statement.operand)
        if len(parts) > 3:
            raise FaultError("ORG has more than three operands", "write ORG location,boundary,offset")
        if parts[0]:
            target = evaluate(parts[0], self, here)
            if target.section != name:
                kind = "a number" if target.section is None else f"an address of {target.section or 'another section'}"
                raise FaultError(f"`{parts[0]}` is {kind}", f"ORG needs an address of {name or 'its section'}")
            location = target.number
        else:
            highest = self._highest[name]
            if highest is None:
                raise UnresolvedError("*")
            location = highest
        boundary, offset = (
            evaluate_absolute(part, self, here) if part else default
            for part, default in zip([*parts[1:], "", ""][:2], (1, 0), strict=True)
        )
        if boundary < 1 or boundary & (boundary - 1) or boundary > 4096:
            raise FaultError(f"boundary {boundary}", "use a power of 2 from 2 to 4096")
        location = _aligned(location, boundary) + offset
        if location < 0:
            raise FaultError(f"it goes to {location}, before the section's start", "check the expression")
        self._move(location)

    def _pad(self, statement: Statement) -> None:
        here = self._counter()
        parts = [evaluate_absolute(part, self, here) for part in split_list(statement.operand)]
        if len(parts) != 2 or parts[1] not in (4, 8, 16) or not 0 <= parts[0] < parts[1]:
            raise FaultError("CNOP takes a byte and a boundary", "write CNOP 0,4 or the like")
        if here is None:
            raise UnresolvedError("*")
        self._move(here.number + (parts[0] - here.number) % parts[1])

    def _store(self, index: int, statement: Statement) -> None:
        parsed = self._operands.get(index)
        if parsed is None:
            parsed = self._operands[index] = parse_operands(statement.operand)
        here = self._counter()
        assert self._here is not None
        # The location in bits, since bit lengths of one statement share bytes; 0 while it is not known.
        at = here.number * 8 if here else 0
        for number, operand in enumerate(parsed, 1):
            if not operand.in_bits or number == 1:
                at = _aligned(-(-at // 8), operand.boundary) * 8
            location = Value(at // 8, self._here.name) if here else None
            missing: UnresolvedError | None = None
            factor, length = 0, None
            try:
                factor, length = self._size(operand, location)
            except UnresolvedError as unresolved:
                missing = unresolved
            if number == 1:
                attribute = self._attribute(operand, length, missing)
                if location:
                    self._define(statement, Value(location.number, location.section, attribute))
                else:
                    self._name(statement, attribute)
            if missing or here is None:
                raise missing or UnresolvedError("*")
            if statement.operation == "DC" and not operand.values and factor:
                raise FaultError(f"operand `{operand.text}` of DC has no value", "write the value, or use DS")
            storage = _place(statement, number, operand, at, (factor, length))
            self._here.items.append(storage)
            at += storage.bits if operand.in_bits else sum(storage.lengths) * factor * 8
        self._move(-(-at // 8))

    @staticmethod
    def _attribute(operand: DataOperand, length: int | None, missing: UnresolvedError | None) -> int | None:
        """Length attribute of a name: that of its first value."""
        if length is None:
            return None if missing and operand.length is not None else operand.implied[0]
        return -(-length // 8) if operand.in_bits else length

    def _size(self, operand: DataOperand, here: Value | None) -> tuple[int, int | None]:
        """Duplication factor, and length as given by the modifier."""
        length = None
        if operand.length is not None:
            length = evaluate_absolute(operand.length, self, here)
            if length < 1:
                raise FaultError(f"operand `{operand.text}` has length {length}", "a length is 1 or more")
        factor = 1 if operand.factor is None else evaluate_absolute(operand.factor, self, here)
        if factor < 0:
            raise FaultError(f"operand `{operand.text}` has duplication factor {factor}", "it is 0 or more")
        return factor, length


def _place(statement: Statement, number: int, operand: DataOperand, at: int, size: tuple[int, int | None]) -> Storage:
    """The storage of an operand at a bit location; ``size`` is its duplication factor and explicit length."""
    factor, length = size
    count = max(len(operand.values), 1)
    if operand.in_bits and length is not None:
        bits = bounded(length * count * factor)
        covered = -(-((at % 8) + bits) // 8)
        return Storage(statement, number, operand, at // 8, factor, (covered,), first_bit=at % 8, bits=bits)
    lengths = operand.implied if length is None else (length,) * count
    bounded(sum(lengths) * factor)
    return Storage(statement, number, operand, at // 8, factor, lengths)


def _aligned(location: int, boundary: int) -> int:
    return -(-location // boundary) * boundary
