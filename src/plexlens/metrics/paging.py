"""Central storage and paging (SMF 71-1, RMF XML PAGING), page data sets (SMF 75).

Page counts are totals of the interval. Frames, slots and the UIC are sampled once a cycle: averages and extremes of the
interval. A report in XML prints rates to two decimals, and totals derived from them carry that rounding. Formulas are
those of the overview conditions for SMF 71 (z/OS RMF User's Guide).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ibis

from plexlens.metrics.definition import Rollup
from plexlens.metrics.expressions import interval_seconds, ratio
from plexlens.metrics.fields import Field, columns_of, names_of
from plexlens.metrics.inputs import RECORD, Inputs, identity
from plexlens.metrics.unit import (
    COUNT,
    FRAMES,
    PAGES,
    SLOTS,
    WHOLE_SECONDS,
    Unit,
)


def _level(name: str, title: str, field: str, unit: Unit = FRAMES) -> Field:
    return Field(name, title, field, unit, Rollup.LEVEL)


#: Counts of the interval: the field, and the column of the XML report of the same meaning.
_COUNTS = {
    Field("page_ins", "Page-ins, single, neither VIO nor swap", "SMF71PIN", PAGES): "nonvio_pageins",
    Field("page_outs", "Page-outs, neither VIO nor swap", "SMF71POT", PAGES): "nonvio_pageouts",
    Field("block_page_ins", "Page-ins in blocks", "SMF71BLP", PAGES): "nonvio_block_pageins",
    Field("blocks", "Blocks read", "SMF71BLK"): "blocks",
    Field("swap_ins", "Swap-in pages", "SMF71SIN", PAGES): "swap_pageins",
    Field("swap_outs", "Swap-out pages", "SMF71SOT", PAGES): "swap_pageouts",
    Field("vio_ins", "VIO page-ins", "SMF71VIN", PAGES): "vio_pageins",
    Field("vio_outs", "VIO page-outs", "SMF71VOT", PAGES): "vio_pageouts",
    Field("hiperspace_ins", "Hiperspace page-ins", "SMF71HIN", PAGES): "hiperspace_pageins",
    Field("hiperspace_outs", "Hiperspace page-outs", "SMF71HOT", PAGES): "hiperspace_pageouts",
    Field("common_ins", "Common area page-ins", "SMF71SNI", PAGES): "csa_pageins",
    Field("common_outs", "Common area page-outs", "SMF71SNO", PAGES): "csa_pageouts",
    Field("lpa_ins", "LPA page-ins", "SMF71LNI", PAGES): "lpa_pageins",
    Field("shared_ins", "Shared page-ins", "SMF71ASI", PAGES): "shared_pageins",
    Field("shared_outs", "Shared page-outs", "SMF71ASO", PAGES): "shared_pageouts",
    Field("high_shared_ins", "High shared page-ins", "SMF71PIH", PAGES): "",
    Field("high_shared_outs", "High shared page-outs", "SMF71POH", PAGES): "",
    Field("scm_ins", "4 KiB page-ins from SCM", "SMF71PIS", PAGES): "",
    Field("scm_outs", "4 KiB page-outs to SCM", "SMF71POS", PAGES): "",
    Field("scm_large_ins", "1 MiB page-ins from SCM", "SMF71PI1", PAGES): "",
    Field("scm_large_outs", "1 MiB page-outs to SCM", "SMF71PO1", PAGES): "",
    Field("page_moves", "Page moves", "SMF71PMV", PAGES): "page_moves",
    Field("getmains", "GETMAIN requests", "SMF71GRN"): "getmain_requests",
    Field("getmain_frames", "Frames backed during GETMAIN", "SMF71FBN", FRAMES): "getmain_frames_backed",
    Field("fixes", "Fix requests below 2 GiB", "SMF71FRN"): "fix_requests_below_2g",
    Field("fixed_pages", "Pages fixed below 2 GiB", "SMF71FFN", PAGES): "fixed_frames_below_2g",
    Field("first_faults", "First reference faults", "SMF711RN"): "first_reference_faults",
    Field("other_faults", "Other reference faults", "SMF71NRN"): "other_reference_faults",
}

#: Averages of the interval.
_LEVELS = {
    _level("nucleus_frames", "Nucleus frames", "SMF71FIN"): "fixed_nucleus_frames_avg",
    _level("sqa_frames", "SQA frames", "SMF71ASR"): "sqa_frames_avg",
    _level("lpa_frames", "LPA frames", "SMF71ALP"): "lpa_frames_avg",
    _level("csa_frames", "CSA frames", "SMF71AVP"): "csa_frames_avg",
    _level("lsqa_frames", "LSQA frames", "SMF71ALR"): "lsqa_frames_avg",
    _level("high_shared_frames", "High shared frames", "SMF71SRA"): "high_shared_frames_avg",
    _level("high_common_frames", "High common frames", "SMF71CRA"): "high_common_frames_avg",
    _level("fixed_sqa_frames", "Fixed SQA frames", "SMF71AVQ"): "fixed_sqa_frames_avg",
    _level("fixed_csa_frames", "Fixed CSA frames", "SMF71AVC"): "fixed_csa_frames_avg",
    _level("fixed_below_16m_frames", "Fixed frames below 16 MiB", "SMF71AVL"): "fixed_below_16m_frames_avg",
    _level("fixed_below_2g_frames", "Fixed frames 16 MiB to 2 GiB", "SMF71AFB"): "fixed_below_2g_frames_avg",
    _level("large_frames", "1 MiB frames", "SMF71L8A"): "frames_1m_avg",
    _level("large_available_frames", "1 MiB frames available", "SMF71L9A"): "frames_1m_available_avg",
    _level("large_fixed_frames", "Fixed 1 MiB frames", "SMF71LRA"): "frames_1m_fixed_avg",
    _level("large_pageable_frames", "Pageable 1 MiB frames", "SMF71PLA"): "frames_1m_pageable_avg",
    _level("giant_used_frames", "2 GiB frames in use", "SMF71GUA"): "frames_2g_fixed_avg",
    _level("giant_available_frames", "2 GiB frames available", "SMF71GAA"): "frames_2g_fixed_available_avg",
    _level("dedicated_online", "Dedicated memory online, 2 GiB units", "SMF71_DMEMTOTALONLINE2G_A", COUNT): "",
    _level("dedicated_assigned", "Dedicated memory assigned, 2 GiB units", "SMF71_DMEMASSIGNED2G_A", COUNT): "",
    _level("scm_blocks", "SCM blocks", "SMF71TSA", COUNT): "",
    _level("scm_used_blocks", "SCM blocks in use", "SMF71USA", COUNT): "",
}

#: Averages that have a long form in later releases: fact, title, unit, fields in order of preference, XML column.
_LONG_LEVELS: tuple[tuple[str, str, Unit, tuple[str, ...], str], ...] = (
    ("available_frames", "Available frames", FRAMES, ("SMF71LVF", "SMF71CAA", "SMF71AVF"), "available_frames_avg"),
    ("fixed_frames", "Fixed frames", FRAMES, ("SMF71LVX", "SMF71AVX"), "fixed_frames_avg"),
    ("slots_available", "Local slots available", SLOTS, ("SMF71LVU", "SMF71AVU"), "available_slots_avg"),
    ("slots_nonvio", "Local slots, not VIO", SLOTS, ("SMF71LVM", "SMF71AVM"), "nonvio_slots_avg"),
    ("slots_vio", "Local slots, VIO", SLOTS, ("SMF71LVV", "SMF71AVV"), "vio_slots_avg"),
    ("slots_bad", "Local slots, unusable", SLOTS, ("SMF71LVB", "SMF71AVB"), "bad_slots_avg"),
)

#: Extremes of the interval.
_EXTREMES = {
    Field("fewest_available_slots", "Fewest local slots available", "SMF71MNU", SLOTS, Rollup.FLOOR): (
        "available_slots_min"
    ),
    Field("most_fixed_frames", "Most fixed frames", "SMF71MXX", FRAMES, Rollup.PEAK): "fixed_frames_max",
    Field("lowest_uic", "Lowest system UIC", "SMF71ULC", WHOLE_SECONDS, Rollup.FLOOR): "uic_min",
}

_PLAIN: tuple[Field, ...] = (*_COUNTS, *_LEVELS, *_EXTREMES)


def _first(table: Any, fields: Sequence[str]) -> Any:
    return ibis.coalesce(*(table[field.lower()].cast("float64") for field in fields))


def _derived(table: Any, seconds: Any, frames: Any, lowest: Any, uic: Any) -> dict[str, Any]:
    """Facts that both sources compute alike."""
    return {
        "interval_seconds": seconds,
        "system_seconds": seconds,
        "frames": frames,
        "lowest_available_fraction": ratio(lowest, frames),
        "uic_seconds": uic.cast("float64") * seconds,
    }


def _storage_of_smf(inputs: Inputs) -> Any:
    long = dict.fromkeys(field.lower() for _, _, _, fields, _ in _LONG_LEVELS for field in fields)
    further = ("smf71tfc", "smf71avt", "smf71tsc", "smf71cam", "smf71mnf", "smf71uac", "smf71pmt")
    table = inputs.table("smf71_1_paging", *names_of(_PLAIN), *long, *further)
    frames = ibis.coalesce(
        table.smf71tfc.cast("float64") + table.smf71fin.cast("float64"), table.smf71avt.cast("float64")
    )
    return table.select(
        **identity(table),
        **_derived(table, interval_seconds(table), frames, _first(table, ("SMF71CAM", "SMF71MNF")), table.smf71uac),
        **columns_of(table, _PLAIN),
        **{name: _first(table, fields) for name, _, _, fields, _ in _LONG_LEVELS},
        slots=table.smf71tsc.cast("float64"),
        page_move_seconds=table.smf71pmt.cast("float64"),
    )


def _storage_of_xml(inputs: Inputs) -> Any:
    named = {field.name: column for field, column in (*_COUNTS.items(), *_LEVELS.items(), *_EXTREMES.items()) if column}
    named |= {name: column for name, _, _, _, column in _LONG_LEVELS}
    further = (
        "interval_seconds",
        "total_frames_avg",
        "available_frames_min",
        "uic_avg",
        "slots_avg",
        "page_movement_percent",
    )
    table = inputs.table("rmf_xml_paging", *named.values(), *further)
    seconds = table.interval_seconds.cast("float64")
    return table.select(
        **identity(table),
        **_derived(table, seconds, table.total_frames_avg.cast("float64"), table.available_frames_min, table.uic_avg),
        **{name: table[column].cast("float64") for name, column in named.items()},
        slots=table.slots_avg.cast("float64"),
        page_move_seconds=table.page_movement_percent.cast("float64") / 100.0 * seconds,
    )


_DATA_SET_FIELDS = (
    Field("slots", "Slots", "SMF75SLA", SLOTS, Rollup.AMOUNT),
    Field("most_used_slots", "Most slots in use", "SMF75MXU", SLOTS, Rollup.PEAK),
    Field("unusable_slots", "Unusable slots", "SMF75BDS", SLOTS, Rollup.LEVEL),
    Field("ios", "I/O requests", "SMF75SIO"),
    Field("pages", "Pages transferred", "SMF75PGX", PAGES),
)

#: SMF75PST and SMF75FL2: bit 0 is the leftmost.
_TYPES = {0x80: "PLPA", 0x40: "common", 0x10: "local"}
_SCM = 0x08


def _data_sets(inputs: Inputs) -> Any:
    table = inputs.table(
        "smf75_1_page_data_set",
        *names_of(_DATA_SET_FIELDS),
        "smf75avu",
        "smf75lvu",
        "smf75use",
        "smf75pst",
        "smf75fl2",
        text=("smf75dsn", "smf75vol", "smf75dev"),
    )
    product = inputs.table("rmf_product_section", "smf7xsam").select(*RECORD, "smf7xsam")
    table = table.left_join(product, list(RECORD)).drop("source_id_right", "record_no_right")
    seconds = interval_seconds(table)
    kind, flags = table.smf75pst.cast("int64").fill_null(0), table.smf75fl2.cast("int64").fill_null(0)
    scm = (flags & _SCM) != 0
    return table.select(
        **identity(table),
        data_set=ibis.ifelse(scm, "SCM", table.smf75dsn),
        space_type=ibis.cases(
            (scm, "SCM"), *(((kind & bit) != 0, name) for bit, name in _TYPES.items()), else_="other"
        ),
        volume=table.smf75vol.nullif(""),
        model=table.smf75dev.nullif(""),
        interval_seconds=seconds,
        data_set_seconds=seconds,
        used_slots=_first(table, ("SMF75LVU", "SMF75AVU")),
        in_use_seconds=table.smf75use.cast("float64") / table.smf7xsam.cast("float64").nullif(0.0) * seconds,
        **columns_of(table, _DATA_SET_FIELDS),
    )
