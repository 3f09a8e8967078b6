"""A command starts without pandas, which pyarrow imports for its first array: that takes longer than some commands."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType


class _WithoutPandas:
    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name == "pandas":
            raise ModuleNotFoundError("no command uses pandas", name=name)
        return None


def leave_out() -> None:
    """From now on an import of pandas fails, as if it were not installed."""
    sys.meta_path.insert(0, _WithoutPandas())


def let_in() -> None:
    """Pandas can be imported again: PySpark needs it."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _WithoutPandas)]
