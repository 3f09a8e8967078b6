"""CPU time of tests, as their last runs on this machine recorded it (``.build/test-times.json``).

``python -m tools.test_times [N]`` lists the N slowest tests (50), and the sum of each folder. CPU time is that of the
test's process and of those that it started, so that other load on the machine does not count; a fixture counts with the
test that needed it first.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path

FILE = Path(__file__).parents[1] / ".build" / "test-times.json"


def read_times(path: Path = FILE) -> dict[str, float]:
    """CPU seconds by test; empty where no test has run."""
    if not path.is_file():
        return {}
    times: dict[str, list[float]] = json.loads(path.read_text(encoding="utf-8"))
    return {test: sum(phases) for test, phases in times.items()}


def main(words: list[str]) -> int:
    """Print the slowest tests and the sums."""
    times = read_times()
    if not times:
        sys.stderr.write(f"{FILE} is not there: run pytest first\n")
        return 4
    slowest = sorted(times, key=times.__getitem__, reverse=True)[: int(words[0]) if words else 50]
    for test in slowest:
        print(f"{times[test]:8.1f}  {test}")
    print(f"{sum(times[test] for test in slowest):8.1f}  these {len(slowest)}\n")
    folders: dict[str, list[float]] = defaultdict(list)
    for test, seconds in times.items():
        folders["/".join(test.partition("::")[0].split("/")[:2])].append(seconds)
    for folder, each in sorted(folders.items(), key=lambda item: -sum(item[1])):
        print(f"{sum(each):8.1f}  {folder} ({len(each)} tests)")
    print(f"{sum(times.values()):8.1f}  all ({len(times)} tests)")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
