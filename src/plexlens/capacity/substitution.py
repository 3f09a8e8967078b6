"""Fixed points by substitution, with jumps where substitution alone would take many steps."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]

#: Steps that are not damped, at the beginning.
_WHOLE_STEPS = 2

#: Longest jump, in steps: a share of 0.9999 of each change comes again with the next step.
_LONGEST_JUMP = 10_000.0

#: Lengths between which a step does as well as a jump. Share of a jump that is left when it went too far, and the steps
#: without a jump that follow when that is about a step.
_ABOUT_A_STEP = (0.8, 2.0)
_SHORTENED = 0.25
_STEPS_BACK = 4

#: Steps in a row that grow, from which they grow without end.
_GROWING = 3


class Substitution:
    """Search for a point that a map leaves as it is.

    Each step replaces the point by its image, from the third step on by the mean of both, since a map that overshoots
    would swing. Where changes shrink by the same share with each step, their sum is known (Aitken's extrapolation), and
    the search jumps there. If the map is not defined there, or changes more there, the jump is shortened, and a short
    one is taken back.

    Parameters
    ----------
    start
        Where the search begins.

    Attributes
    ----------
    at
        The point whose image is wanted next.
    """

    def __init__(self, start: Vector) -> None:
        self.at = start
        self._steps = 0
        self._before: Vector | None = None
        self._jumped: _Jump | None = None
        self._without_jump = 0
        self._growing = 0

    @property
    def grows(self) -> bool:
        """Whether steps grow without end.

        Where the image rises with the point, and ever faster, steps that all rise and grow can only go on growing:
        there is no fixed point ahead.
        """
        return self._growing >= _GROWING

    def apart(self, image: Vector) -> float:
        """Largest difference between the point and its image, relative to the image."""
        return float(np.max(np.abs(image - self.at) / _scale(image)))

    def follow(self, image: Vector) -> None:
        """Move on from the point, whose image is known."""
        change, size = image - self.at, self.apart(image)
        if self._jumped is not None and size > self._jumped.size:
            self.go_back()
            return
        self._jumped = None
        self._steps += 1
        step = 1.0 if self._steps <= _WHOLE_STEPS else 0.5
        before, self._before = self._before, change if step < 1.0 else None
        self._without_jump -= 1
        if before is not None:
            rises = bool((change >= before).all() and (before >= 0.0).all() and change.any())
            self._growing = self._growing + 1 if rises else 0
            length = _steps_left(change, before, image)
            jump = _Jump(self.at, step * change, length, size)
            is_worth_it = length < _ABOUT_A_STEP[0] or length > _ABOUT_A_STEP[1]
            if is_worth_it and self._without_jump < 0 and (jump.target[image > 0.0] > 0.0).all():
                self._jumped, self._before, self.at = jump, None, jump.target
                return
        self.at = self.at + step * change

    def go_back(self) -> bool:
        """Shorten the last jump, or take it back; False if the point is not that of a jump."""
        if self._jumped is None:
            return False
        shorter = replace(self._jumped, length=self._jumped.length * _SHORTENED)
        if shorter.length > _ABOUT_A_STEP[1]:
            self._jumped, self.at = shorter, shorter.target
        else:
            self._jumped, self.at, self._without_jump = None, shorter.origin + shorter.move, _STEPS_BACK
        return True


@dataclass(frozen=True)
class _Jump:
    """A jump of several steps: where it began, one step, how many, and the size of the change there."""

    origin: Vector
    move: Vector
    length: float
    size: float

    @property
    def target(self) -> Vector:
        return self.origin + self.length * self.move


def _steps_left(change: Vector, before: Vector, image: Vector) -> float:
    """Steps that all further changes amount to, at most `_LONGEST_JUMP`; 1 where changes do not shrink."""
    mine, former = change / _scale(image), before / _scale(image)
    share = float(mine @ former) / float(former @ former) if former.any() else 1.0
    return min(_LONGEST_JUMP, 1.0 / (1.0 - share)) if -1.0 < share < 1.0 else 1.0


def _scale(image: Vector) -> Vector:
    """Size of each number of an image, which differences are relative to."""
    return np.maximum(np.abs(image), 1e-12)
