"""The catalogue: what comes with Plexlens is right, and a site's folders go over it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from plexlens.catalogue_path import catalogue_path
from plexlens.metrics import GRAINS
from plexlens.metrics.catalogue import VARIABLE, Catalogue
from plexlens.metrics.definition import Rollup
from tests.metrics.test_catalogue_errors import GOOD


@pytest.mark.parametrize("name", GRAINS)
def test_every_grain_that_comes_with_plexlens_is_right(name: str) -> None:
    """Names, units, formulas: what is refused of a site is refused of Plexlens."""
    GRAINS.catalogue.check(name)


def test_every_file_of_the_catalogue_holds_a_grain_of_its_family() -> None:
    files = {file for file in catalogue_path().rglob("*.toml") if file.parent != catalogue_path()}
    files -= {
        file for folder in ("studies", "pages", "causes", "criteria") for file in (catalogue_path() / folder).iterdir()
    }
    assert len(files) == len(Catalogue())
    for name, grain in Catalogue().items():
        stem = name.removeprefix(f"{grain.family}_")
        assert catalogue_path() / grain.family / f"{stem}.toml" in files


def test_the_order_names_every_grain() -> None:
    """A grain that families.toml does not name would stand after the others."""
    import tomllib

    listed = tomllib.loads((catalogue_path() / "families.toml").read_text(encoding="utf-8"))
    assert [name for family in listed.values() for name in family["grains"]] == list(Catalogue())
    assert [(name, text["about"].strip()) for name, text in listed.items()] == [
        (family.name, family.about) for family in Catalogue().families.values()
    ]


def test_a_grain_is_read_when_it_is_asked_for() -> None:
    """A command that asks for one grain does not read the others; their cost is in `benchmarks`, as all times are."""
    made = Catalogue()
    assert len(list(made)) == len(made) > 50
    assert not made._made
    assert made["db2_pool"].facts
    assert set(made._made) == {"db2_pool"}


def written(folder: Path, **files: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    return folder


POOL = """\
grain = "db2_pool"

[facts]
buffers = {title = "Buffers, as the site calls them"}

[metric.getpages_per_second]
formula = "getpages / interval_seconds * 60"

[metric.pages_per_getpage]
title = "Pages read per getpage"
unit = "mean_count"
formula = "pages_read / getpages"
source = "our own"
"""


def test_a_site_adds_a_grain_and_changes_one(tmp_path: Path) -> None:
    shipped, made = Catalogue(), Catalogue([written(tmp_path / "site", pool=POOL, queue=GOOD)])
    assert list(made) == [*shipped, "shop_queue"]
    assert made["shop_queue"].family == "site"
    assert made["cpu_system"].metrics == shipped["cpu_system"].metrics
    before, pool = shipped["db2_pool"], made["db2_pool"]
    (changed,) = [fact for fact in pool.facts if fact not in before.facts]
    assert (changed.name, changed.title) == ("buffers", "Buffers, as the site calls them")
    assert (changed.unit, changed.rollup) == (before.column("buffers").unit, Rollup.AMOUNT)
    assert [metric.name for metric in pool.metrics] == [*(m.name for m in before.metrics), "pages_per_getpage"]
    assert pool.metric("getpages_per_second").formula == "getpages / interval_seconds * 60"
    assert pool.metric("getpages_per_second").title == before.metric("getpages_per_second").title
    assert pool.metric("pages_per_getpage").words == "(QBSTRIO + QBSTSPP + QBSTLPP + QBSTDPP) / QBSTGET"
    assert [source.kind for source in pool.sources] == [source.kind for source in before.sources]


def test_words_given_for_another_formula_are_not_kept(tmp_path: Path) -> None:
    text = 'grain = "paging_storage"\n[metric.uic]\nformula = "uic_seconds / system_seconds * 2"\n'
    assert Catalogue()["paging_storage"].metric("uic").words == "SMF71UAC"
    assert Catalogue([written(tmp_path, uic=text)])["paging_storage"].metric("uic").words.endswith(" x 2")


def test_the_last_folder_has_the_last_word(tmp_path: Path) -> None:
    one = written(tmp_path / "one", pool='grain = "db2_pool"\ntitle = "One"\n')
    two = written(tmp_path / "two", pool='grain = "db2_pool"\ntitle = "Two"\n')
    assert Catalogue([one, two])["db2_pool"].title == "Two"
    assert Catalogue([two, one])["db2_pool"].title == "One"


def test_a_source_of_the_same_kind_takes_its_place_and_another_comes_after(tmp_path: Path) -> None:
    text = """\
grain = "db2_pool"
[[source]]
kind = "Db2 display command"
needs = ["site_pool"]
from = "site_pool"
[[source]]
kind = "Our own"
needs = ["own_pool"]
from = "own_pool"
"""
    sources = Catalogue([written(tmp_path, pool=text)])["db2_pool"].sources
    assert [source.kind for source in sources] == [
        "SMF 100",
        "Db2 statistics report",
        "Db2 display command",
        "Our own",
    ]
    assert sources[2].table == "site_pool"


def test_a_change_of_a_grain_is_one_of_those_that_are_like_it(tmp_path: Path) -> None:
    text = """\
grain = "db2_accounting"
[metric.commits_per_second]
title = "Commits per getpage"
unit = "mean_count"
formula = "commits / getpages"
source = "our own"
"""
    made = Catalogue([written(tmp_path, accounting=text)])
    for name in ("db2_accounting", "db2_accounting_correlation", "db2_accounting_user"):
        assert made[name].metric("commits_per_second").formula == "commits / getpages"


def test_a_site_has_units_and_functions_of_its_own(tmp_path: Path) -> None:
    units = 'crates = {symbol = "crates", base = "crates", digits = 0}\n'
    functions = '[doubled]\nparameters = ["n"]\nsql = "n * 2"\n'
    text = GOOD.replace('unit = "count"', 'unit = "crates"').replace('"per_second"', '"crates_per_second"')
    units += 'crates_per_second = {symbol = "crates/s", base = "crates/s", digits = 1}\n'
    made = Catalogue([written(tmp_path, queue=text, units=units, functions=functions)])
    assert made["shop_queue"].metric("rate").unit.symbol == "crates/s"
    assert made.functions.expanded("doubled(requests)") == "(requests * 2)"


def test_the_environment_names_folders_too(tmp_path: Path) -> None:
    """Commands without the option, and programs, take them as well."""
    folder = written(tmp_path / "site", queue=GOOD)
    code = "from plexlens.metrics import GRAINS; import json; print(json.dumps(list(GRAINS)))"
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={VARIABLE: str(folder), "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        check=True,
    )
    assert json.loads(run.stdout)[-1] == "shop_queue"
