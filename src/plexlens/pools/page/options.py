"""The options of `plexlens pools`, parsed from their texts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from plexlens.errors import UsageError

if TYPE_CHECKING:
    from plexlens.pools.settings import Configuration


@dataclass(frozen=True)
class Options:
    """Requests in the options.

    Attributes
    ----------
    sizes
        Sizes of curves; empty for a choice.
    sample
        Share of the pages that curves look at; None for all.
    shards
        Number of shards that executors divide the pages of a large pool into; 1 for none.
    budget
        Bytes for all pools, by member; of every member, or of the one Db2, with an empty name. Empty where no
        recommendation is asked for.
    structure_budget
        Bytes of the coupling facility for group buffer pools; None where they are not to be sized.
    pools, structures, moves, policies, page_fix
        Options that change settings, as given.
    new_pools, most_moves, least_buffers, delay_weight
        Limits of a recommendation.
    layouts
        Folders with record layouts of the site.
    """

    sizes: tuple[int, ...] = ()
    sample: float | None = None
    shards: int = 1
    budget: Mapping[str, int] = field(default_factory=dict)
    structure_budget: int | None = None
    pools: tuple[str, ...] = ()
    structures: tuple[str, ...] = ()
    moves: tuple[str, ...] = ()
    policies: tuple[str, ...] = ()
    page_fix: tuple[str, ...] = ()
    new_pools: int = 4
    most_moves: int | None = None
    least_buffers: int = 1000
    delay_weight: float = 0.0
    layouts: tuple[Path, ...] = ()

    @property
    def changes(self) -> bool:
        """Whether settings are to be changed."""
        return bool(self.pools or self.structures or self.moves or self.policies or self.page_fix)

    @property
    def recommends(self) -> bool:
        """Whether a recommendation is asked for."""
        return bool(self.budget) or self.structure_budget is not None

    def check_limits(self) -> None:
        """Refuse limits of a recommendation where none is asked for.

        Raises
        ------
        UsageError
            There is one without a budget.
        """
        usual = Options()
        given = {
            "--most-moves": self.most_moves != usual.most_moves,
            "--new-pools": self.new_pools != usual.new_pools,
            "--least-buffers": self.least_buffers != usual.least_buffers,
            "--delay-weight": self.delay_weight != usual.delay_weight,
        }
        first = next((name for name, there in given.items() if there), None)
        if first is not None and not self.recommends:
            raise UsageError(
                file="",
                what=f"{first} limits a recommendation, and none is asked for",
                remedy="give the storage with --budget, or leave the option out",
            )

    def check_executors(self, others: Mapping[str, object]) -> None:
        """Refuse what executors do not compute.

        Parameters
        ----------
        others
            Values of further options that need more than curves, by name.

        Raises
        ------
        UsageError
            There is an option that needs more than curves, or a sample.
        """
        if self.sample is not None:
            raise UsageError(
                file="--sample",
                what="executors look at all pages",
                remedy="divide them with --shards, or leave out --engine spark",
            )
        given = {
            "--budget": self.budget,
            "--gbp-budget": self.structure_budget is not None,
            "--pool": self.pools,
            "--gbp": self.structures,
            "--move": self.moves,
            "--policy": self.policies,
            "--pgfix": self.page_fix,
            **others,
        }
        first = next((name for name, there in given.items() if there), None)
        if first is not None:
            raise UsageError(
                file=first,
                what="executors compute curves only, without settings, changes and recommendations",
                remedy="leave the option out, or --engine spark",
            )

    @property
    def only_group(self) -> str:
        """The first option that only a trace of several members understands; empty where there is none."""
        given = {
            "--gbp": bool(self.structures),
            "--gbp-budget": self.structure_budget is not None,
            "--budget MEMBER=SIZE": any(self.budget),
        }
        return next((name for name, there in given.items() if there), "")

    def budgets(self, members: Sequence[str]) -> dict[str, int]:
        """Bytes for the pools of each member that has a budget."""
        if set(self.budget) == {""}:
            return dict.fromkeys(members, self.budget[""])
        return dict(self.budget)

    def changed(self, configuration: Configuration, used: Mapping[str, Collection[str]]) -> Configuration:
        """The configuration with the changes; ``used`` are the pools that each member refers to."""
        from plexlens.pools.options import with_options

        return with_options(
            configuration,
            used,
            pools=self.pools,
            structures=self.structures,
            moves=self.moves,
            policies=self.policies,
            page_fix=self.page_fix,
        )


def sizes_of(text: str) -> tuple[int, ...]:
    """Sizes in ``1000,5000``.

    Raises
    ------
    UsageError
        It is not a list of sizes.
    """
    from plexlens.pools.curves import check_sizes

    try:
        wanted = tuple(int(size) for size in text.split(",") if size.strip())
    except ValueError as error:
        raise UsageError(
            file="", what=f"--sizes {text} is not a list of numbers", remedy="give pages, as in --sizes 1000,5000"
        ) from error
    check_sizes(wanted)
    return wanted


def budget_of(text: str) -> dict[str, int]:
    """Bytes by member in ``4GiB`` (no name) or ``DB1A=4GiB,DB1B=2GiB``; empty for an empty text.

    Raises
    ------
    UsageError
        It is not an amount of storage, or mixes amounts with and without a member.
    """
    if not text:
        return {}
    from plexlens.pools.settings import MOST_BYTES
    from plexlens.storage_size import parse_size

    budget: dict[str, int] = {}
    for part in text.split(","):
        member, equals, size = part.rpartition("=")
        amount = budget[member.strip().upper()] = parse_size(size)
        if amount > MOST_BYTES:
            raise UsageError(
                file="",
                what=f"--budget {text} is more than the pools of a Db2 can have, {MOST_BYTES >> 40} TB",
                remedy="give less storage",
            )
        if bool(equals) != bool(member.strip()) or ("" in budget and len(budget) > 1):
            raise UsageError(
                file="",
                what=f"--budget {text} is not valid",
                remedy="give an amount for every member, as in 4GiB, or one for each, as in DB1A=4GiB,DB1B=2GiB",
            )
    return budget


def no_settings(what: str) -> UsageError:
    """The error for unknown pool sizes."""
    return UsageError(
        file="",
        what=f"{what}: the pool sizes are not known",
        remedy="give them with --pool BP2=40000, or --settings (TOML, a database, -DISPLAY BUFFERPOOL output)",
    )
