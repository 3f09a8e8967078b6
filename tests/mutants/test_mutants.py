"""Mutants of every kind of input: read, or refused with what and what next; never anything else, never for long.

`PLEXLENS_FUZZ_SECONDS` and `PLEXLENS_FUZZ_COPIES` say how long each kind goes on (whichever comes first); without them
two seconds. `PLEXLENS_FUZZ_SEED` chooses another run. A failing copy is written to the temporary folder and named.
Dumps have a fuzz test of their own in `crates/smf`.
"""

from __future__ import annotations

import os
import random
import resource
import tempfile
import time
from pathlib import Path

import pytest

from tests.mutants.edits import mutant
from tests.mutants.kinds import kinds

NAMES = [kind.name for kind in kinds(Path(tempfile.mkdtemp()))]

#: Processor seconds that a copy of some KiB may take, and KiB by which memory may grow.
SECONDS = 5.0
MEMORY_KIB = 512 << 10


@pytest.mark.parametrize("name", NAMES)
def test_mutants_are_read_or_refused(name: str, tmp_path: Path) -> None:
    seconds = float(os.environ.get("PLEXLENS_FUZZ_SECONDS", "2"))
    copies = int(os.environ.get("PLEXLENS_FUZZ_COPIES", "1000000000"))
    seed = int(os.environ.get("PLEXLENS_FUZZ_SEED", "20261124"))
    (kind,) = (kind for kind in kinds(tmp_path) if kind.name == name)
    for original in kind.originals:
        assert kind.read(original, tmp_path), f"an original of {name} is refused"
    chance = random.Random(f"{seed} {name}")
    begin, before = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    done, refused, slowest = 0, 0, 0.0
    while done < copies and time.monotonic() - begin < seconds:
        copy = mutant(chance.choice(kind.originals), kind.originals, chance)
        started = time.process_time()
        try:
            refused += not kind.read(copy, tmp_path)
        except BaseException:
            kept = Path(tempfile.gettempdir()) / f"plexlens-mutant-{name.replace(' ', '-')}-{seed}-{done}"
            kept.write_bytes(copy)
            print(f"the copy that fails is {kept}; PLEXLENS_FUZZ_SEED={seed}")
            raise
        slowest = max(slowest, time.process_time() - started)
        assert slowest < SECONDS, f"copy {done} of seed {seed} took {slowest:.1f} s"
        done += 1
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < MEMORY_KIB, f"{grown} KiB more after {done} copies of seed {seed}"
    took = f"{done} mutants in {time.monotonic() - begin:.0f} s, {refused} refused, slowest {slowest:.2f} s"
    print(f"{name}: {took}, seed {seed}")
    assert done
