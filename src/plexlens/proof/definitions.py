"""Definitions that numbers of a report follow from: catalogue, rules and the site's decisions, as files of a bundle."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from plexlens.catalogue_path import catalogue_path
from plexlens.errors import UsageError
from plexlens.findings import Decision, Rule, load_decisions, load_rules
from plexlens.findings.reading import SHIPPED
from plexlens.metrics import GRAINS
from plexlens.pdb.staging import sha256_of
from plexlens.proof.manifest import CATALOGUE, RULES, SITE, Manifest, is_member_name

_ENDINGS = (".toml", ".sql")


@dataclass(frozen=True)
class Definitions:
    """Definitions as files.

    Attributes
    ----------
    catalogue, rules : tuple of str
        Their folders in the bundle, the shipped one first.
    files : dict of str to Path
        Each file by its name in the bundle.
    """

    catalogue: tuple[str, ...]
    rules: tuple[str, ...]
    files: dict[str, Path]


def definitions(rules: Sequence[Path] = (), site: Path | None = None) -> Definitions:
    """The definitions that this process computes with.

    Parameters
    ----------
    rules
        The site's folders of rules.
    site
        The site's file with decisions about findings.

    Raises
    ------
    UsageError
        A file has a name that a bundle cannot hold.
    """
    files: dict[str, Path] = {}
    catalogues = tuple(_added(files, folder, CATALOGUE, place) for place, folder in enumerate(GRAINS.catalogue.folders))
    rule_folders = tuple(_added(files, folder, RULES, place) for place, folder in enumerate((SHIPPED, *rules)))
    if site is not None:
        files[SITE] = site
    return Definitions(catalogues, rule_folders, files)


def _added(files: dict[str, Path], folder: Path, name: str, place: int) -> str:
    inside = f"{name}-{place}" if place else name
    for file, path in _files(folder):
        if not is_member_name(f"{inside}/{file}"):
            raise UsageError(
                file=str(path),
                what="a bundle cannot hold a file of this name",
                remedy="rename it: letters, digits, points, hyphens and underscores",
            )
        files[f"{inside}/{file}"] = path
    return inside


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(folder.rglob("*")):
        if path.suffix in _ENDINGS and path.is_file():
            yield path.relative_to(folder).as_posix(), path


def named(
    rules: Iterable[Rule], decisions: Iterable[Decision], files: Mapping[str, Path]
) -> tuple[tuple[Rule, ...], tuple[Decision, ...]]:
    """Rules and decisions that call their files as the bundle does, wherever they were read from."""
    names = {str(path): name for name, path in files.items()}
    site = str(files.get(SITE, SITE))
    return (
        tuple(replace(rule, origin=names.get(rule.origin, rule.origin)) for rule in rules),
        tuple(replace(decision, place=decision.place.replace(site, SITE)) for decision in decisions),
    )


@contextmanager
def used(manifest: Manifest, folder: Path) -> Iterator[tuple[tuple[Rule, ...], tuple[Decision, ...]]]:
    """Have this process compute with the definitions of a bundle, for a while.

    Parameters
    ----------
    manifest
        Of the bundle.
    folder
        Where its definitions are unpacked, by their names.

    Yields
    ------
    tuple
        The rules, and the site's decisions.

    Raises
    ------
    PlexlensError
        A definition cannot be used.
    """
    first, *others = (folder / name for name in manifest.catalogue)
    with GRAINS.instead(first, others):
        shipped, *more = (folder / name for name in manifest.rules)
        rules = load_rules(more, shipped=shipped)
        decisions = load_decisions(folder / SITE, rules) if SITE in manifest.members else ()
        yield named(rules, decisions, {name: folder / name for name in manifest.members})


def unlike_installed(manifest: Manifest) -> list[str]:
    """The shipped definitions of a bundle that are not those of this installation, and those that it lacks."""
    unlike = []
    for name, installed in ((manifest.catalogue[0], catalogue_path()), (manifest.rules[0], SHIPPED)):
        here = {f"{name}/{file}": sha256_of(path) for file, path in _files(installed)}
        there = {file: member.sha256 for file, member in manifest.members.items() if file.startswith(f"{name}/")}
        unlike += [file for file in sorted(here.keys() | there.keys()) if here.get(file) != there.get(file)]
    return unlike
