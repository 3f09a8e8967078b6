"""An offline bundle: Plexlens and everything it needs, as wheels in one ZIP.

``python -m tools.bundle DIST`` takes the wheel of Plexlens in DIST, downloads what it needs by ``requirements.lock``
and its hashes, installs all of it in an empty environment without network, writes the report of the example there, and
then writes the ZIP into DIST.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from packaging.utils import canonicalize_name, parse_wheel_filename

from tools.parts import ROOT, closure, locked

_README = """Plexlens for machines without network.

    python3 -m venv plexlens
    plexlens/bin/pip install --no-index --find-links wheels --require-hashes -r requirements.txt
    plexlens/bin/plexlens example -o example.smf
    plexlens/bin/plexlens report example.smf -o report.html

The wheels are for {platform} and Python {python}. sbom.cdx.json lists all parts (CycloneDX).
"""


class BundleError(Exception):
    """The bundle cannot be made."""


def requirements(names: set[str], packages: Mapping[str, tuple[str, tuple[str, ...]]], wheels: Sequence[Path]) -> str:
    """A file of requirements for pip: locked packages with the hashes of the lock, and wheels of our own with theirs.

    Parameters
    ----------
    names
        Packages that are needed.
    packages
        Version and hashes by name, as `tools.parts.locked` gives them.
    wheels
        Files of our own.

    Raises
    ------
    BundleError
        A package is not locked.
    """
    lines = []
    for name in sorted(names):
        if name not in packages:
            raise BundleError(f"{name} is needed and not in requirements.lock")
        version, hashes = packages[name]
        lines.append(" ".join([f"{name}=={version}", *(f"--hash=sha256:{one}" for one in hashes)]))
    for wheel in wheels:
        ours, ours_version, _, _ = parse_wheel_filename(wheel.name)
        lines.append(f"{ours}=={ours_version} --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}")
    return "\n".join(lines) + "\n"


def needed() -> set[str]:
    """Packages that Plexlens needs to run, its notebooks among them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return closure([*project["dependencies"], *project["optional-dependencies"]["notebook"]])


def make(dist: Path) -> Path:
    """Make the bundle of the newest wheel in a folder.

    Returns
    -------
    Path
        The ZIP, in the same folder.

    Raises
    ------
    BundleError
        There is no wheel or no bill of materials, or a step fails.
    """
    ours = sorted(dist.glob("plexlens-*.whl"), key=lambda one: one.stat().st_mtime)
    bill = dist / "plexlens.cdx.json"
    if not ours or not bill.is_file():
        raise BundleError(f"{dist} has no plexlens-*.whl with plexlens.cdx.json; run make dist")
    wheel = ours[-1]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheels = folder / "wheels"
        wheels.mkdir()
        (folder / "lock.txt").write_text(requirements(needed(), locked(), []), encoding="utf-8")
        download = "-m pip download --quiet --disable-pip-version-check --require-hashes --no-deps --only-binary :all:"
        _run([sys.executable, *download.split(), "-r", str(folder / "lock.txt"), "-d", str(wheels)])
        (wheels / wheel.name).write_bytes(wheel.read_bytes())
        listed = folder / "requirements.txt"
        listed.write_text(requirements(needed(), locked(), [wheel]), encoding="utf-8")
        _check({canonicalize_name(parse_wheel_filename(one.name)[0]) for one in wheels.iterdir()})
        prove(wheels, listed, folder / "proof")
        python = f"{sys.version_info.major}.{sys.version_info.minor}"
        platform = sysconfig.get_platform()
        readme = _README.format(platform=platform, python=python)
        made = dist / f"{'-'.join(wheel.name.split('-')[:2])}-{platform}-py{python}.zip"
        with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:
            archive.writestr("README.txt", readme)
            archive.write(listed, "requirements.txt")
            archive.write(bill, "sbom.cdx.json")
            for one in sorted(wheels.iterdir()):
                archive.write(one, f"wheels/{one.name}")
    return made


def _check(there: set[str]) -> None:
    missing = sorted(needed() - there)
    if missing:
        raise BundleError(f"no wheel of {', '.join(missing)} was downloaded")


def prove(wheels: Path, listed: Path, folder: Path) -> None:
    """Install from wheels alone into an empty environment, and write the report of the example there.

    Raises
    ------
    BundleError
        A step fails.
    """
    _run([sys.executable, "-m", "venv", str(folder)])
    binaries = folder / ("Scripts" if os.name == "nt" else "bin")
    python = str(binaries / "python")
    install = "-m pip install --quiet --disable-pip-version-check --no-index --require-hashes --find-links"
    _run([python, *install.split(), str(wheels), "-r", str(listed)])
    if not (folder / "share" / "man" / "man1" / "plexlens.1").is_file():
        raise BundleError("the wheel has no man pages; run make dist")
    program = str(binaries / "plexlens")
    _run([program, "example", "-o", str(folder / "example.smf")])
    _run([program, "report", str(folder / "example.smf"), "-o", str(folder / "report.html")])


def _run(command: list[str]) -> None:
    # Neither a checkout nor settings of pip are to help.
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(
        command, env=environment, cwd=tempfile.gettempdir(), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise BundleError(f"{' '.join(command[:4])} ... fails:\n{done.stderr.strip()}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the bundle."""
    parser = argparse.ArgumentParser(prog="python -m tools.bundle", description="Make an offline bundle.")
    parser.add_argument("dist", type=Path, help="folder with the wheel, as make dist writes it")
    try:
        made = make(parser.parse_args(arguments).dist)
    except BundleError as error:
        sys.stderr.write(f"tools.bundle: {error}\n")
        return 1
    sys.stderr.write(f"written: {made}, {made.stat().st_size / (1 << 20):.0f} MiB\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
