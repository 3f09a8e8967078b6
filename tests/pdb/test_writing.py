"""Locks, the order of steps, and disks that refuse."""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from plexlens.errors import PdbLockedError, PdbWriteError
from plexlens.pdb import Pdb, ingest
from plexlens.pdb.durable import Disk
from tests.pdb.fake_source import expected, held, write

ROOT = Path(__file__).parents[2]

HOLDER = """
import sys
from pathlib import Path
from plexlens.pdb.lock import writer_lock
with writer_lock(Path(sys.argv[1]) / "lock", pdb=Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_one_writer_at_a_time(tmp_path: Path, pdb: Pdb) -> None:
    dump = write(tmp_path / "a.fake", range(100))
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(pdb.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(PdbLockedError, match=rf"process {holder.pid} on .* \(-c .*\), since 20.*is writing"):
            ingest([dump], pdb)
        # Readers need no lock.
        assert Pdb.open(pdb.path).connect().execute("show tables").fetchall()
        # A writer that is killed leaves none.
        os.kill(holder.pid, signal.SIGKILL)
    ingest([dump], pdb)
    assert held(pdb.connect()) == expected(range(100))


def test_an_ingest_sees_what_another_process_ingested(tmp_path: Path, pdb: Pdb) -> None:
    other = Pdb.open(pdb.path)
    ingest([write(tmp_path / "a.fake", range(100))], other)
    ingest([write(tmp_path / "b.fake", range(50, 150))], pdb)
    assert [one.duplicates for one in pdb.ingests] == [0, 50]
    assert held(pdb.connect()) == expected(range(150))


class WatchedDisk(Disk):
    """Notes what was synced and moved, and looks at each new manifest before it is in place."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        # Its folders were made durable when it was.
        self.synced: set[Path] = {folder}
        self.moved: list[tuple[Path, Path]] = []
        self.manifests = 0

    def sync_file(self, path: Path) -> None:
        super().sync_file(path)
        self.synced.add(path)

    def sync_folder(self, path: Path) -> None:
        super().sync_folder(path)
        self.synced.add(path)

    def move(self, source: Path, target: Path) -> None:
        if target == self.folder / "manifest.json":
            self._before_the_moment(json.loads(source.read_text()))
        super().move(source, target)
        self.moved.append((source, target))
        # What a rename changes in a folder is not durable before the folder is synced again.
        self.synced.discard(target.parent)
        if source in self.synced:
            self.synced.add(target)

    def _before_the_moment(self, manifest: dict[str, Any]) -> None:
        """Everything the manifest names, and every folder on the way to it, is on the device."""
        self.manifests += 1
        assert self.folder / "manifest.json.new" in self.synced
        for part in manifest["parts"]:
            log = self.folder / "log" / part["name"]
            assert log in self.synced
            assert log.parent in self.synced
            lines = [line.split("\t") for line in log.read_text().splitlines()]
            for path, _, _, size, *_ in (
                entry for word, _, told in lines if word == "files" for entry in json.loads(told)
            ):
                assert (self.folder / path).stat().st_size == size
                self._is_on_the_device(self.folder / path)

    def _is_on_the_device(self, path: Path) -> None:
        assert path in self.synced
        while path != self.folder:
            path = path.parent
            assert path in self.synced, path


def test_everything_is_on_the_device_before_the_manifest_names_it(tmp_path: Path, pdb: Pdb) -> None:
    # A power failure loses what was not synced; a kill does not, so only watching can show this.
    pdb.disk = WatchedDisk(pdb.path)
    ingest([write(tmp_path / "a.fake", range(2500)), write(tmp_path / "b.fake", range(2000, 5000))], pdb)
    assert pdb.disk.manifests == 2
    # ... and the manifest itself afterwards.
    assert pdb.path in pdb.disk.synced
    assert len([one for one in pdb.disk.moved if one[1].suffix == ".parquet"]) == 6 + 6


class FullDisk(Disk):
    """Refuses its n-th step as a full disk does."""

    def __init__(self, steps: int) -> None:
        super().__init__(sync=False)
        self.left = steps

    def _step(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def sync_file(self, path: Path) -> None:
        self._step()

    def sync_folder(self, path: Path) -> None:
        self._step()

    def make_folder(self, path: Path) -> None:
        self._step()
        super().make_folder(path)

    def move(self, source: Path, target: Path) -> None:
        self._step()
        super().move(source, target)


def test_a_disk_that_fills_up_at_any_step_leaves_the_pdb_whole(tmp_path: Path, pdb: Pdb) -> None:
    ingest([write(tmp_path / "a.fake", range(1500))], pdb)
    second = write(tmp_path / "b.fake", range(1000, 3000))
    failures = 0
    for steps in range(200):
        pdb.disk = FullDisk(steps)
        try:
            ingest([second], pdb)
        except PdbWriteError as error:
            failures += 1
            assert "No space left on device; its previous contents are intact; free space in" in str(error)
            assert error.exit_code == 3
            assert list((pdb.path / "staging").iterdir()) == []
            if len(Pdb.open(pdb.path).ingests) == 2:
                break  # past the moment: it is in, though the last sync failed
            assert held(Pdb.open(pdb.path).connect(threads=1)) == expected(range(1500))
        else:
            break
    assert failures > 15
    pdb.disk = Disk()
    ingest([second], pdb)
    assert held(pdb.connect()) == expected(range(3000))


class InterruptedDisk(FullDisk):
    """Ends its n-th step, done or not begun, as Ctrl-C does."""

    def __init__(self, steps: int, *, done: bool) -> None:
        super().__init__(steps)
        self.done = done

    def _step(self) -> None:
        self.left -= 1
        if self.left == -1:
            raise KeyboardInterrupt

    def move(self, source: Path, target: Path) -> None:
        if self.done:
            Disk.move(self, source, target)
            self._step()
        else:
            super().move(source, target)


@pytest.mark.parametrize("done", [False, True])
def test_ctrl_c_at_any_step_takes_nothing_away(tmp_path: Path, *, done: bool) -> None:
    """After the moment too: files that the manifest on disk names were taken for leftovers of a dead writer."""
    dump = write(tmp_path / "a.fake", range(1500))
    sources = []
    for steps in range(200):
        pdb = Pdb.create(tmp_path / f"{steps}.pdb")
        pdb.disk = InterruptedDisk(steps, done=done)
        try:
            ingest([dump], pdb)
            break
        except KeyboardInterrupt:
            sources.append(len(Pdb.open(pdb.path).ingests))
        if sources[-1]:
            assert held(Pdb.open(pdb.path).connect(threads=1)) == expected(range(1500))
        # The command removes a database that it has made in vain, as this process sees it.
        assert pdb.remove_if_empty() == (not sources[-1])
    assert sources == sorted(sources)
    assert set(sources) == {0, 1}


LIMITED = """
import resource, signal, sys
from plexlens.ingest import kinds as sources
from plexlens.errors import PdbWriteError
from plexlens.pdb import Pdb, ingest
from tests.pdb import fake_source
sources.SOURCES = (fake_source.KIND,)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
try:
    ingest([sys.argv[2]], Pdb.open(sys.argv[1]))
except PdbWriteError as error:
    print(error)
"""


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="needs a limit on file sizes")
def test_a_parquet_file_that_cannot_be_written_is_named(tmp_path: Path, pdb: Pdb) -> None:
    """The system itself refuses here, inside the Parquet writer: no file may grow beyond 3000 bytes."""
    dump = write(tmp_path / "a.fake", range(5000))
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(pdb.path), str(dump)], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert "the PDB cannot be written" in done.stdout, done.stderr
    assert "File too large" in done.stdout
    assert done.stderr == ""
    assert Pdb.open(pdb.path).ingests == ()
    assert list((pdb.path / "staging").iterdir()) == []


def test_a_read_only_pdb_can_be_read_but_not_written(tmp_path: Path, pdb: Pdb) -> None:
    ingest([write(tmp_path / "a.fake", range(100))], pdb)
    more = write(tmp_path / "b.fake", range(100, 200))
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    for path in [pdb.path, *pdb.path.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        assert held(Pdb.open(pdb.path).connect()) == expected(range(100))
        with pytest.raises(PdbWriteError, match="the lock file cannot be opened: Permission denied"):
            ingest([more], pdb)
    finally:
        for path in [pdb.path, *pdb.path.rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)
