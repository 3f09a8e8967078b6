"""Time and resource of a report: its ``<time-data>`` and ``<resource>``."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from plexlens.ingest.printed.xml.cell_values import TIME_DATA, read_point, read_value
from plexlens.ingest.printed.xml.model import Report

# Resources below an image; theirs is the image that the label names first.
# Source: IBM, z/OS RMF Programmer's Guide, resource model of the Distributed Data Server.
_BELOW_IMAGE = frozenset(
    {
        "I/O_SUBSYSTEM", "ALL_SSIDS", "SSID", "LOGICAL_CONTROL_UNIT", "ALL_LCUS", "CHANNEL_PATH", "ALL_CHANNELS",
        "VOLUME", "ALL_VOLUMES", "CRYPTO_CARD", "CRYPTO", "PCIE_FUNCTION", "SCM", "PROCESSOR", "STORAGE",
        "AUXILIARY_STORAGE", "CENTRAL_STORAGE", "EXPANDED_STORAGE", "CSA", "SQA", "ECSA", "ESQA", "ENQUEUE",
        "OPERATOR", "SW_SUBSYSTEMS", "JES", "XCF", "HSM", "CHANNELS",
    }
)  # fmt: skip


def read_resource(report: Report, texts: dict[str, str]) -> None:
    """Set resource, system and sysplex from the elements of ``<resource>``.

    The Postprocessor gives a name and a type; Monitor III a label of three parts, ``image,name,type``.
    """
    kind = texts.get("restype") or None
    label = (texts.get("reslabel") or "").split(",")
    name = texts.get("resname") or (label[1] if len(label) == 3 else None) or texts.get("reslabel") or None
    report.resource = texts.get("resname") or texts.get("reslabel") or None
    report.resource_type = kind
    folded = (kind or "").upper()
    if folded in {"SYSTEM", "MVS_IMAGE"}:
        report.system = name
    elif folded == "SYSPLEX":
        report.sysplex = name if name not in {"", "*"} else None
    elif folded in _BELOW_IMAGE and len(label) == 3:
        report.system = label[0] or None


def read_times(report: Report, texts: dict[str, tuple[str, str | None]]) -> str | None:
    """Set interval, offset and length from the elements of ``<time-data>``.

    Parameters
    ----------
    report
        Takes them.
    texts
        Text and ``unit`` attribute of each element by its name.

    Returns
    -------
    str or None
        What is wrong with the times, for a damage row; None when the interval is known.
    """

    def point(name: str) -> datetime | None:
        return read_point(texts[name][0], report.locale) if name in texts else None

    def seconds(name: str) -> float | None:
        if name not in texts:
            return None
        printed, unit = texts[name]
        value = read_value(printed, column_type=TIME_DATA, unit=unit)
        return value.number if value.unit == "seconds" else None

    start, end = point("local-start") or point("display-start"), point("local-end") or point("display-end")
    utc_start, utc_end = point("utc-start"), point("utc-end")
    length = seconds("report-interval")
    if length is None:
        length = seconds("data-range")
    if start is not None and utc_start is not None:
        report.utc_offset = (start - utc_start).total_seconds()
    elif utc_start is not None:
        # No other time is in the report. A null would say that its times are local.
        report.utc_offset = 0.0
    if utc_start is not None:
        start, end = utc_start, utc_end or end
    try:
        if start is not None and end is None and length is not None:
            end = start + timedelta(seconds=length)
    except OverflowError:
        return f"an interval of {length} seconds"
    report.start = start.replace(tzinfo=UTC) if start else None
    report.end = end.replace(tzinfo=UTC) if end else None
    if length is None and start is not None and end is not None and end > start:
        length = (end - start).total_seconds()
    report.interval_seconds = length
    if start is None or end is None:
        shown = ", ".join(f"{name} {text!r}" for name, (text, _) in texts.items()) or "nothing"
        return f"no start and end in {shown[:200]}"
    return None
