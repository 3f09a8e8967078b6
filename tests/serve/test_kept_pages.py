"""Pages that the server keeps: many small ones, and no more bytes than stated."""

from pathlib import Path

import pytest

from plexlens.pdb import Pdb
from plexlens.serve import workspace
from plexlens.serve.workspace import Workspace


@pytest.fixture
def pages(tmp_path: Path) -> Workspace:
    """The pages of an empty database."""
    return Workspace(Pdb.open_or_create(tmp_path / "pdb").path, "256MiB")


def _made(pages: Workspace, key: int, text: str) -> bool:
    """Whether the page had to be made."""
    made: list[str] = []

    def make() -> str:
        made.append(text)
        return text

    assert pages.kept(key, make) == text
    return bool(made)


def test_a_round_of_a_hundred_pages_is_made_once(pages: Workspace) -> None:
    """More pages than one analyst looks at, of 100,000 characters each: 10 MB in all."""
    texts = [f"{number:03}" + "x" * 100_000 for number in range(100)]
    assert all(_made(pages, number, text) for number, text in enumerate(texts))
    assert not any(_made(pages, number, text) for number, text in enumerate(texts))


def test_pages_beyond_the_bytes_go_the_longest_unused_first(pages: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three pages of 1,000 ASCII characters, and some bytes around each, fit in 4,000 bytes; a fourth does not."""
    monkeypatch.setattr(workspace, "ANSWER_BYTES", 4_000)
    assert all(_made(pages, number, "x" * 1_000) for number in range(3))
    assert not _made(pages, 0, "x" * 1_000)
    assert _made(pages, 3, "x" * 1_000)
    assert [_made(pages, number, "x" * 1_000) for number in (0, 3, 2)] == [False, False, False]
    assert _made(pages, 1, "x" * 1_000)


def test_wide_characters_count_as_the_bytes_that_they_take(pages: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """A character beyond the first plane makes each of a page's characters 4 bytes long."""
    monkeypatch.setattr(workspace, "ANSWER_BYTES", 4_000)
    wide = "\U0001f512" * 1_000
    assert _made(pages, 0, wide)
    assert _made(pages, 0, wide)
