"""Replacements: same length and kinds of characters, one for each word, none of the input, and back again."""

from __future__ import annotations

import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plexlens.errors import UnreadableInputError, UsageError
from plexlens.hand_over.holds import holdings, known_words
from plexlens.hand_over.key import Key
from plexlens.hand_over.translation import Translation, back, words_of

KNOWN = known_words()
NAMES = st.text(string.ascii_uppercase + string.ascii_lowercase + string.digits + "#@$._- ", min_size=1, max_size=16)


def kind(character: str) -> str:
    if character in "#@$":
        return "national"
    for name, characters in (("upper", string.ascii_uppercase), ("lower", string.ascii_lowercase)):
        if character in characters:
            return name
    return "digit" if character.isdigit() else character


@given(st.sets(NAMES, min_size=1, max_size=40), st.binary(min_size=32, max_size=32))
def test_replacements_keep_length_and_kinds_and_differ(names: set[str], secret: bytes) -> None:
    translation = Translation(Key(secret, 0), KNOWN)
    translation.learn(names)
    replaced = {name: translation(name) for name in names}
    # Different names stay different, so that no two entities become one.
    assert len(set(replaced.values())) == len(names)
    for name, new in replaced.items():
        assert [kind(character) for character in name] == [kind(character) for character in new]
        for word in words_of(name):
            if len(word) >= 4 and word not in KNOWN and not KNOWN.ending(word) and kind(word[0]) in "upperlowerdigit":
                assert word not in {part for one in replaced.values() for part in words_of(one)}


def test_parts_of_names_agree() -> None:
    translation = Translation(Key(b"k" * 32, 0), KNOWN)
    translation.learn(["DSNDB0G_GBP1", "DSNDB0G_LOCK1", "DB1A", "DB1AMSTR", "PROD.DSNDBD.DB01.TS01.I0001.A001"])
    group = translation("DSNDB0G")
    assert translation("DSNDB0G_GBP1") == f"{group}_GBP1"
    assert translation("DSNDB0G_LOCK1") == f"{group}_LOCK1"
    assert translation("DB1AMSTR") == translation("DB1A") + "MSTR"
    parts = translation("PROD.DSNDBD.DB01.TS01.I0001.A001").split(".")
    assert (parts[1], parts[4:]) == ("DSNDBD", ["I0001", "A001"])
    assert translation("SYSSTC") == "SYSSTC"


def test_a_key_gives_the_same_replacements_again_and_takes_more() -> None:
    key = Key(b"k" * 32, -70)
    first = Translation(key, KNOWN)
    first.learn(["PAYROLL", "SYSA"])
    before = dict(key.words)
    Translation(key, KNOWN).learn(["PAYROLL", "SYSB"])
    assert before.items() <= key.words.items()
    other = Key(b"l" * 32, 0)
    Translation(other, KNOWN).learn(["PAYROLL"])
    assert other.words["PAYROLL"] != key.words["PAYROLL"]


def test_back() -> None:
    key = Key(b"k" * 32, 0)
    translation = Translation(key, KNOWN)
    names = ["PAYROLL1", "DB1AMSTR", "DSNDB0G_GBP1", "SYS1.LINKLIB"]
    translation.learn(names)
    told = f"job {translation('PAYROLL1')} of {translation('DB1AMSTR')} waits for {translation('DSNDB0G_GBP1')}"
    assert back(key, told) == "job PAYROLL1 of DB1AMSTR waits for DSNDB0G_GBP1"


def test_ten_names_of_one_digit_have_ten_replacements_and_none_its_own() -> None:
    key = Key(b"k" * 32, 0)
    Translation(key, KNOWN).learn(["0", "1", "2", "3", "4", "5", "6", "7"])
    assert len(set(key.words.values())) == 8
    assert all(old != new for old, new in key.words.items())


def test_more_names_than_replacements_are_refused() -> None:
    key = Key(b"k" * 32, 0, {f"A{number}": "@#$"[number] for number in range(3)})
    with pytest.raises(UsageError, match="more names"):
        Translation(key, KNOWN).learn(["$"])


def test_the_key_file(tmp_path: Path) -> None:
    key = Key.new()
    assert key.days % 7 == 0
    assert -10 * 366 < key.days <= -371
    key.words["SYSA"] = "QRTZ"
    path = tmp_path / "key.json"
    key.write(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert Key.read(path) == key
    path.write_text('{"version": 1, "secret": "00", "days": 0, "words": {"A": "C", "B": "C"}}')
    with pytest.raises(UnreadableInputError, match="two names have one replacement"):
        Key.read(path)
    path.write_text("[]")
    with pytest.raises(UnreadableInputError, match="not a key file"):
        Key.read(path)


def test_a_line_that_says_nothing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "characters").mkdir()
    lines = tmp_path / "characters" / "smf.csv"
    lines.write_text("layout,field,holds,when,at,length\nmine,FIELD,?,,,\n")
    with pytest.raises(UnreadableInputError, match="does not say what FIELD holds"):
        holdings([tmp_path])
    lines.write_text("layout,field,holds,when,at,length\nmine,FIELD,job,,x,\n")
    with pytest.raises(UnreadableInputError, match="line 2: a place is not a number"):
        holdings([tmp_path])
