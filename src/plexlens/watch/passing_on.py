"""Findings passed on: as lines of JSON, to a command, and to a webhook."""

from __future__ import annotations

import os
import shlex
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Container
from dataclasses import dataclass
from typing import Any

from plexlens.errors import UsageError
from plexlens.json_text import json_text
from plexlens.watch.dds.address import PASSWORD, USER

#: Seconds that a receiver has for a finding.
_LIMIT = 20.0

#: Tries, and seconds before the second one; each further wait is twice as long.
_TRIES, _WAIT = 3, 1.0


@dataclass(frozen=True)
class Receivers:
    """Destinations of findings.

    Attributes
    ----------
    line
        Takes each finding as a line of JSON.
    tell
        Told of a receiver that fails.
    command
        A command that gets the finding on its standard input; empty for none. It is not run by a shell.
    webhook
        Address that the finding is posted to; empty for none.
    wait
        Seconds before the second try.
    """

    line: Callable[[str], None]
    tell: Callable[[str], None]
    command: str = ""
    webhook: str = ""
    wait: float = _WAIT

    def check(self) -> None:
        """Refuse a command or an address that is not valid.

        Raises
        ------
        UsageError
            The command cannot be split into words, or the address is not of HTTP.
        """
        try:
            words = shlex.split(self.command)
        except ValueError as error:
            raise UsageError(
                file="", what=f"--command {self.command!r} cannot be read: {error}", remedy="close the quotation mark"
            ) from error
        if self.command and not words:
            raise UsageError(file="", what="--command is empty", remedy="name a program, or leave the option out")
        address = urllib.parse.urlsplit(self.webhook)
        if self.webhook and (address.scheme not in ("http", "https") or not address.hostname):
            raise UsageError(
                file="",
                what=f"--webhook {self.webhook!r} is not an HTTP address",
                remedy="give an address such as https://alerts.example/plexlens",
            )

    @property
    def each(self) -> dict[str, Callable[[dict[str, Any]], str]]:
        """Functions by receiver that give it a finding once, and return what went wrong, or nothing."""
        functions: dict[str, Callable[[dict[str, Any]], str]] = {}
        if self.command:
            functions["command"] = lambda finding: _run(self.command, json_text(finding))
        if self.webhook:
            functions["webhook"] = lambda finding: _post(self.webhook, json_text(finding))
        return functions

    def give(self, finding: dict[str, Any], without: Container[str] = ()) -> dict[str, str]:
        """Pass a finding on.

        Parameters
        ----------
        finding
            Plain values.
        without
            Receivers that do not get it now.

        Returns
        -------
        dict
            Receivers that did not take it in three tries, with what the last one gave.
        """
        self.line(json_text(finding))
        refused = {}
        for name, give in self.each.items():
            if name in without:
                continue
            wrong = self._tried(lambda give=give: give(finding))  # type: ignore[misc]
            if wrong:
                self.tell(
                    f"the {name} did not take a finding after {_TRIES} tries: {wrong}; it is kept and given again"
                )
                refused[name] = wrong
        return refused

    def _tried(self, give: Callable[[], str]) -> str:
        wrong = ""
        for number in range(_TRIES):
            if number:
                time.sleep(self.wait * 2 ** (number - 1))
            wrong = give()
            if not wrong:
                break
        return wrong


def _run(command: str, text: str) -> str:
    """Run the command; return what went wrong, or nothing."""
    try:
        done = subprocess.run(
            shlex.split(command),
            input=text,
            text=True,
            capture_output=True,
            timeout=_LIMIT,
            check=False,
            env={name: value for name, value in os.environ.items() if name not in (USER, PASSWORD)},
        )
    except OSError as error:
        return f"{command}: {error.strerror or error}"
    except subprocess.TimeoutExpired:
        return f"{command} took longer than {_LIMIT:g} s"
    if done.returncode:
        said = done.stderr.strip().splitlines()
        return f"{command} ended with code {done.returncode}{f': {said[-1]}' if said else ''}"
    return ""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A finding goes to the named address alone."""

    def redirect_request(self, *arguments: Any, **named: Any) -> None:
        """Refuse."""


def _post(address: str, text: str) -> str:
    """Post the finding; return what went wrong, or nothing."""
    request = urllib.request.Request(
        address, data=text.encode(), headers={"Content-Type": "application/json"}, method="POST"
    )
    try:
        with urllib.request.build_opener(_NoRedirect).open(request, timeout=_LIMIT):
            return ""
    except urllib.error.HTTPError as error:
        return f"the response was {error.code} {error.reason}"
    except OSError as error:
        return str(getattr(error, "reason", error))
    except ValueError as error:
        return str(error)
