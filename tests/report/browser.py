"""Headless Chromium for tests of the page."""

from __future__ import annotations

import base64
import json
import shutil
import time
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

#: What the tests need of the machine, and the Debian packages that bring it.
PROGRAMS = {"chromium": "chromium", "chromedriver": "chromium-driver"}

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)


def missing() -> str:
    """What to install, in one line; empty where everything is there."""
    packages = [package for program, package in PROGRAMS.items() if shutil.which(program) is None]
    return f"the browser tests need: apt-get install {' '.join(packages)}" if packages else ""


class Browser:
    """One browser with a page in it.

    Parameters
    ----------
    profile
        An empty folder for the browser's own files.
    """

    def __init__(self, profile: Path) -> None:
        options = Options()
        options.binary_location = shutil.which("chromium") or ""
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        # A named driver keeps Selenium from looking for one on the network.
        self.driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        # Rules of accessibility take 13 s on a page of thousands of names, on an idle machine; the usual limit is 30 s.
        self.driver.set_script_timeout(180)
        self._on_loading: list[str] = []

    def open(
        self, page: Path | str, *, width: int = 1280, height: int = 900, dark: bool = False, media: str = ""
    ) -> None:
        """Load a page, a file or an address, at a width, in light or dark, for the screen or for paper.

        Raises
        ------
        AssertionError
            If the console holds a message once the page is loaded: a script that dies takes all after it along, and
            what a test looks at afterwards may not show it.
        """
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media=media, features=[scheme])
        self.driver.get("about:blank")
        for kind in ("browser", "performance"):
            self.driver.get_log(kind)
        self.driver.get(page if isinstance(page, str) else page.as_uri())
        self._on_loading = [entry["message"] for entry in self.driver.get_log("browser")]
        assert self._on_loading == [], f"the console of {page} says: {self._on_loading}"
        self.run("try { localStorage.clear(); } catch (e) {}")

    def call(self, method: str, **arguments: Any) -> dict[str, Any]:
        """A command of the DevTools protocol."""
        answer: dict[str, Any] = self.driver.execute_cdp_cmd(method, arguments)
        return answer

    def run(self, script: str, *arguments: Any) -> Any:
        """The value of a piece of JavaScript."""
        return self.driver.execute_script(script, *arguments)

    def until(self, condition: str, *, seconds: float = 30) -> None:
        """Wait until a JavaScript expression holds; what htmx swaps in comes after the click has returned.

        Raises
        ------
        AssertionError
            It does not hold within the time.
        """
        end = time.monotonic() + seconds
        while not self.run(f"return Boolean({condition})"):
            assert time.monotonic() < end, f"within {seconds} s it does not come to pass that {condition}"
            time.sleep(0.05)

    def messages(self) -> list[str]:
        """Everything the console holds since the page was opened."""
        return self._on_loading + [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Address of every request since the page was opened."""
        entries = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [e["params"]["request"]["url"] for e in entries if e["method"] == "Network.requestWillBeSent"]

    def screenshot(self, path: Path, height: int = 6000) -> None:
        """The page from its top, at most so many pixels of it."""
        size = self.run("return [innerWidth, document.documentElement.scrollHeight]")
        clip = {"x": 0, "y": 0, "width": size[0], "height": min(size[1], height), "scale": 1}
        image = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(image["data"]))

    def pdf(self) -> bytes:
        """The page as it is printed."""
        return base64.b64decode(self.call("Page.printToPDF", preferCSSPageSize=True, printBackground=True)["data"])

    def close(self) -> None:
        """End the browser."""
        self.driver.quit()
