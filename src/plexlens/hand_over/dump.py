"""SMF dumps handed over: surveyed, then written anew by the extension module."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from plexlens import _core
from plexlens.errors import UnreadableInputError
from plexlens.hand_over.account import Account
from plexlens.hand_over.holds import holdings
from plexlens.hand_over.translation import Translation
from plexlens.ingest.smf import smf_error
from plexlens.layouts_path import layout_folders

_DONE = {"keep": "kept", "name": "replaced", "blank": "blanked", "dictionary": "kept if known"}


class DumpCopier:
    """Copies dumps under other names.

    Parameters
    ----------
    layouts
        Folders with layouts of the site; a folder ``characters`` in them says what their fields hold.
    codepage
        EBCDIC code page of text.

    Raises
    ------
    UnreadableInputError
        A layout has a character field of which nothing says what it holds.
    """

    def __init__(self, layouts: Sequence[Path] = (), codepage: str = "1047") -> None:
        folders = layout_folders(layouts)
        rules = [holding.rule() for holding in holdings(layouts)]
        try:
            catalogue = _core.Catalogue(folders)
            unruled = _core.Rewriter.unruled(catalogue, rules)
            self._rewriter = _core.Rewriter(catalogue, rules, codepage=codepage)
        except _core.SmfError as error:
            raise smf_error(Path("layouts/characters/smf.csv"), error) from error
        if unruled:
            layout, field = unruled[0]
            raise UnreadableInputError(
                file=f"{layout}.csv",
                what=f"nothing says what {field} holds" + (f", nor {len(unruled) - 1} others" * (len(unruled) > 1)),
                remedy="add a line for each to characters/smf.csv in the folder of your layouts",
            )

    def survey(self, path: Path) -> dict[str, Any]:
        """The contents of a dump: ``names``, and counts as `_core.Rewriter.survey` gives them.

        Raises
        ------
        UnreadableInputError
            The dump cannot be read.
        """
        try:
            names: dict[str, Any] = self._rewriter.survey(path)
        except _core.SmfError as error:
            raise smf_error(path, error) from error
        return names

    def copy(self, path: Path, to: Path, translation: Translation, survey: dict[str, Any], *, drop: bool) -> Account:
        """Write a dump anew.

        Parameters
        ----------
        path, to
            The dump, and the file to write.
        translation
            Replacements; the names of the survey were learnt.
        survey
            What `survey` gave.
        drop
            Whether records that are not known are left out.

        Raises
        ------
        UnreadableInputError
            A record is not known and `drop` is false, or the dump cannot be read.
        """
        if survey["unknown"] and not drop:
            listed = ", ".join(f"{count:,} of {what}" for what, count in list(survey["unknown"].items())[:6])
            raise UnreadableInputError(
                file=str(path),
                what=f"the dump has records whose fields are not known: {listed}",
                remedy="leave them out with --drop-unknown, or give their layouts with --layouts",
            )
        names = {text: translation(text) for text in survey["names"]}
        try:
            done = self._rewriter.rewrite(path, to, names=names, days=translation.key.days, drop_unknown=drop)
        except _core.SmfError as error:
            raise smf_error(path, error) from error
        account = Account(str(path), str(to), "SMF dump", records=done["records"])
        for layout, field, treatment, count in done["fields"]:
            account.fields[layout, field, _DONE.get(treatment, "moved")] += count
        account.left_out = Counter({**done["unknown"], **done["dropped"]})
        account.blanked = Counter({**done["uncovered"], **done["sections"]})
        if done["lost_bytes"]:
            account.left_out["bytes of the dump that are in no record"] = done["lost_bytes"]
        if done["unnamed"]:
            account.notes.append(f"{done['unnamed']:,} names cannot be written in the code page and are blanked")
        if done["unmoved"]:
            account.notes.append(f"{done['unmoved']:,} times cannot be moved (no such day, or outside 1900 to 2042)")
        return account
