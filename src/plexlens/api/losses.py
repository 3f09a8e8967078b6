"""Warnings of data that was lost while a source was read."""

from __future__ import annotations

import warnings


class DataLossWarning(UserWarning):
    """Data was lost while reading: a truncated dump, a broken record, or a file that was not read."""


def warn_of_loss(message: str) -> None:
    """Warn of a loss in the words of the reader."""
    warnings.warn(message, DataLossWarning, stacklevel=4)
