"""Sizes and counts in running text, beside the numbers of metrics (`plexlens.metrics.display`)."""

from __future__ import annotations

from plexlens.metrics.display import NULL, shown, with_symbol


def byte_size(count: float | int) -> str:
    """A number of bytes in the largest binary unit that leaves at least one before the point."""
    size = float(count)
    for symbol in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:,.0f} {symbol}" if symbol == "bytes" else f"{size:,.1f} {symbol}"
        size /= 1024
    return f"{size:,.1f} TiB"


def counted(number: int, one: str, many: str = "") -> str:
    """A count and its noun: ``1 file``, ``1,204 files``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


__all__ = ["NULL", "byte_size", "counted", "shown", "with_symbol"]
