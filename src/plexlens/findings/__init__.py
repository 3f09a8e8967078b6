"""Findings: rules as data, evaluated over the metrics, each with evidence, remedy and source."""

from __future__ import annotations

from plexlens.findings.check import check
from plexlens.findings.error import RuleError
from plexlens.findings.evaluation import Kept
from plexlens.findings.finding import Evidence, Finding, Findings, Lack, NotChecked, Passed
from plexlens.findings.reading import load_rules
from plexlens.findings.rule import CostKind, Rule, Severity, Threshold
from plexlens.findings.site import Decision, load_decisions

__all__ = [
    "CostKind",
    "Decision",
    "Evidence",
    "Finding",
    "Findings",
    "Kept",
    "Lack",
    "NotChecked",
    "Passed",
    "Rule",
    "RuleError",
    "Severity",
    "Threshold",
    "check",
    "load_decisions",
    "load_rules",
]
