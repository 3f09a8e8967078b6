"""The parts of Plexlens with their licences: the file NOTICE, and a bill of materials (CycloneDX).

``python -m tools.parts NOTICE`` writes the notice, ``--check`` compares it, and ``--sbom FILE`` writes the bill.
Both come from ``requirements.lock`` and ``Cargo.lock``. Licences are those that packages state, or else those of
``tools/parts.toml``, which also lists the licences that are allowed.
"""

from __future__ import annotations

import importlib.metadata
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from plexlens.generated_doc import write_or_check

ROOT = Path(__file__).resolve().parents[1]

_LOCKED = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)==(\S+)((?:\s+\\\n\s+--hash=sha256:[0-9a-f]{64})+)", re.MULTILINE)
_HASH = re.compile(r"sha256:([0-9a-f]{64})")
_TOKEN = re.compile(r"[()]|[^\s()]+")
#: The oldest Python that Plexlens runs on, which needs the most packages.
_OLDEST = {"python_version": "3.11", "python_full_version": "3.11.0"}
_LICENCE_FILE = re.compile(r"(licen[cs]e|copying|unlicense)", re.IGNORECASE)


class PartsError(Exception):
    """A part whose licence is not stated or not allowed."""


@dataclass(frozen=True)
class Part:
    """A locked package.

    Attributes
    ----------
    kind
        ``pypi`` or ``cargo``.
    name, version, licence
        As the registry has them; the licence as an SPDX expression.
    hashes
        SHA-256 of its files.
    is_shipped
        Whether it is in the wheel (a crate), or installed with it (a Python package); others build and test only.
    folder
        Folder of a crate's sources, in which its licence file is.
    """

    kind: str
    name: str
    version: str
    licence: str
    hashes: tuple[str, ...]
    is_shipped: bool
    folder: Path | None = field(default=None, compare=False)


def alternatives(expression: str) -> list[frozenset[str]]:
    """The ways in which an SPDX expression can be met, each with the licences that then apply.

    Parameters
    ----------
    expression
        ``MIT OR Apache-2.0``; a slash, as older crates write it, is OR. An exception (WITH) only adds permissions.
    """
    tokens = _TOKEN.findall(expression.replace("/", " OR "))
    ways, rest = _either(tokens)
    if rest:
        raise PartsError(f"{expression!r} is no licence expression")
    return ways


def _either(tokens: list[str]) -> tuple[list[frozenset[str]], list[str]]:
    ways, rest = _both(tokens)
    while rest and rest[0] == "OR":
        more, rest = _both(rest[1:])
        ways = ways + more
    return ways, rest


def _both(tokens: list[str]) -> tuple[list[frozenset[str]], list[str]]:
    ways, rest = _one(tokens)
    while rest and rest[0] == "AND":
        more, rest = _one(rest[1:])
        ways = [one | other for one in ways for other in more]
    return ways, rest


def _one(tokens: list[str]) -> tuple[list[frozenset[str]], list[str]]:
    if not tokens:
        raise PartsError("a licence expression ends too early")
    first, *rest = tokens
    if first == "(":
        ways, rest = _either(rest)
        return ways, rest[1:]
    return [frozenset({first})], rest[2:] if rest[:1] == ["WITH"] else rest


def settings() -> dict[str, Any]:
    """The allowed licences, and those of packages that state none."""
    return tomllib.loads((ROOT / "tools" / "parts.toml").read_text(encoding="utf-8"))


def chosen(part: Part, given: Mapping[str, Any]) -> frozenset[str]:
    """The licences under which a part is used: Apache-2.0 where it is offered, as it is that of Plexlens.

    Raises
    ------
    PartsError
        None of the ways is allowed.
    """
    allowed = set(given["allowed"]) | (set() if part.is_shipped else set(given["allowed_in_tests"]))
    ways = [way for way in alternatives(part.licence) if way <= allowed]
    if not ways:
        raise PartsError(f"{part.name} {part.version} is under {part.licence}, which tools/parts.toml does not allow")
    return min(ways, key=lambda way: (way != {"Apache-2.0"}, sorted(way)))


def parts() -> list[Part]:
    """Every package of the lock files, Python packages first.

    Raises
    ------
    PartsError
        A package states no licence, or is not installed.
    """
    return [*_python(settings()["licences"]), *_crates()]


def locked() -> dict[str, tuple[str, tuple[str, ...]]]:
    """Version and hashes of each package of ``requirements.lock``."""
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    return {
        canonicalize_name(name): (version, tuple(_HASH.findall(hashes)))
        for name, version, hashes in _LOCKED.findall(text)
    }


def _python(stated: Mapping[str, str]) -> Iterator[Part]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    shipped = closure([*project["dependencies"], *project["optional-dependencies"]["notebook"]])
    for name, (version, hashes) in sorted(locked().items()):
        try:
            metadata = importlib.metadata.distribution(name).metadata.json
        except importlib.metadata.PackageNotFoundError as error:
            raise PartsError(f"{name} is locked and not installed; run make .build/venv") from error
        licence = str(metadata.get("license_expression") or stated.get(name, ""))
        if not licence:
            raise PartsError(f"{name} states no licence expression; read its licence and add it to tools/parts.toml")
        yield Part("pypi", name, version, licence, hashes, name in shipped)


def closure(requirements: Iterable[str]) -> set[str]:
    """Names of packages that requirements lead to on this platform, themselves among them."""
    found: set[str] = set()
    waiting = [Requirement(one) for one in requirements]
    while waiting:
        one = waiting.pop()
        name = canonicalize_name(one.name)
        if name in found:
            continue
        found.add(name)
        for more in importlib.metadata.distribution(name).requires or ():
            needed = Requirement(more)
            extras = ({**_OLDEST, "extra": extra} for extra in (*one.extras, ""))
            if needed.marker is None or any(map(needed.marker.evaluate, extras)):
                waiting.append(needed)
    return found


def _crates() -> Iterator[Part]:
    done = subprocess.run(
        ["cargo", "metadata", "--format-version", "1", "--locked", "--offline"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise PartsError(f"cargo metadata fails: {done.stderr.strip()}")
    metadata = json.loads(done.stdout)
    packages = {one["id"]: one for one in metadata["packages"]}
    needs = {
        node["id"]: [one["pkg"] for one in node["deps"] if any(kind["kind"] is None for kind in one["dep_kinds"])]
        for node in metadata["resolve"]["nodes"]
    }
    waiting = [one["id"] for one in metadata["packages"] if one["name"] == "plexlens-python"]
    shipped: set[str] = set()
    while waiting:
        one = waiting.pop()
        if one not in shipped:
            shipped.add(one)
            waiting += needs[one]
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))["package"]
    hashes = {(one["name"], one["version"]): one.get("checksum") for one in lock}
    for package in sorted(packages.values(), key=lambda one: (one["name"], one["version"])):
        if package["source"] is None:
            continue
        if not package["license"]:
            raise PartsError(f"crate {package['name']} states no licence")
        yield Part(
            "cargo",
            package["name"],
            package["version"],
            package["license"],
            tuple(filter(None, [hashes[package["name"], package["version"]]])),
            package["id"] in shipped,
            Path(package["manifest_path"]).parent,
        )


def notice() -> str:
    """The text of NOTICE: parts by where they are, and the licence texts of crates without Apache-2.0.

    Raises
    ------
    PartsError
        A licence is missing or not allowed.
    """
    given, everything = settings(), parts()
    used = {part: " AND ".join(sorted(chosen(part, given))) for part in everything}
    lines = [
        "Plexlens",
        "Licensed under the Apache License, Version 2.0; see LICENSE.",
        "",
        "Written by `python -m tools.parts NOTICE`; do not edit. A part that offers several licences is used under the",
        "one that stands here.",
    ]
    for title, kind, is_shipped in (
        ("Crates compiled into plexlens._core", "cargo", True),
        ("Python packages installed with Plexlens, or with plexlens[notebook]", "pypi", True),
        ("Crates that only build and test", "cargo", False),
        ("Python packages that only build and test", "pypi", False),
    ):
        lines += ["", title, ""]
        lines += [
            f"  {part.name} {part.version}: {used[part]}"
            for part in everything
            if part.kind == kind and part.is_shipped is is_shipped
        ]
    lines += ["", "Files of others in the package", ""]
    lines += [
        f"  {one['name']} {one['version']}: {one['licence']}, with its text in {one['text']}"
        for one in given["vendored"]
    ]
    lines += ["", "Licence texts of crates that are compiled in and not used under Apache-2.0"]
    texts: dict[str, list[str]] = {}
    for part in everything:
        if part.kind == "cargo" and part.is_shipped and used[part] != "Apache-2.0":
            texts.setdefault(_licence_text(part), []).append(f"{part.name} {part.version}")
    for text, names in texts.items():
        lines += ["", "-" * 80, ", ".join(names), "", text]
    return "\n".join(lines) + "\n"


def _licence_text(part: Part) -> str:
    folder = part.folder or Path()
    files = sorted(one for one in folder.iterdir() if one.is_file() and _LICENCE_FILE.match(one.name))
    return "\n\n".join(_tidy(one.read_text(encoding="utf-8", errors="replace")) for one in files) or "(no file)"


def _tidy(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def bill_of_materials(version: str) -> dict[str, Any]:
    """Every locked package as a CycloneDX document, version 1.6.

    Parameters
    ----------
    version
        Of Plexlens.
    """
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": f"pkg:pypi/plexlens@{version}",
                "name": "plexlens",
                "version": version,
                "purl": f"pkg:pypi/plexlens@{version}",
                "licenses": [{"expression": "Apache-2.0"}],
            }
        },
        "components": [
            *(_component(part) for part in parts()),
            *(
                _component(Part("npm", one["name"], one["version"], one["licence"], (), is_shipped=True))
                for one in settings()["vendored"]
            ),
        ],
    }


def _component(part: Part) -> dict[str, Any]:
    purl = f"pkg:{part.kind}/{part.name}@{part.version}"
    # A wheel has a hash for each platform, and a component one of each algorithm: those are properties.
    hashes = [{"alg": "SHA-256", "content": one} for one in part.hashes[:1]] if len(part.hashes) == 1 else []
    made: dict[str, Any] = {
        "type": "library",
        "bom-ref": purl,
        "name": part.name,
        "version": part.version,
        "scope": "required" if part.is_shipped else "excluded",
        "licenses": [{"expression": part.licence.replace(" / ", " OR ").replace("/", " OR ")}],
        "purl": purl,
    }
    if hashes:
        made["hashes"] = hashes
    else:
        made["properties"] = [{"name": "plexlens:sha256", "value": one} for one in part.hashes]
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check NOTICE, or write the bill of materials."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if given[:1] == ["--sbom"] and len(given) == 2:
            version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
            text = json.dumps(bill_of_materials(version), indent=1) + "\n"
            Path(given[1]).write_text(text, encoding="utf-8", newline="\n")
            return 0
        about = "Write the licences of all parts; with --sbom FILE, the bill of materials."
        return write_or_check(notice, "tools.parts", about, "NOTICE", given)
    except PartsError as error:
        sys.stderr.write(f"tools.parts: {error}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main())
