"""`plexlens findings`: the rules that reports judge data by."""

from __future__ import annotations

import typer

from plexlens.cli.app import app
from plexlens.cli.options import Json, Rules
from plexlens.cli.terminal import emit, print_rows

findings_app = typer.Typer(help="The rules that reports judge data by.", no_args_is_help=True)
app.add_typer(findings_app, name="findings")


@findings_app.command("list")
def findings_list(as_json: Json = False, rules: Rules = None) -> None:
    """The rules: what each reads, when it fires, how grave it is, and where it comes from."""
    from plexlens.findings import load_rules
    from plexlens.findings.reference import rule_json

    known = load_rules(rules or ())
    if as_json:
        emit({"rules": [rule_json(rule) for rule in known]})
        return
    rows = [
        {"rule": one.id, "severity": one.severities, "reads": one.grain, "fires when": one.condition.text}
        for one in known
    ]
    print_rows(["rule", "severity", "reads", "fires when"], rows)
