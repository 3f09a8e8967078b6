"""A wrong file of a site is refused with file, line, key and what is valid, and nothing of it is applied."""

from __future__ import annotations

from pathlib import Path

import pytest

from plexlens.metrics import GRAINS
from plexlens.metrics.catalogue import Catalogue, CatalogueError

GOOD = """\
# Queues of the shop.
grain = "shop_queue"
title = "Queues"
row = "one queue in one interval"

[keys]
queue = "Queue"

[attributes]
kind = "Kind"

[facts]
interval_seconds = {title = "Interval", unit = "seconds", rollup = "span", field = "SMF 250 SHPINT"}
requests = {title = "Requests", unit = "count", rollup = "count", field = "SMF 250 SHPREQ"}
service_seconds = {title = "Service time", unit = "seconds", rollup = "count", field = "SMF 250 SHPSRV"}
bytes_moved = {title = "Data moved", unit = "mib", rollup = "count", field = "SMF 250 SHPBYT"}

[terms]
handled = "total(requests)"

[[source]]
kind = "SMF 250"
needs = ["smf250_queue"]
from = "smf250_queue"
fields = "SMF 250"

[source.columns]
queue = "shpname"
interval_seconds = "seconds_between(interval_start, interval_end)"

[metric.rate]
title = "Requests"
unit = "per_second"
formula = "handled / interval_seconds"
source = "the manual, page 1"
"""

DIFFERENCES = """\
[source.differences]
entity = ["system", "queue"]
width = 32
witnesses = ["shpreq"]

[metric.rate]"""


def changed(folder: Path, old: str, new: str) -> Path:
    assert GOOD.count(old) >= 1, old
    file = folder / "queue.toml"
    file.write_text(GOOD.replace(old, new, 1), encoding="utf-8")
    return file


def line_of(text: str, key: str) -> int:
    """The line that begins with the key, from 1."""
    return next(number for number, line in enumerate(text.splitlines(), 1) if line.startswith(key))


#: What is written in place of what; the key and the line that the error names (the line begins with this); what is
#: wrong, and what would be valid.
WRONG = {
    "a key of the file that is not known": ('row = "one', 'rows = "one', "rows", "rows", "no such key", "row"),
    "no title": ('title = "Queues"\n', "", "title", "", "is missing", "title ="),
    "a title that is a number": ('title = "Queues"', "title = 7", "title", "title", "7, not a text", "give a text"),
    "an empty title": ('title = "Queues"', 'title = " "', "title", "title", "it is empty", "give a text"),
    "no keys": ('queue = "Queue"', "", "", "", "no key", "[keys]"),
    "keys that are not table": ('[keys]\nqueue = "Queue"', "keys = 3", "keys", "keys", "not a table", "[table]"),
    "a name with a capital": (
        'kind = "Kind"',
        'Kind = "Kind"',
        "attributes.Kind",
        "Kind",
        "is not a name",
        "small letter",
    ),
    "a fact without a unit": ('unit = "count", ', "", "facts.requests", "requests", "unit is missing", 'unit = "'),
    "a unit that is not known": (
        'unit = "count"',
        'unit = "counts"',
        "facts.requests.unit",
        "requests",
        "no unit 'counts'",
        "did you mean count?",
    ),
    "a roll-up that is not known": (
        'rollup = "count"',
        'rollup = "sum"',
        "facts.requests.rollup",
        "requests",
        "no roll-up 'sum'",
        "span",
    ),
    "a key of a fact that is not known": (
        'rollup = "span"',
        'rollup = "span", units = "s"',
        "facts.interval_seconds.units",
        "interval_seconds",
        "no such key",
        "did you mean unit?",
    ),
    "of names nothing": (
        'field = "SMF 250 SHPREQ"',
        'field = "SMF 250 SHPREQ", of = ["queu"]',
        "facts.requests.of",
        "requests",
        "queu is not an identity column",
        "did you mean queue?",
    ),
    "of is a text": (
        'field = "SMF 250 SHPREQ"',
        'field = "SMF 250 SHPREQ", of = "queue"',
        "facts.requests.of",
        "requests",
        "not a list",
        "a list",
    ),
    "computed_from names no grain": (
        'field = "SMF 250 SHPREQ"',
        'field = "SMF 250 SHPREQ", computed_from = "db2_pools.buffers"',
        "facts.requests.computed_from",
        "requests",
        "no grain 'db2_pools'",
        "grain.fact",
    ),
    "computed_from names no fact": (
        'field = "SMF 250 SHPREQ"',
        'field = "SMF 250 SHPREQ", computed_from = "db2_pool.bufers"',
        "facts.requests.computed_from",
        "requests",
        "no fact 'bufers'",
        "did you mean buffers?",
    ),
    "an observer that is not a column": (
        'row = "one queue in one interval"',
        'row = "one"\nobserver = ["machin"]',
        "observer",
        "observer",
        "machin is not a key",
        "there are",
    ),
    "a metric named like a fact": (
        "[metric.rate]",
        "[metric.requests]",
        "metric.requests",
        "[metric",
        "a fact already",
        "another name",
    ),
    "a term named like a key": (
        "handled =",
        "queue =",
        "terms.queue",
        'queue = "total',
        "a key already",
        "another name",
    ),
    "a fact named like an identity column": (
        "requests = {",
        "interval = {",
        "facts.interval",
        "interval =",
        "an identity",
        "another",
    ),
    "a name that stands twice": (
        'kind = "Kind"',
        'kind = "Kind"\nkind = "Sort"',
        "",
        'kind = "Sort',
        "not TOML",
        "correct it",
    ),
    "a formula that does not parse": (
        '"handled / interval_seconds"',
        '"handled / "',
        "metric.rate.formula",
        "formula",
        "character",
        "correct",
    ),
    "a formula of a fact that is not there": (
        '"handled / interval_seconds"',
        '"request / interval_seconds"',
        "metric.rate.formula",
        "formula",
        "request is not a fact or term of shop_queue",
        "did you mean requests?",
    ),
    "a formula with a function that is not there": (
        '"handled / interval_seconds"',
        '"mean(handled, 1)"',
        "metric.rate.formula",
        "formula",
        "mean",
        "greatest",
    ),
    "seconds added to bytes": (
        '"handled / interval_seconds"',
        '"bytes_moved + service_seconds"',
        "metric.rate.formula",
        "formula",
        "one side is in bytes, the other in s",
        "same kind",
    ),
    "a formula in another unit": (
        '"handled / interval_seconds"',
        '"bytes_moved / interval_seconds"',
        "metric.rate.formula",
        "formula",
        "bytes/s",
        "unit",
    ),
    "a term that is wrong": (
        '"total(requests)"',
        '"total(request)"',
        "terms.handled",
        "handled",
        "request is not",
        "requests",
    ),
    "terms made of each other": (
        'handled = "total(requests)"',
        'handled = "other"\nother = "handled"',
        "terms.handled",
        "handled",
        "made of each other",
        "without a circle",
    ),
    "a metric without a formula": (
        'formula = "handled / interval_seconds"\n',
        "",
        "metric.rate",
        "[metric",
        "formula is missing",
        "add formula",
    ),
    "a source without a kind": ('kind = "SMF 250"\n', "", "source.1", "[[source", "kind is missing", "add kind"),
    "a source without a table": (
        'needs = ["smf250_queue"]\n',
        "",
        "source.1",
        "[[source",
        "neither needs nor any_of",
        "needs =",
    ),
    "a source of nothing": (
        'from = "smf250_queue"\n',
        "",
        "source.1",
        "[[source",
        "none of sql, from",
        "from =",
    ),
    "a source of two things": (
        'from = "smf250_queue"',
        'from = "smf250_queue"\nsql = "queue.sql"',
        "source.1.from",
        "from",
        "cannot be combined",
        "keep one",
    ),
    "a file of SQL that is not there": (
        'from = "smf250_queue"',
        'sql = "queue.sql"',
        "source.1.sql",
        "sql",
        "there is no file",
        "there are",
    ),
    "fields that no fact has": (
        'fields = "SMF 250"',
        'fields = "SMF 251"',
        "source.1.fields",
        "fields",
        "no fact",
        "fields =",
    ),
    "a column that the grain does not have": (
        'queue = "shpname"',
        'queu = "shpname"',
        "source.1.columns.queu",
        "queu =",
        "not a key, attribute or fact",
        "did you mean queue?",
    ),
    "a column of a source that is not a text": (
        'queue = "shpname"',
        "queue = 1",
        "source.1.columns.queue",
        "queue = 1",
        "not a text",
        "give a text",
    ),
    "counters without an entity": (
        "[metric.rate]",
        DIFFERENCES.replace('entity = ["system", "queue"]\n', ""),
        "source.1.differences",
        "[source.diff",
        "entity is missing",
        "entity =",
    ),
    "counters of no width": (
        "[metric.rate]",
        DIFFERENCES.replace("32", "31"),
        "source.1.differences.width",
        "width",
        "31 is not a width",
        "32, 64",
    ),
    "a witness that is not a counter": (
        "[metric.rate]",
        DIFFERENCES.replace('["shpreq"]', '["shprq"]'),
        "source.1.differences.witnesses",
        "witnesses",
        "shprq is not a counter",
        "did you mean shpreq?",
    ),
    "like a grain that is not there": (
        "[keys]",
        'like = "shop"\n[keys]',
        "like",
        "like",
        "no grain 'shop'",
        "there are",
    ),
    "a source that is not a list": ("[[source]]", "[source]", "source", "[source]", "not a list", "[[source]]"),
    "no source": (GOOD[GOOD.index("[[source]]") : GOOD.index("[metric")], "", "", "", "no source", "[[source]]"),
}


def test_the_file_that_is_changed_is_right(tmp_path: Path) -> None:
    changed(tmp_path, "Queues", "Queues")
    grain = Catalogue([tmp_path])["shop_queue"]
    assert grain.metric("rate").words == "SHPREQ / interval"
    assert grain.sources[0].plain == {
        "interval_seconds": "shpint",
        "requests": "shpreq",
        "service_seconds": "shpsrv",
        "bytes_moved": "shpbyt",
    }


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_file_is_refused_with_place_and_remedy(tmp_path: Path, case: str) -> None:
    old, new, key, line, what, remedy = WRONG[case]
    file = changed(tmp_path, old, new)
    with pytest.raises(CatalogueError) as caught:
        Catalogue([tmp_path])
    error = caught.value
    assert error.file == str(file)
    assert error.exit_code == 2
    if line:
        assert error.line == line_of(file.read_text(encoding="utf-8"), line)
    assert error.what.startswith(f"{key}: " if key and line else "")
    assert what in error.what
    assert remedy in error.remedy


def test_wrong_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match=r"holds no \.toml file"):
        Catalogue([tmp_path])
    (tmp_path / "a.toml").write_text('title = "A"\n', encoding="utf-8")
    with pytest.raises(CatalogueError, match="grain: the key is missing"):
        Catalogue([tmp_path])
    for name in ("a.toml", "b.toml"):
        (tmp_path / name).write_text(GOOD, encoding="utf-8")
    with pytest.raises(CatalogueError, match="grain shop_queue is also defined in"):
        Catalogue([tmp_path])
    (tmp_path / "b.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(CatalogueError, match="not UTF-8"):
        Catalogue([tmp_path])


def test_wrong_units_and_functions_are_refused(tmp_path: Path) -> None:
    changed(tmp_path, "Queues", "Queues")
    (tmp_path / "units.toml").write_text('crates = {symbol = "crates", base = "crates"}\n', encoding="utf-8")
    with pytest.raises(CatalogueError, match="line 1: crates: the key digits is missing"):
        Catalogue([tmp_path])
    (tmp_path / "units.toml").unlink()
    (tmp_path / "functions.toml").write_text('[kind_of]\nparameters = ["n"]\n', encoding="utf-8")
    with pytest.raises(CatalogueError, match="line 1: kind_of: the key sql is missing"):
        Catalogue([tmp_path])


def test_a_relation_with_a_list_of_columns_is_refused(tmp_path: Path) -> None:
    """The frame reads the text of a source, and would take such a relation for a raw table."""
    changed(tmp_path, 'from = "smf250_queue"', 'sql = "queue.sql"')
    (file,) = tmp_path.rglob("*.toml")
    kept = "with kept as (\n    select * from smf250_queue\n)"
    sql = f"{kept},\n-- Names.\nnamed (n, m) as (values (1, 2))\nselect * from kept"
    (file.parent / "queue.sql").write_text(sql, encoding="utf-8")
    with pytest.raises(CatalogueError, match=r"queue\.sql: the relation named has a list of columns"):
        Catalogue([tmp_path])


def test_nothing_of_a_wrong_folder_is_applied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One file is right and one is wrong: the grains are what they were."""
    monkeypatch.setattr(GRAINS, "_catalogue", None)
    before = list(GRAINS)
    changed(tmp_path, "Queues", "Queues")
    (tmp_path / "pool.toml").write_text('grain = "db2_pool"\n[metric.x]\nformula = "1"\n', encoding="utf-8")
    with pytest.raises(CatalogueError, match="the key title is missing"):
        GRAINS.load([tmp_path])
    assert list(GRAINS) == before
