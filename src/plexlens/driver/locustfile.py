"""The file that Locust runs: ``locust -f .../plexlens/driver/locustfile.py --plan plan.toml --requests requests.csv``.

``python -m plexlens.driver`` prints its place. `plexlens drive` runs it without Locust's web page.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from locust import events
from locust.runners import LocalRunner

from plexlens.driver.account import Account
from plexlens.driver.arrivals import Arrivals
from plexlens.driver.plan import Users, read_plan
from plexlens.driver.request_log import Clock, RequestLog
from plexlens.driver.users import ArrivalsUser, Drive, ThinkingUser
from plexlens.errors import PlexlensError
from plexlens.whole_file import refused


class Arriving(ArrivalsUser):
    """Brings the open arrivals of a plan."""


class Thinking(ThinkingUser):
    """A user of a plan."""


def _stop(message: str, code: int = 2) -> None:
    sys.stderr.write(f"plexlens: {message}\n")
    sys.exit(code)


def _full(path: Path, error: OSError) -> None:
    """End at once: a test whose results nobody keeps only loads the server."""
    sys.stderr.write(f"plexlens: {refused(path, error)}\n")
    sys.stderr.flush()
    os._exit(3)


@events.init_command_line_parser.add_listener
def _options(parser: Any) -> None:
    parser.add_argument("--plan", default="", help="Test plan of Plexlens (TOML)", include_in_web_ui=False)
    parser.add_argument("--requests", default="", help="File that gets a line per request", include_in_web_ui=False)
    parser.add_argument("--facts", default="", help="File that gets facts of the driver", include_in_web_ui=False)
    parser.add_argument("--account", default="", help="File that gets CPU time and requests", include_in_web_ui=False)


@events.init.add_listener
def _begin(environment: Any, runner: Any, **_: Any) -> None:
    options = environment.parsed_options
    if not options.plan or not options.requests:
        _stop("give --plan PLAN.toml and --requests FILE.csv")
    if not isinstance(runner, LocalRunner):
        _stop("a plan is run by one process: leave --master, --worker and --processes out")
    try:
        plan = read_plan(Path(options.plan))
    except PlexlensError as error:
        _stop(str(error), error.exit_code)
    try:
        log = RequestLog(Path(options.requests), Clock(), lambda error: _full(Path(options.requests), error))
    except OSError as error:
        _stop(str(refused(Path(options.requests), error)))
    account = Account(Path(options.account)) if options.account else None
    environment.plexlens_drive = drive = Drive(plan, log, environment, account)
    is_open = isinstance(plan.load, Arrivals)
    environment.user_classes = [Arriving if is_open else Thinking]
    number = plan.load.number if isinstance(plan.load, Users) else 1
    options.num_users = number
    options.spawn_rate = max(number, 1)
    environment.events.test_start.add_listener(lambda **_: drive.start())
    environment.events.spawning_complete.add_listener(lambda user_count, **_: setattr(log, "users", user_count))
    environment.events.quitting.add_listener(lambda **_: _end(drive, options.facts))


def _end(drive: Drive, facts: str) -> None:
    drive.close()
    # Locust ends with 1 if a request failed; here that is a result.
    drive.environment.process_exit_code = 0
    if facts:
        Path(facts).write_text(json.dumps(drive.facts()), encoding="utf-8")
