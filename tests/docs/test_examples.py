"""The commands of the README and the docs run as printed."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest
import typer

from plexlens.cli.every import app
from tests.cli.command import run as command
from tests.example_file import write_example, write_part_of_example

ROOT = Path(__file__).parents[2]
PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    *(str(page.relative_to(ROOT)) for page in sorted((ROOT / "docs").glob("*.md"))),
]
_BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"^    plexlens .*$", re.MULTILINE)


def commands(page: str) -> list[str]:
    """The lines of a page's console blocks that begin with a prompt, in order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [line[2:] for block in _BLOCK.findall(text) for line in block.splitlines() if line.startswith("$ ")]


#: Commands of other pages that the README has word by word, and that read the example alone: they run with the README.
AS_IN_README = {
    line
    for line in commands("README.md")
    if line.startswith(("plexlens why example.smf", "plexlens compare example.smf"))
}

#: The one command of the README that takes a minute: a twin of a group is run dozens of times.
#: `tests/golden/test_pages.py` runs it with the same options on a smaller group, and
#: `tests/sharing/test_three_members.py` makes the twin of this scenario.
TWIN = "plexlens sharing group.smf --lock-entries 4x --gbp GBP1=2x"

#: Pages whose commands take any dump: they report and compare a part of the example in a fifth of the time.
OF_A_PART = ("docs/hand-over.md", "docs/proof.md", "docs/pdb.md")


def test_the_twin_of_the_readme_runs_elsewhere() -> None:
    assert commands("README.md").count(TWIN) == 1
    goldens = tomllib.loads((ROOT / "tests/golden/commands.toml").read_text(encoding="utf-8"))
    assert f"plexlens {goldens['pages']['sharing-what-if']}".startswith(f"{TWIN} ")


def test_every_command_of_the_readme_is_one_that_runs() -> None:
    """An indented command looks the same to a reader, and no test would run it."""
    assert _INDENTED.findall((ROOT / "README.md").read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)])
def test_commands_run(page: str, tmp_path: Path) -> None:
    if page == "README.md":
        # It says that it makes its files itself; it is read in the folder of the sources.
        (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    elif page in OF_A_PART:
        write_part_of_example(tmp_path / "example.smf")
    else:
        write_example(tmp_path / "example.smf")
    left_out = {TWIN} if page == "README.md" else AS_IN_README
    first, *others = [line for line in commands(page) if line not in left_out]
    # One by the program that is installed; the others in this process, which spares the time to start it.
    binaries = str(Path(sys.executable).parent)
    done = subprocess.run(
        shlex.split(first),
        cwd=tmp_path,
        env=os.environ | {"PATH": os.pathsep.join([binaries, os.environ["PATH"]])},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, f"{page}: {first}\n{done.stderr}"
    assert "Traceback" not in done.stderr
    for line in others:
        program, *words = shlex.split(line)
        assert program == "plexlens", f"{page}: {line}"
        again = command(*words, cwd=tmp_path)
        assert again.returncode == 0, f"{page}: {line}\n{again.stderr}"


def indented(page: str, *, optional: bool = True) -> list[list[str]]:
    """The words of a page's indented commands, without remarks, with or without what stands in brackets."""
    found = []
    for line in _INDENTED.findall((ROOT / page).read_text(encoding="utf-8")):
        words = re.split(r" +#| {4,}", line.strip())[0]
        words = words.replace("[", "").replace("]", "") if optional else re.sub(r" \[[^]]*]", "", words)
        found.append(shlex.split(words))
    return found


_INDENTED_PAGES = [page for page in PAGES if indented(page)]

#: What the words in capitals of indented commands stand for here; commands with others are parsed, not run.
_STANDS_FOR = {
    "REPORT.txt": "report.txt",
    "DIR": "dir.pdb",
    "TRACE...": "trace.smf",
    "DUMP...": "trace.smf",
    "DUMP": "trace.smf",
    "TRACE": "trace.smf",
    "PDB": "trace.pdb",
    "PDB|DUMP...": "trace.smf",
}

#: Pages whose commands take a minute each on a group of any size: they are parsed; their tests run the same options.
_LONG = ("docs/plan.md", "docs/sharing-what-if.md", "docs/simulate.md")


@pytest.mark.parametrize("page", _INDENTED_PAGES)
def test_indented_commands_can_be_parsed(page: str) -> None:
    """Every option that a page names is there and takes its value."""
    for words in indented(page):
        if any(word.startswith("s3://") for word in words) and find_spec("obstore") is None:
            # Reading the address needs the extra.
            continue
        # N and S stand for numbers.
        arguments = [{"N": "7", "S": "60"}.get(word, word) for word in words[1:]]
        current, context = typer.main.get_command(app), None
        if arguments[0].startswith("-"):
            # An option of plexlens itself; to parse --install-completion would install it.
            assert arguments[0] in {name for option in current.params for name in option.opts}
            continue
        while hasattr(current, "commands"):
            context = current.make_context("plexlens", arguments[:1], parent=context, resilient_parsing=True)
            current, arguments = current.commands[arguments[0]], arguments[1:]
        current.make_context(words[1], arguments, parent=context)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files that the words in capitals can stand for."""
    folder = tmp_path_factory.mktemp("docs")
    (folder / "report.txt").write_bytes((ROOT / "tests/golden/reports/accounting.txt").read_bytes())
    scenario = str(ROOT / "scenarios" / "capacity.toml")
    for words in (
        ("simulate", scenario, "--seconds", "3", "--page-trace", "-o", "trace.smf"),
        ("ingest", "trace.smf", "--pdb", "trace.pdb"),
    ):
        done = command(*words, cwd=folder)
        assert done.returncode == 0, done.stderr
    return folder


_RUN = [
    (page, shlex.join(words))
    for page in _INDENTED_PAGES
    if page not in _LONG
    for words in indented(page, optional=False)
    if not any(word.isupper() and word not in _STANDS_FOR for word in words if not word.startswith("-"))
    and not {"pools.toml", "prices.toml", "group.toml", "site-layouts", "before.parquet", "prediction.json"}
    & set(words)
    # Results of load tests; tests/load and tests/driver have some.
    and not {"requests.csv", "test-1.csv"} & set(words)
    # A server runs until Ctrl-C; tests/serve starts it. tests/driver and tests/storage run what needs an extra.
    and words[1] not in ("serve", "drive", "lab")
    and not any(word.startswith("s3://") for word in words)
    # The views of printed reports need a report, which the files above have none of.
    and not any("from rmf_" in word for word in words)
]


@pytest.mark.parametrize(("page", "line"), _RUN)
def test_indented_commands_run(files: Path, page: str, line: str) -> None:
    words = [_STANDS_FOR.get(word, word) for word in shlex.split(line)[1:]]
    done = command(*words, cwd=files)
    assert done.returncode == 0, f"{page}: {line}\n{done.stderr}"


def test_links_between_pages_hold() -> None:
    """Every relative link of the README and the docs names a file that is there."""
    broken = []
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
            if not (ROOT / page).parent.joinpath(target).exists():
                broken.append(f"{page}: {target}")
    assert broken == []


#: Files that a step of docs/extending.md writes.
_MADE_UP = {"layouts/records/smf99_1.csv"}

_PLACE = re.compile(r"`((?:src|crates|tests|tools|layouts|catalogue|studies|docs)/[\w./-]+)`")


@pytest.mark.parametrize(
    "page", ["CONTRIBUTING.md", *(f"docs/{name}.md" for name in ("architecture", "decisions", "extending", "testing"))]
)
def test_files_that_are_named_are_there(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    places = set(_PLACE.findall(text)) - _MADE_UP
    assert places
    assert sorted(place for place in places if not (ROOT / place).exists()) == []


def test_every_layer_has_its_paragraph() -> None:
    """A room that docs/architecture.md does not name cannot be found by reading."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rooms = [path.name for path in (ROOT / "src" / "plexlens").iterdir() if (path / "__init__.py").is_file()]
    crates = [f"crates/{path.name}" for path in (ROOT / "crates").iterdir() if path.is_dir()]
    assert [room for room in [*rooms, *crates] if f"\n**{room}**" not in text and f" **{room}**" not in text] == []
    assert [room for room in rooms if f"src/plexlens/{room} " not in text] == []


def test_the_way_of_a_record_is_short() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    numbers = [int(number) for number in re.findall(r"^(\d+)\. `", text, re.MULTILINE)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) <= 40
