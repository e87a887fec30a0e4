"""The two ends of a bracket while it is searched for, and the time that is left for the search."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Lock
from typing import Any, TypeVar

import numpy as np

from indefinite_opt.foundation import EPS, Array, limited
from indefinite_opt.quadratic import answers
from indefinite_opt.quadratic.bracket.finite_form import FiniteForm
from indefinite_opt.quadratic.programs.gaps import relative
from indefinite_opt.quadratic.solving.solver import Task

T = TypeVar("T")


class OpenBracket:
    """The two ends of the bracket of a program and its finite form, and the best point.

    Parameters
    ----------
    form : FiniteForm
    gap : float
        Relative gap to stop at.
    atol : float
        Absolute gap to stop at, in units of the objective.
    best : tuple of float and array, optional
        The best value and its point, if they are known.

    Attributes
    ----------
    point, value : (n,) array, float
        The best point of the finite form, and a value that is certainly attained near it, as
        `FiniteForm.attained` says; see `best`.
    lower : float
        The proved lower bound of the finite form.
    """

    def __init__(
        self, form: FiniteForm, gap: float, atol: float, best: tuple[float, Array] | None = None
    ) -> None:
        self.form, self.gap, self.atol = form, gap, atol
        self.asked = form.asked
        self.value, self.point = best or (np.inf, form.start())
        self.lower = -np.inf
        self._lock = Lock()
        self._measured = (np.nan, np.nan)
        if best is None:
            self.offer(self.point)

    def offer(self, point: Array) -> None:
        """Keep a point of the finite form if it is feasible and the best so far."""
        if not self.form.value(point) < self.value:
            return
        attained = self.form.attained(point)
        with self._lock:
            if attained is not None and attained[0] < self.value:
                self.value, self.point = attained

    def original(self, value: float, away: float = -np.inf) -> float:
        """The value of the original F for a value of the finite form, as `FiniteForm.original`."""
        return self.form.original(value, away)

    def declared(self, value: float, away: float = -np.inf) -> float:
        """The declared objective for a value of the finite form.

        F is rounded in the direction of `away`: downwards for a bound.
        """
        return float(self.asked.declared(self.original(value, away), away)) + 0.0  # no -0.0

    @property
    def ends(self) -> tuple[float, float]:
        """The proved and the attained end in the declared sense, rounded outwards."""
        return self.declared(self.lower), self.declared(self.value, np.inf)

    @property
    def best(self) -> Array:
        """The best point in the variables of the original program."""
        return self.form.restored(self.point, self.value)

    @property
    def unit(self) -> float:
        """The divisor of gaps."""
        return float(answers.gap_unit(self.asked, self.original(self.value)))

    @property
    def zero_range(self) -> float:
        """R if both ends are in [-R, R] and thus 0 up to rounding, else 0; see `gaps`."""
        zero, ends = self._zero, (self.original(self.value, np.inf), self.original(self.lower))
        return zero if answers.are_zero(self.asked, zero, *ends) else 0.0

    @property
    def _zero(self) -> float:
        """R at the best point."""
        with self._lock:
            value, point = self.value, self.point
        if self._measured[0] != value:
            at = self.asked.at(self.form.restored(point, value))
            self._measured = value, float(answers.zero_range(self.asked, at))
        return self._measured[1]

    @property
    def absolute_gap(self) -> float:
        """The distance of both ends, without constants or as they are declared if that is more.

        Beside a large constant the declared ends differ by its rounding.
        """
        proved, attained = self.ends
        inside = abs(self.original(self.value, np.inf) - self.original(self.lower))
        return max(inside, abs(attained - proved)) if 0.0 < inside < np.inf else inside

    @property
    def relative_gap(self) -> float:
        """The same in units of gaps, and not 0 where the declared ends differ."""
        gap, unit, (proved, attained) = self.absolute_gap, self.unit, self.ends
        if gap > 0.0 or proved == attained:
            return relative(gap, unit)
        # The value is exact, and the ends differ by the rounding of the constant.
        return relative(abs(attained - proved), max(unit, abs(self.asked.constant)))

    @property
    def closed(self) -> bool:
        """Whether the gap is within a tolerance, or both ends are 0 up to rounding."""
        if self.contradicted:
            return False
        within = self.relative_gap <= self.gap or self.absolute_gap <= self.atol
        return within or self.zero_range > 0.0

    @property
    def contradicted(self) -> bool:
        """Whether the value is below the bound, so that one of them is wrong."""
        return self.value < self.lower

    @property
    def cutoff(self) -> float:
        """The least bound of a box that need not be divided."""
        value = self.original(self.value, np.inf)
        # A little above what just closes the gap, as rounding moves the ends outwards.
        enough, zero = max(self.gap * self.unit, self.atol), self._zero
        if answers.are_zero(self.asked, zero, value):
            enough = max(enough, zero)  # a bound of 0 up to rounding closes it
        least = value - max(enough - 8.0 * EPS * abs(value), 0.0)
        return min(self.form.level(least), self.value)


class Deadline:
    """When a search has to end: the time limit of its task, or earlier where `halt` is set.

    Matrices have the order n.
    """

    def __init__(self, task: Task[Any], n: int) -> None:
        self.task, self.n, self.halt = task, n, Event()

    @property
    def over(self) -> bool:
        """Whether the search has to end."""
        return self.halt.is_set() or self.task.elapsed >= self.task.time_limit

    def timed(self, function: Callable[..., T], *arguments: Any) -> T:
        """A call that may take O(n³), within the time that is left, else `TimeLimitReached`."""
        left = max(self.task.time_limit - self.task.elapsed, 0.0)
        return limited(self.n, left, function, *arguments)
