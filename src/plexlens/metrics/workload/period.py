"""One period of a service or report class on one system: throughput, response, CPU by engine, goals."""

from __future__ import annotations

from typing import Any

from plexlens.metrics.expressions import total


def all_engines(f: Any) -> Any:
    """CPU seconds on all kinds of engine, specialty engines as general processors."""
    return total(f.tcb_seconds, f.srb_seconds, f.rct_seconds, f.iit_seconds, f.hst_seconds)


def general(f: Any) -> Any:
    """CPU seconds on general processors."""
    return all_engines(f) - total(f.ziip_seconds, f.zaap_seconds).fill_null(0.0)


def specialty(f: Any) -> Any:
    """CPU seconds on zIIPs and zAAPs, as general processors."""
    return total(f.ziip_seconds, f.zaap_seconds)
