"""Where the studies and the layouts lie in the checkout."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
STUDIES = ROOT / "studies"
LAYOUTS = ROOT / "layouts"
EXPECTED = STUDIES / "example" / "expected.csv"
