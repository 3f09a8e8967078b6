"""The account of a hand-over: what was replaced and what was left, by field."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

KEPT = "keep"


@dataclass
class Account:
    """Counts of the changes made to a source.

    Attributes
    ----------
    source, output : str
        The input and the output, as named.
    kind : str
        Kind of source.
    records : int
        Records (or lines, rows) written.
    fields : Counter
        Values by (layout or table, field, what was done).
    left_out : Counter
        What was not written, by reason.
    blanked : Counter
        Bytes that no field covers and sections that could not be found, by record map or layout.
    notes : list of str
        What a reader should know besides.
    """

    source: str
    output: str
    kind: str
    records: int = 0
    fields: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    blanked: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)

    def data(self) -> dict[str, Any]:
        """The account as JSON data."""
        return {
            "source": self.source,
            "output": self.output,
            "kind": self.kind,
            "records": self.records,
            "fields": [
                {"layout": layout, "field": name, "done": done, "values": count}
                for (layout, name, done), count in sorted(self.fields.items())
            ],
            "left_out": dict(sorted(self.left_out.items())),
            "blanked_bytes": dict(sorted(self.blanked.items())),
            "notes": self.notes,
        }
