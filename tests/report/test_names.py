"""Names from files lose what would act on a terminal or turn a line around."""

import pytest

from plexlens.report.writers.names import cell_text, csv_text, printable, printable_lines


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("DSNDB2A_LOCK1", "DSNDB2A_LOCK1"),
        ("Überweisung §7", "Überweisung §7"),
        ("a\x1b[31mb", "a\ufffd[31mb"),
        ("a\x00\nb\x85c", "a\ufffd\ufffdb\ufffdc"),
        ("\u202eexe.gnp", "\ufffdexe.gnp"),
        ("a\u2028b", "a\ufffdb"),
        ("\ud800", "\ufffd"),
    ],
)
def test_printable(name: str, shown: str) -> None:
    assert printable(name) == shown


def test_lines_and_tabs_stay_where_they_have_a_place() -> None:
    assert printable_lines("a\x1b\nb") == "a\ufffd\nb"
    assert cell_text("a\tb\nc\x00") == "a\tb\nc\ufffd"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("=1+1", "'=1+1"),
        ("+1+1", "'+1+1"),
        ("@A1", "'@A1"),
        ("-A1", "'-A1"),
        ("\t=1", "'\t=1"),
        ("-1.5e3", "-1.5e3"),
        ("+7", "+7"),
        ("", ""),
        ("a=1", "a=1"),
    ],
)
def test_no_text_is_a_formula(text: str, written: str) -> None:
    assert csv_text(text) == written
