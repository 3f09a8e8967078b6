"""The page of `plexlens cost`: peaks of the four-hour average, who is in them, and what changes would save."""

from __future__ import annotations

from typing import TypeAlias

from starlette.requests import Request
from starlette.responses import Response

from plexlens.cost import costed, to_object
from plexlens.cost.page.report import cost_report
from plexlens.cost.prices import Prices
from plexlens.cost.what_if import Kind, WhatIf, what_if
from plexlens.errors import UsageError
from plexlens.serve.address import chosen, wrong
from plexlens.serve.answer_page import Answered, Field, Question, answer_file, answer_page
from plexlens.serve.workspace import Session, Workspace

#: What-ifs of an address at most: each is simulated over all of the data.
MOST = 12

#: Parameters are named as the options of the command.
_KINDS = {kind.value.removeprefix("--"): kind for kind in Kind}

#: Changes, and whether goals under caps are judged.
_Asked: TypeAlias = tuple[list[WhatIf], bool]

COST = Question(
    "cost",
    "Cost of software",
    "A field adds a change; each is worked out alone, and several are also worked out together.",
    (
        Field("defined", "Defined capacity", "PRD1=400"),
        Field("group", "Limit of a group", "GRP1=900"),
        Field("weight", "Weight", "PRD1=300"),
        Field("move", "Move work", "BATCHMED=08-12:20"),
        Field("ziip", "Move to zIIPs", "DDFHI=40"),
        Field("saves", "Less CPU time", "CICSPRD=5 or 120 s/h"),
        Field("goals", "Goals under caps", "not judged", is_list=False, choices=("judged",)),
    ),
)


def cost_page(workspace: Workspace, request: Request, prices: Prices | None) -> Response:
    """The page; amounts are in the prices that the server was started with."""
    pairs = COST.pairs(request)
    wanted = _asked(request)
    return answer_page(COST, workspace, request, pairs, lambda session: _answered(workspace, session, wanted, prices))


def cost_file(workspace: Workspace, request: Request, prices: Prices | None) -> Response:
    """Its tables, or its values, as a file."""
    wanted = _asked(request)
    return answer_file(COST, workspace, request, lambda session: _answered(workspace, session, wanted, prices))


def _asked(request: Request) -> _Asked:
    """Changes, and whether goals are judged."""
    judged = chosen(request.query_params, "goals", ("judged",), "")
    pairs = [pair for pair in COST.pairs(request) if pair[0] in _KINDS]
    if len(pairs) > MOST:
        raise wrong("", f"the address asks for {len(pairs)} changes", f"ask for at most {MOST}")
    results = []
    for name, text in pairs:
        try:
            results.append(what_if(_KINDS[name], text))
        except UsageError as error:
            raise _of_parameter(name, error) from error
    return results, bool(judged)


def _of_parameter(name: str, error: UsageError) -> UsageError:
    """An error of an option, as one of the parameter of that name."""
    return wrong(name, error.what.removeprefix(f"--{name} "), error.remedy.replace(f"--{name} ", f"{name}="))


def _answered(workspace: Workspace, session: Session, wanted: _Asked, prices: Prices | None) -> Answered:
    changes, goals = wanted
    try:
        result = costed(session.inputs, str(workspace.path), prices=prices, changes=changes, goals=goals)
    except UsageError as error:
        name = error.what.partition(" ")[0].removeprefix("--")
        raise (_of_parameter(name, error) if name in _KINDS else error) from error
    return Answered(cost_report(result), lambda: to_object(result))
