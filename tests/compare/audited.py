"""Audits and analyses of the shipped studies, each made once for all tests: they are not changed."""

from __future__ import annotations

from functools import cache

from plexlens.compare import load_study
from plexlens.compare.analysis.analysis import Analysis, analyse
from plexlens.compare.audit.audit import Audit, audit


@cache
def audited(name: str) -> Audit:
    """The audit of a shipped study."""
    return audit(load_study(name))


@cache
def analysed(name: str) -> Analysis:
    """Its analysis."""
    return analyse(audited(name))
