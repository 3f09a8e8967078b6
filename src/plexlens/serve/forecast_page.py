"""The page of `plexlens forecast`: the peak hour of coming days, with the error of the forecast."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from plexlens.forecast import forecasted, to_object
from plexlens.forecast.page.report import forecast_report
from plexlens.forecast.series import KINDS
from plexlens.serve.address import number, wrong
from plexlens.serve.answer_page import Answered, Field, Question, answer_file, answer_page
from plexlens.serve.workspace import Session, Workspace

#: Days ahead, and the most of them.
DAYS, MOST = 28, 366

_NAMES = tuple(kind.name for kind in KINDS)

FORECAST = Question(
    "forecast",
    "Forecast",
    "The peak hour of each day, for the days ahead; all kinds of series without a choice.",
    (
        Field("days", "Days ahead", str(DAYS), is_list=False),
        Field("what", "Only", "all kinds", choices=_NAMES),
    ),
)


def forecast_page(workspace: Workspace, request: Request) -> Response:
    """The page."""
    days, kinds = _state(request)
    pairs = FORECAST.pairs(request)
    return answer_page(FORECAST, workspace, request, pairs, lambda session: _answered(workspace, session, days, kinds))


def forecast_file(workspace: Workspace, request: Request) -> Response:
    """Its tables, or its values, as a file."""
    days, kinds = _state(request)
    return answer_file(FORECAST, workspace, request, lambda session: _answered(workspace, session, days, kinds))


def _state(request: Request) -> tuple[int, tuple[str, ...]]:
    """Days ahead, and the kinds of series."""
    kinds = tuple(value for name, value in FORECAST.pairs(request) if name == "what")
    for kind in kinds:
        if kind not in _NAMES:
            raise wrong("what", f"there is no kind of series {kind[:60]!r}", f"name some of {', '.join(_NAMES)}")
    return number(request.query_params, "days", DAYS, MOST), kinds


def _answered(workspace: Workspace, session: Session, days: int, kinds: tuple[str, ...]) -> Answered:
    result = forecasted(session.inputs, str(workspace.path), days=days, kinds=kinds, utc_offset=session.clock.offset)
    return Answered(forecast_report(result), lambda: to_object(result))
