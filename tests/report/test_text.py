"""The plain text: every line of the hand-made tables, and the width."""

import pytest

from plexlens.report import Report, render_text
from plexlens.report.model import Column, ColumnKind, Section, Table

QUEUES = """\
 QUEUES
 No values in this data: Never recorded. SMF 250; 2 intervals of 10 min
                                 --- Service ---
                  REQUEST RATE      MEAN    BUSY
 QUEUE  REQUESTS            /s        µs       %
 -----  --------  ------------  --------  ------
 Q1        2,100          1.75   1,500.0     0.3
 Q3          120          0.10         \u2013       \u2013
 <b>Q2         0          0.00         \u2013     0.0
"""


def test_a_table_looks_like_a_printed_report(report: Report) -> None:
    text = render_text(report)
    wanted = [" ".join(line.split()) for line in QUEUES.splitlines()]
    found = [" ".join(line.split()) for line in text.splitlines()]
    start = found.index("QUEUES")
    table = [line for line in found[start : start + 12] if line]
    # The words of the heads stand over each other as the widths allow; the rows are what matters.
    assert table[:2] == wanted[:2]
    assert [line for line in table if line.startswith(("Q1", "Q3", "<b>"))] == wanted[-3:]


def test_columns_stand_under_their_heads() -> None:
    table = Table(
        "t",
        "Two words",
        (
            Column("k", "Key", ColumnKind.TEXT, key=True),
            Column("a", "First number", ColumnKind.NUMBER),
            Column("b", "B", ColumnKind.NUMBER),
        ),
        (("x", 1234, 5), ("longer", 6, None)),
    )
    lines = render_text(_report(table)).splitlines()
    start = lines.index(" TWO WORDS")
    assert lines[start : start + 6] == [
        " TWO WORDS",
        "          FIRST",
        " KEY     NUMBER  B",
        " ------  ------  -",
        " x        1,234  5",
        " longer       6  \u2013",
    ]


def _report(*blocks: Table) -> Report:
    return Report("x", (), (), None, None, None, "UTC", (), (Section("s", "S", blocks),))


def test_a_wide_table_is_split_and_repeats_its_keys() -> None:
    columns = (
        Column("k", "Key", ColumnKind.TEXT, key=True),
        *(Column(f"n{n}", f"Number{n}", ColumnKind.NUMBER) for n in range(8)),
    )
    table = Table("t", "Wide", columns, (("row", *range(8)),))
    lines = render_text(_report(table), width=40).splitlines()
    heads = [line.split() for line in lines if line.startswith(" KEY")]
    # A blank, 3 for the key, and 4 times 2 + 7: 40 characters.
    assert heads == [
        ["KEY", "NUMBER0", "NUMBER1", "NUMBER2", "NUMBER3"],
        ["KEY", "NUMBER4", "NUMBER5", "NUMBER6", "NUMBER7"],
    ]
    assert [line.split() for line in lines if line.startswith(" row")] == [
        ["row", "0", "1", "2", "3"],
        ["row", "4", "5", "6", "7"],
    ]


@pytest.mark.parametrize("width", [40, 80, 132, 200])
def test_no_line_is_longer_than_asked(damaged: Report, width: int) -> None:
    lines = render_text(damaged, width).splitlines()
    assert max(map(len, lines)) <= width
    assert all(line == line.rstrip() for line in lines)


def test_a_chart_becomes_its_mean_and_extremes(report: Report) -> None:
    lines = [line.split() for line in render_text(report).splitlines()]
    start = lines.index(["REQUESTS", "BY", "QUEUE", "(/s)"])
    assert ["Q1", "1.75", "1.50", "2.00", "2026-03-09", "05:10:00"] in lines[start : start + 8]


def test_rows_not_printed_are_counted(report: Report) -> None:
    assert " 2 further rows not printed" in render_text(report, rows=2).splitlines()


def test_damage_stands_before_the_numbers(damaged: Report) -> None:
    text = render_text(damaged)
    assert text.index("DATA LOST: 3 places lost data.") < text.index("S U M M A R Y")


def test_control_characters_do_not_reach_the_terminal() -> None:
    table = Table("t", "T", (Column("k", "K", ColumnKind.TEXT, key=True),), (("a\x1b[2Jb",),))
    assert "\x1b" not in render_text(_report(table))


def test_definitions_are_at_the_end(report: Report) -> None:
    tail = render_text(report).split("D E F I N I T I O N S")[1]
    assert "Service time (µs) = service / requests" in tail
    assert "shop_queue.service_time; source: the manual, page 2" in tail


def test_a_width_that_holds_no_table_is_refused(report: Report) -> None:
    with pytest.raises(ValueError, match="at least 40"):
        render_text(report, 39)
