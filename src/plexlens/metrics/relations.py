"""What sources of several grains share: selects by name (``NAME.sql``), and snippets of SQL (``functions.toml``)."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

from plexlens.metrics.source_sql import Functions

_PACKAGE = Path(__file__).parents[1]


def _folder() -> Path:
    there = (folder for folder in (_PACKAGE / "catalogue", _PACKAGE.parents[1] / "catalogue") if folder.is_dir())
    return next(there, _PACKAGE / "catalogue")


@cache
def relations() -> dict[str, str]:
    """The select of each shared relation."""
    return {path.stem: path.read_text(encoding="utf-8").strip() for path in sorted(_folder().rglob("*.sql"))}


@cache
def functions() -> Functions:
    """The snippets: each has ``parameters`` and ``sql``."""
    path = _folder() / "functions.toml"
    if not path.is_file():
        return Functions({})
    told = tomllib.loads(path.read_text(encoding="utf-8"))
    return Functions({name: (tuple(one["parameters"]), one["sql"].strip()) for name, one in told.items()})
