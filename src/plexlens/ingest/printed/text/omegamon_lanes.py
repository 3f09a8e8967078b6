"""Blocks printed side by side, and assignment of names and values to them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from plexlens.ingest.printed.address import fold
from plexlens.ingest.printed.text.omegamon_blocks import BlockKind, Heading
from plexlens.ingest.printed.text.words import Segment, Word

_DRIFT = 4
"""Columns by which a name may stand left of its block."""


@dataclass(slots=True)
class Lane:
    """An open block: its heading, and the current parent name."""

    heading: Heading
    """Its heading."""
    kind: BlockKind
    """Its kind."""
    tabbed: bool
    """Whether its heading's cells were separated by tabs."""
    parent: str | None = None
    """The name that parts stand under."""
    last: Segment | None = None
    """Its last name and values, which a wrapped line goes on with."""

    @property
    def title(self) -> str:
        """Title as printed."""
        return self.heading.title

    @property
    def about(self) -> str | None:
        """Subject of the block: the pool in ``BP1 GENERAL``."""
        match = self.kind.title.fullmatch(self.heading.title)
        return match.groupdict().get("about") if match else None

    def parent_of(self, name: str) -> str | None:
        """The parent of `name`; None for a name at the top level, which becomes the parent of later names."""
        folded = fold(name)
        for part, parent in self.kind.parts.items():
            if fold(part) == folded:
                return parent or self.parent
        self.parent = name
        return None

    def assign(self, segment: Segment) -> list[tuple[str | None, Word]]:
        """Values with the heads of their columns, in order; assigned by cell if tabs separate the cells.

        Values that a report leaves out are always the last in the line, so order determines the column even where
        columns have drifted.
        """
        heads, cells = self.heading.heads, self.heading.cells
        by_cell = (
            self.tabbed
            and segment.tabbed
            and len(set(cells)) == len(cells)
            and segment.cell == min(cells, default=0) - 1
            and all(word.cell in cells for word in segment.values)
        )
        results: list[tuple[str | None, Word]] = []
        for position, word in enumerate(segment.values):
            if by_cell:
                results.append((heads[cells.index(word.cell)], word))
            else:
                results.append((heads[position] if position < len(heads) else None, word))
        return results


class Lanes:
    """The open blocks of a page, from left to right."""

    def __init__(self) -> None:
        self.open: list[Lane] = []

    def close(self) -> None:
        """Close all blocks at a section title or another report."""
        self.open = []

    def begin(self, headings: Iterable[Heading], tabbed: bool) -> None:
        """Open the blocks of a heading line; blocks in the same position end.

        A heading line that names two blocks, or stands alone at the left, begins a new row of blocks.
        """
        new = [Lane(heading, heading.kind, tabbed) for heading in headings]
        if not new:
            return
        if new[0].heading.is_wrapped:
            if not new[0].title and self.open:
                # Heads that go on with those of the line before.
                last = self.open[-1].heading
                heading = new.pop(0).heading
                self.open[-1].heading = last._replace(heads=(*last.heads, *heading.heads), cells=())
            self.open += [lane for lane in new if lane.title]
            return
        leftmost = min(_place(lane, tabbed) for lane in new)
        rightmost = max(_place(lane, tabbed) for lane in new)
        kept = [
            lane
            for lane in self.open
            if lane.tabbed == tabbed
            and (_place(lane, tabbed) < leftmost - _slack(tabbed) or _place(lane, tabbed) > rightmost + _width(new))
        ]
        self.open = sorted([*kept, *new], key=lambda lane: _place(lane, tabbed))

    def of(self, segment: Segment, order: int) -> Lane | None:
        """The block that a name belongs to; None if no block is open.

        A name that is known in only one kind of block decides; then its position; then its order in the line.
        """
        if not self.open:
            return None
        named = [lane for lane in self.open if segment.label in lane.kind.names]
        lanes = named or self.open
        if len(lanes) == 1:
            return lanes[0]
        tabbed = segment.tabbed
        if all(lane.tabbed == tabbed and not lane.heading.is_wrapped for lane in lanes):
            at = segment.cell if tabbed else segment.start
            left = [lane for lane in lanes if _place(lane, tabbed) <= at + (0 if tabbed else _DRIFT)]
            return left[-1] if left else lanes[0]
        return lanes[min(order, len(lanes) - 1)]


def _place(lane: Lane, tabbed: bool) -> int:
    return lane.heading.cell if tabbed else lane.heading.start


def _slack(tabbed: bool) -> int:
    return 0 if tabbed else _DRIFT


def _width(lanes: list[Lane]) -> int:
    """Width of the last block, from its title on; names beyond it belong to another block."""
    last = lanes[-1]
    if last.tabbed:
        return max(last.heading.cells, default=last.heading.cell) - last.heading.cell
    return 20 + 9 * len(last.heading.heads)
