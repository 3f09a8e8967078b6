"""The wheel in an empty environment, and the bundle that takes it there."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from tools.bundle import BundleError, main, requirements

ROOT = Path(__file__).parents[2]
BINARIES = Path(sys.executable).parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel as ``make dist`` builds it: with the core of the release build, so that nothing is compiled."""
    if not (Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release").is_dir():
        pytest.skip("this tree has no release build; make .build/core makes one")
    folder = tmp_path_factory.mktemp("dist")
    command = [BINARIES / "maturin", "build", "--quiet", "--release", "--locked", "--offline", "--out", folder]
    environment = os.environ | {"VIRTUAL_ENV": str(BINARIES.parent)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (made,) = folder.glob("plexlens-*.whl")
    return made


def test_the_wheel_reports_the_example_in_an_environment_of_its_own(wheel: Path, tmp_path: Path) -> None:
    """`make bundle` does the same with every dependency as a wheel; here they are those of this environment."""
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}

    def run(*command: str | Path) -> str:
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout

    run(sys.executable, "-m", "venv", "--without-pip", "new")
    python = tmp_path / "new" / "bin" / "python"
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    run(BINARIES / "pip", "--python", python, "install", "--quiet", "--no-index", "--no-deps", wheel)
    # The checkout is in this environment too: a link for each package but Plexlens, which is to come from the wheel.
    for one in Path(sysconfig.get_path("purelib")).iterdir():
        if not one.name.startswith("plexlens") and not (site / one.name).exists() and one.suffix != ".pth":
            (site / one.name).symlink_to(one)
    assert str(site) in run(python, "-c", "import plexlens; print(plexlens.__file__)")
    program = tmp_path / "new" / "bin" / "plexlens"
    run(program, "example", "-o", "example.smf")
    run(program, "report", "example.smf", "-o", "report.html")
    assert "<h2" in (tmp_path / "report.html").read_text(encoding="utf-8")
    # What ships as data: layouts, catalogue, studies, rules, the day's scenario, pages of the server, help.
    assert json.loads(run(program, "study", "vmesa-1992", "--json"))
    assert "coupling.directory_reclaim" in run(program, "findings", "list")
    scenario = "from plexlens.simulate.bundled import day_scenario; print(day_scenario().file)"
    assert str(site) in run(python, "-c", scenario)


def test_the_wheel_serves_every_python_from_3_11_and_has_its_licences(wheel: Path) -> None:
    assert "-cp311-abi3-" in wheel.name
    names = zipfile.ZipFile(wheel).namelist()
    assert any(name.endswith("licenses/NOTICE") for name in names)
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert "plexlens/serve/static/htmx.min.js" in names
    assert "plexlens/scenarios/day.toml" in names
    assert not [name for name in names if name.endswith(".gitignore")]
    assert not [name for name in names if name.startswith("tests/") or "/held-out/" in name]


def test_requirements_have_the_hashes_of_the_lock_and_of_the_wheel(tmp_path: Path) -> None:
    wheel = tmp_path / "plexlens-0.1.0-py3-none-any.whl"
    wheel.write_bytes(b"wheel")
    packages = {"rich": ("15.0.0", ("a" * 64, "b" * 64))}
    assert requirements({"rich"}, packages, [wheel]).splitlines() == [
        f"rich==15.0.0 --hash=sha256:{'a' * 64} --hash=sha256:{'b' * 64}",
        f"plexlens==0.1.0 --hash=sha256:{hashlib.sha256(b'wheel').hexdigest()}",
    ]
    with pytest.raises(BundleError, match=r"polars is needed and not in requirements\.lock"):
        requirements({"polars"}, packages, [])


def test_a_folder_without_wheel_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 1
    assert "has no plexlens-*.whl with plexlens.cdx.json; run make dist" in capsys.readouterr().err
