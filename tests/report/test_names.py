"""Names from files lose what would act on a terminal or turn a line around."""

import pytest

from plexlens.report.writers.names import printable


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
