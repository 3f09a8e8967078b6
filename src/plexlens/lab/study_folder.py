"""The runs as a study folder, and CPU time per request by the arithmetic of `plexlens ways-in` over it."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from plexlens.compare.analysis.ways_in import ANY, Wish, advise
from plexlens.compare.audit.audit import Audit, audit
from plexlens.compare.study.reader import load_study
from plexlens.lab.measure import DRIVER, SERVER, Measured, Window
from plexlens.lab.way import PAYLOAD
from plexlens.whole_file import write

RATE, RESPONSE, TOTAL = "ETR", "RESP (ms)", "TOTAL ms CPU per transaction"
_COLUMNS = {SERVER: "server CPU%", DRIVER: "driver CPU%"}


def study_files(folder: Path, runs: Sequence[Measured]) -> dict[Path, str]:
    """The files of a study of runs, one per way: a table for each, and its entry in ``ways_in.toml``."""
    quoted = json.dumps
    head = [f"name = {quoted(folder.name)}", 'title = "Ways into servers of a laboratory"', 'source = "plexlens lab"']
    study, ways = ["# Written by plexlens lab.", *head], [
        "# Written by plexlens lab.", "engines = 1", "specialty_engines = 0",
        'caveats = ["Servers of the standard library on this machine: a test of the method, not advice."]',
    ]  # fmt: skip
    files = {}
    columns = list(_COLUMNS.values())
    for run in runs:
        name = run.way.id
        files[folder / f"{name}.csv"] = _table(run)
        study += [
            "", "[[tables]]", f"id = {quoted(name)}", f"file = {quoted(f'{name}.csv')}", f"title = {quoted(name)}",
            "", "[[tables.derived]]", f"column = {quoted(TOTAL)}", 'formula = "cpu_ms_per_transaction"',
            f'arguments = {{ rate = "{RATE}", cpu_percent = {quoted(columns)} }}',
        ]  # fmt: skip
        ways += [
            "", "[[ways]]", f"id = {quoted(name)}", f"title = {quoted(name)}", f"table = {quoted(name)}",
            f'rate = "{RATE}"', f'response = "{RESPONSE}"', f"payload = {PAYLOAD}",
            f"connection = {quoted('per-request' if run.way.style == 'new' else 'persistent')}",
            f"security = {quoted('none' if run.way.security == 'none' else 'ssl')}",
            f"general = {quoted(columns)}",
        ]  # fmt: skip
    files[folder / "study.toml"] = "\n".join([*study, ""])
    files[folder / "ways_in.toml"] = "\n".join([*ways, ""])
    return files


def _table(run: Measured) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["window", RATE, RESPONSE, *_COLUMNS.values(), TOTAL])
    for number, window in enumerate(run.windows, 1):
        busy = [window.server.busy * 100, window.driver.busy * 100]
        cells = [f"{value:.6f}" for value in (window.rate, window.response * 1e3, *busy)]
        rate, _, *shares = (float(cell) for cell in cells)
        writer.writerow([number, *cells, f"{sum(shares) * 10 / rate:.4f}"])
    return text.getvalue()


def write_study(folder: Path, runs: Sequence[Measured]) -> Audit:
    """Write the study, and work it out again as `plexlens study` does."""
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in study_files(folder, runs).items():
        write(path, text)
    return audit(load_study(str(folder)))


@dataclass(frozen=True)
class Priced:
    """CPU time per request by the arithmetic of ways-in, in seconds: server and driver."""

    server: float
    driver: float


def priced(result: Audit, run: Measured, window: Window) -> Priced:
    """CPU time per request of a way at the rate of a window, as `plexlens ways-in` finds it in the study."""
    rate = float(f"{window.rate:.6f}")
    advice = advise(Wish(PAYLOAD, rate, ANY, ANY), result)
    way = next(way for way in advice.ways if way.id == run.way.id)
    parts = dict(way.parts)
    return Priced(parts[_COLUMNS[SERVER]] / 1e3, parts[_COLUMNS[DRIVER]] / 1e3)
