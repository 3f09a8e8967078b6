"""Requests to z/OS Connect, Liberty and WebSphere, and Java batch: rates, times, errors, processor time."""

from __future__ import annotations

from plexlens.report.blocks.page import ChartSpec, FigureSpec, Page, Pick, Shown, TableSpec
from plexlens.report.model import Way

_API = ("system", "web_server", "api", "http_method", "backend")
_PATH = ("system", "web_server", "web_path")

PAGE = Page(
    order=915,
    id="requests",
    title="API and web requests",
    lead="Requests to z/OS Connect, Liberty and WebSphere Application Server: how many, how fast, how many failed, at "
    "what processor time; and the Java batch of Liberty.",
    what="API and web requests",
    ways=(
        Way(
            "SMF 123-1",
            "The audit interceptor of z/OS Connect with apiProviderSmfVersion 2, and TYPE(123) in SMFPRMxx.",
        ),
        Way("SMF 120-11", "Feature zosRequestLogging-1.0 of Liberty, and TYPE(120) in SMFPRMxx."),
        Way(
            "SMF 120-9",
            "Environment variable server_SMF_request_activity_enabled=1 of WebSphere Application Server for z/OS, and "
            "TYPE(120) in SMFPRMxx.",
        ),
        Way("SMF 120-12", "Feature batchSMFLogging-1.0 of Liberty, and TYPE(120) in SMFPRMxx."),
    ),
    figures=(
        FigureSpec("api_rate", "API requests", "api_request", "request_rate"),
        FigureSpec("api_time", "Response time of APIs", "api_request", "response_time", peak=False),
        FigureSpec(
            "api_errors",
            "Most server errors of an API",
            "api_request",
            "server_error_fraction",
            by=_API,
            pick=Pick.HIGHEST,
        ),
        FigureSpec("web_rate", "Liberty requests", "web_request", "request_rate"),
        FigureSpec("web_cpu", "CPU per Liberty request", "web_request", "cpu_per_request", peak=False),
    ),
    charts=(
        ChartSpec(
            "api_rate_course",
            "API requests, by server",
            "api_request",
            ("request_rate",),
            by=("system", "web_server"),
        ),
        ChartSpec(
            "web_rate_course",
            "Liberty requests, by server",
            "web_request",
            ("request_rate",),
            by=("system", "web_server"),
        ),
    ),
    tables=(
        TableSpec(
            "api_requests",
            "Requests to APIs",
            "api_request",
            (
                Shown("requests", bar=True),
                Shown("request_rate"),
                Shown("response_time", "Mean", group="Response time"),
                Shown("response_p95", "95th", group="Response time"),
                Shown("longest_seconds", "Longest", group="Response time"),
                Shown("own_time", "In z/OS Connect", group="Response time"),
                Shown("backend_time", "In the system of record", group="Response time"),
                Shown("client_error_fraction", "400 to 499", group="Answers with status"),
                Shown("server_error_fraction", "500 to 599", group="Answers with status"),
                Shown("bytes_per_request"),
            ),
            by=_API,
            order="requests",
            course="request_rate",
            top=30,
            note="These records have no processor time: SMF 120-11 has that of requests to the server, SMF 30 "
            "that of the server.",
        ),
        TableSpec(
            "web_requests",
            "Requests to Liberty",
            "web_request",
            (
                Shown("requests", bar=True),
                Shown("request_rate"),
                Shown("response_time", "Mean", group="Response time"),
                Shown("response_p95", "95th", group="Response time"),
                Shown("longest_seconds", "Longest", group="Response time"),
                Shown("cpu_per_request", "All engines", group="CPU per request"),
                Shown("cp_per_request", "General", group="CPU per request"),
                Shown("offload_fraction"),
                Shown("bytes_per_response"),
            ),
            by=_PATH,
            order="cpu_seconds",
            course="request_rate",
            top=30,
            note="A path is the first two parts of the URI. Processor time is that of the thread which runs the "
            "request.",
        ),
        TableSpec(
            "web_was_requests",
            "Requests to WebSphere Application Server",
            "web_was_request",
            (
                Shown("requests", bar=True),
                Shown("request_rate"),
                Shown("response_time", "Mean", group="Response time"),
                Shown("response_p95", "95th", group="Response time"),
                Shown("longest_seconds", "Longest", group="Response time"),
                Shown("queue_time", "On the queue", group="Response time"),
                Shown("dispatch_time", "In the servant", group="Response time"),
                Shown("failed_fraction"),
                Shown("cpu_per_request"),
                Shown("offload_fraction"),
                Shown("bytes_per_response"),
            ),
            by=("system", "web_server", "request_kind", "web_path"),
            order="cpu_seconds",
            course="request_rate",
            top=30,
            note="A path is the first two parts of the URI by which WLM classifies, else the application.",
        ),
        TableSpec(
            "web_batch",
            "Java batch of Liberty",
            "web_batch",
            (
                Shown("units_ended", bar=True),
                Shown("failed_fraction"),
                Shown("elapsed_time", "Mean", group="Elapsed time"),
                Shown("longest_seconds", "Longest", group="Elapsed time"),
                Shown("cpu_per_unit"),
                Shown("ziip_fraction"),
                Shown("items_read", "Read", group="Items"),
                Shown("items_written", "Written", group="Items"),
                Shown("skipped_fraction", "Skipped", group="Items"),
                Shown("cpu_per_item", "CPU per item", group="Items"),
                Shown("items_per_commit", "Read per commit", group="Chunks"),
                Shown("rollbacks", group="Chunks"),
            ),
            by=("system", "web_server", "batch_unit", "batch_job", "batch_step"),
            order="cpu_seconds",
            top=30,
            note="A job contains its steps, and a step its partitions: do not add up units of different kinds.",
        ),
    ),
)
