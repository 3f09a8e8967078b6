"""Groups of options shared by several commands, passed to a command as a single argument."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, get_type_hints

Option = tuple[str, Any, Any]
"""Name, annotation and default of an option, as Typer takes them."""


def bundle(
    argument: str, options: Sequence[Option], make: Callable[..., Any]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A decorator that adds these options to a command; the command gets a single argument built from them.

    Parameters
    ----------
    argument
        Name of the argument.
    options
        The options. One that the command has itself is not added; ``make`` gets its value all the same.
    make
        Makes the argument from the options by name.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        # The command may know the type of the argument only where types are checked: its module can be costly to load.
        hints = get_type_hints(command, localns={"Selection": Any}, include_extras=True)
        signature = inspect.signature(command)
        own = [
            parameter.replace(annotation=hints.get(name, parameter.annotation))
            for name, parameter in signature.parameters.items()
            if name != argument
        ]
        added = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
            for name, annotation, default in options
            if name not in signature.parameters
        ]

        @wraps(command)
        def bundled(*words: Any, **given: Any) -> None:
            result = make(**{name: given[name] for name, _, _ in options})
            for parameter in added:
                del given[parameter.name]
            command(*words, **given, **{argument: result})

        bundled.__signature__ = signature.replace(parameters=[*own, *added])  # type: ignore[attr-defined]
        bundled.__annotations__ = {option.name: option.annotation for option in (*own, *added)} | {"return": None}
        return bundled

    return decorate
