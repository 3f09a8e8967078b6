"""The frame of every page: templates, contents, files that pages load, and pages of errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import jinja2
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from plexlens import __version__
from plexlens.errors import PlexlensError
from plexlens.forecast.series import KINDS
from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import available
from plexlens.metrics.inputs import Inputs
from plexlens.report.model.clock import Clock
from plexlens.report.pages import PAGES
from plexlens.report.writers.html import asset, environment
from plexlens.serve.workspace import BusyError

#: Pages of the report that are not numbers of grains, in front of the others.
FIRST = ("findings", "read")

#: Grains of which `plexlens forecast` has series.
_FORECAST = tuple(dict.fromkeys(kind.grain for kind in KINDS))


@cache
def templates() -> jinja2.Environment:
    """The templates of the server's pages, with the blocks of the report."""
    blocks = environment().loader
    own = jinja2.PackageLoader("plexlens.serve", "templates")
    assert blocks is not None
    result = environment().overlay(loader=jinja2.ChoiceLoader([own, blocks]))
    # Byte code of the report's templates is kept in their folder, under names that another template could have.
    result.bytecode_cache = None
    result.globals["static"] = {
        name: f"/static/{name}?v={static_file.version}" for name, static_file in static_files().items()
    }
    result.globals["version"] = __version__
    return result


@dataclass(frozen=True)
class StaticFile:
    """A file that pages load."""

    content: bytes
    media_type: str

    @property
    def version(self) -> str:
        """The first digits of its hash, for its address: a browser keeps it until it changes."""
        return sha256(self.content).hexdigest()[:12]


@cache
def static_files() -> Mapping[str, StaticFile]:
    """The files that pages load, by name: no others are served."""
    own = files("plexlens.serve") / "static"
    texts = {name: asset(name) for name in ("page.css", "page.js", "early.js")}
    texts |= {name: (own / name).read_text(encoding="utf-8") for name in ("serve.css", "serve.js", "htmx.min.js")}
    kinds = {"css": "text/css", "js": "text/javascript"}
    return {name: StaticFile(text.encode(), kinds[name.rpartition(".")[2]]) for name, text in texts.items()}


def static(request: Request) -> Response:
    """A file that pages load."""
    static_file = static_files().get(request.path_params["name"])
    if static_file is None:
        return Response("There is no such file.", 404, media_type="text/plain")
    kept = {"cache-control": "public, max-age=31536000, immutable"}
    return Response(static_file.content, media_type=static_file.media_type, headers=kept)


@dataclass(frozen=True)
class Link:
    """An entry of the contents."""

    title: str
    href: str
    is_current: bool = False
    is_empty: bool = False


@dataclass(frozen=True)
class Group:
    """Entries of the contents under a heading."""

    title: str
    links: Sequence[Link]

    @property
    def is_open(self) -> bool:
        """Whether the current page is among them."""
        return any(link.is_current for link in self.links)


def address(path: str, pairs: Sequence[tuple[str, str]] = ()) -> str:
    """An address on this server."""
    return f"{path}?{urlencode(pairs)}" if pairs else path


def frame_of(database: Path, clock: Clock, *, note: str = "") -> dict[str, Any]:
    """The values of ``shell.html.j2`` that name the database and the clock of the page, with a note about times."""
    return {"database": str(database), "offset": clock.offset or 0, "zone": clock.zone, "time_note": note}


def contents(inputs: Inputs, path: str, pairs: Sequence[tuple[str, str]]) -> list[Group]:
    """The contents of every page: overview, findings, pages of the report.

    Parameters
    ----------
    inputs
        The tables that are there.
    path
        Of the page that is shown.
    pairs
        The selection, which every link keeps.
    """

    def link(title: str, to: str, *, is_empty: bool = False) -> Link:
        return Link(title, address(to, pairs), to == path, is_empty)

    def pages() -> Iterator[Link]:
        for page in PAGES:
            if page.grains and page.id not in FIRST:
                there = any(available(inputs, GRAINS[name]) for name in page.grains)
                yield link(page.title, f"/page/{page.id}", is_empty=not there)

    listed = sorted(pages(), key=lambda entry: entry.is_empty)
    top = [link("Overview", "/"), link("Findings by day", "/findings")]
    top += [link(page.title, f"/page/{page.id}") for page in PAGES if page.id in FIRST]
    has_partitions, has_series = (
        any(available(inputs, GRAINS[name]) for name in names) for names in (("cpu_partition",), _FORECAST)
    )
    top.append(link("Cost of software", "/cost", is_empty=not has_partitions))
    top.append(link("Forecast", "/forecast", is_empty=not has_series))
    top.append(Link("Ask in SQL", "/ask", path == "/ask"))
    grains: dict[str, list[Link]] = {}
    for grain in GRAINS.values():
        if available(inputs, grain):
            grains.setdefault(grain.family, []).append(link(grain.title, f"/grain/{grain.name}"))
    families = [Group(f"Numbers: {family_title(name)}", links) for name, links in grains.items()]
    return [Group("", top), Group("Pages", listed), *families]


#: Families of grains as a reader calls them; a site's own are called as they are.
_FAMILIES = {"cics": "CICS", "cpu": "processors", "dasd": "DASD", "db2": "Db2", "mq": "MQ"}


def family_title(name: str) -> str:
    """A family of grains as a reader calls it."""
    return _FAMILIES.get(name, name.replace("_", " "))


def page(template: str, values: Mapping[str, Any]) -> str:
    """A page from its template; ``values`` are those of the template and of ``shell.html.j2``."""
    return templates().get_template(template).render(values)


def error_page(error: Exception, status: int) -> HTMLResponse:
    """A page that says what is wrong and what to do."""
    if isinstance(error, PlexlensError):
        where = error.file if error.file.startswith("parameter ") else ""
        what, remedy = f"{where}: {error.what}" if where else error.what, error.remedy
    else:
        what = f"this is a defect of Plexlens ({type(error).__name__})"
        remedy = "see the terminal in which plexlens serve runs, and please report it"
    text = page("error.html.j2", {"what": what, "remedy": remedy, "status": status})
    return HTMLResponse(text, status)


def status_of(error: PlexlensError) -> int:
    """HTTP status of an error: wrong use, nothing there, too busy, or a database that cannot be read."""
    if isinstance(error, BusyError):
        return 503
    return {2: 400, 4: 404}.get(error.exit_code, 500)
