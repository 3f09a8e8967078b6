"""Plexlens: an open performance workbench for IBM Z.

    >>> import plexlens as px
    >>> pdb = px.read("example.smf")
    >>> pdb.metric("coupling_structure", by="structure", every="all", metrics="requests_per_second").units
    {'requests_per_second': '1/s'}

``docs/api.md`` shows each function.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plexlens.api import compare as compare
    from plexlens.api import open_database as open
    from plexlens.api import plan as plan
    from plexlens.api import pools as pools
    from plexlens.api import read as read
    from plexlens.api import simulate as simulate

    __version__: str

__all__ = ["__version__", "compare", "open", "plan", "pools", "read", "simulate"]

#: Functions by the name that `plexlens.api` has for them: nothing is loaded before one is used.
_FUNCTIONS = {name: name for name in ("compare", "plan", "pools", "read", "simulate")} | {"open": "open_database"}


class _Called(ModuleType):
    """A package with the name of a function of the interface: called, it is that function."""

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return _function(self.__name__.rpartition(".")[2])(*arguments, **named)


class _Package(ModuleType):
    """The package itself. The import of a module sets it as an attribute, also over a function of the same name."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _FUNCTIONS and isinstance(value, ModuleType):
            value.__class__ = _Called
        super().__setattr__(name, value)


def _function(name: str) -> Any:
    from plexlens import api

    return getattr(api, _FUNCTIONS[name])


def __getattr__(name: str) -> Any:
    """Functions and version, looked up on demand: package metadata takes a third of the time to print a help text."""
    if name in _FUNCTIONS:
        return _function(name)
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import version

    return version("plexlens")


sys.modules[__name__].__class__ = _Package
