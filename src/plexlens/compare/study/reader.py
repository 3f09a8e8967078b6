"""Reads a study's folder: ``study.toml``, the TOML files of ``parts/``, and tables as CSV.

Parts continue ``study.toml`` in the order of their names: they add tables, and templates. A template declares once what
is derived in tables of one kind; those in the folder ``templates`` next to the study's folder, and those that come with
Plexlens, are shared by all studies. A table that names it takes every rule whose columns it has, its own rules come
first, and printed columns left without inputs are kept as left out, with what is missing.

Everything is checked when a study is read: a column, table, formula or argument that does not exist is named with the
file, the table and the key.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plexlens.compare.formulas.catalogue import FORMULAS, similar_formulas
from plexlens.compare.runs.headings import ROLES, Heading
from plexlens.compare.runs.run import Better, Group
from plexlens.compare.study.cells import as_rows, read_lines, turned
from plexlens.compare.study.model import (
    RELATIONS,
    SAME,
    Cut,
    Derived,
    Known,
    LeftOut,
    Line,
    Relation,
    Repeat,
    Restored,
    Study,
    StudyTable,
    share,
)
from plexlens.compare.study.places import own_study, shared_templates, studies_path, study_names
from plexlens.compare.study.references import ReferenceReader
from plexlens.compare.study.template import applied, related
from plexlens.errors import UsageError

_RELATION_KEYS = ("column", "is", "of", "formula", "arguments", "within", "where", "but", "reason")
_REPEAT_KEYS = ("key", "columns", "but", "but_tables", "reason")
_DERIVED_KEYS = ("column", "formula", "arguments", "where", "but", "printed", "cut", "decimals", "digits")

#: Keys that name columns in which digits have a meaning of their own.
_COLUMN_SETS = ("counts", "padded", "binary")

#: Names of studies: they stand in anchors of pages.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\Z")


def load_study(name: str, folder: Path | None = None) -> Study:
    """Read a study and check all of it.

    Parameters
    ----------
    name
        Its name: that of its folder, where the folder is one of those that ``folder`` holds; or a path of any folder
        with a ``study.toml``.
    folder
        Where studies are; those that come with Plexlens if not given.

    Raises
    ------
    UsageError
        There is no study of that name, and no such folder.
    StudyError
        A file cannot be read, or says something that cannot be.
    """
    folder = folder or studies_path()
    if name in study_names(folder):
        return _Reader(folder / name / "study.toml", name).study()
    path = own_study(name)
    if path is not None:
        return _Reader(path, str(path.parent.resolve())).study()
    if Path(name).is_dir():
        raise UsageError(
            file=name,
            what="the folder holds no study.toml",
            remedy="write a study.toml that names its tables, as studies/README.md shows",
        )
    raise UsageError(
        file="",
        what=f"there is no study {name!r}",
        remedy=f"name one of {', '.join(study_names(folder))}, or a folder with a study.toml, or give --all",
    )


@dataclass(frozen=True)
class _RawTable:
    """A table before its rules are read: their formulas may use tables that come later."""

    path: Path
    content: Mapping[str, Any]
    heads: tuple[str, ...]
    rows: list[dict[str, str]]
    rules: list[tuple[Path, Mapping[str, Any]]]
    relations: list[tuple[Path, Mapping[str, Any]]]
    left_out: tuple[LeftOut, ...]
    sets: dict[str, frozenset[str]]


@dataclass(frozen=True)
class _Template:
    """Rules that apply to every table that names the template."""

    path: Path
    content: Mapping[str, Any]


class _Reader(ReferenceReader):
    """Reads a study; tracks the file and the location for messages."""

    def __init__(self, path: Path, address: str) -> None:
        super().__init__(path)
        self.folder = path.parent
        self.address = address
        self.templates: dict[str, _Template] = {}

    def study(self) -> Study:
        whole = self.path
        content = self.toml(whole)
        self.known_keys(content, ("name", "title", "source", "headings", "repeats", "relations", "tables", "templates"))
        files = [(whole, content)]
        for path in sorted((self.folder / "parts").glob("*.toml")):
            self.path = path
            files.append((self.path, self.toml(self.path)))
            self.known_keys(files[-1][1], ("relations", "tables", "templates"))
        for path, part in files:
            self.path = path
            for number, entry in enumerate(self.entries(part, "templates"), 1):
                self.where = f"template {number}"
                self.template(entry)
            self.where = ""
        raw: dict[str, _RawTable] = {}
        for path, part in files:
            self.path = path
            for number, entry in enumerate(self.entries(part, "tables"), 1):
                self.where = f"table {number}"
                table_id = self.text(entry, "id")
                self.where = f"table {table_id!r}"
                if table_id in raw:
                    raise self.wrong("id", "two tables have it", "give each table an id of its own")
                raw[table_id] = self.raw_table(entry)
            self.where = ""
        for path, part in files:
            self.path = path
            self.relations_of_tables(self.entries(part, "relations"), raw)
        tables = {}
        for table_id, raw_table in raw.items():
            self.path = raw_table.path
            tables[table_id] = self.table(raw_table)
        self.path, self.where = whole, ""
        return Study(
            self.name(content), self.text(content, "title"), self.text(content, "source"), whole, tables,
            self.own_headings(content), self.address, tuple(self.repeats(content, tables)),
        )  # fmt: skip

    def relations_of_tables(self, entries: Sequence[Mapping[str, Any]], raw: Mapping[str, _RawTable]) -> None:
        """Relations declared outside tables, each for some tables, or for all that have its columns."""
        for number, entry in enumerate(entries, 1):
            self.where = f"relation {number}"
            relation = {key: value for key, value in entry.items() if key not in ("table", "but_tables")}
            named, without = self.column_names(entry.get("table")), self.named(entry, "but_tables")
            for key, table_id in [*(("table", name) for name in named), *(("but_tables", name) for name in without)]:
                if table_id not in raw and table_id != SAME:
                    raise self.wrong(key, f"there is no table {table_id!r}", f"use some of {', '.join(raw)}")
            for table_id in raw if named == (SAME,) else named:
                if table_id not in without:
                    there = related([relation], self.headings[table_id]) if named == (SAME,) else [relation]
                    raw[table_id].relations.extend((self.path, entry) for entry in there)
        self.where = ""

    def name(self, content: Mapping[str, Any]) -> str:
        name = self.text(content, "name")
        if not _NAME.match(name):
            raise self.wrong("name", f"{name!r} is not a name", "write letters, digits, dots and dashes: tuning-2026")
        return name

    def own_headings(self, content: Mapping[str, Any]) -> dict[str, Heading]:
        """The study's definitions of its own headings."""
        headings: dict[str, Heading] = {}
        for number, entry in enumerate(self.entries(content, "headings"), 1):
            self.where = f"heading {number}"
            self.known_keys(entry, ("heading", "title", "unit", "group", "better", "role"))
            text = self.text(entry, "heading")
            self.where = f"heading {text!r}"
            if text in headings:
                raise self.wrong("heading", "two entries have it", "define it once")
            group = self.choice(entry, "group", tuple(Group.__members__), "OTHER")
            better = self.choice(entry, "better", tuple(Better), "")
            role = self.choice(entry, "role", ROLES, "")
            title, unit = self.text(entry, "title"), self.text(entry, "unit", "")
            headings[text] = Heading(title, unit, Group[group], Better(better), role)
        self.where = ""
        return headings

    def template(self, entry: Mapping[str, Any]) -> None:
        name = self.text(entry, "name")
        self.where = f"template {name!r}"
        self.known_keys(entry, ("name", "derived", "relations", *_COLUMN_SETS))
        if name in self.templates:
            raise self.wrong("name", "two templates have it", "give each template a name of its own")
        for rule in self.entries(entry, "derived"):
            self.known_keys(rule, _DERIVED_KEYS, "derived.")
            if SAME in self.column_names(rule.get("column")):
                raise self.wrong("derived.column", "a template cannot name all columns", "name them")
        for relation in self.entries(entry, "relations"):
            self.known_keys(relation, _RELATION_KEYS, "relations.")
        self.templates[name] = _Template(self.path, entry)

    def template_named(self, name: str) -> _Template:
        """A template of the study, or else a shared template."""
        if name not in self.templates:
            place = self.path, self.where
            for path in shared_templates(self.folder):
                self.path = path
                content = self.toml(path)
                self.known_keys(content, ("templates",))
                for number, entry in enumerate(self.entries(content, "templates"), 1):
                    self.where = f"template {number}"
                    if self.text(entry, "name") not in self.templates:
                        self.template(entry)
            self.path, self.where = place
        if name not in self.templates:
            there = ", ".join(self.templates) or "there are no templates"
            raise self.wrong("template", f"there is no template {name!r}", f"use one of {there}")
        return self.templates[name]

    def raw_table(self, entry: Mapping[str, Any]) -> _RawTable:
        """The cells of a table, and its rules followed by those of its templates."""
        heads, rows = self.cells(entry)
        rules = [(self.path, rule) for rule in self.entries(entry, "derived")]
        own = [column for _, rule in rules for column in self.column_names(rule.get("column"))]
        left_out: list[LeftOut] = []
        names = self.column_names(entry["template"]) if "template" in entry else ()
        for name in names:
            template = self.template_named(name)
            more, lacking = applied(name, self.entries(template.content, "derived"), heads, own)
            rules += [(template.path, rule) for rule in more]
            own += [column for rule in more for column in rule["column"]]
            left_out += lacking
        unprinted = [
            column
            for _, rule in rules
            if rule.get("printed") is False
            for column in self.column_names(rule.get("column"))
        ]
        self.headings[entry["id"]] = (*heads, *unprinted)
        relations = [(self.path, relation) for relation in self.entries(entry, "relations")]
        for name in names:
            template = self.template_named(name)
            there = related(self.entries(template.content, "relations"), self.headings[entry["id"]])
            relations += [(template.path, relation) for relation in there]
        sets = {key: frozenset(self.column_set(entry, key, heads)) for key in _COLUMN_SETS}
        for name in names:
            content = self.template_named(name).content
            for key in _COLUMN_SETS:
                sets[key] |= {column for column in self.named(content, key) if column in heads}
        kept = tuple(lacking for lacking in left_out if lacking.column not in own)
        return _RawTable(self.path, entry, heads, rows, rules, relations, kept, sets)

    def named(self, content: Mapping[str, Any], key: str) -> tuple[str, ...]:
        return self.column_names(content[key]) if content.get(key) else ()

    def column_set(self, entry: Mapping[str, Any], key: str, heads: tuple[str, ...]) -> tuple[str, ...]:
        names = heads if entry.get(key) == SAME else self.named(entry, key)
        return tuple(self.column(key, name, entry["id"]) for name in names)

    def cells(self, entry: Mapping[str, Any]) -> tuple[tuple[str, ...], list[dict[str, str]]]:
        path = self.folder / self.text(entry, "file")
        try:
            lines = read_lines(path)
        except (OSError, UnicodeDecodeError) as error:
            raise self.wrong("file", f"{path.name} cannot be read: {error}", "name a CSV file of the folder") from error
        labels = self.column_names(entry["transpose"]) if entry.get("transpose") is not None else ()
        for label in labels:
            if label not in lines[0]:
                raise self.wrong("transpose", f"there is no column {label!r}", f"use one of {', '.join(lines[0])}")
        return as_rows(path, turned(lines, labels) if labels else lines)

    def table(self, raw: _RawTable) -> StudyTable:
        content, heads, table_id = raw.content, raw.heads, raw.content["id"]
        self.where = f"table {table_id!r}"
        allowed = (
            "id",
            "file",
            "title",
            "note",
            "transpose",
            "base",
            "template",
            "derived",
            "known",
            "lines",
            "cut",
            "relations",
            "restored",
        )
        self.known_keys(content, (*allowed, *_COLUMN_SETS))
        first = {heads[0]: raw.rows[0][heads[0]]} if raw.rows else {}
        self.base = self.match("base", table_id, content.get("base", first))
        derived = []
        for path, entry in raw.rules:
            # A rule of a template is wrong where the template stands.
            self.path = path
            derived.append(self.derived(entry, table_id, heads))
        relations = []
        for path, entry in raw.relations:
            self.path = path
            relations.append(self.relation(entry, table_id))
        self.path = raw.path
        cut = []
        for entry in self.entries(content, "cut"):
            self.known_keys(entry, ("column", "where", "but"), "cut.")
            names = self.column_names(entry.get("column"))
            columns = frozenset(heads if names == (SAME,) else (self.column("cut.column", n, table_id) for n in names))
            cut.append(Cut(columns, self.match("cut.where", table_id, entry.get("where", {}), entry.get("but"))))
        known = []
        for entry in self.entries(content, "known"):
            self.known_keys(entry, ("column", "where", "but", "note", "convention", "right", "gives"), "known.")
            known.append(
                Known(
                    self.column("known.column", self.text(entry, "column"), table_id),
                    self.match("known.where", table_id, entry.get("where", {}), entry.get("but")),
                    self.text(entry, "note"),
                    self.flag(entry, "known.", "convention"),
                    self.flag(entry, "known.", "right"),
                    self.text(entry, "gives", ""),
                )
            )
        lines = []
        for entry in self.entries(content, "lines"):
            self.known_keys(entry, ("rate", "cpu_percent"), "lines.")
            lines.append(
                Line(
                    self.column("lines.rate", self.text(entry, "rate"), table_id),
                    tuple(
                        self.column("lines.cpu_percent", name, table_id)
                        for name in self.column_names(entry.get("cpu_percent"))
                    ),
                )
            )
        restored = [self.restored(entry, table_id, heads) for entry in self.entries(content, "restored")]
        note = self.text(content, "note", "")
        if not derived and not note:
            raise self.wrong("note", "nothing in the table is computed, and no reason is given", "state the reason")
        return StudyTable(
            table_id,
            self.text(content, "title"),
            self.folder / content["file"],
            heads,
            tuple(raw.rows),
            raw.sets["counts"],
            tuple(derived),
            tuple(known),
            tuple(lines),
            note,
            raw.sets["padded"],
            raw.sets["binary"],
            tuple(cut),
            raw.left_out,
            tuple(relations),
            tuple(restored),
        )

    def restored(self, entry: Mapping[str, Any], table_id: str, heads: tuple[str, ...]) -> Restored:
        self.known_keys(entry, ("column", "from", "where", "but", "by"), "restored.")
        rows = self.match("restored.where", table_id, entry.get("where", {}), entry.get("but"))
        if "from" in entry:
            first = self.column("restored.from", self.text(entry, "from"), table_id)
            columns = heads[heads.index(first) :]
        else:
            names = self.column_names(entry.get("column"))
            columns = tuple(self.column("restored.column", name, table_id) for name in names)
        return Restored(frozenset(columns), rows, self.text(entry, "by"))

    def derived(self, entry: Mapping[str, Any], table_id: str, heads: tuple[str, ...]) -> Derived:
        self.known_keys(entry, _DERIVED_KEYS, "derived.")
        rows = self.match("derived.where", table_id, entry.get("where", {}), entry.get("but"))
        given = self.column_names(entry.get("column"))
        if given == (SAME,):
            fixed = set(rows.cells) | set(rows.but)
            given = tuple(head for head in heads if head not in fixed)
        columns = tuple(self.column("derived.column", name, table_id) for name in given)
        name = self.text(entry, "formula")
        if name not in FORMULAS:
            raise self.wrong("derived.formula", f"there is no formula {name!r}", similar_formulas(name))
        formula = FORMULAS[name]
        arguments = self.arguments(entry, formula, table_id, "derived.")
        decimals, digits = (self.decimals(entry, key) for key in ("decimals", "digits"))
        printed, cut = (self.flag(entry, "derived.", key, key == "printed") for key in ("printed", "cut"))
        return Derived(columns, rows, formula, arguments, printed, cut, decimals, digits)

    def relation(self, entry: Mapping[str, Any], table_id: str) -> Relation:
        self.known_keys(entry, _RELATION_KEYS, "relations.")
        rows = self.match("relations.where", table_id, entry.get("where", {}), entry.get("but"))
        names = self.column_names(entry.get("column"))
        columns = tuple(self.column("relations.column", name, table_id) for name in names)
        kind = self.choice(entry, "is", tuple(RELATIONS), "equal")
        if "of" in entry:
            entry = {**entry, "formula": "total", "arguments": {"values": entry["of"]}}
        name = self.text(entry, "formula")
        if name not in FORMULAS:
            raise self.wrong("relations.formula", f"there is no formula {name!r}", similar_formulas(name))
        arguments = self.arguments(entry, FORMULAS[name], table_id, "relations.")
        within = share(self.text(entry, "within", "0"))
        if within is None or (within and kind in ("equal", "multiple of")):
            raise self.wrong("relations.within", f"{entry['within']!r} cannot be", 'write is = "near", within = "5 %"')
        return Relation(columns, rows, kind, FORMULAS[name], arguments, within, self.text(entry, "reason"))

    def repeats(self, content: Mapping[str, Any], tables: Mapping[str, StudyTable]) -> Iterator[Repeat]:
        """The study's declarations of rows repeated in several tables."""
        for number, entry in enumerate(self.entries(content, "repeats"), 1):
            self.where = f"repeat {number}"
            self.known_keys(entry, _REPEAT_KEYS)
            keys = self.column_names(entry.get("key"))
            if not any(set(keys) <= set(table.columns) for table in tables.values()):
                raise self.wrong("key", f"no table has the columns {', '.join(keys)}", "name headings of some tables")
            columns, but, but_tables = (frozenset(self.named(entry, key)) for key in ("columns", "but", "but_tables"))
            for name in but_tables:
                if name not in tables:
                    raise self.wrong("but_tables", f"there is no table {name!r}", f"use some of {', '.join(tables)}")
            yield Repeat(keys, columns, but, but_tables, self.text(entry, "reason", ""))
        self.where = ""
