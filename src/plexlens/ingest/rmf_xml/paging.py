"""Paging activity report: the grain of SMF 71's paging section, one row a system and interval."""

from __future__ import annotations

from collections.abc import Iterator

from plexlens.ingest.rmf_xml.columns import INTERVAL, Column, TableSpec, derived, number, text
from plexlens.ingest.rmf_xml.model import Part, Report, Segment, Table, as_number, as_text, cell, key

_STATISTICS = (("min", "minimum"), ("max", "maximum"), ("avg", "average"))

#: Part -> column head -> (column, unit, description, the three SMF fields: minimum, maximum, average).
_LEVELS: dict[str, dict[str, tuple[str, str, str, tuple[str, str, str] | None]]] = {
    "central storage frames": {
        "total": ("total_frames", "frames", "frames", ("SMF71MNT", "SMF71MXT", "SMF71AVT")),
        "available": ("available_frames", "frames", "available frames", ("SMF71CAM", "SMF71CAX", "SMF71CAA")),
        "sqa": ("sqa_frames", "frames", "SQA frames", ("SMF71MSR", "SMF71XSR", "SMF71ASR")),
        "lpa": ("lpa_frames", "frames", "LPA frames", ("SMF71NLP", "SMF71XLP", "SMF71ALP")),
        "csa": ("csa_frames", "frames", "CSA frames", ("SMF71MNP", "SMF71MXP", "SMF71AVP")),
        "lsqa": ("lsqa_frames", "frames", "LSQA frames", ("SMF71MLR", "SMF71XLR", "SMF71ALR")),
        "regions + swa": ("region_frames", "frames", "region and SWA frames", None),
        "high shared": ("high_shared_frames", "frames", "high shared frames", ("SMF71SRM", "SMF71SRX", "SMF71SRA")),
        "high common": ("high_common_frames", "frames", "high common frames", ("SMF71CRM", "SMF71CRX", "SMF71CRA")),
    },
    "fixed frames": {
        "total": ("fixed_frames", "frames", "fixed frames", ("SMF71MNX", "SMF71MXX", "SMF71AVX")),
        "nucleus": ("fixed_nucleus_frames", "frames", "nucleus frames", ("SMF71FIN", "SMF71FIN", "SMF71FIN")),
        "sqa": ("fixed_sqa_frames", "frames", "fixed SQA frames", ("SMF71MNQ", "SMF71MXQ", "SMF71AVQ")),
        "lpa": ("fixed_lpa_frames", "frames", "fixed LPA frames", ("SMF71NLF", "SMF71XLF", "SMF71ALF")),
        "csa": ("fixed_csa_frames", "frames", "fixed CSA frames", ("SMF71MNC", "SMF71MXC", "SMF71AVC")),
        "lsqa": ("fixed_lsqa_frames", "frames", "fixed LSQA frames", ("SMF71NLS", "SMF71XLS", "SMF71ALS")),
        "regions + swa": (
            "fixed_region_frames",
            "frames",
            "fixed region and SWA frames",
            ("SMF71MNR", "SMF71MXR", "SMF71AVR"),
        ),
        "below 16 mb": (
            "fixed_below_16m_frames",
            "frames",
            "fixed frames below 16 MiB",
            ("SMF71MNL", "SMF71MXL", "SMF71AVL"),
        ),
        "between 16mb and 2gb": (
            "fixed_below_2g_frames",
            "frames",
            "fixed frames between 16 MiB and 2 GiB",
            ("SMF71MFB", "SMF71XFB", "SMF71AFB"),
        ),
    },
    "shared frames / slots": {
        "total": ("shared_pages", "pages", "shared pages", ("SMF71MGT", "SMF71XGT", "SMF71AGT")),
        "central storage": (
            "shared_frames",
            "frames",
            "shared pages in storage",
            ("SMF71MGC", "SMF71XGC", "SMF71AGC"),
        ),
        "fixed total": ("shared_fixed_frames", "frames", "shared fixed pages", ("SMF71MGF", "SMF71XGF", "SMF71AGF")),
        "fixed below 16 mb": (
            "shared_fixed_below_16m_frames",
            "frames",
            "shared fixed pages below 16 MiB",
            ("SMF71MGB", "SMF71XGB", "SMF71AGB"),
        ),
        "high 1m": ("shared_high_1m_pages", "pages", "high shared 1 MiB pages", None),
        "high 4k": ("shared_high_4k_pages", "pages", "high shared 4 KiB pages", None),
        "auxiliary dasd": (
            "shared_slots",
            "slots",
            "auxiliary slots of shared pages",
            ("SMF71MGA", "SMF71XGA", "SMF71AGA"),
        ),
    },
    "local page data set slots": {
        "total": ("slots", "slots", "local page data set slots", ("SMF71MNA", "SMF71MXA", "")),
        "available": ("available_slots", "slots", "free local slots", ("SMF71MNU", "SMF71MXU", "SMF71AVU")),
        "bad": ("bad_slots", "slots", "bad slots", ("SMF71MNB", "SMF71MXB", "SMF71AVB")),
        "non-vio": ("nonvio_slots", "slots", "slots holding non-VIO pages", ("SMF71MNM", "SMF71MXM", "SMF71AVM")),
        "vio": ("vio_slots", "slots", "slots holding VIO pages", ("SMF71MNV", "SMF71MXV", "SMF71AVV")),
    },
    "memory objects": {
        "fixed 1m": ("fixed_1m_objects", "", "fixed 1 MiB memory objects", ("SMF71LOM", "SMF71LOX", "SMF71LOA")),
        "fixed 2g": ("fixed_2g_objects", "", "fixed 2 GiB memory objects", None),
        "common": ("high_common_objects", "", "high common memory objects", ("SMF71COM", "SMF71COX", "SMF71COA")),
        "shared": ("high_shared_objects", "", "high shared memory objects", ("SMF71SOM", "SMF71SOX", "SMF71SOA")),
        "shared 1m": ("high_shared_1m_objects", "", "high shared 1 MiB memory objects", None),
    },
    "1 mb frames": {
        "fixed maximum": ("frames_1m_fixed_limit", "1 MiB frames", "1 MiB frames that may be fixed", None),
        "fixed available": ("frames_1m_fixed_available", "1 MiB frames", "1 MiB frames still to be fixed", None),
        "fixed in-use": (
            "frames_1m_fixed",
            "1 MiB frames",
            "fixed 1 MiB frames",
            ("SMF71LRM", "SMF71LRX", "SMF71LRA"),
        ),
        "pageable": ("frames_1m_pageable", "1 MiB frames", "pageable 1 MiB frames", None),
        "available": ("frames_1m_available", "1 MiB frames", "available 1 MiB frames", None),
        "total": ("frames_1m", "1 MiB frames", "1 MiB frames", None),
    },
    "2 gb frames": {
        "fixed maximum": ("frames_2g_fixed_limit", "2 GiB frames", "2 GiB frames that may be fixed", None),
        "fixed available": ("frames_2g_fixed_available", "2 GiB frames", "2 GiB frames still to be fixed", None),
        "fixed in-use": ("frames_2g_fixed", "2 GiB frames", "fixed 2 GiB frames", None),
    },
    "high shared frames": {
        "total": ("high_shared_pages", "pages", "size of the high shared area", None),
        "central storage": ("high_shared_storage_frames", "frames", "high shared pages in storage", None),
        "backed 1m": ("high_shared_1m_frames", "1 MiB frames", "high shared 1 MiB frames", None),
        "auxiliary dasd": ("high_shared_slots", "slots", "auxiliary slots of high shared pages", None),
    },
    "high common frames": {
        "total": ("high_common_pages", "pages", "size of the high common area", None),
        "central storage": ("high_common_storage_frames", "frames", "high common pages in storage", None),
        "backed 1m": ("high_common_1m_frames", "1 MiB frames", "high common 1 MiB frames", None),
        "fixed": (
            "high_common_fixed_frames",
            "frames",
            "high common fixed pages",
            ("SMF71CFM", "SMF71CFX", "SMF71CFA"),
        ),
        "fixed 1m": ("high_common_fixed_1m_frames", "1 MiB frames", "high common fixed 1 MiB frames", None),
        "auxiliary dasd": (
            "high_common_slots",
            "slots",
            "auxiliary slots of high common pages",
            ("SMF71CSM", "SMF71CSX", "SMF71CSA"),
        ),
    },
}

#: (part, row label, column head) -> rate column, SMF field of the count.
_PAGE_RATES: dict[tuple[str, str, str], tuple[str, str, str]] = {
    ("pageable system areas (non-vio)", "lpa", "page-in total rate"): ("lpa_pageins", "LPA page-ins", "SMF71LNI"),
    ("pageable system areas (non-vio)", "csa", "page-in total rate"): ("csa_pageins", "CSA page-ins", "SMF71SNI"),
    ("pageable system areas (non-vio)", "csa", "page-out total rate"): ("csa_pageouts", "CSA page-outs", "SMF71SNO"),
    ("address spaces", "sum", "page-in total rate"): ("address_space_pageins", "page-ins of address spaces", ""),
    ("address spaces", "sum", "page-out total rate"): ("address_space_pageouts", "page-outs of address spaces", ""),
    ("total system", "hiperspace", "page-in total rate"): ("hiperspace_pageins", "hiperspace page-ins", "SMF71HIN"),
    ("total system", "hiperspace", "page-out total rate"): ("hiperspace_pageouts", "hiperspace page-outs", "SMF71HOT"),
    ("total system", "vio", "page-in total rate"): ("vio_pageins", "VIO page-ins", "SMF71VIN"),
    ("total system", "vio", "page-out total rate"): ("vio_pageouts", "VIO page-outs", "SMF71VOT"),
    ("total system", "non-vio", "page-in swap"): ("swap_pageins", "swap-in pages", "SMF71SIN"),
    ("total system", "non-vio", "page-out swap"): ("swap_pageouts", "swap-out pages", "SMF71SOT"),
    ("total system", "non-vio", "page-in non-swap block"): (
        "nonvio_block_pageins",
        "non-VIO page-ins in blocks",
        "SMF71BLP",
    ),
    ("total system", "non-vio", "page-in non-swap non-block"): (
        "nonvio_pageins",
        "non-VIO page-ins, neither swap nor block",
        "SMF71PIN",
    ),
    ("total system", "non-vio", "page-out non-swap"): ("nonvio_pageouts", "non-VIO page-outs, not swap", "SMF71POT"),
    ("total system", "sum", "page-in total rate"): ("pageins", "page-ins of the system", ""),
    ("total system", "sum", "page-out total rate"): ("pageouts", "page-outs of the system", ""),
    ("total system", "shared", "page-in total rate"): ("shared_pageins", "shared page-ins", "SMF71ASI"),
    ("total system", "shared", "page-out total rate"): ("shared_pageouts", "shared page-outs", "SMF71ASO"),
    ("central storage", "hiperspace", "page write rate"): ("hiperspace_writes", "hiperspace pages written", "SMF71HWS"),
    ("central storage", "hiperspace", "page read rate"): ("hiperspace_reads", "hiperspace pages read", "SMF71HRS"),
    ("central storage", "vio", "page write rate"): ("vio_writes", "VIO pages written", "SMF71VWS"),
    ("central storage", "vio", "page read rate"): ("vio_reads", "VIO pages read", "SMF71VRS"),
}

#: Variable -> rate column, description, SMF field of the count.
_RATES: dict[str, tuple[str, str, str]] = {
    "page movement within central storage": ("page_moves", "page moves within storage", "SMF71PMV"),
    "blocks per second": ("blocks", "blocks read", "SMF71BLK"),
    "page-in events (page fault rate)": ("pagein_events", "page-in events (page faults)", ""),
    "getmain request rate": ("getmain_requests", "GETMAIN requests", "SMF71GRN"),
    "getmain frames backed rate": ("getmain_frames_backed", "frames backed during GETMAIN", "SMF71FBN"),
    "fixed request below 2 gb rate": ("fix_requests_below_2g", "fix requests below 2 GiB", "SMF71FRN"),
    "fixed frames below 2 gb rate": ("fixed_frames_below_2g", "frames fixed below 2 GiB", "SMF71FFN"),
    "reference faults (1st) rate": ("first_reference_faults", "first reference faults", "SMF711RN"),
    "reference faults (non-1st) rate": (
        "other_reference_faults",
        "reference faults but the first",
        "SMF71NRN",
    ),
}

_HIPERSPACE_VIO = {
    "hiperspace": ("hiperspace_frames", "hiperspace pages in storage", ("SMF71MHI", "SMF71XHI", "SMF71AHI")),
    "vio": ("vio_frames", "VIO pages in storage", ("SMF71MVI", "SMF71XVI", "SMF71AVI")),
}


def _levels() -> Iterator[Column]:
    for part in _LEVELS.values():
        for name, unit, words, fields in part.values():
            for position, (suffix, word) in enumerate(_STATISTICS):
                yield number(f"{name}_{suffix}", unit, f"{words}, {word}", fields[position] if fields else "")
    for name, words, fields in _HIPERSPACE_VIO.values():
        for position, (suffix, word) in enumerate(_STATISTICS):
            yield number(f"{name}_{suffix}", "frames", f"{words}, {word}", fields[position])


def _rates() -> Iterator[Column]:
    for name, words, field in (*_PAGE_RATES.values(), *_RATES.values()):
        yield number(f"{name}_per_second", "per second", words)
        yield derived(name, "", f"{words} in the interval", field)


PAGING = TableSpec(
    "rmf_xml_paging",
    "one system in one interval",
    (
        INTERVAL,
        text("opt_member", "active OPT member", "SMF71OPT"),
        number("samples", "", "samples of the frame and slot counts"),
        number("uic_min", "seconds", "system UIC, minimum", "SMF71ULC"),
        number("uic_max", "seconds", "system UIC, maximum", "SMF71UHC"),
        number("uic_avg", "seconds", "system UIC, average", "SMF71UAC"),
        number("page_movement_percent", "percent", "time in page movement of the interval", "SMF71PMT"),
        number("pages_per_block", "pages", "average pages of a block read", "SMF71BLP / SMF71BLK"),
        number("lfarea_1m_bytes", "bytes", "LFAREA limit for 1 MiB frames", "SMF71LFA"),
        number("lfarea_2g_bytes", "bytes", "LFAREA limit for 2 GiB frames"),
        *_rates(),
        *_levels(),
    ),
)

TABLES = (PAGING,)


class PagingReport:
    """The row of one paging activity report."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._row: dict[str, object] = {}

    def segment(self, segment: Segment) -> Iterator[tuple[str, dict[str, object]]]:
        """Nothing yet: the row is complete at the report's end."""
        for part in segment.parts:
            self._variables(part)
            for table in part.tables:
                self._table(key(part.name), table)
        return iter(())

    def finish(self) -> Iterator[tuple[str, dict[str, object]]]:
        """The report's row, if it held anything."""
        if self._row:
            yield PAGING.name, {"interval_seconds": self._report.interval_seconds, **self._row}

    def _variables(self, part: Part) -> None:
        name = key(part.name)
        for variable, value in part.variables:
            named = key(variable)
            if named == "opt" and as_text(value) is not None:
                self._row["opt_member"] = as_text(value)
            elif value.number is None:
                continue
            elif name == "system uic" and named in {"min", "max", "avg"}:
                self._row[f"uic_{named}"] = value.number
            elif name == "lfarea maximum" and named in {"1 mb frames", "2 gb frames"}:
                self._row["lfarea_1m_bytes" if named == "1 mb frames" else "lfarea_2g_bytes"] = value.number
            elif named in _RATES:
                self._rate(_RATES[named][0], value.number)
            elif named == "samples":
                self._row["samples"] = value.number
            elif named == "page movement time %":
                self._row["page_movement_percent"] = value.number
            elif named == "average number of pages per block":
                self._row["pages_per_block"] = value.number

    def _table(self, part: str, table: Table) -> None:
        levels = _LEVELS.get(part, {})
        for row in table.rows:
            label = key(row.cells[0].text) if row.cells else ""
            for position, head in enumerate(table.heads):
                value = as_number(cell(row, position))
                if value is None:
                    continue
                name = key(head)
                if label in {"min", "max", "avg"} and name in levels:
                    self._row[f"{levels[name][0]}_{label}"] = value
                elif (part, label, name) in _PAGE_RATES:
                    self._rate(_PAGE_RATES[part, label, name][0], value)
                elif label in _HIPERSPACE_VIO and name.startswith("frame count "):
                    suffix = name.removeprefix("frame count ")
                    if suffix in {"min", "max", "avg"}:
                        self._row[f"{_HIPERSPACE_VIO[label][0]}_{suffix}"] = value

    def _rate(self, column: str, per_second: float) -> None:
        self._row[f"{column}_per_second"] = per_second
        if self._report.interval_seconds is not None:
            self._row[column] = per_second * self._report.interval_seconds
