"""The reference of scenario keys, generated from the source that reads them.

``python -m tools.scenario_keys docs/scenario-keys.md`` writes it. Meanings are the comments of
``crates/sysplex/src/scenario.rs`` and its modules, defaults and their sources those of ``scenario/defaults.rs``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from plexlens.generated_doc import write_or_check

_SOURCE = Path("crates") / "sysplex" / "src"

_STRUCT = re.compile(
    r"((?:^///[^\n]*\n)+)(?:^#\[[^\n]*\]\n)*^pub (struct|enum) (\w+) \{\n(.*?)^\}\n", re.MULTILINE | re.DOTALL
)
_FIELD = re.compile(r"((?:^    ///.*\n)+)((?:^    #\[.*\]\n)*)^    pub (\w+): ([^\n]+),\n", re.MULTILINE)
_VARIANT = re.compile(r"((?:^    ///.*\n)+)(?:^    #\[.*\]\n)*^    (\w+)", re.MULTILINE)
_FUNCTION = re.compile(r"((?:^///.*\n)*)^pub\(super\) fn (\w+)\(\) -> \w+ \{\n    (.*?)\n\}", re.MULTILINE)
_INNER = re.compile(r"((?:^        ///.*\n)+)^        (\w+): (\w+),\n", re.MULTILINE)
_DEFAULT = re.compile(
    r"^impl Default for (\w+) \{\n((?:^ *///[^\n]*\n)*)^    fn default[^\n]*\n *Self \{(.*?)\}\n    \}\n\}",
    re.MULTILINE | re.DOTALL,
)
_VALUE = re.compile(r"(\w+): ([^,]+?)\s*(?:,|$)")
_GENERIC = re.compile(r"(?:Option|Vec)<(\w+)>|(\w+)")

#: Types of values in the words of TOML.
_TYPES = {
    "String": "text",
    "f64": "number",
    "u64": "whole number",
    "u32": "whole number",
    "u16": "whole number",
    "u8": "whole number",
    "bool": "true or false",
}


@dataclass(frozen=True)
class Key:
    """A key of a table.

    Attributes
    ----------
    name, kind
        Name, and its type as the source has it.
    meaning
        What it says.
    default
        Value where it is left out; empty where it must be given, "none" where it may be absent.
    source
        Where the default comes from; empty where nothing is to be said.
    """

    name: str
    kind: str
    meaning: str
    default: str
    source: str


@dataclass(frozen=True)
class Table:
    """A table of a scenario, with its keys."""

    name: str
    meaning: str
    keys: tuple[Key, ...]


def _comment(lines: str) -> str:
    text = " ".join(line.strip().removeprefix("///").strip() for line in lines.splitlines())
    # Links of the source's own documentation.
    return re.sub(r"\[`(?:Self::)?(\w+)`\](?:\([\w:]+\))?", r"`\1`", text).strip()


def _literal(value: str) -> str:
    """A Rust value in TOML notation."""
    value = value.strip().removesuffix(".into()").replace("Routing::", "")
    if value == "None":
        return "none"
    if re.fullmatch(r"[\d_.]+", value):
        return f"{float(value.replace('_', '')):g}" if "." in value else value.replace("_", "")
    if re.fullmatch(r"[A-Z]\w+", value):
        return '"' + re.sub(r"(?<!^)([A-Z])", r"_\1", value).lower() + '"'
    return value


def tables(crate: Path) -> list[Table]:
    """All tables of a scenario.

    Parameters
    ----------
    crate
        The folder ``crates/sysplex/src``.
    """
    modules = [crate / "scenario.rs", *sorted((crate / "scenario").glob("*.rs"))]
    source = "\n".join(module.read_text(encoding="utf-8") for module in modules)
    defaults = (crate / "scenario" / "defaults.rs").read_text(encoding="utf-8")
    functions = {name: (_literal(value), _comment(said)) for said, name, value in _FUNCTION.findall(defaults)}
    wholes = {
        name: ({key: _literal(value) for key, value in _VALUE.findall(values)}, _comment(said))
        for name, said, values in _DEFAULT.findall(defaults)
    }
    found = []
    for said, kind, name, body in _STRUCT.findall(source):
        if name == "ScenarioError":
            continue
        keys = _variants(body) if kind == "enum" else tuple(_keys(name, body, functions, wholes))
        meaning, source = _comment(said), wholes.get(name, ({}, ""))[1]
        found.append(Table(name, f"{meaning} Defaults: {source}" if source else meaning, keys))
    return found


def _keys(
    table: str,
    body: str,
    functions: dict[str, tuple[str, str]],
    wholes: dict[str, tuple[dict[str, str], str]],
) -> Iterator[Key]:
    whole, _ = wholes.get(table, ({}, ""))
    for said, attributes, name, kind in _FIELD.findall(body):
        default, source = "", ""
        named = re.search(r'default = "default::(\w+)"', attributes)
        if named:
            default, source = functions[named[1]]
        elif name in whole:
            default = whole[name]
        elif "serde(default)" in attributes:
            zero = {"f64": "0", "u32": "0", "bool": "false"}
            default = zero.get(kind, '"random"' if kind == "Access" else "none")
        yield Key(name, kind, _comment(said), default, source)


def _variants(body: str) -> tuple[Key, ...]:
    # A variant with names of its own is a table; the other is said in the page.
    keys = [Key(name, kind, _comment(said), "", "") for said, name, kind in _INNER.findall(body)]
    if keys:
        return tuple(keys)
    for said, name in _VARIANT.findall(body):
        word = re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()
        keys.append(Key(f'"{word}"', "", _comment(said), "", ""))
    return tuple(keys)


def _link(name: str) -> str:
    return f"[{name}](#{name.replace('.', '')})"


def _kind(kind: str, names: dict[str, str]) -> str:
    match = _GENERIC.match(kind)
    inner = (match[1] or match[2]) if match else kind
    text = _TYPES.get(inner) or _link(names[inner])
    return f"list of {text}" if kind.startswith("Vec<") and inner in _TYPES else text


def _paths(found: list[Table]) -> dict[str, str]:
    """Path of each table in a scenario: that of the key that holds it."""
    names = {"Scenario": "scenario"}
    by_name = {table.name: table for table in found}

    def walk(table: Table, path: str) -> None:
        for key in table.keys:
            match = _GENERIC.match(key.kind)
            inner = (match[1] or match[2]) if match else ""
            if inner in by_name and inner not in names:
                names[inner] = f"{path}{key.name}"
                walk(by_name[inner], f"{path}{key.name}.")

    walk(by_name["Scenario"], "")
    return names


def page(crate: Path) -> str:
    """The reference as Markdown."""
    found = tables(crate)
    names = _paths(found)
    parts = [
        "# Keys of a scenario\n",
        "Written by `python -m tools.scenario_keys`; do not edit. [simulate.md](simulate.md) says how a "
        "scenario is written. Lengths of time are in seconds, or in microseconds where the key ends with `_us`; "
        "processor times are those of an engine of speed 1. A key without a default must be given; `none` may be "
        "absent.\n",
    ]
    by_name = {table.name: table for table in found}
    # In the order in which a scenario leads to them: sources are in no order.
    for name, title in names.items():
        table = by_name[name]
        parts.append(f"## {title}\n\n{table.meaning}\n")
        if all(key.name.startswith('"') for key in table.keys):
            parts += [f"- `{key.name}`: {key.meaning}" for key in table.keys]
            parts.append("")
            continue
        if table.name == "Think":
            parts.append("A number is the mean of an exponential distribution; a table has both humps.\n")
        parts += ["| key | value | default | meaning |", "|---|---|---|---|"]
        for key in table.keys:
            default = f"`{key.default}`" if key.default not in {"", "none"} else key.default
            meaning = key.meaning + (f" Default: {key.source}" if key.source else "")
            meaning = re.sub(r"`([A-Z]\w+)`", lambda found: _link(names[found[1]]), meaning)
            parts.append(f"| `{key.name}` | {_kind(key.kind, names)} | {default} | {meaning} |")
        parts.append("")
    return "\n".join(parts)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the reference, or check the named file."""
    crate = Path(__file__).resolve().parents[1] / _SOURCE
    about = "Write the reference of scenario keys."
    return write_or_check(lambda: page(crate), "tools.scenario_keys", about, "docs/scenario-keys.md", arguments)


if __name__ == "__main__":
    sys.exit(main())
