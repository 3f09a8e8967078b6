"""The sysplex simulator: events a second and memory, by members and rate.

    python benchmarks/sysplex.py [--members 32] [--rate 10000] [--seconds 600] [--grow]

Half of the transactions change pages that all members share; machines are as many as members, so that rate and members
can grow by themselves. ``--grow`` runs a minute of each of several sizes instead.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from typing import Any

from plexlens import _core


def scenario(members: int, rate: float, seconds: float) -> dict[str, Any]:
    """A group of so many members, one on each machine, with pools of 20,000 pages."""
    numbers = range(1, members + 1)
    systems = [{"name": f"S{n:02d}", "cec": f"C{n:02d}"} for n in numbers]
    regions = [
        {"name": f"AOR{n:02d}{letter}", "system": f"S{n:02d}", "db2": "DSNG"} for n in numbers for letter in "ABC"
    ]
    names = [region["name"] for region in regions]
    return {
        "run": {"seed": 1, "warm_up": 10.0, "seconds": seconds, "interval": 60.0},
        "cec": [{"name": f"C{n:02d}", "engines": 4, "ziips": 1} for n in numbers],
        "system": systems,
        "coupling_facility": [{"name": name, "engines": 8, "subchannels": 28} for name in ("CF1", "CF2")],
        "db2": [
            {
                "group": "DSNG",
                "member": [{"name": f"DB{n:02d}", "system": f"S{n:02d}"} for n in numbers],
                "lock": {"coupling_facility": "CF1", "entries": 1 << 26},
                "pool": [
                    {"number": 1, "size": 20_000},
                    {"number": 2, "size": 20_000, "group": {"coupling_facility": "CF2", "data_entries": 100_000}},
                ],
                "page_set": [
                    {"name": "READ", "pool": 1, "pages": 100_000, "skew": 0.9},
                    {"name": "INDEX", "pool": 1, "pages": 5_000, "index": True, "skew": 0.9},
                    {"name": "CHANGED", "pool": 2, "pages": 1_000_000, "skew": 0.5},
                ],
            }
        ],
        "dasd": {"volumes": 256},
        "region": regions,
        "class": [
            {
                "name": "READ",
                "rate": rate / 2,
                "regions": names,
                "cpu": 0.0015,
                "db2_cpu": 0.0005,
                "ziip_share": 0.3,
                "references": [{"page_set": "INDEX", "getpages": 3.0}, {"page_set": "READ", "getpages": 3.0}],
            },
            {
                "name": "CHANGE",
                "rate": rate / 2,
                "regions": names,
                "cpu": 0.002,
                "db2_cpu": 0.0008,
                "references": [
                    {"page_set": "INDEX", "getpages": 3.0},
                    {"page_set": "CHANGED", "getpages": 3.0, "update": 0.5},
                ],
            },
        ],
    }


def run(members: int, rate: float, seconds: float) -> None:
    """One run, in one line."""
    text = json.dumps(scenario(members, rate, seconds))
    begun = time.perf_counter()
    results = json.loads(_core.simulate(text))
    took = time.perf_counter() - begun
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    ended = sum(one["count"] for one in results["responses"])
    mean = sum(one["count"] * one["mean"] for one in results["responses"]) / ended
    events = results["events"]
    print(
        f"{members:3} members {rate:7.0f}/s {seconds:5.0f} s: {took:6.1f} s, "
        f"{events / took / 1e6:5.2f} million events/s, {memory:6.0f} MiB, {ended} transactions, "
        f"response {mean * 1e3:.2f} ms"
        f"{', saturated' if results['saturated'] else ''}",
        flush=True,
    )


def main() -> None:
    """What the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--members", type=int, default=32)
    parser.add_argument("--rate", type=float, default=10_000.0)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--grow", action="store_true", help="several sizes, a minute each")
    asked = parser.parse_args()
    if not asked.grow:
        run(asked.members, asked.rate, asked.seconds)
        return
    for members in (2, 8, 32):
        run(members, 300.0 * members, 60.0)
    for rate in (2_500.0, 5_000.0):
        run(32, rate, 60.0)


if __name__ == "__main__":
    main()
