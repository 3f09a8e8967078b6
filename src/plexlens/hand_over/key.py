"""The key file: a secret, the days that times are moved by, and which name became which."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plexlens.errors import UnreadableInputError
from plexlens.whole_file import whole_file

VERSION = 1
_SECRET_BYTES = 32
_WEEKS = range(53, 522)
"""Weeks back of a key that names none: one to ten years."""


@dataclass
class Key:
    """A key.

    Attributes
    ----------
    secret : bytes
        What replacements are drawn from.
    days : int
        Days added to every date and time.
    words : dict of str to str
        Words of names and their replacements, each once.
    """

    secret: bytes
    days: int
    words: dict[str, str] = field(default_factory=dict)

    @classmethod
    def new(cls, days: int | None = None) -> Key:
        """A key with a new secret; without `days`, times move back by a whole number of weeks that the secret gives."""
        secret = secrets.token_bytes(_SECRET_BYTES)
        if days is None:
            days = -7 * _WEEKS[int.from_bytes(secret[:8]) % len(_WEEKS)]
        return cls(secret, days)

    @classmethod
    def read(cls, path: Path) -> Key:
        """Read a key file.

        Raises
        ------
        UnreadableInputError
            It is not there, or not a key file.
        """
        try:
            content: Any = json.loads(path.read_text(encoding="utf-8"))
            if content["version"] != VERSION:
                raise ValueError(f"its version is {content['version']!r}, not {VERSION}")
            words = {str(old): str(new) for old, new in content["words"].items()}
            if len(set(words.values())) != len(words):
                raise ValueError("two names have one replacement")
            return cls(bytes.fromhex(content["secret"]), int(content["days"]), words)
        except OSError as error:
            what, remedy = f"the key file cannot be read: {error.strerror}", "name the file that anonymise wrote"
            raise UnreadableInputError(file=str(path), what=what, remedy=remedy) from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            what, remedy = f"the file is not a key file: {error}", "name the file that anonymise wrote"
            raise UnreadableInputError(file=str(path), what=what, remedy=remedy) from error

    def write(self, path: Path) -> None:
        """Write the key file, for its owner's eyes only.

        Raises
        ------
        UsageError
            It cannot be written.
        """
        content = {"version": VERSION, "secret": self.secret.hex(), "days": self.days, "words": self.words}
        text = json.dumps(content, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
        with whole_file(path) as part:
            part.touch(mode=0o600)
            part.chmod(0o600)
            part.write_text(text, encoding="utf-8")
