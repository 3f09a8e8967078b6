"""`plexlens findings`: the rules that reports evaluate."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Annotated

import typer

from plexlens.cli import completion
from plexlens.cli.app import app
from plexlens.cli.options import Catalogue, Json, Rules
from plexlens.cli.output import RowsFormat, RowsOut, TextFormat, TextOut, target
from plexlens.cli.rows import Rows, text_or_json
from plexlens.errors import UsageError
from plexlens.report.forms import ROW_FORMS, TEXT_FORMS

findings_app = typer.Typer(help="List and show the rules that reports check.", no_args_is_help=True)
app.add_typer(findings_app, name="findings")


@findings_app.command("list")
def findings_list(
    *,
    as_json: Json = False,
    form: RowsFormat = None,
    output: RowsOut = None,
    rules: Rules = None,
    catalogue: Catalogue = None,
) -> None:
    """List the rules with their input, condition, severity and source."""
    from plexlens.findings import load_rules
    from plexlens.findings.reference import rule_json

    where = target("findings", output, form, as_json=as_json, forms=ROW_FORMS)
    known = load_rules(rules or ())
    rows = [[rule.id, rule.severities, rule.grain, rule.condition.text] for rule in known]
    heads = ("rule", "severity", "reads", "fires when")
    where.show(Rows(heads, rows, lambda: {"rules": [rule_json(rule) for rule in known]}).made)


@findings_app.command("show")
def findings_show(
    rule: Annotated[
        str,
        typer.Argument(
            metavar="RULE", help="Id of a rule, such as db2.pool_read_rate.", autocompletion=completion.rules
        ),
    ],
    *,
    as_json: Json = False,
    form: TextFormat = None,
    output: TextOut = None,
    rules: Rules = None,
    catalogue: Catalogue = None,
) -> None:
    """Show a rule in full: input, condition and thresholds, texts and commands, source and releases."""
    from plexlens.findings import load_rules
    from plexlens.findings.reference import rule_json, rule_lines

    where = target("findings", output, form, as_json=as_json, forms=TEXT_FORMS)
    known = {rule.id: rule for rule in load_rules(rules or ())}
    if rule not in known:
        words = [name for name in known if rule.lower() in name.lower()]
        near = list(dict.fromkeys([*get_close_matches(rule, known, n=3, cutoff=0.4), *words]))[:5]
        remedy = f"did you mean {' or '.join(near)}?" if near else "plexlens findings list names the rules"
        raise UsageError(file="", what=f"there is no rule {rule}", remedy=remedy)
    where.show(text_or_json(lambda: rule_lines(known[rule]), lambda: rule_json(known[rule])))
