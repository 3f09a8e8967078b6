"""Licences and the bill of materials against the lock files themselves."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from tools import parts
from tools.parts import Part, PartsError, alternatives, chosen, main

ROOT = Path(__file__).parents[2]
GIVEN = {"allowed": ["MIT", "Apache-2.0", "Unicode-3.0"], "allowed_in_tests": ["MPL-2.0"]}


def _sets(*ways: str) -> list[frozenset[str]]:
    return [frozenset(way.split("+")) for way in ways]


@pytest.mark.parametrize(
    ("expression", "ways"),
    [
        ("MIT", _sets("MIT")),
        ("MIT/Apache-2.0", _sets("MIT", "Apache-2.0")),
        ("Apache-2.0 / MIT", _sets("Apache-2.0", "MIT")),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", _sets("MIT+Unicode-3.0", "Apache-2.0+Unicode-3.0")),
        # AND binds more closely than OR.
        ("MIT OR Apache-2.0 AND Zlib", _sets("MIT", "Apache-2.0+Zlib")),
        ("Apache-2.0 WITH LLVM-exception OR MIT", _sets("Apache-2.0", "MIT")),
    ],
)
def test_expressions_as_spdx_reads_them(expression: str, ways: list[frozenset[str]]) -> None:
    assert alternatives(expression) == ways


@pytest.mark.parametrize("expression", ["", "MIT AND", "MIT Apache-2.0"])
def test_what_is_no_expression_is_refused(expression: str) -> None:
    with pytest.raises(PartsError):
        alternatives(expression)


def _part(licence: str, *, is_shipped: bool = True) -> Part:
    return Part("pypi", "one", "1.0", licence, (), is_shipped)


def test_a_licence_that_is_not_allowed_is_named() -> None:
    assert chosen(_part("MIT OR Apache-2.0 OR LGPL-2.1-or-later"), GIVEN) == {"Apache-2.0"}
    assert chosen(_part("MPL-2.0", is_shipped=False), GIVEN) == {"MPL-2.0"}
    with pytest.raises(PartsError, match=r"one 1\.0 is under MPL-2\.0, which tools/parts\.toml does not allow"):
        chosen(_part("MPL-2.0"), GIVEN)
    with pytest.raises(PartsError):
        chosen(_part("MIT AND GPL-3.0-only"), GIVEN)


def test_every_locked_package_is_in_the_bill_of_materials(tmp_path: Path) -> None:
    assert main(["--sbom", str(tmp_path / "bill.json")]) == 0
    bill = json.loads((tmp_path / "bill.json").read_text(encoding="utf-8"))
    there = [one["purl"] for one in bill["components"]]
    # Read here in another way: lines of one lock file, the tables of the other.
    python = re.findall(r"^([^\s#=]+)==(\S+) ", (ROOT / "requirements.lock").read_text(encoding="utf-8"), re.MULTILINE)
    crates = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))["package"]
    locked = [f"pkg:pypi/{name}@{version}" for name, version in python]
    locked += [f"pkg:cargo/{one['name']}@{one['version']}" for one in crates if "source" in one]
    assert len(python) > 50
    assert sorted(there) == sorted([*locked, "pkg:npm/htmx.org@2.0.11"])
    assert len({one["bom-ref"] for one in bill["components"]}) == len(there)
    assert all(one.get("hashes") or one.get("properties") for one in bill["components"] if "npm" not in one["purl"])
    scopes = {one["name"]: one["scope"] for one in bill["components"]}
    assert (scopes["duckdb"], scopes["pytest"], scopes["pyo3"], scopes["proptest"]) == (
        "required",
        "excluded",
        "required",
        "excluded",
    )


def test_the_notice_is_up_to_date_and_names_a_missing_licence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--check", str(ROOT / "NOTICE")]) == 0
    given = parts.settings()
    monkeypatch.setattr(parts, "settings", lambda: given | {"licences": given["licences"] | {"duckdb": ""}})
    assert main(["--check", str(ROOT / "NOTICE")]) == 1
    assert "duckdb states no licence expression; read its licence" in capsys.readouterr().err
