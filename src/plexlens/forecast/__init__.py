"""Forecast of the peak hour of each day, back-tested on weeks held out, with last week's value as the yardstick.

`daily` has the two models and the back-test, `series` reads the series of a database, `forecasted` joins them.
"""

from __future__ import annotations

from plexlens.forecast.forecasted import Forecasted, forecasted, to_object

__all__ = ["Forecasted", "forecasted", "to_object"]
