"""Write the page to standard output; a path names a scenario other than the bundled one."""

from __future__ import annotations

import sys
from pathlib import Path

from plexlens.example import studies_path
from plexlens.example.printed import Study
from plexlens.simulate.scenario import read_scenario
from tools.case_1996.page import page

folder = Path(__file__).resolve().parents[2] / "scenarios"
path = Path(sys.argv[1]) if len(sys.argv) > 1 else folder / "sysplex-1996.toml"
sys.stdout.write(page(read_scenario(path), Study(studies_path() / "sysplex-1996")))
