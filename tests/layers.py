"""The layer rule: data moves downwards only, so a module imports only from its own layer or lower ones."""

from __future__ import annotations

import ast
from collections.abc import Container, Sequence
from functools import cache
from pathlib import Path

#: Layers from the lowest. A name is a module or package of ``plexlens``; names on one line do not import each other.
#: The page of a command is in the folder of its domain, and is a layer of its own (``pools.page``) above ``report``.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("errors", "_core"),
    ("layouts_path",),
    (
        "expression",
        "catalogue_path",
        "executors",
        "whole_file",
        "generated_doc",
        "json_text",
        "progress",
        "signals",
        "storage_size",
    ),
    ("smf_rows",),
    ("ingest", "example", "dsect", "sampling"),
    ("pdb",),
    ("metrics",),
    ("findings", "pools", "load", "driver", "spark"),
    ("compare", "simulate"),
    ("capacity", "lab", "why"),
    ("cost",),
    ("sharing", "forecast"),
    ("changes",),
    ("report",),
    (
        "pools.page",
        "compare.page",
        "capacity.page",
        "sharing.page",
        "load.page",
        "cost.page",
        "forecast.page",
        "lab.page",
        "why.page",
    ),
    ("changes.page",),
    ("export", "watch", "hand_over", "proof"),
    ("serve",),
    ("api", "cli", "__main__"),
)

#: Rooms of a layer from the lowest. A name is a folder of the layer; modules in no folder are above all rooms.
ROOMS: dict[str, tuple[tuple[str, ...], ...]] = {
    "compare": (("numbers",), ("runs", "formulas"), ("study",), ("audit",), ("analysis",), ("comparison",)),
    "report": (("model",), ("chart", "blocks"), ("writers", "pages")),
}

#: Imports that go up all the same: (importing module, imported layer) and why.
EXCEPTIONS: dict[tuple[str, str], str] = {}

_FLOOR = {
    (layer, room): floor for layer, floors in ROOMS.items() for floor, rooms in enumerate(floors) for room in rooms
}
_LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}


def _layer(parts: Sequence[str]) -> str:
    """The layer of a module, whose name below ``plexlens`` is in parts."""
    inner = ".".join(parts[:2])
    return inner if inner in _LEVEL else parts[0]


def imported_modules(source: str, module: str, modules: Container[str] = ()) -> list[tuple[int, str]]:
    """Line and dotted name of everything of ``plexlens`` that a module imports, wherever in its body.

    Parameters
    ----------
    source
        Text of the module.
    module
        Its dotted name; that of a package ends in ``__init__``.
    modules
        The modules that there are: what is imported from a package is one of these, or else the package itself.
    """
    found: list[tuple[int, str]] = []
    package = module.split(".")[:-1]
    for node in _imports(source):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        else:
            base = package[: len(package) - node.level + 1] if node.level else []
            name = ".".join([*base, node.module] if node.module else base)
            inner = [f"{name}.{alias.name}" for alias in node.names]
            # `from plexlens import pdb` imports a submodule: its name is the alias.
            found += [(node.lineno, one if name == "plexlens" or one in modules else name) for one in inner]
    return [(line, name) for line, name in found if name.split(".")[0] == "plexlens" and "." in name]


@cache
def _imports(source: str) -> list[ast.Import | ast.ImportFrom]:
    """The statements; kept, since each rule reads every module."""
    return [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import | ast.ImportFrom)]


def violations(root: Path) -> list[str]:
    """Every import below ``root`` (the folder of the package) that goes up or sideways, as ``file:line: what``."""
    wrong: list[str] = []
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        if parts == ("__init__",):
            continue
        here = _layer(parts)
        if here not in _LEVEL:
            wrong.append(f"{path}:1: {here} has no layer; name it in tests/layers.py")
            continue
        module = ".".join(("plexlens", *parts))
        for line, name in imported_modules(path.read_text(encoding="utf-8"), module):
            there = _layer(name.split(".")[1:])
            if there == here in ROOMS:
                wrong += [f"{path}:{line}: {what}" for what in _between_rooms(root / here, parts, name)]
            if there == here or there.startswith("__version__") or (here, there) in EXCEPTIONS:
                continue
            if there not in _LEVEL:
                wrong.append(f"{path}:{line}: {there} has no layer; name it in tests/layers.py")
            elif _LEVEL[there] >= _LEVEL[here]:
                wrong.append(f"{path}:{line}: {here} imports {there}, which is not below it")
    return wrong


def _between_rooms(layer: Path, parts: tuple[str, ...], name: str) -> list[str]:
    """What is wrong with an import within a layer that has rooms."""
    here = parts[1] if len(parts) > 2 else ""
    there = name.split(".")[2] if name.count(".") > 1 else ""
    for room in (here, there):
        if (layer / room).is_dir() and room and (layer.name, room) not in _FLOOR:
            return [f"{layer.name}/{room} has no place among the rooms; name it in tests/layers.py"]
    if not here or here == there:
        return []
    if (layer.name, there) not in _FLOOR:
        return [f"{layer.name}/{here} imports {name}, which stands above the rooms"]
    if _FLOOR[layer.name, there] >= _FLOOR[layer.name, here]:
        return [f"{layer.name}/{here} imports {layer.name}/{there}, which is not below it"]
    return []


def circles(root: Path) -> list[str]:
    """Every circle of imports between the files below ``root`` (the folder of the package), as module names."""
    files: dict[str, Path] = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        files[".".join(("plexlens", *(parts[:-1] if parts[-1] == "__init__" else parts)))] = path
    imports: dict[str, set[str]] = {}
    for module, path in files.items():
        package = f"{module}.__init__" if path.name == "__init__.py" else module
        found = imported_modules(path.read_text(encoding="utf-8"), package, files)
        imports[module] = {name for _, name in found} - {module}
    made: list[str] = []
    done: set[str] = set()

    def visit(module: str, way: list[str]) -> None:
        if module in way:
            made.append(" -> ".join([*way[way.index(module) :], module]))
        elif module in imports and module not in done:
            for other in sorted(imports[module]):
                visit(other, [*way, module])
            done.add(module)

    for module in imports:
        visit(module, [])
    return made
