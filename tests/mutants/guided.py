"""Mutants of the inputs other than dumps, which libFuzzer (by way of Atheris) changes towards code not yet reached.

``python -m tests.mutants.guided FOLDER [flag of libFuzzer ...]`` gives each kind of input a process. It begins with the
originals of the kind and with what its folder below FOLDER keeps, and adds every copy that reaches new code. A kind
fails at its first copy that is neither read nor refused with what is wrong and what to do; libFuzzer names the file of
that copy.

Only Python is watched: the compiled core runs, but does not lead the search.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["plexlens"]):
    from tests.mutants.kinds import kinds

from tests.mutants.edits import mutant


def every_kind(folder: Path, flags: list[str]) -> int:
    """Give each kind a process in turn, whatever became of the others; how many failed."""
    failed = 0
    for kind in kinds(Path(tempfile.mkdtemp())):
        kept = folder / kind.name.replace(" ", "-")
        kept.mkdir(parents=True, exist_ok=True)
        print(f"{kind.name}:", flush=True)
        command = [sys.executable, "-m", "tests.mutants.guided", "--kind", kind.name, str(kept), *flags]
        failed += subprocess.run(command, check=False).returncode != 0
    return failed


def search(name: str, kept: Path, flags: list[str]) -> None:
    """Change copies of a kind's originals until a flag of libFuzzer says to stop; the process ends here."""
    folder = Path(tempfile.mkdtemp())
    (kind,) = (kind for kind in kinds(folder) if kind.name == name)
    for number, original in enumerate(kind.originals):
        (kept / f"original-{number}").write_bytes(original)
    longest = 2 * max(map(len, kind.originals))

    def edited(data: bytes, size: int, seed: int) -> bytes:
        # The edits of `test_mutants` keep a document's form, which changes of single bytes hardly ever do.
        chance = random.Random(seed)
        if chance.random() < 0.5:
            return atheris.Mutate(data, size)
        return mutant(data, kind.originals, chance)[:size]

    limits = [f"-max_len={longest}", "-timeout=5", "-rss_limit_mb=768", "-verbosity=0", "-print_final_stats=1"]
    atheris.Setup(
        [sys.argv[0], *limits, *flags, str(kept)], lambda data: kind.read(data, folder), custom_mutator=edited
    )
    atheris.Fuzz()


if __name__ == "__main__":
    if sys.argv[1] == "--kind":
        search(sys.argv[2], Path(sys.argv[3]), sys.argv[4:])
    sys.exit(min(1, every_kind(Path(sys.argv[1]), sys.argv[2:])))
