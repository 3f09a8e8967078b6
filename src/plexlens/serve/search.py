"""Search of the catalogue: metrics, facts, grains and pages by title, name, and the field that they come from."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from plexlens.forecast.series import KINDS
from plexlens.metrics import GRAINS
from plexlens.metrics.definition import Fact, Grain, Metric
from plexlens.metrics.evaluate import available
from plexlens.report.pages import PAGES
from plexlens.serve.address import LONGEST, SELECTING, check, selecting, selection_of, wrong
from plexlens.serve.shell import address, contents, frame_of, page
from plexlens.serve.workspace import Workspace

#: Entries shown at most.
MOST = 40

#: Pages that answer a question of their own: name, title, what they answer, and the grains of which they need one.
QUESTIONS = (
    (
        "cost",
        "Cost of software",
        "Peaks of the four-hour rolling average (R4HA) of MSU, who is in them, and what changes would save.",
        ("cpu_partition",),
    ),
    ("forecast", "Forecast", "The peak hour of coming days of CPU, MSU, DASD and structures, with an interval.",
     tuple(dict.fromkeys(kind.grain for kind in KINDS))),
)  # fmt: skip

_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Entry:
    """Something that can be searched for.

    Attributes
    ----------
    kind
        ``page``, ``grain``, ``metric`` or ``fact``.
    title, unit
        As the reader knows it.
    name
        ``grain.metric`` for a number, else the name of the page or grain.
    about
        What it is of, and how it is made.
    path, metric
        Where it leads.
    grains
        The grains it needs: it is shown if the database has one of them.
    words
        Words of the title, those of the names, and those of its definition, in small letters.
    """

    kind: str
    title: str
    unit: str
    name: str
    about: str
    path: str
    metric: str
    grains: tuple[str, ...]
    words: tuple[str, str, str]

    def rank(self, options: tuple[str, ...]) -> int | None:
        """Place among what is found, the best first; None if a word is missing."""
        title, names, rest = self.words
        places = []
        for word in options:
            count = next((place for place, text in enumerate((names, title, rest)) if _begins(word, text)), None)
            if count is None and not any(word in text for text in self.words):
                return None
            places.append(3 if count is None else count)
        whole = " ".join(options)
        if whole in (title, names) or whole == self.name.rpartition(".")[2].replace("_", " "):
            return 0
        order = {"page": 0, "grain": 1, "metric": 2, "fact": 3}[self.kind]
        return 1 + 10 * max(places) + order + (0 if title.startswith(whole) else 4)


def _begins(word: str, text: str) -> bool:
    return f" {word}" in f" {text}"


def _plain(*texts: str) -> str:
    return " ".join(word.lower() for text in texts for word in _WORD.findall(text))


@lru_cache(maxsize=1)
def entries() -> tuple[Entry, ...]:
    """Everything that can be searched for."""
    return tuple(_entries())


def _entries() -> Iterator[Entry]:
    for entry in PAGES:
        if entry.grains or entry.blocks is not None:
            words = (_plain(entry.title), _plain(entry.id), _plain(entry.lead, entry.what))
            yield Entry("page", entry.title, "", entry.id, entry.lead, f"/page/{entry.id}", "", entry.grains, words)
    for name, title, about, grains in QUESTIONS:
        words = (_plain(title), name, _plain(about))
        yield Entry("page", title, "", name, about, f"/{name}", "", grains, words)
    for grain in GRAINS.values():
        words = (_plain(grain.title), _plain(grain.name), _plain(grain.row, *(key.title for key in grain.keys)))
        about = f"One row is {grain.row}."
        yield Entry("grain", grain.title, "", grain.name, about, f"/grain/{grain.name}", "", (grain.name,), words)
        yield from (_number(grain, metric) for metric in grain.metrics)
        yield from (_number(grain, fact) for fact in grain.facts)


def _number(grain: Grain, number: Metric | Fact) -> Entry:
    is_fact = isinstance(number, Fact)
    source = number.source if isinstance(number, Fact) else number.words
    fields = source if is_fact else f"{source} {number.source}"
    words = (_plain(number.title), _plain(number.name, grain.name), _plain(fields, grain.title))
    return Entry(
        "fact" if is_fact else "metric",
        number.title,
        number.unit.symbol,
        f"{grain.name}.{number.name}",
        f"{grain.title}: {source}",
        f"/grain/{grain.name}",
        number.name,
        (grain.name,),
        words,
    )


def found(text: str, there: Callable[[str], bool]) -> list[Entry]:
    """Entries with all words of a text, the nearest first.

    Parameters
    ----------
    text
        Words of a title, a name such as ``sync_service_time``, or a field such as ``R744SSTM``.
    there
        Whether the database has data of a grain.
    """
    names = tuple(_plain(text).split())
    if not names:
        return []
    ranked = [(rank, entry) for entry in entries() if (rank := entry.rank(names)) is not None]
    kept = [(rank, entry) for rank, entry in ranked if not entry.grains or any(there(name) for name in entry.grains)]
    return [entry for _, entry in sorted(kept, key=lambda pair: (pair[0], pair[1].title, pair[1].name))]


def find_page(workspace: Workspace, request: Request) -> Response:
    """Pages and numbers with the words of the search box."""
    params = request.query_params
    check(params, (*SELECTING, "q"))
    selection = selection_of(params)
    text = params.get("q", "").strip()
    if len(text) > LONGEST:
        raise wrong("q", f"it has {len(text):,} characters", f"give at most {LONGEST}")
    pairs = selecting(params)
    with workspace.session(selection) as session:
        listed = contents(session.inputs, "/find", pairs)
        hits = found(text, lambda name: available(session.inputs, GRAINS[name]))
        lacking = [] if hits or not text else found(text, lambda name: True)
        clock = session.clock
    values: dict[str, Any] = {
        "contents": listed,
        **frame_of(workspace.path, clock),
        "q": text,
        "hits": [_hit(entry, pairs) for entry in hits[:MOST]],
        "further": max(0, len(hits) - MOST),
        "lacking": list(dict.fromkeys(_sources(entry) for entry in lacking if entry.kind in ("metric", "fact")))[:5],
        "kept": pairs,
    }
    return HTMLResponse(page("find.html.j2", values))


def _hit(entry: Entry, pairs: list[tuple[str, str]]) -> dict[str, str]:
    metric = [("metric", entry.metric)] if entry.metric else []
    return {
        "kind": entry.kind,
        "title": entry.title,
        "unit": entry.unit,
        "name": entry.name,
        "about": entry.about,
        "href": address(entry.path, [*metric, *pairs]),
    }


def _sources(entry: Entry) -> str:
    grain = GRAINS[entry.grains[0]]
    kinds = ", ".join(dict.fromkeys(source.kind for source in grain.sources))
    return f"{entry.title} of {grain.title} comes from {kinds}"
