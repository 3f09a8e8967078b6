"""Common subexpressions: each is computed once, and named where it occurred."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import count

from plexlens.expression.tree import Call, Expression, Name, operands_of, walk, with_operands

#: Parts of fewer pieces than this stay where they are: a name in their place says no less.
FEWEST_PIECES = 6


def shared_parts(
    expressions: Sequence[Expression], prefix: str, taken: Collection[str] = ()
) -> tuple[list[dict[str, Expression]], list[Expression]]:
    """The common subexpressions, and the expressions with names in their place.

    Parameters
    ----------
    expressions
        The expressions.
    prefix
        What the names of parts begin with; a number follows.
    taken
        Names that no part may have, in addition to those in the expressions.

    Returns
    -------
    list of dict, list of expressions
        Parts by name, in steps: those of a step name only what the expressions name, and parts of steps before it.
    """
    return _Sharing(expressions, prefix, taken).taken_out()


class _Sharing:
    def __init__(self, expressions: Sequence[Expression], prefix: str, taken: Collection[str]) -> None:
        self.expressions = expressions
        self.uses = Counter[Expression]()
        seen: set[Expression] = set()
        waiting = list(expressions)
        while waiting:
            node = waiting.pop()
            self.uses[node] += 1
            if node not in seen:
                seen.add(node)
                waiting += _parts(node)
        used = {use.name for use in self.uses if isinstance(use, Name)}.union(taken)
        self.free = (name for number in count(1) if (name := f"{prefix}{number}") not in used)
        self.steps: list[dict[str, Expression]] = []
        self.made: dict[Expression, tuple[Expression, int]] = {}

    def taken_out(self) -> tuple[list[dict[str, Expression]], list[Expression]]:
        whole = [self.named(expression)[0] for expression in self.expressions]
        return self.steps, whole

    def named(self, expression: Expression) -> tuple[Expression, int]:
        """The expression with names, and the number of the step after which it can be computed."""
        if expression not in self.made:
            inner = [self.named(part) for part in operands_of(expression)]
            tree = with_operands(expression, [part for part, _ in inner])
            step = max((after for _, after in inner), default=0)
            if self.uses[expression] > 1 and _is_worth_it(expression):
                while len(self.steps) <= step:
                    self.steps.append({})
                name = next(self.free)
                self.steps[step][name] = tree
                tree, step = Name(name), step + 1
            self.made[expression] = tree, step
        return self.made[expression]


def _parts(expression: Expression) -> Iterable[Expression]:
    """Operands of an expression; those of a nested total belong to the outer total."""
    for part in operands_of(expression):
        if isinstance(expression, Call) and isinstance(part, Call) and expression.function == part.function == "total":
            yield from _parts(part)
        else:
            yield part


def _is_worth_it(expression: Expression) -> bool:
    pieces = walk(expression)
    return sum(1 for _, _ in zip(range(FEWEST_PIECES), pieces, strict=False)) == FEWEST_PIECES
