"""A group of Db2s with one pool each and the group buffer pool between them, the slow and obvious way.

Random references only, every update committed at once, every data set shared; so nothing but page steal by LRU,
registration, cross-invalidation, directory and data entries, and castout.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping

Page = tuple[int, int]


class SlowGroup:
    """Members' pools and the structure, as dictionaries in the order of last use."""

    def __init__(
        self, sizes: Mapping[int, int], data: int, directory: int, *, class_pages: int, pool_threshold: int
    ) -> None:
        self.sizes = sizes
        self.data_entries, self.directory_entries = data, directory
        self.class_pages, self.most_changed = class_pages, data * pool_threshold // 100
        self.local: dict[int, OrderedDict[Page, None]] = {member: OrderedDict() for member in sizes}
        self.directory: OrderedDict[Page, set[int]] = OrderedDict()
        self.data: OrderedDict[Page, None] = OrderedDict()
        self.changed: set[Page] = set()
        self.members: dict[int, Counter[str]] = {member: Counter() for member in sizes}
        self.structure: Counter[str] = Counter()

    def run(self, events: Iterable[tuple[int, Page, bool]]) -> None:
        """Events: member, page, and whether the page is changed; else it is asked for."""
        for member, page, change in events:
            if change:
                self._write(member, page)
            else:
                self._getpage(member, page)

    def _getpage(self, member: int, page: Page) -> None:
        local = self.local[member]
        if page in local:
            if member not in self.directory.get(page, set()):
                self._read(member, page, "invalid")
            local.move_to_end(page)
            return
        self._read(member, page, "misses")
        if len(local) == self.sizes[member]:
            stolen, _ = local.popitem(last=False)
            if stolen in self.directory:
                self.directory[stolen].discard(member)
        local[page] = None

    def _read(self, member: int, page: Page, why: str) -> None:
        self._entry(page).add(member)
        if page in self.data:
            self.data.move_to_end(page)
            self.members[member][f"{why}_with_data"] += 1
        else:
            self.members[member][f"{why}_without_data"] += 1
            self.members[member]["disk_reads"] += 1

    def _entry(self, page: Page) -> set[int]:
        if page not in self.directory:
            if len(self.directory) == self.directory_entries:
                if all(other in self.changed for other in self.directory):
                    self._cast_out_down_to(0)
                taken = next(other for other in self.directory if other not in self.changed)
                self.structure["directory_reclaims"] += 1
                self.structure["invalidated_by_reclaim"] += len(self.directory.pop(taken))
                self.data.pop(taken, None)
            self.directory[page] = set()
        self.directory.move_to_end(page)
        return self.directory[page]

    def _write(self, member: int, page: Page) -> None:
        holders = self._entry(page)
        self.structure["invalidated_by_write"] += len(holders - {member})
        holders.intersection_update({member})
        if page not in self.data:
            if len(self.data) == self.data_entries:
                if all(other in self.changed for other in self.data):
                    self.members[member]["failed_writes"] += 1
                    self._cast_out_down_to(0)
                self.data.pop(next(other for other in self.data if other not in self.changed))
            self.data[page] = None
        self.data.move_to_end(page)
        self.members[member]["sync_writes"] += 1
        self.changed.add(page)
        if len(self._class(page[0])) > self.class_pages:
            self._cast_out(page[0])
        if len(self.changed) > self.most_changed:
            self._cast_out_down_to(self.most_changed)

    def _class(self, data_set: int) -> set[Page]:
        return {page for page in self.changed if page[0] == data_set}

    def _cast_out_down_to(self, most: int) -> None:
        while len(self.changed) > most:
            # Of the largest classes the one whose data set was met last.
            self._cast_out(max({page[0] for page in self.changed}, key=lambda one: (len(self._class(one)), one)))

    def _cast_out(self, data_set: int) -> None:
        pages = self._class(data_set)
        self.structure["castout_pages"] += len(pages)
        self.changed -= pages
