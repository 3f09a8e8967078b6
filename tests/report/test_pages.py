"""Every page names only what its grains have, and every kind of source has a way to collect it."""

import pytest

from plexlens.metrics import GRAINS
from plexlens.pdb.engine import connect
from plexlens.report.blocks.page import Page, Shown
from plexlens.report.pages import PAGES

PAGES_OF_GRAINS = [page for page in PAGES if page.grains]

#: Columns that a row can be named by besides the keys and attributes of a grain.
_IDENTITY = {"system", "sysplex"}


@pytest.mark.parametrize("page", PAGES_OF_GRAINS, ids=lambda page: page.id)
def test_names_are_those_of_the_definitions(page: Page) -> None:
    for spec in (*page.tables, *page.charts, *page.figures):
        grain = GRAINS[spec.grain]
        numbers = {fact.name for fact in grain.facts} | {metric.name for metric in grain.metrics}
        named = {key.name for key in grain.keys} | {attribute.name for attribute in grain.attributes}
        by = set(spec.by or ())
        assert by <= named | _IDENTITY, f"{spec.name}: by {by - named - _IDENTITY}"
        columns = {one.column if isinstance(one, Shown) else one for one in getattr(spec, "columns", ())}
        columns |= {name for name in (getattr(spec, field, "") for field in ("order", "course", "column")) if name}
        columns |= set(getattr(spec, "profile", ()))
        assert columns <= numbers | named, f"{spec.name}: {columns - numbers - named}"


@pytest.mark.parametrize("page", PAGES_OF_GRAINS, ids=lambda page: page.id)
def test_conditions_of_blocks_are_sql(page: Page) -> None:
    connection = connect()
    for spec in (*page.tables, *page.charts, *page.figures, *page.heat_maps):
        if spec.where is None:
            continue
        grain = GRAINS[spec.grain]
        names = {"system", "sysplex"} | {one.name for one in (*grain.keys, *grain.attributes)}
        numbers = {one.name for one in (*grain.facts, *grain.metrics)}
        columns = [f'null::varchar as "{name}"' for name in names] + [f'null::double as "{name}"' for name in numbers]
        connection.execute(f"select * from (select {', '.join(columns)}) where {spec.where}")


@pytest.mark.parametrize("page", PAGES_OF_GRAINS, ids=lambda page: page.id)
def test_a_chart_has_one_unit(page: Page) -> None:
    for chart in page.charts:
        assert len({GRAINS[chart.grain].column(name).unit for name in chart.columns}) == 1, chart.name


@pytest.mark.parametrize("page", PAGES_OF_GRAINS, ids=lambda page: page.id)
def test_every_kind_of_source_has_a_way_to_collect_it(page: Page) -> None:
    kinds = {source.kind for name in page.grains for source in GRAINS[name].sources}
    assert kinds == {way.kind for way in page.ways}
    assert all(len(way.how) > 20 for way in page.ways)


def test_blocks_have_names_of_their_own() -> None:
    names = [spec.name for page in PAGES for spec in (*page.tables, *page.charts, *page.figures)]
    assert len(names) == len(set(names))


def test_every_grain_is_shown_somewhere() -> None:
    assert {name for page in PAGES for name in page.grains} == set(GRAINS)
