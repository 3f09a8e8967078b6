"""Compiled templates, kept next to their sources as Python keeps the byte code of modules.

To compile the template of a page takes longer than to fill it in.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from jinja2 import FileSystemBytecodeCache
from jinja2.bccache import Bucket


class KeptTemplates(FileSystemBytecodeCache):
    """Byte code of templates in a folder; where that cannot be written, each program compiles them anew.

    Parameters
    ----------
    folder
        The folder; it is made if it is not there.
    made_by
        Files that say how templates are compiled: byte code of other contents of theirs is of no use.
    """

    def __init__(self, folder: Path, *made_by: Path) -> None:
        super().__init__(str(folder), f"%s.{sys.implementation.cache_tag}.jinja")
        self._made_by = b"".join(path.read_bytes() for path in made_by)

    def get_source_checksum(self, source: str) -> str:
        """Key that identifies the byte code of a template."""
        return sha256(source.encode("utf-8") + self._made_by).hexdigest()

    def load_bytecode(self, bucket: Bucket) -> None:
        """Take the byte code that is there; none where it is of another source or release, or cannot be read."""
        with suppress(OSError):
            super().load_bytecode(bucket)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep the byte code, unless Python is set to write none."""
        if sys.dont_write_bytecode:
            return
        with suppress(OSError):
            Path(self.directory).mkdir(exist_ok=True)
            super().dump_bytecode(bucket)
