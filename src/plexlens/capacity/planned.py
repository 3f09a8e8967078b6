"""From the selected tables of a database to a plan: measured, calibrated, checked, predicted."""

from __future__ import annotations

from collections.abc import Mapping

from plexlens.capacity.calibrate import calibrate
from plexlens.capacity.change import Change
from plexlens.capacity.measured import measure
from plexlens.capacity.plan import TOLERANCE, Plan, make_plan
from plexlens.errors import UsageError
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.opening import explained
from plexlens.metrics.sysplexes import check_one
from plexlens.progress import Progress, silent
from plexlens.simulate import Scenario


def check_tolerance(tolerance: float) -> None:
    """Refuse a tolerance (a fraction) that says nothing.

    Raises
    ------
    UsageError
        It is not above 0, or above 10.
    """
    if not 0 < tolerance <= 10:
        raise UsageError(
            file="",
            what=f"--tolerance {tolerance * 100:g} is out of range",
            remedy="give a percentage above 0 and at most 1000",
        )


def planned(
    inputs: Inputs,
    name: str,
    change: Change,
    *,
    report_classes: bool = False,
    users: Mapping[str, int] | None = None,
    serves: Mapping[str, str] | None = None,
    tolerance: float = TOLERANCE,
    careful: bool = False,
    scenario: Scenario | None = None,
    progress: Progress = silent,
) -> Plan:
    """Calibrate a model with the measured intervals, check it against them, and predict.

    Parameters
    ----------
    inputs
        The selected tables.
    name
        What the user called the database, for errors and the page.
    change
        The load and the configuration that are asked about.
    report_classes
        Whether report classes are modelled instead of service classes.
    users
        Classes that are closed, with their number of users.
    serves
        Classes of regions, with the classes that they serve.
    tolerance
        Largest error of the model, as a fraction, before results are marked unreliable.
    careful
        Whether general engines and zIIPs are simulated event by event, too.
    scenario
        A scenario of the sysplex simulator to run for comparison.
    progress
        Told each stage.

    Raises
    ------
    PlexlensError
        The database lacks what a model needs, or the change is impossible.
    """
    check_tolerance(tolerance)
    progress(0, 0, "calibrating the model")
    with explained(inputs.selection):
        check_one(inputs, name)
        measured = measure(inputs, name, kind="report class" if report_classes else "service class")
        model = calibrate(measured, users=dict(users or {}), serves=dict(serves or {}))

    def tell(done: float, total: float) -> None:
        # Of a hundred: simulated seconds by the thousand would be taken for bytes.
        progress(round(100 * done / total) if total else 0, 100, "simulating the scenario")

    return make_plan(name, measured, model, change, tolerance=tolerance, careful=careful, scenario=scenario, tell=tell)
