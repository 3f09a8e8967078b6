from __future__ import annotations

import pytest

from plexlens.errors import UsageError
from plexlens.storage_size import parse_size


@pytest.mark.parametrize(
    ("text", "size"),
    [("4GiB", 4 << 30), ("512 MiB", 512 << 20), ("1.5G", 3 << 29), ("800MB", 800_000_000), ("4096", 4096)],
)
def test_amounts_of_storage(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "GiB", "4 gallons", "-1GiB", "4,5G"])
def test_what_is_no_amount_of_storage(text: str) -> None:
    with pytest.raises(UsageError, match="not a storage size"):
        parse_size(text)
