"""The style sheet's colours, measured: contrast after WCAG 2, and distance for the colour-blind.

Colour blindness is simulated with the matrices of Machado, Oliveira and Fernandes (2009) at full severity; distances
are CIE 1976 in L*a*b* (D65), where about 2 is the least that can be told side by side.
"""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from plexlens.report.writers import html

CSS = (Path(html.__file__).parent / "templates" / "page.css").read_text(encoding="utf-8")

SERIES = tuple(f"c{n}" for n in range(1, 9))

_VISION = {
    "full": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}

_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
_WHITE = np.array([0.95047, 1.0, 1.08883])


def _themes() -> dict[str, dict[str, str]]:
    blocks = re.findall(r"^( *):root([^{]*)\{([^}]*)\}", CSS, re.M)
    themes = []
    for _, selector, body in blocks:
        colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", body))
        if colours:
            themes.append((selector.strip(), colours))
    names = ("light", "dark by preference", "dark by choice", "print")
    assert len(themes) == len(names)
    return {name: colours for name, (_, colours) in zip(names, themes, strict=True)}


THEMES = _themes()


def _linear(colour: str) -> np.ndarray:
    value = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def _contrast(one: str, other: str) -> float:
    light, dark = sorted((float(_XYZ[1] @ _linear(colour)) for colour in (one, other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _lab(linear: np.ndarray) -> np.ndarray:
    ratio = _XYZ @ np.clip(linear, 0, 1) / _WHITE
    f = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def test_the_measures_are_right() -> None:
    assert _contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert _contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    assert _lab(_linear("#ffffff")) == pytest.approx([100, 0, 0], abs=0.02)
    # CIE L*a*b* of sRGB red, as published with the colour space.
    assert _lab(_linear("#ff0000")) == pytest.approx([53.24, 80.09, 67.20], abs=0.05)


def test_both_ways_to_dark_are_the_same() -> None:
    assert THEMES["dark by preference"] == THEMES["dark by choice"]


@pytest.mark.parametrize("theme", THEMES)
def test_text_is_readable(theme: str) -> None:
    colours = THEMES[theme]
    for back in ("page", "surface", "raised", "info-back", "loss-back", "warning-back"):
        for text in ("text", "muted", "accent", "loss", "warning"):
            assert _contrast(colours[text], colours[back]) >= 4.5, (text, back)


@pytest.mark.parametrize("theme", THEMES)
def test_lines_and_controls_can_be_seen(theme: str) -> None:
    colours = THEMES[theme]
    for mark in (*SERIES, "strong-line", *(["focus"] if "focus" in colours else [])):
        assert _contrast(colours[mark], colours["surface"]) >= 3.0, mark


@pytest.mark.parametrize("vision", _VISION)
@pytest.mark.parametrize("theme", THEMES)
def test_series_keep_apart(theme: str, vision: str) -> None:
    seen = {name: _lab(_VISION[vision] @ _linear(THEMES[theme][name])) for name in SERIES}
    for one, other in combinations(SERIES, 2):
        assert np.linalg.norm(seen[one] - seen[other]) >= 12, (one, other)
