"""Counters of the CPU measurement facility: cycles per instruction, caches, crypto functions."""

from __future__ import annotations

from plexlens.report.blocks.page import ChartSpec, FigureSpec, Page, Pick, Shown, TableSpec
from plexlens.report.model import Way

_GENERAL = "processor_type = 'CP'"

_SYSTEM = ("system",)

_COLLECT = (
    "Authorize the counter sets in the partition's security profile on the HMC, start address space HIS, "
    "MODIFY HIS,B,TT='text',PATH='/his/',CTRONLY,CTR=ALL, and TYPE(113) in SMFPRMxx."
)

PAGE = Page(
    order=510,
    id="counters",
    title="Processor counters",
    lead="Cycles per instruction, where lines of the level-1 cache came from, and the LSPR workload that follows.",
    what="counters of the CPU measurement facility",
    ways=(
        Way("SMF 113-1", f"{_COLLECT} Subtype 1 has the events of each interval."),
        Way("SMF 113-2", f"{_COLLECT} Subtype 2 has counters since the start of the collection."),
    ),
    figures=(
        FigureSpec("counters_cpi", "Cycles per instruction", "cpu_counters", "cpi", where=_GENERAL),
        FigureSpec(
            "counters_rni",
            "Highest relative nest intensity",
            "cpu_counters",
            "rni",
            by=_SYSTEM,
            pick=Pick.HIGHEST,
            where=_GENERAL,
        ),
        FigureSpec(
            "counters_l1mp",
            "Level-1 misses per 100 instructions",
            "cpu_counters",
            "l1mp",
            where=_GENERAL,
        ),
    ),
    charts=(
        ChartSpec(
            "counters_cpi_course",
            "Cycles per instruction of general processors, by system",
            "cpu_counters",
            ("cpi",),
            by=_SYSTEM,
            where=_GENERAL,
        ),
        ChartSpec(
            "counters_rni_course",
            "Relative nest intensity of general processors, by system",
            "cpu_counters",
            ("rni",),
            by=_SYSTEM,
            where=_GENERAL,
            note="Machines whose counters are not known have no value: the column Machine generation says which.",
        ),
        ChartSpec(
            "counters_finite_course",
            "Cycles per instruction: complexity and finite cache, all systems",
            "cpu_counters",
            ("instruction_complexity_cpi", "finite_cpi"),
            where=_GENERAL,
        ),
    ),
    tables=(
        TableSpec(
            "counters_systems",
            "Processors by system",
            "cpu_counters",
            (
                Shown("generation"),
                Shown("processors_used"),
                Shown("cpi", "All", group="Cycles per instruction"),
                Shown("instruction_complexity_cpi", "Complexity", group="Cycles per instruction"),
                Shown("finite_cpi", "Finite cache", group="Cycles per instruction"),
                Shown("sourcing_cycles_per_miss"),
                Shown("l1mp"),
                Shown("rni"),
                Shown("lspr_match"),
                Shown("problem_state_fraction"),
                Shown("tlb_cpu_fraction"),
                Shown("lost_fraction"),
            ),
            by=("system", "processor_type"),
            order="processors_used",
            course="cpi",
            note="A machine generation that begins with unknown has other counters than those that Plexlens knows: "
            "levels of caches, RNI and LSPR workload are then left out.",
        ),
        TableSpec(
            "counters_levels",
            "Where lines of the level-1 cache came from",
            "cpu_counters",
            (
                Shown("generation"),
                Shown("l1mp"),
                Shown("l2p", "Level 2", group="Served by"),
                Shown("l3p", "Level 3", group="Served by"),
                Shown("l4lp", "Level 4 nearby", group="Served by"),
                Shown("l4rp", "Level 4 far away", group="Served by"),
                Shown("memp", "Memory", group="Served by", bar=True),
            ),
            by=("system", "processor_type"),
            order="l1mp",
        ),
        TableSpec(
            "counters_cpus",
            "Logical processors",
            "cpu_counters",
            (
                Shown("processors_used", bar=True),
                Shown("cpi"),
                Shown("finite_cpi"),
                Shown("l1mp"),
                Shown("rni"),
                Shown("l4rp"),
                Shown("memp"),
                Shown("problem_state_fraction"),
            ),
            by=("system", "processor_type", "cpu"),
            order="processors_used",
            folded=True,
            note="Processors with a low share of use (vertical lows) often find their lines far away.",
        ),
        TableSpec(
            "counters_crypto",
            "Crypto functions of processors",
            "cpu_counters",
            (
                Shown("crypto_functions_per_second"),
                Shown("crypto_cycle_fraction"),
                Shown("crypto_blocked_cycles"),
            ),
            by=("system", "processor_type"),
            order="crypto_functions_per_second",
        ),
    ),
)
