"""Addresses in object storage, before any request."""

from __future__ import annotations

import pytest

from plexlens.errors import UsageError
from plexlens.pdb.objects import parts_of


@pytest.mark.parametrize(
    ("address", "parts"),
    [
        ("s3://data/day/a.smf", ("s3", "data", "day/a.smf")),
        ("s3a://data/", ("s3a", "data", "")),
        # As pathlib writes it.
        ("s3:/data/day", ("s3", "data", "day")),
    ],
)
def test_parts_of_an_address(address: str, parts: tuple[str, str, str]) -> None:
    assert parts_of(address, "a dump") == parts


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("s3://", "s3://: this is not the address of a dump; give bucket and path: s3://BUCKET/PATH"),
        # Else the first folder would be taken for the bucket.
        (
            "s3:///day/a.smf",
            "s3:///day/a.smf: this is not the address of a dump; give bucket and path: s3://BUCKET/PATH",
        ),
        (
            "s3://key:secret@data/day",
            "s3://...: credentials or a port do not belong in the address; set AWS_ACCESS_KEY_ID",
        ),
    ],
)
def test_what_is_no_address(address: str, said: str) -> None:
    with pytest.raises(UsageError) as raised:
        parts_of(address, "a dump")
    assert str(raised.value).startswith(said)
