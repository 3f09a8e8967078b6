"""RMF XML written for tests, and the rows that a reading of it gives."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from plexlens.ingest.printed import xml as rmf_xml

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<?xml-stylesheet type="text/xsl" href="include/ddsml-pp.xsl"?>\n'
SERVER = "<server><name>RMF-DDS-Server</name><functionality>3500</functionality></server>"


def ddsml(*reports: str, after: str = "") -> str:
    """A whole document."""
    return f"{HEAD}<ddsml>\n{SERVER}\n" + "\n".join(reports) + f"{after}</ddsml>\n"


def postprocessor(
    metric: str,
    *segments: str,
    system: str | None = "SYS1",
    sysplex: str = "PLEX1",
    start: str = "07/26/2022-00.00.00",
    end: str = "07/26/2022-00.30.00",
    interval: str = "30:00:000",
    option: str = "",
) -> str:
    """A Postprocessor report."""
    kind, name = ("SYSTEM", system) if system else ("SYSPLEX", sysplex)
    options = f" option={quoteattr(option)}" if option else ""
    return (
        f'<postprocessor><metric id="{metric}"{options}><description>{metric} Report</description>'
        f"<type>Interval</type></metric>"
        f"<resource><resname>{name}</resname><restype>{kind}</restype></resource>"
        f'<time-data><display-start locale="en-us">{start}</display-start>'
        f'<display-end locale="en-us">{end}</display-end>'
        f'<report-interval unit="minutes">{interval}</report-interval></time-data>'
        + "".join(segments)
        + "</postprocessor>"
    )


def monitor3(metric: str, body: str, *, label: str = ",SYS1,MVS_IMAGE", kind: str = "MVS_IMAGE") -> str:
    """A Monitor III report."""
    return (
        f'<report><metric id="{metric}"><description>{metric}</description><format>report</format></metric>'
        f"<resource><reslabel>{label}</reslabel><restype>{kind}</restype></resource>"
        "<time-data><local-start>20220823114640</local-start><local-end>20220823114820</local-end>"
        "<utc-start>20220823154640</utc-start><utc-end>20220823154820</utc-end>"
        '<display-start locale="en-us">08/23/2022 11:46:40</display-start>'
        '<data-range unit="seconds">100</data-range></time-data>' + body + "</report>"
    )


def segment(name: str, *parts: str) -> str:
    """A segment."""
    return f"<segment><name>{escape(name)}</name>{''.join(parts)}</segment>"


def part(name: str | None, *content: str) -> str:
    """A part; a name of None is left out."""
    named = f"<name>{escape(name)}</name>" if name is not None else ""
    return f"<part>{named}{''.join(content)}</part>"


def variables(**named: str) -> str:
    """A variable list; double underscores in a name stand for blanks."""
    return variable_list({name.replace("__", " "): value for name, value in named.items()})


def variable_list(named: dict[str, str]) -> str:
    """A variable list with any names."""
    pairs = (f"<var><name>{escape(name)}</name><value>{escape(value)}</value></var>" for name, value in named.items())
    return f"<var-list>{''.join(pairs)}</var-list>"


def heads(*columns: str) -> str:
    """Column heads, each ``T:name``."""
    cells = (f'<col type="{column[0]}">{escape(column[2:])}</col>' for column in columns)
    return f"<column-headers>{''.join(cells)}</column-headers>"


def row(*cells: str, **attributes: str) -> str:
    """A row of a table."""
    shown = "".join(f" {name}={quoteattr(value)}" for name, value in attributes.items())
    inside = "".join(f"<col>{escape(cell)}</col>" if cell else "<col />" for cell in cells)
    return f"<row{shown}>{inside}</row>"


def table(columns: Sequence[str], *rows: str) -> str:
    """A table, heads first."""
    return f"<table>{heads(*columns)}{''.join(rows)}</table>"


Rows = dict[str, list[dict[str, Any]]]


def read_path(path: Path) -> tuple[Rows, rmf_xml.RmfXmlReading]:
    """All rows of a file by table, and the reading."""
    reading = rmf_xml.read(path, source_id="ingest-1")
    rows: Rows = defaultdict(list)
    for name, batch in reading:
        batch.validate(full=True)
        rows[name].extend(batch.to_pylist())
    return rows, reading


def read_bytes(folder: Path, data: bytes, name: str = "report.xml") -> tuple[Rows, rmf_xml.RmfXmlReading]:
    """All rows of a document given as bytes."""
    path = folder / name
    path.write_bytes(data)
    return read_path(path)


def read_text(folder: Path, document: str) -> tuple[Rows, rmf_xml.RmfXmlReading]:
    """All rows of a document given as text."""
    return read_bytes(folder, document.encode())


def values(rows: Rows, kind: str | None = None) -> list[dict[str, Any]]:
    """Rows of ``rmf_xml_value``, of one kind or all."""
    return [row for row in rows["rmf_xml_value"] if kind is None or row["kind"] == kind]


def reasons(reading: rmf_xml.RmfXmlReading) -> list[tuple[str, str]]:
    """Reason and severity of each damage row."""
    return [(damage.reason, damage.severity.value) for damage in reading.damage]
