"""The English of the repository: each pattern finds its own example, and its better form passes."""

from pathlib import Path

import pytest

from tools.english import HOUSE, KINDS, Passage, main, markdown_passages, matches, python_passages, toml_passages

PATTERNS = {pattern.name: pattern for pattern in HOUSE.patterns}


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_finds_its_example_and_passes_its_better_form(name: str) -> None:
    """Both are in the file of patterns, next to the expression."""
    pattern = PATTERNS[name]
    for kind in pattern.kinds:
        found = {match.pattern.name for match in matches(Passage("f", kind, pattern.example, 1))}
        better = {match.pattern.name for match in matches(Passage("f", kind, pattern.rewritten, 1))}
        assert name in found
        assert name not in better


@pytest.mark.parametrize("name", PATTERNS)
def test_better_forms_pass_all_patterns(name: str) -> None:
    """A better form that another pattern refuses is not a better form."""
    assert [str(match) for kind in KINDS for match in matches(Passage("f", kind, PATTERNS[name].rewritten, 1))] == []


PYTHON = '''"""What a module is."""

NUMBER = 1  # a sign beside it


def number(text: str) -> float:
    """How a text reads.

    Parameters
    ----------
    text
        A text that is no name.
    """
    raise ValueError(f"{text} is no number of "
                     "737 I/Os a second")
'''


def test_places_in_python() -> None:
    """Heads of docstrings, comments, other paragraphs, and texts, which have the line of their first literal."""
    found = [
        (match.line, match.pattern.name)
        for passage in python_passages("f.py", PYTHON, with_texts=True)
        for match in matches(passage)
    ]
    assert sorted(found) == [
        (1, "question-opening"),
        (3, "beside"),
        (7, "question-opening"),
        (12, "is-no"),
        (14, "is-no"),
        (14, "rate"),
    ]


def test_texts_of_a_program_are_not_checked() -> None:
    """Programs in tools write documents, which are checked where they lie."""
    lines = [passage.line for passage in python_passages("f.py", PYTHON, with_texts=False) for _ in matches(passage)]
    assert sorted(lines) == [1, 3, 7, 12]


def test_places_in_toml_and_markdown() -> None:
    """Formulas and code are not English; a paragraph over several lines gives the line of the words."""
    toml = 'formula = "a beside b c"\ntitle = "Pages that lie beside others"\n'
    assert [match.line for passage in toml_passages("f.toml", toml) for match in matches(passage)] == [2]
    text = "# A page\n\nFirst line,\nand the words beside it.\n\n```\ncode beside code\n```\n`beside` is code.\n"
    assert [match.line for passage in markdown_passages("f.md", text) for match in matches(passage)] == [4]


def test_the_command_names_the_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """File, line, words and advice; exit code 1, and 0 for a file without a match."""
    page = tmp_path / "page.md"
    page.write_text("The answer is no number.\n", encoding="utf-8")
    assert main([str(page)]) == 1
    assert capsys.readouterr().out.startswith(f"{page}:1: 'is no number' (is-no): ")
    page.write_text("The answer is not a number.\n", encoding="utf-8")
    assert main([str(page)]) == 0
