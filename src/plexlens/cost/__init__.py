"""The cost of software: four-hour averages of capacity used, who is in their peak, and what a change would save.

`rolling` has the arithmetic of five minutes, four hours and clock hours; `use` reads what partitions used; `peaks` adds
partitions up to machines, capacity groups and products; `contributors` says who used the capacity of a peak; `limits`
simulates capping; `what_if` changes the use; `prices` turns MSU into money; `costed` joins all of it.
"""

from __future__ import annotations

from plexlens.cost.costed import Costed, costed
from plexlens.cost.json_object import to_object

__all__ = ["Costed", "costed", "to_object"]
