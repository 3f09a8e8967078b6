"""The tests of what changed, within a stated time: the daily check.

``python -m tools.changed_tests [--base REV] [--seconds N] [--list]`` finds what differs from the base (where the branch
left main; on main itself, the last commit) with all that is not yet committed, and runs

- the tests of each crate that changed (``cargo test``), and of changed record layouts the round trip;
- the test files that import a changed module, directly or through others, nearest first; each has the distance of the
  shortest chain of imports;
- for data (layouts, catalogue, studies, rules, pages of documentation), the folders of tests that `DATA` names.

Tests are taken in that order until their CPU times, as recorded by earlier runs, fill the time; a test without a record
counts `UNKNOWN`. What is left out is listed with its time: ``make test`` runs it.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tools.test_times import read_times

ROOT = Path(__file__).parents[1]

#: CPU seconds of a test file that has never run here.
UNKNOWN = 5.0

#: Which tests look at files that no Python module imports: the longest beginning that fits counts.
DATA = {
    "README.md": ("tests/docs",),
    "docs/": ("tests/docs", "tests/findings/test_reference.py", "tests/metrics/test_reference.py"),
    "docs/rmf-xml.md": ("tests/docs", "tests/ingest/test_rmf_xml_docs.py"),
    "docs/text-reports.md": ("tests/docs", "tests/ingest/test_text_docs.py"),
    "layouts/": ("tests/test_layout_files.py", "tests/core", "tests/ingest"),
    "layouts/characters/": ("tests/hand_over",),
    "layouts/printed/": ("tests/ingest",),
    "catalogue/": ("tests/metrics", "tests/example", "tests/golden"),
    "catalogue/studies/": ("tests/compare",),
    "studies/": ("tests/compare", "tests/example"),
    "scenarios/": ("tests/simulate",),
    "benchmarks/": (),
    "crates/smf/": ("tests/core", "tests/ingest"),
    "crates/bufferpool/": ("tests/core", "tests/pools"),
    "crates/sysplex/": ("tests/simulate", "tests/capacity"),
    "crates/python/": ("tests/core",),
}


@dataclass(frozen=True)
class Chosen:
    """Test files in order with the distance of each, what to run of them, and what is left out."""

    distances: dict[str, int]
    run: list[str]
    seconds: float
    left_out: dict[str, float]


def changed_files(base: str) -> list[str]:
    """Files that differ from the base, committed or not, and new ones."""
    words = (["diff", "--name-only", base], ["ls-files", "--others", "--exclude-standard"])
    return sorted({name for each in words for name in _git(*each).splitlines()})


def default_base() -> str:
    """Commit at which the branch left main; on main without uncommitted changes, the previous commit."""
    found = subprocess.run(["git", "merge-base", "HEAD", "main"], cwd=ROOT, capture_output=True, text=True, check=False)
    base = found.stdout.strip() or "HEAD"
    return (
        "HEAD~1"
        if not _git("diff", "--name-only", base).strip() and base == _git("rev-parse", "HEAD").strip()
        else base
    )


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def module_of(path: Path) -> str:
    """The dotted name of a Python file, relative to the repository."""
    parts = path.with_suffix("").parts
    parts = parts[1:] if parts[0] == "src" else parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(root: Path) -> dict[str, set[str]]:
    """For each module of the product, the tools and the tests, the modules that it imports anywhere in its body."""
    files = {
        module_of(path.relative_to(root)): path
        for top in ("src", "tools", "tests")
        for path in (root / top).rglob("*.py")
    }
    found: dict[str, set[str]] = {}
    for module, path in files.items():
        package = module if path.name == "__init__.py" else module.rpartition(".")[0]
        names = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                above = package.rsplit(".", node.level - 1)[0] if node.level else ""
                base = ".".join(part for part in (above, node.module) if part)
                names |= {base} | {f"{base}.{alias.name}" for alias in node.names}
        # Fixtures come from the conftest of each folder above.
        if module.startswith("tests."):
            parts = module.split(".")
            names |= {".".join([*parts[:depth], "conftest"]) for depth in range(2, len(parts))}
        found[module] = {name for name in names if name in files and name != module}
    return found


def distances(changed: Iterable[str], root: Path) -> dict[str, int]:
    """Test files that changed files concern, with the number of imports between; 0 is the file itself."""
    graph = imports(root)
    users: dict[str, set[str]] = {}
    for module, names in graph.items():
        for name in names:
            users.setdefault(name, set()).add(module)
    found: dict[str, int] = {}
    reached: dict[str, int] = {}
    for name in changed:
        path = Path(name)
        if path.suffix == ".py" and module_of(path) in graph:
            reached[module_of(path)] = 0
        for test in _of_data(name, root):
            found[test] = 1
    edge = list(reached)
    while edge:
        step = [user for module in edge for user in users.get(module, ()) if user not in reached]
        for user in step:
            reached[user] = min(reached[module] for module in graph[user] if module in reached) + 1
        edge = list(dict.fromkeys(step))
    for module, distance in reached.items():
        path = Path(*module.split(".")).with_suffix(".py")
        if path.name.startswith("test_") and path.parts[0] == "tests":
            found[str(path)] = min(distance, found.get(str(path), distance))
    return found


def _of_data(name: str, root: Path) -> list[str]:
    """Test files that look at a file which is not imported."""
    path = Path(name)
    folders: Iterable[str] = DATA.get(max((key for key in DATA if name.startswith(key)), key=len, default=""), ())
    if path.suffix != ".py" and path.parts[0] == "tests":
        folders = ["/".join(path.parts[:2])]
    elif path.suffix != ".py" and path.parts[:2] == ("src", "plexlens") and len(path.parts) > 3:
        folders = [f"tests/{path.parts[2]}"]
    made = []
    for folder in folders:
        place = root / folder
        made += [
            str(test_file.relative_to(root)) for test_file in (place.rglob("test_*.py") if place.is_dir() else [place])
        ]
    return made


def choose(found: dict[str, int], times: dict[str, float], seconds: float) -> Chosen:
    """Tests to run within the given CPU seconds, nearest first and short before long."""
    tests: dict[str, dict[str, float]] = {}
    for test, cost in times.items():
        tests.setdefault(test.partition("::")[0], {})[test] = cost
    cost_of = {file: sum(tests[file].values()) if file in tests else UNKNOWN for file in found}
    run, left_out, spent = [], {}, 0.0
    for file in sorted(found, key=lambda file: (found[file], cost_of[file], file)):
        if spent + cost_of[file] <= seconds or found[file] == 0:
            run.append(file)
            spent += cost_of[file]
            continue
        for test, cost in sorted(tests.get(file, {file: cost_of[file]}).items(), key=lambda item: item[1]):
            if spent + cost <= seconds:
                run.append(test)
                spent += cost
            else:
                left_out[test] = cost
    return Chosen(found, run, spent, left_out)


def main(words: list[str]) -> int:
    """Run the tests; the exit code is pytest's, or cargo's where a crate's tests fail."""
    parser = argparse.ArgumentParser(prog="python -m tools.changed_tests", description="Run the tests of what changed.")
    parser.add_argument("--base", help="compare with this revision (default: where the branch left main)")
    parser.add_argument("--seconds", type=float, default=100.0, help="CPU seconds of Python tests (default: 100)")
    parser.add_argument("--list", action="store_true", help="list the tests and run nothing")
    asked = parser.parse_args(words)
    base = asked.base or default_base()
    changed = changed_files(base)
    chosen = choose(distances(changed, ROOT), read_times(), asked.seconds)
    crates = sorted({name.split("/")[1] for name in changed if name.startswith("crates/")})
    print(
        f"{len(changed)} files differ from {base[:9]}: {len(chosen.distances)} test files concern them; running "
        f"{len(chosen.run)} files and single tests of about {chosen.seconds:.0f} s CPU"
    )
    by_file: dict[str, float] = {}
    for test, cost in chosen.left_out.items():
        by_file[test.partition("::")[0]] = by_file.get(test.partition("::")[0], 0.0) + cost
    for file, cost in sorted(by_file.items(), key=lambda item: (chosen.distances[item[0]], -item[1])):
        print(f"  left out for time: {file}, {sum(test.startswith(file) for test in chosen.left_out)} of {cost:.0f} s")
    if by_file:
        print(f"  make test runs what is left out; --seconds {chosen.seconds + sum(by_file.values()) + 1:.0f} does too")
    if asked.list:
        print("\n".join(chosen.run))
        return 0
    parts = [[f"plexlens-{crate}"] for crate in crates]
    if "smf" not in crates and any(name.startswith("layouts/") and "printed" not in name for name in changed):
        parts.append(["plexlens-smf", "--test", "round_trip"])
    for part in parts:
        done = subprocess.run(["cargo", "test", "--quiet", "--locked", "--package", *part], cwd=ROOT, check=False)
        if done.returncode:
            return done.returncode
    if not chosen.run:
        return 0
    # Names of tests hold any character: a file of arguments takes them as they are.
    arguments = ROOT / ".build" / "changed-tests"
    arguments.parent.mkdir(exist_ok=True)
    arguments.write_text("\n".join(chosen.run) + "\n", encoding="utf-8")
    return subprocess.run([sys.executable, "-m", "pytest", f"@{arguments}"], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
