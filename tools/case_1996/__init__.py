"""The 1996 case study predicted: printed and simulated numbers side by side.

``python -m tools.case_1996 > docs/sysplex-1996.md`` writes the page. The scenario is calibrated on run A3
and on run B1's processor times; A1 differs from A3 in its rates alone, B1 and B3 in the mix and in what their code
does, B2 and B4 in the machine.
"""

from tools.case_1996.variants import printed_rate, run_b1, with_rates

__all__ = ["printed_rate", "run_b1", "with_rates"]
