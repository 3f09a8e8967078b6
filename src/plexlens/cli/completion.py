"""Shell completion of names: studies and their runs, record layouts, rules, metrics.

Each function takes what was typed so far and answers at once; it reads bundled files only, and it answers with nothing
where they cannot be read, because a shell has no place for an error.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from plexlens.errors import PlexlensError


def studies(incomplete: str) -> list[str]:
    """Names of the bundled studies."""
    from plexlens.compare.study.places import study_names

    return _beginning(incomplete, study_names())


def runs(incomplete: str) -> list[str]:
    """Addresses of runs in studies: ``STUDY:``, and ``STUDY:TABLE`` once the study is typed.

    A shell whose words end at a colon completes the part after it.
    """
    from plexlens.compare.study.places import study_names
    from plexlens.compare.study.reader import load_study

    study, colon, _ = incomplete.partition(":")
    if not colon:
        return _beginning(incomplete, [f"{name}:" for name in study_names()])
    with suppress(PlexlensError):
        return _beginning(incomplete, [f"{study}:{table}" for table in load_study(study).tables])
    return []


def sections(incomplete: str) -> list[str]:
    """Names of record sections, as ``plexlens layouts list`` prints them."""
    from plexlens import _core
    from plexlens.layouts_path import layout_folders

    with suppress(PlexlensError):
        catalogue = _core.Catalogue([str(folder) for folder in layout_folders(())])
        return _beginning(incomplete, catalogue.tables())
    return []


def rules(incomplete: str) -> list[str]:
    """Identifiers of the bundled rules, as ``plexlens findings list`` prints them."""
    from plexlens.findings import load_rules

    with suppress(PlexlensError):
        return _beginning(incomplete, [rule.id for rule in load_rules(())])
    return []


def metrics(incomplete: str) -> list[str]:
    """Names of grains, and of a grain's metrics once it is typed with a point."""
    from plexlens.metrics import GRAINS

    grain, point, _ = incomplete.partition(".")
    with suppress(PlexlensError):
        if not point:
            return _beginning(incomplete, GRAINS)
        if grain in GRAINS:
            return _beginning(incomplete, [f"{grain}.{metric.name}" for metric in GRAINS[grain].metrics])
    return []


def _beginning(incomplete: str, names: Iterable[str]) -> list[str]:
    return sorted(name for name in names if name.startswith(incomplete))
