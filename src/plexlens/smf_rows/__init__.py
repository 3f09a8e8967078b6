"""SMF records from plain quantities: each record type has a module, the only place with the record's fields.

The example and the simulators of systems and of buffer pools have quantities in base units: seconds, bytes, counts. A
module here puts them into rows of the record's sections, and `plexlens.smf_rows.dump` writes rows as a
dump. Where a field stands and in which unit is in the layouts.
"""

from __future__ import annotations
