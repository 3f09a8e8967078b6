"""Statements of the catalogue for Spark: each form of DuckDB that sqlglot prints so that Spark refuses it, or reads it
otherwise, is replaced by one that both mean the same by.

Spark has to run with ``spark.sql.session.timeZone`` UTC: its time stamps do not have a zone of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from sqlglot import exp
from sqlglot.dialects.spark import Spark

ColumnsOf = Callable[[str], Sequence[str]]
"""Columns of a DuckDB query, in order."""

#: Letters of ``strptime`` in the patterns of Java.
_DATE_PARTS = {"%Y": "yyyy", "%m": "MM", "%d": "dd", "%H": "HH", "%M": "mm", "%S": "ss", "%j": "DDD", "%y": "yy"}


@cache
def _printer() -> Any:
    """Spark's generator with nested common table expressions, which it has had since Spark 3, and its own types."""

    class Generator(Spark.Generator):  # type: ignore[misc, valid-type]
        EXPRESSIONS_WITHOUT_NESTED_CTES: set[type] = set()  # noqa: RUF012
        TYPE_MAPPING = {  # noqa: RUF012
            **Spark.Generator.TYPE_MAPPING,
            exp.DataType.Type.UTINYINT: "SMALLINT",
            exp.DataType.Type.USMALLINT: "INT",
            exp.DataType.Type.UINT: "BIGINT",
            exp.DataType.Type.UBIGINT: "DECIMAL(20, 0)",
            exp.DataType.Type.INT128: "DECIMAL(38, 0)",
            exp.DataType.Type.TIMESTAMP: "TIMESTAMP_NTZ",
        }

    class Printed(Spark):
        pass

    Printed.Generator = Generator
    Printed.generator_class = Generator
    return Printed()


def printed(tree: Any, columns_of: ColumnsOf) -> str:
    """A statement for Spark.

    Parameters
    ----------
    tree
        The DuckDB statement as sqlglot reads it; it is changed.
    columns_of
        Answers which columns a part of the statement has, where Spark has to be told.
    """
    for relation in tree.find_all(exp.CTE):
        relation.set("materialized", None)
    for union in list(tree.find_all(exp.SetOperation)):
        if union.args.get("by_name"):
            _by_position(union, columns_of)
    for window in list(tree.find_all(exp.Window)):
        _plain_window(window)
    for select in list(tree.find_all(exp.Select)):
        outer = _without_qualify(select)
        tree = outer if select is tree else tree
    for star in list(tree.find_all(exp.Star)):
        _without_replace(star)
    for select in list(tree.find_all(exp.Select)):
        _one_generator(select)
    # From the leaves up: what stands inside an expression is right before the expression itself is.
    for node in reversed(list(tree.walk(bfs=False))):
        replacement = _in_spark(node)
        if replacement is node:
            continue
        if node is tree:
            tree = replacement
        else:
            node.replace(replacement)
    return str(tree.sql(_printer(), pretty=True, copy=False))


def _with_relations(query: Any) -> Any:
    """A part of a statement with the common table expressions that it can see, as a statement of its own."""
    lists = []
    node, inside = query, query
    while node.parent is not None:
        inside, node = node, node.parent
        with_ = node.args.get("with_") or node.args.get("with")
        if isinstance(node, exp.With):
            at = next(i for i, relation in enumerate(node.expressions) if relation is inside)
            lists.append(node.expressions[:at])
        elif with_ is not None and with_ is not inside:
            lists.append(with_.expressions)
    named: dict[str, str] = {}
    for relations in reversed(lists):
        for relation in relations:
            named.pop(relation.alias, None)
            named[relation.alias] = relation.sql("duckdb")
    listed = ", ".join(named.values())
    return f"{'with ' + listed if listed else ''} select * from ({query.sql('duckdb')})"


def _by_position(union: Any, columns_of: ColumnsOf) -> None:
    """Both sides of a union by name with the same columns in the same order; those that a side lacks are null."""
    sides = [union.left, union.right]
    columns = [list(columns_of(_with_relations(side))) for side in sides]
    lower = [{name.lower() for name in names} for names in columns]
    every = columns[0] + [name for name in columns[1] if name.lower() not in lower[0]]
    for key, side, names in zip(("this", "expression"), sides, lower, strict=True):
        listed = [
            exp.column(name, quoted=True) if name.lower() in names else exp.alias_(exp.null(), name, quoted=True)
            for name in every
        ]
        inner = side.this if isinstance(side, exp.Subquery) else side
        union.set(key, exp.select(*listed).from_(exp.Subquery(this=inner, alias=exp.to_identifier("side"))))
    union.set("by_name", False)


def _plain_window(window: Any) -> None:
    """Inline the named window that a window refers to and extends by a frame; row numbering needs an order."""
    name = window.args.get("alias")
    select = window.find_ancestor(exp.Select)
    if name is not None and window.args.get("spec") is not None and select is not None:
        for other in select.args.get("windows") or ():
            if other.this.name == name.name:
                window.set("alias", None)
                window.set("partition_by", [part.copy() for part in other.args.get("partition_by") or ()])
                order = other.args.get("order")
                window.set("order", order.copy() if order is not None else None)
    if isinstance(window.this, exp.Filter):
        window.set("this", _where_in(window.this))
    ordered = window.args.get("order") or window.args.get("alias")
    if isinstance(window.this, exp.RowNumber) and not ordered:
        window.set("order", exp.Order(expressions=[exp.Ordered(this=exp.Literal.number(1))]))


def _where_in(filtered: Any) -> Any:
    """An aggregate of the rows of a filter, with the condition inside: Spark filters no window."""
    aggregate, condition = filtered.this, filtered.expression.this
    value = aggregate.this
    if isinstance(value, exp.Star):
        value = exp.Literal.number(1)
    aggregate.set("this", exp.Case(ifs=[exp.If(this=condition, true=value)]))
    return aggregate


def _without_qualify(select: Any) -> Any:
    """A condition on windows as a column of a select inside; sqlglot's own form loses the names of relations.

    Returns the select that stands in the place of this one.
    """
    qualify = select.args.get("qualify")
    if qualify is None:
        return select
    select.set("qualify", None)
    with_ = select.args.get("with_")
    select.set("with_", None)
    inner = select.copy()
    inner.append("expressions", exp.alias_(exp.paren(qualify.this), "is_qualified"))
    key = "except_" if "except_" in exp.Star.arg_types else "except"
    star = exp.Star(**{key: [exp.to_identifier("is_qualified")]})
    outer = exp.Select(expressions=[star]).from_(exp.Subquery(this=inner, alias=exp.to_identifier("qualified")))
    outer = outer.where(exp.column("is_qualified"))
    outer.set("with_", with_)
    return select.replace(outer)


def _without_replace(star: Any) -> None:
    """Everything but the replaced columns, and then these: Spark has no ``replace``."""
    replaced = star.args.get("replace")
    if not replaced:
        return
    select = star.find_ancestor(exp.Select)
    place = star.parent if isinstance(star.parent, exp.Column) else star
    left_out = [*(star.args.get("except_") or star.args.get("except") or ())]
    key = "except_" if "except_" in exp.Star.arg_types else "except"
    star.set(key, [*left_out, *(exp.to_identifier(entry.alias, quoted=True) for entry in replaced)])
    star.set("replace", None)
    listed = []
    for entry in select.expressions:
        listed.append(entry)
        if entry is place:
            listed.extend(replaced)
    select.set("expressions", listed)


def _one_generator(select: Any) -> None:
    """Several lists that run side by side as one: Spark takes one generator in a select."""
    lists = [entry for entry in select.expressions if isinstance(entry, exp.Alias) and _is_unnest(entry.this)]
    if not lists:
        return
    zipped = exp.Anonymous(this="ARRAYS_ZIP", expressions=[_listed(entry.this) for entry in lists])
    names = [exp.to_identifier(entry.alias) for entry in lists]
    inline = exp.Aliases(this=exp.Anonymous(this="INLINE", expressions=[zipped]), expressions=names)
    rest = [entry for entry in select.expressions if entry not in lists]
    select.set("expressions", [*rest, inline])


def _is_unnest(node: Any) -> bool:
    return isinstance(node, (exp.Explode, exp.Unnest))


def _listed(node: Any) -> Any:
    return node.expressions[0] if isinstance(node, exp.Unnest) else node.this


def _function(name: str, *arguments: Any) -> Any:
    return exp.Anonymous(this=name, expressions=list(arguments))


def _double(node: Any) -> Any:
    return exp.cast(node, "double")


def _moment(node: Any) -> Any:
    return exp.Cast(this=node, to=exp.DataType.build("timestamptz"))


def _micros(node: Any) -> Any:
    return _function("UNIX_MICROS", _moment(node))


def _in_spark(node: Any) -> Any:
    """An expression as Spark understands it."""
    change = _EXPRESSIONS.get(type(node))
    if isinstance(node, exp.Anonymous):
        change = _FUNCTIONS.get(node.name.lower())
    return node if change is None else change(node)


def _literal(node: Any) -> Any:
    """Numbers with a point are doubles, as everywhere in the catalogue, and not decimals."""
    if node.is_string or not set(".eE") & set(node.this):
        return node
    return exp.Var(this=f"{node.this}D")


def _table(node: Any) -> Any:
    if node.db == "main":
        node.set("db", None)
    return node


def _seconds(node: Any) -> Any:
    return exp.paren(exp.Div(this=_micros(node.this), expression=exp.Var(this="1e6D"), typed=False, safe=False))


def _from_seconds(node: Any) -> Any:
    micros = exp.Mul(this=exp.paren(_double(node.this)), expression=exp.Var(this="1e6D"))
    return _function("TIMESTAMP_MICROS", exp.cast(_function("ROUND", micros), "bigint"))


def _is_nan(node: Any) -> Any:
    """Null for null, as in DuckDB; Spark's own function gives false. To Spark, NaN equals NaN."""
    return exp.paren(exp.EQ(this=_double(node.this), expression=exp.cast(exp.Literal.string("NaN"), "double")))


def _list_sum(node: Any) -> Any:
    """The sum of a list, which nulls do not add to; null if there is nothing else."""
    (given,) = node.expressions
    if not isinstance(given, exp.Array):
        return _sum_of_any(given)
    parts = [exp.paren(part.copy()) for part in given.expressions]
    total: Any = None
    for part in parts:
        known = exp.Coalesce(this=_double(part.copy()), expressions=[exp.Var(this="0D")])
        total = known if total is None else exp.Add(this=total, expression=known)
    unknown = exp.Is(
        this=exp.Coalesce(this=_double(parts[0].copy()), expressions=[_double(p.copy()) for p in parts[1:]]),
        expression=exp.null(),
    )
    return exp.Case(ifs=[exp.If(this=exp.not_(unknown), true=total)])


def _sum_of_any(given: Any) -> Any:
    """The sum of a list of any length."""
    total, part = exp.to_identifier("total"), exp.to_identifier("part")
    known = exp.Lambda(this=exp.not_(exp.Is(this=part.copy(), expression=exp.null())), expressions=[part])
    added = exp.Coalesce(this=_double(part.copy()), expressions=[exp.Var(this="0D")])
    add = exp.Lambda(this=exp.Add(this=total.copy(), expression=added), expressions=[total, part.copy()])
    whole = _function("AGGREGATE", given.copy(), exp.Var(this="0D"), add)
    return exp.Case(ifs=[exp.If(this=_function("EXISTS", given.copy(), known), true=whole)])


def _printf(node: Any) -> Any:
    """Null if anything to be printed is null; Spark would print ``NULL``."""
    printed = [exp.not_(exp.Is(this=exp.paren(part.copy()), expression=exp.null())) for part in node.expressions[1:]]
    return exp.Case(ifs=[exp.If(this=exp.and_(*printed), true=_function("FORMAT_STRING", *node.expressions))])


def _value_at(node: Any) -> Any:
    """The value of the last or first row that has one; Spark would take the null of a row without it."""
    condition = exp.not_(exp.Is(this=exp.paren(node.this.copy()), expression=exp.null()))
    node.set("expression", exp.Case(ifs=[exp.If(this=condition, true=node.expression)]))
    return node


def _strptime(node: Any) -> Any:
    text, pattern = node.expressions
    form = pattern.this
    for part, letters in _DATE_PARTS.items():
        form = form.replace(part, letters)
    return _function("TRY_TO_TIMESTAMP", text, exp.Literal.string(form))


def _range(node: Any) -> Any:
    start, end = node.args["start"], node.args["end"]
    if not node.args.get("is_end_exclusive", True):
        return node
    last = exp.Sub(this=exp.paren(end.copy()), expression=exp.Literal.number(1))
    is_empty = exp.LTE(this=end.copy(), expression=start.copy())
    return _function("IF", is_empty, _function("ARRAY"), _function("SEQUENCE", start, last))


def _difference(node: Any) -> Any:
    """Microseconds between two moments."""
    if str(node.args.get("unit") or "").upper() != "MICROSECOND":
        return node
    return exp.paren(exp.Sub(this=_micros(node.this), expression=_micros(node.expression)))


_EXPRESSIONS: dict[type, Callable[[Any], Any]] = {
    exp.Literal: _literal,
    exp.Table: _table,
    exp.TimeToUnix: _seconds,
    exp.UnixToTime: _from_seconds,
    exp.IsNan: _is_nan,
    exp.GenerateSeries: _range,
    exp.DateDiff: _difference,
    exp.ArgMax: _value_at,
    exp.ArgMin: _value_at,
}

_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "epoch_us": lambda node: _micros(node.expressions[0]),
    "make_timestamptz": lambda node: _function("TIMESTAMP_MICROS", node.expressions[0]),
    "printf": _printf,
    "map_extract_value": lambda node: _function("ELEMENT_AT", *node.expressions),
    "list_sum": _list_sum,
    "try_strptime": _strptime,
}
