"""Load on a server: a plug-in of Locust with open arrivals, users who think, and each request in a file.

Only Locust's process imports `users` and `locustfile`: Locust replaces the blocking calls of its process.
"""

from __future__ import annotations

from plexlens.driver.arrivals import Arrivals
from plexlens.driver.plan import Plan, read_plan
from plexlens.driver.think_time import Bactrian, Constant, Empirical, Exponential, ThinkTime

__all__ = ["Arrivals", "Bactrian", "Constant", "Empirical", "Exponential", "Plan", "ThinkTime", "read_plan"]
