"""The application: each address and what answers it."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from plexlens.cost.prices import Prices
from plexlens.errors import NothingUsableError, PlexlensError
from plexlens.serve.api import PATH, ROUTES, api_error
from plexlens.serve.ask_page import ask_page
from plexlens.serve.cost_page import cost_file, cost_page
from plexlens.serve.findings_page import findings_page
from plexlens.serve.forecast_page import forecast_file, forecast_page
from plexlens.serve.grain_page import grain_file, grain_page
from plexlens.serve.guard import Door, Guard
from plexlens.serve.history import History, cache_folder
from plexlens.serve.overview import overview
from plexlens.serve.records import records_page
from plexlens.serve.report_pages import page_file, report_page, whole_report
from plexlens.serve.search import find_page
from plexlens.serve.shell import error_page, static, status_of
from plexlens.serve.why_page import why_page
from plexlens.serve.workspace import Workspace

#: A page: from the database and the request to the answer.
Answer = Callable[[Workspace, Request], Response]


def application(workspace: Workspace, door: Door, cache: Path | None = None, prices: Prices | None = None) -> ASGIApp:
    """The application over a database, behind its guard.

    Parameters
    ----------
    workspace
        The database.
    door
        Who may come in.
    cache
        Folder for findings of judged days; the user's cache by default.
    prices
        The site's prices, for the page of cost.
    """

    def over(answer: Answer) -> Callable[[Request], Response]:
        def answered(request: Request) -> Response:
            return answer(workspace, request)

        return answered

    history = History(workspace, cache_folder() if cache is None else cache)

    def by_day(request: Request) -> Response:
        return findings_page(history, workspace, request)

    def cost(request: Request) -> Response:
        return cost_page(workspace, request, prices)

    def cost_tables(request: Request) -> Response:
        return cost_file(workspace, request, prices)

    routes = [
        Route("/", over(overview)),
        Route("/findings", by_day),
        Route("/page/{name}", over(report_page)),
        Route("/grain/{name}", over(grain_page)),
        Route("/grain/{name}/rows.{form}", over(grain_file)),
        Route("/page/{name}/tables.{form}", over(page_file)),
        Route("/why/{name}", over(why_page)),
        Route("/cost", cost),
        Route("/cost/tables.{form}", cost_tables),
        Route("/forecast", over(forecast_page)),
        Route("/forecast/tables.{form}", over(forecast_file)),
        Route("/ask", ask_page(workspace), methods=["GET", "POST"]),
        Route("/find", over(find_page)),
        Route("/records/{name}", over(records_page)),
        Route("/report.html", over(whole_report)),
        Route("/static/{name}", static),
        *(Route(path, over(answer)) for path, answer in ROUTES.items()),
    ]
    app = Starlette(
        routes=routes,
        exception_handlers={PlexlensError: _failed, HTTPException: _no_page, Exception: _defect},
    )
    return Guard(app, door)


def _failed(request: Request, error: Exception) -> Response:
    assert isinstance(error, PlexlensError)
    if request.url.path.startswith("/api"):
        return api_error(error)
    if request.url.path == "/metrics":
        return Response(f"{error}\n", status_of(error), media_type="text/plain")
    return error_page(error, status_of(error))


def _no_page(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    if request.url.path.startswith("/api") and status == 404:
        return api_error(NothingUsableError(file="", what="nothing is at this address", remedy=f"start from {PATH}"))
    what = "the request is not answered here" if status == 405 else "there is no page at this address"
    return error_page(NothingUsableError(file="", what=what, remedy="start from the overview"), status)


def _defect(request: Request, error: Exception) -> HTMLResponse:
    sys.stderr.write("plexlens: a defect of Plexlens, while it answered a request:\n")
    sys.stderr.write("".join(traceback.format_exception(error)))
    return error_page(error, 500)
