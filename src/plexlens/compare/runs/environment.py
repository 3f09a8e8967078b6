"""Differences between the environments of two runs."""

from __future__ import annotations

from dataclasses import dataclass

from plexlens.compare.runs.run import Run

#: Shown where one run does not say.
NOT_SAID = "not recorded"


@dataclass(frozen=True)
class SettingDifference:
    """A setting that differs between the runs; `NOT_SAID` if one of them does not record it."""

    subject: str
    name: str
    base: str
    new: str


@dataclass(frozen=True)
class Environments:
    """Comparison of the environments of two runs.

    Attributes
    ----------
    differences
        Settings that differ, or that only one run has, in the order of the runs.
    alike
        Settings that are the same in both.
    """

    differences: tuple[SettingDifference, ...]
    alike: int


def environments(base: Run, new: Run) -> Environments:
    """The settings of two runs side by side."""
    before = {(setting.subject, setting.name): setting.value for setting in base.settings}
    after = {(setting.subject, setting.name): setting.value for setting in new.settings}
    keys = dict.fromkeys((*before, *after))
    differences = tuple(
        SettingDifference(subject, name, before.get((subject, name), NOT_SAID), after.get((subject, name), NOT_SAID))
        for subject, name in keys
        if before.get((subject, name)) != after.get((subject, name))
    )
    return Environments(differences, len(keys) - len(differences))
