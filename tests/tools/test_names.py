"""The check of names: what counts as a name, and a list that only shrinks."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

from tools.names import Rules, bound, complaints

MODULE = """
def held(one, *, found: int = 0):
    made = [told for told in one]
    for asked, other in made:
        print(one.found, asked(found=1))
    if (found := other):
        match other:
            case {"a": 1, **made}:
                pass


class Told:
    asked: int = 0
"""
WORDS = frozenset({"one", "found", "made", "held", "told", "asked"})


def test_names_are_what_a_module_binds_and_not_what_it_reads() -> None:
    """Counted by hand: attributes and keywords of calls are not bound here."""
    names = Counter(name for name, _ in bound(ast.parse(MODULE)) if name in WORDS)
    assert names == {"held": 1, "one": 1, "found": 2, "made": 2, "told": 1, "asked": 2}


def test_places_beyond_the_list_are_named_and_the_list_only_shrinks(tmp_path: Path) -> None:
    folder = tmp_path / "src" / "plexlens"
    folder.mkdir(parents=True)
    (folder / "a.py").write_text("one = 1\nfound = 2\n")

    def says(**stays: int) -> list[str]:
        files = Counter({f"src/plexlens/{name}.py": count for name, count in stays.items()})
        return complaints(tmp_path, Rules(WORDS, files))

    assert [line.split(": ")[0] for line in says()] == ["src/plexlens/a.py:1", "src/plexlens/a.py:2"]
    assert len(says(a=1)) == 2 and "1 may stay" in says(a=1)[0]
    assert says(a=2) == []
    assert says(a=3) == ["src/plexlens/a.py: 2 such names are left: lower 3 in tools/names.toml"]
    assert "does not exist" in says(a=2, b=1)[0]


def test_the_tree_has_no_more_than_the_list() -> None:
    assert complaints() == []
