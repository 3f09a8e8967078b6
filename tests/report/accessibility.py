"""Rules of accessibility of axe-core, run on a page in the browser.

The pinned package of the npm registry comes to ``.build/axe`` when it is first needed; ``make`` gets it before the
tests. Nothing of it is shipped.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tests.conftest import REPOSITORY
from tests.report.browser import Browser

_PINNED = Path(__file__).parent / "axe"
_FOLDER = REPOSITORY / ".build" / "axe"
_SCRIPT = _FOLDER / "node_modules" / "axe-core" / "axe.min.js"

#: Rules of WCAG 2.0, 2.1 and 2.2, levels A and AA, and those of good practice.
_RUN = """
const done = arguments[arguments.length - 1];
const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
axe.run(document, { runOnly: { type: "tag", values: tags }, resultTypes: ["violations"] }).then(
  (found) => done(found.violations.map((one) => {
    const places = one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160));
    return `${one.id} (${one.impact}): ${one.help}: ${places.join(" | ")}`;
  })),
  (error) => done([String(error)]));
"""


def script() -> str:
    """The script of axe-core, installed where it is not there yet."""
    for name in ("package.json", "package-lock.json"):
        there = _FOLDER / name
        if not there.is_file() or there.read_bytes() != (_PINNED / name).read_bytes():
            shutil.rmtree(_FOLDER, ignore_errors=True)
            _FOLDER.mkdir(parents=True, exist_ok=True)
    if not _SCRIPT.is_file():
        npm = shutil.which("npm")
        assert npm is not None, "the tests of accessibility need npm (Debian: apt-get install npm)"
        for name in ("package.json", "package-lock.json"):
            shutil.copy(_PINNED / name, _FOLDER / name)
        words = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
        done = subprocess.run(words, cwd=_FOLDER, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, f"npm ci failed: {done.stderr}"
    return _SCRIPT.read_text(encoding="utf-8")


def violations(browser: Browser) -> list[str]:
    """Violations of the page that is open, each with its rule and the first elements.

    The script comes in through the driver, which a page's content security policy does not concern.
    """
    browser.call("Runtime.evaluate", expression=script())
    found: list[str] = browser.driver.execute_async_script(_RUN)
    return found


if __name__ == "__main__":
    script()
