"""How many misprints the audit finds: single digits of printed cells changed at random, cell by cell.

`tools.misprints` changes them; docs/misprints.md has the rates of a larger sample.
"""

from __future__ import annotations

import pytest

from plexlens.compare import study_names
from plexlens.compare.analysis.redundancy import Cover
from tools.misprints import misprints, share

#: Changes for each study, and the share of them that is found at least: below the rate of a larger sample by two
#: standard errors of a sample of this size.
CHANGES = 60
FOUND = {"cics-2012": 0.59, "pools-2014": 0.62, "sysplex-1996": 0.60, "vmesa-1992": 0.66, "zxml-2008": 0.69}


@pytest.mark.parametrize("name", study_names())
def test_most_misprints_are_found(name: str) -> None:
    made = misprints(name, CHANGES)
    print(f"{name}: {share(made)} single-digit changes are found")
    assert sum(one.found for one in made) >= FOUND[name] * len(made)


@pytest.mark.parametrize("name", study_names())
def test_a_clear_misprint_in_an_equation_is_found(name: str) -> None:
    made = [one for one in misprints(name, CHANGES, seed=2) if one.cover is Cover.EQUATION and one.clear]
    # 90 % of a larger sample, less two standard errors of a sample of some thirty.
    assert sum(one.found for one in made) >= 0.79 * len(made), [one for one in made if not one.found]


def test_nothing_is_found_of_a_cell_that_stands_alone() -> None:
    made = [one for one in misprints("sysplex-1996", 400) if one.cover is Cover.NONE]
    assert made
    # Only by a note that names the cell as it was.
    assert sum(one.found for one in made) <= 0.1 * len(made)
