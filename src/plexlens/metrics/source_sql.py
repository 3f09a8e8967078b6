"""The select of a source: its SQL, preceded by the raw tables and shared relations that it names.

A name after ``from`` or ``join`` is, in this order: one that the SQL defines itself, one that the source gives another
name for (``tables``), a relation (a file ``NAME.sql`` of the catalogue), a raw table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial

from plexlens.metrics.cumulative import differenced
from plexlens.metrics.definition import Grain, Source
from plexlens.metrics.source_columns import TEXTS, columns_given, pruned, pruned_throughout, takes_whole_rows

#: A comment, a text, or a name.
_TOKEN = re.compile(r"--[^\n]*|'(?:[^']|'')*'|\"[^\"]*\"|[A-Za-z_][A-Za-z_0-9]*")
_FROM = re.compile(r"\b(?:from|join)\s+([a-z_][a-z_0-9]*)(?![a-z_0-9.(])", re.IGNORECASE)
_DEFINED = re.compile(r"\b([a-z_][a-z_0-9]*)\s+as\s+(?:not\s+materialized\s+)?\(", re.IGNORECASE)
_LISTED = re.compile(
    r"(?:\bwith|\brecursive|,)\s+([a-z_][a-z_0-9]*)\s*\([^()]*\)\s+as\s+(?:(?:not\s+)?materialized\s+)?\(",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"--[^\n]*")
#: Comments and blanks before the first word.
_FIRST = re.compile(r"\A(?:\s|--[^\n]*\n)*")


class Functions:
    """SQL macros shared by several sources, by name: ``pool_name(qbstpid)`` is replaced by its definition.

    Parameters
    ----------
    defined
        Name to its parameters and its SQL.
    """

    def __init__(self, defined: Mapping[str, tuple[tuple[str, ...], str]]) -> None:
        self.defined = dict(defined)
        names = "|".join(re.escape(name) for name in sorted(self.defined, key=len, reverse=True))
        self._call = re.compile(rf"\b({names})\s*\(") if names else None

    def but(self, others: Mapping[str, tuple[tuple[str, ...], str]]) -> Functions:
        """These functions, with others in the place of those of their name."""
        return Functions({**self.defined, **others}) if others else self

    def expanded(self, sql: str) -> str:
        """The SQL with every call replaced.

        Raises
        ------
        ValueError
            A call has the wrong number of arguments, or a bracket is not closed.
        """
        if self._call is None:
            return sql
        names, at = [], 0
        while (match := self._call.search(sql, at)) is not None:
            name = match[1]
            parameters, body = self.defined[name]
            arguments, end = _arguments(sql, match.end(), name)
            if len(arguments) != len(parameters):
                raise ValueError(f"{name} takes {', '.join(parameters)}, and {len(arguments)} values are given")
            given = {
                parameter: value if value.isidentifier() else f"({self.expanded(value)})"
                for parameter, value in zip(parameters, arguments, strict=True)
            }
            text = _TOKEN.sub(partial(_given, given), self.expanded(body))
            names += [sql[at : match.start()], f"({text})"]
            at = end
        return "".join([*names, sql[at:]])


def _given(given: Mapping[str, str], token: re.Match[str]) -> str:
    return given.get(token[0], token[0])


_SIGN = re.compile(r"'(?:[^']|'')*'|[(),]")


def _arguments(sql: str, start: int, name: str) -> tuple[list[str], int]:
    """The arguments of a call after its opening bracket, and the end of the call."""
    depth, last, at = 1, start, start
    parts: list[str] = []
    while at < len(sql):
        token = _SIGN.search(sql, at)
        if token is None:
            break
        sign, at = token[0], token.end()
        if sign == "(":
            depth += 1
        elif sign == ")":
            depth -= 1
            if depth == 0:
                return [*parts, sql[last : token.start()].strip()], at
        elif sign == "," and depth == 1:
            parts.append(sql[last : token.start()].strip())
            last = at
    raise ValueError(f"the bracket after {name} is not closed")


@lru_cache(TEXTS)
def names_in(sql: str) -> frozenset[str]:
    """Every name in SQL, in lower case, without texts and comments."""
    return frozenset([token.strip('"').lower() for token in _TOKEN.findall(sql) if token[0] not in "-'"])


def with_listed_columns(sql: str) -> list[str]:
    """Common table expressions that name their columns in a list; what reads or prunes a source does not know of it."""
    return [name.lower() for name in _LISTED.findall(_COMMENT.sub("", sql))]


def tables_in(sql: str) -> list[str]:
    """Names after ``from`` and ``join`` that are not defined in the SQL itself."""
    plain = _COMMENT.sub("", sql)
    defined = {name.lower() for name in _DEFINED.findall(plain)}
    return [name for name in dict.fromkeys(n.lower() for n in _FROM.findall(plain)) if name not in defined]


#: What SQL calls the rows of `Differences.of` once they are differenced.
DIFFERENCED = "intervals"

#: Identity columns that a source hands on as they stand, and those that only some make.
_IDENTITY = ("system", "sysplex", "interval_start", "interval_end", "utc_offset")
_FURTHER = ("local_time", "interval")


@dataclass(frozen=True)
class SourceSelect:
    """The select of a source.

    Attributes
    ----------
    parts
        Common table expressions that it reads, each from those before it.
    select
        The select itself.
    columns
        Names of its columns; None if only the engine knows them.
    """

    parts: dict[str, str]
    select: str
    columns: frozenset[str] | None


def select_of_source(
    grain: Grain,
    source: Source,
    raw: Callable[[str, Iterable[str]], str],
    relations: Mapping[str, str],
    functions: Functions,
    *,
    whole: bool = False,
) -> SourceSelect:
    """The select of a source of facts.

    Parameters
    ----------
    grain
        The grain, with the facts and attributes that are asked for: plain columns of others are left out.
    source
        Its source.
    raw
        From the name of a raw table, and the names that SQL uses, to its select.
    relations
        SQL of shared relations, by name.
    functions
        Snippets that SQL can use.
    whole
        Whether columns that neither the grain nor other SQL names are kept, for other readers of the rows.
    """

    def read(sql: str) -> str:
        for name, value in source.values.items():
            sql = sql.replace(f"{{{name}}}", value)
        return functions.expanded(sql)

    shown = {*(k.name for k in grain.keys), *(a.name for a in grain.attributes), *(f.name for f in grain.facts)}
    kept = {*shown, *_IDENTITY, *_FURTHER}
    columns = {name: read(sql) for name, sql in source.columns.items() if name in kept}
    plain = {name: column for name, column in source.plain.items() if name in shown and name not in columns}
    body = read(source.sql) if source.sql else f"select * from {source.table}"
    known = dict(relations)
    differences = source.differences
    outside = names_in(" ".join(columns.values())) | set(plain.values())
    if source.sql and not whole and differences is not None and differences.of and differences.witnesses:
        # What is not read of the intervals need not be differenced.
        body = pruned_throughout(body, outside | kept)
    rows = f"(\n{body}\n)"
    differenced_names: frozenset[str] = frozenset()
    if differences is not None:
        # Counters of facts that are not asked for are left as they are: each costs a window function.
        needed = names_in(body) | outside
        unread = set() if whole else differences.counters.keys() - needed - {*differences.witnesses}
        differenced_names = differences.names - unread
        if differences.of:
            known[DIFFERENCED] = differenced(differences.of, differences, needed)
        else:
            rows = f"(\n{differenced(rows, differences, needed)}\n)"
    texts: dict[str, str] = {}
    _relations_in(body, source, known, read, texts)
    names = None
    if not whole and (source.sql or texts):
        read_outside = outside | kept | differenced_names
        if source.sql and differences is None:
            lean = pruned_throughout(body, read_outside)
            rows, body = f"(\n{lean}\n)", lean
        for name in reversed(texts):
            # Those behind it in the order read it, and the source.
            others = [rows, *(text for other, text in texts.items() if other != name)]
            if not any(map(takes_whole_rows, others)):
                texts[name] = pruned(texts[name], read_outside.union(*map(names_in, others)))
        if source.sql and differences is None:
            names = columns_given(body, texts)
    used = outside.union(*map(names_in, (body, *texts.values())))
    # Rows that no map names anew have columns that are named as the facts are.
    used |= kept if not source.sql or not (source.columns or source.plain) else set()
    used |= differenced_names
    if columns or plain:
        taken = [*_IDENTITY, *(name for name in _FURTHER if re.search(rf'\bas "?{name}\b', body))]
        if source.differences is not None and "interval_seconds" in shown:
            taken.append("interval_seconds")
        taken = [name for name in taken if name not in columns and name not in plain]
        listed = [f"r.{name}" for name in taken]
        listed += [f'r."{column}" as "{name}"' for name, column in plain.items()]
        listed += [f'{sql} as "{name}"' for name, sql in columns.items()]
        body = f"select {', '.join(listed)}\nfrom {rows} r"
        names = frozenset((*taken, *plain, *columns))
    parts = _raw_tables_in([*texts.values(), rows], texts, source, raw, used) | texts
    return SourceSelect(parts, body, names)


def with_parts(parts: Mapping[str, str], body: str) -> str:
    """A select preceded by common table expressions; each can use the earlier ones."""
    if not parts:
        return body
    listed = ",\n".join(f"{name} as not materialized (\n{sql}\n)" for name, sql in parts.items())
    start = _FIRST.sub("", body)
    if start[:5].lower() == "with ":
        return f"with {listed},\n{start[5:]}"
    return f"with {listed}\n{body}"


def _relations_in(
    sql: str, source: Source, relations: Mapping[str, str], read: Callable[[str], str], texts: dict[str, str]
) -> None:
    """Collect the relations that SQL names, dependencies first."""
    for name in tables_in(sql):
        if name in relations and name not in source.tables and name not in texts:
            text = read(relations[name])
            _relations_in(text, source, relations, read, texts)
            texts[name] = text


def _raw_tables_in(
    texts: Iterable[str], relations: Mapping[str, str], source: Source, raw: Callable[..., str], used: frozenset[str]
) -> dict[str, str]:
    """The selects of the raw tables that the texts name."""
    names = dict.fromkeys(name for text in texts for name in tables_in(text) if name not in relations)
    return {name: raw(source.tables.get(name, name), used) for name in names}
