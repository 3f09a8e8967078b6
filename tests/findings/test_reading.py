"""Rule files: what is read, how a site's rules go over Plexlens's, and what is said of a bad one."""

from __future__ import annotations

from pathlib import Path

import pytest

from plexlens.findings import RuleError, Severity, load_rules
from plexlens.findings.making import KEYS, TABLES
from plexlens.findings.reading import SHIPPED
from plexlens.metrics import GRAINS

#: A rule of a site's with every key; each line is one that a planted error can replace.
GOOD = """\
[[rule]]
id = "site.busy"
title = "Busy"
grain = "coupling_facility"
by = ["sysplex", "facility"]
time = "interval"
where = "contains(facility, 'CF')"
condition = "utilization > 10 %"
min_share = 0.5
severity = "low"
grades = { high = "utilization > 90 %" }
evidence = ["utilization", "requests_per_second"]
worst = "highest"
sentence = "{facility} is {utilization} busy."
action = "Look at {facility}."
command = "D CF,CFNAME={facility}"
undo = "D XCF,CF,CFNAME={facility}"
unrecorded = ["DYNDISP"]
yields_to = ["coupling.facility_busy"]
[rule.cause]
name = "busy"
thing = "{facility}"
order = 1
[rule.cost]
seconds = "sync_seconds"
kind = "CPU"
meaning = "all of it"
[rule.source]
document = "Our handbook"
where = "Page 3"
url = "https://handbook.example/3"
threshold = "chosen"
[rule.releases]
product = "z/OS"
since = "2.4"
until = "3.1"
"""


def site(folder: Path, text: str, name: str = "site.toml") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_the_rules_of_plexlens_are_many_and_sound() -> None:
    rules = load_rules()
    assert len(rules) >= 60
    assert [rule.id for rule in rules] == sorted({rule.id for rule in rules})
    families = {file.stem.partition("_")[0] for file in SHIPPED.glob("*.toml")}
    assert {rule.family for rule in rules} == families
    assert families <= set(GRAINS.families)
    for rule in rules:
        assert rule.origin == ""
        assert len(rule.title) > 8
        assert rule.grain in GRAINS
        assert rule.source.url.startswith("https://") or rule.source.url.startswith("http://") or not rule.source.url
        assert str(rule.sentence).removesuffix("]]").endswith(".")
        assert str(rule.action).endswith(".")
        # A sentence without a number of its own says nothing of the case at hand.
        assert rule.sentence.places, rule.id


def test_files_hold_the_rules_of_their_family() -> None:
    """``db2_pool.toml`` holds rules of the family db2."""
    for file in SHIPPED.glob("*.toml"):
        ids = [line.split('"')[1] for line in file.read_text(encoding="utf-8").splitlines() if line.startswith("id = ")]
        assert ids
        assert {name.partition(".")[0] for name in ids} == {file.stem.partition("_")[0]}


def test_a_rule_of_a_site_is_added(tmp_path: Path) -> None:
    rules = {rule.id: rule for rule in load_rules([site(tmp_path, GOOD)])}
    assert len(rules) == len(load_rules()) + 1
    rule = rules["site.busy"]
    assert rule.origin == str(tmp_path / "site.toml")
    assert (rule.by, rule.time, rule.min_share, rule.lowest) == (("sysplex", "facility"), "interval", 0.5, False)
    assert rule.severity is Severity.LOW
    assert [str(severity) for severity, _ in rule.grades] == ["high"]
    assert rule.releases is not None
    assert [rule.releases.include(release) for release in ((2, 3), (2, 4), (3, 1), (3, 2))] == [
        False,
        True,
        True,
        False,
    ]
    assert str(rule.releases) == "z/OS 2.4 to 3.1"


def test_every_key_is_in_the_example() -> None:
    """So that a planted error can be tried on each."""
    used = {line.split("=")[0].strip() for line in GOOD.splitlines() if " = " in line}
    used |= {line.strip("[]").removeprefix("rule.") for line in GOOD.splitlines() if line.startswith("[")}
    inner = {key.rstrip("*") for name, keys in TABLES.items() if name != "grades" for key in keys}
    wanted = {key.rstrip("*") for key in KEYS} | inner
    assert wanted - used == {"percentile", "disabled"}


def test_a_site_changes_the_keys_it_gives(tmp_path: Path) -> None:
    text = '[[rule]]\nid = "coupling.facility_busy"\ncondition = "utilization > 70 %"\nsource = { where = "ours" }\n'
    before = {rule.id: rule for rule in load_rules()}["coupling.facility_busy"]
    after = {rule.id: rule for rule in load_rules([site(tmp_path, text)])}["coupling.facility_busy"]
    assert after.condition.text == "utilization > 70 %"
    assert (after.title, after.evidence, after.grades) == (before.title, before.evidence, before.grades)
    assert (after.source.document, after.source.where) == (before.source.document, "ours")
    assert after.origin == str(tmp_path / "site.toml")


def test_a_site_switches_a_rule_off(tmp_path: Path) -> None:
    text = '[[rule]]\nid = "paging.low_uic"\ndisabled = true\n'
    rules = load_rules([site(tmp_path, text)])
    assert "paging.low_uic" not in {rule.id for rule in rules}
    assert len(rules) == len(load_rules()) - 1


def test_the_last_folder_has_the_last_word(tmp_path: Path) -> None:
    first = site(tmp_path / "1", '[[rule]]\nid = "paging.demand"\ncondition = "page_faults_per_second > 5"\n')
    second = site(tmp_path / "2", '[[rule]]\nid = "paging.demand"\ncondition = "page_faults_per_second > 9"\n')
    rules = {rule.id: rule for rule in load_rules([first, second])}
    assert rules["paging.demand"].condition.text == "page_faults_per_second > 9"


#: Line of the good rule that is replaced, what by, and what the message must name.
PLANTED = [
    ("id", 'id = "Busy"', ["rule 1 has the id 'Busy'", "family.name"]),
    ("id", "", ["rule 1 has no id"]),
    ("title", 'title = ""', ["rule site.busy, title", "not a text"]),
    ("title", "", ["title is missing"]),
    ("grain", 'grain = "coupling_facilty"', ["there is no grain coupling_facilty", "did you mean coupling_facility?"]),
    ("by", 'by = ["sysplex", "facilty"]', ["by", "facilty is not a key", "did you mean facility?"]),
    ("by", "by = []", ["not a list of names"]),
    ("by", 'by = "facility"', ["not a list of names"]),
    ("time", 'time = "week"', ["'week'", "interval, hour, all"]),
    ("where", 'where = "facility = 1"', ["where", "character"]),
    ("where", 'where = "utilization > 1 %"', ["utilization is not a key, attribute or fact"]),
    ("condition", 'condition = "utilization > 10"', ["condition", "10 meets a value in fraction", "%"]),
    ("condition", 'condition = "utilisation > 10 %"', ["utilisation is not a fact or metric"]),
    ("condition", 'condition = "utilization"', ["it is a number, not a condition"]),
    ("condition", 'condition = "1 > 0"', ["contains no fact or metric"]),
    ("condition", 'condition = "utilization > "', ["character 14", "the end"]),
    ("min_share", "min_share = 1.5", ["1.5", "at most 1"]),
    ("min_share", "min_share = true", ["True"]),
    ("min_share", 'min_share = "half"', ["'half'"]),
    ("min_share", "min_share = 0.5\npercentile = 90", ["percentile", "combined with min_share"]),
    ("min_share", "percentile = 0", ["percentile", "above 0"]),
    ("severity", 'severity = "severe"', ["'severe'", "low, medium, high, critical"]),
    ("grades", 'grades = { low = "utilization > 90 %" }', ["grades.low", "not above"]),
    ("grades", 'grades = { worse = "utilization > 90 %" }', ["grades.worse", "no such key"]),
    ("grades", 'grades = "high"', ["grades", "not a table"]),
    ("evidence", 'evidence = ["facility"]', ["facility is not a fact or metric"]),
    ("evidence", "evidence = []", ["not a list of names"]),
    ("worst", 'worst = "largest"', ["highest, lowest"]),
    ("sentence", 'sentence = "{nosuch}"', ["sentence", "{nosuch}", "nosuch is not"]),
    ("action", 'action = "{utilization:5}"', ["action", "'5' is not a known form"]),
    ("command", 'command = "D {"', ["command", "an unpaired brace"]),
    ("command", "", ["undo", "the rule has no command to undo"]),
    ("undo", 'undo = "D {x}"', ["undo", "x is not"]),
    ("seconds", 'seconds = "storage_bytes"', ["cost.seconds", "bytes"]),
    ("kind", 'kind = "money"', ["cost.kind", "CPU, delay"]),
    ("meaning", "", ["cost.meaning is missing"]),
    ("document", "document = 3", ["source.document", "3, not a text"]),
    ("url", 'url = "javascript:alert(1)"', ["source.url", "https://"]),
    ("threshold", 'threshold = "guessed"', ["source.threshold", "stated, chosen"]),
    ("product", 'product = "Db2"', ["releases.product", "z/OS"]),
    ("since", "since = 2.4", ["releases.since", "in quotes"]),
    ("since", 'since = "2"', ["releases.since", "version and release"]),
    ("worst", 'worst = "highest"\nlevel = 3', ["level", "there is no such key", "valid are id, title"]),
]


@pytest.mark.parametrize(("key", "line", "says"), PLANTED, ids=[f"{n}-{key}" for n, (key, _, _) in enumerate(PLANTED)])
def test_a_planted_error_is_named_with_its_line(tmp_path: Path, key: str, line: str, says: list[str]) -> None:
    lines = GOOD.splitlines()
    number = next(n for n, text in enumerate(lines) if text.startswith(f"{key} = "))
    # A rule before it: lines must be counted from the file's beginning.
    before = ["# ours", *GOOD.replace("site.busy", "site.other").splitlines(), ""]
    lines[number : number + 1] = [line] if line else []
    folder = site(tmp_path, "\n".join([*before, *lines]) + "\n")
    with pytest.raises(RuleError) as caught:
        load_rules([folder])
    error = caught.value
    assert error.file == str(folder / "site.toml")
    for part in says:
        assert part.replace("rule 1", "rule 2") in str(error)
    assert error.remedy
    assert error.exit_code == 2
    first = len(before) + 1
    assert error.line is not None
    # Missing data is told at the rule; what is there, at its own line or that of its table.
    tables = {n + len(before) + 1 for n, text in enumerate(lines) if text.startswith("[")}
    own = {number + len(before) + 1, number + len(before) + 2}
    assert error.line in ({first} if not line and key in ("id", "title") else own | tables)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[rule]\n", "not TOML"),
        ("x = 1\n", "'x' is not allowed here"),
        ("rule = 3\n", "not a list of tables"),
        ("[rule]\nid = 'a.b'\n", "not a list of tables"),
        (GOOD + GOOD, "is defined twice"),
        ('[[rule]]\nid = "paging.demnd"\ndisabled = true\n', "did you mean paging.demand?"),
        ('[[rule]]\nid = "paging.demand"\ndisabled = 1\n', "disabled: 1 is not true or false"),
        ('[[rule]]\nid = "site.new"\ncondition = "a > 1"\n', "is missing"),
    ],
)
def test_a_bad_file_is_refused(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(RuleError) as caught:
        load_rules([site(tmp_path, text)])
    assert says in str(caught.value)
    assert str(tmp_path / "site.toml") in str(caught.value)


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "site.toml").write_bytes(b"\xff\xfe[[rule]]")
    with pytest.raises(RuleError, match="not UTF-8"):
        load_rules([tmp_path])


def test_folders_without_rules(tmp_path: Path) -> None:
    with pytest.raises(RuleError, match="no such folder"):
        load_rules([tmp_path / "nowhere"])
    with pytest.raises(RuleError, match=r"holds no \.toml file"):
        load_rules([tmp_path])


def test_a_text_that_looks_like_a_rule_costs_the_line_not_the_message(tmp_path: Path) -> None:
    text = GOOD.replace('action = "Look at {facility}."', 'action = """\n[[rule]]\nid = "x.y"\n"""')
    folder = site(tmp_path, text.replace('severity = "low"', 'severity = "none"'))
    with pytest.raises(RuleError) as caught:
        load_rules([folder])
    assert caught.value.line is None
    assert "rule site.busy, severity" in str(caught.value)


def test_accounting_has_no_intervals_to_judge(tmp_path: Path) -> None:
    text = """\
[[rule]]
id = "site.queue"
title = "Queue"
grain = "mq_queue"
by = ["queue"]
condition = "messages_skipped_per_get > 1"
severity = "low"
evidence = ["messages_skipped_per_get"]
sentence = "{queue}: {messages_skipped_per_get}."
action = "None."
source = { document = "x", where = "y", threshold = "chosen" }
"""
    with pytest.raises(RuleError, match="no interval in common"):
        load_rules([site(tmp_path, text)])
    load_rules([site(tmp_path, text + 'time = "all"\n')])
