"""Changes of every metric: shifts of the level, trends, odd hours and days, false alarms bounded over all series.

`series` reads the series of a database, `detected` judges one of them by its weekly `profile`, `levels` and `odd`
episodes, `judged` decides over all of them what is told, `changed` joins them.
"""

from __future__ import annotations

from plexlens.changes.changed import Change, Changes, changed, to_object

__all__ = ["Change", "Changes", "changed", "to_object"]
