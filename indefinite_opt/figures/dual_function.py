"""The figure of the Lagrangian dual of a nonconvex program: its function, and its minorant."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from indefinite_opt.errors import IncompatibleSolver
from indefinite_opt.figures import style
from indefinite_opt.formulations import as_formulation
from indefinite_opt.foundation import Array, checks
from indefinite_opt.quadratic import (
    QP,
    GlobalSearch,
    Multipliers,
    Problem,
    Task,
    lagrangian_multipliers,
    lower_bound,
    obstacle,
    relative,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GAP = 1e-6
"""Relative gap to which the optimum is searched for."""

MULTIPLIERS = 41
"""How many multipliers the dual function is drawn for."""

POINTS = 201
"""How many points the objective is drawn at."""

MIN_DISTANCE = 1e-6
"""Two points nearer than this, in units of half the box, make no direction."""


@style.styled
def lagrangian(problem: Problem, formulation: Any = None, time_limit: float = 10.0) -> Figure:
    """The dual function of a nonconvex quadratic program, its optimum, and the duality gap.

    The box is written (x_i - l_i)(u_i - x_i) ≥ 0, with multipliers ν ≥ 0. On the left is the dual
    function, of which every value is a bound, from equal multipliers to the best ones. On the right
    are the objective and the Lagrangian h = f - Σ ν_i (x_i - l_i)(u_i - x_i) with the best ones,
    from the best point of the search to the minimiser of h. There h is convex and below f, in a
    maximisation concave and above it; the least value of h is the bound.

    Parameters
    ----------
    problem : KernelProblem or QuadraticProgram
    formulation : Formulation or str
        None for a quadratic program.
    time_limit : float
        Seconds for the search for the optimum. If it is not proved by then, the picture says so.

    Raises
    ------
    IncompatibleSolver
        If the program has no finite box; see `bound`.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> edges = 0.5 * (np.roll(np.eye(5), 1, axis=1) + np.roll(np.eye(5), -1, axis=1))
    >>> cut = iopt.QuadraticProgram(edges, np.zeros(5), lb=-1, ub=1, constant=-2.5)
    >>> figure = lagrangian(cut)
    >>> [ax.get_title(loc="left") for ax in figure.axes]
    ['the Lagrangian bound is −4.52254', 'the optimum is −4: a gap of 13.1 %']
    """
    checks.positive("time_limit", time_limit)
    dual = _Dual(problem, formulation, time_limit)
    figure, (left, right) = style.panels(8.6, 3.9, 2)
    bound, optimum = dual.bound, dual.optimum
    for ax in (left, right):
        ax.axhline(optimum, color=style.BLUE, linewidth=1.0, linestyle=":")
        ax.axhline(bound, color=style.VERMILLION, linewidth=1.0, linestyle=":")
    _draw_dual_function(left, dual)
    _draw_minorant(right, dual)
    known = "the optimum is" if dual.proved else "the best known objective is"
    left.set_title(_signed(f"the Lagrangian bound is {bound:.6g}"))
    right.set_title(_signed(f"{known} {optimum:.6g}: {dual.gap or 'no gap'}"))
    figure.suptitle(textwrap.fill(dual.title, 90), x=0.01, ha="left", fontsize=9.5)
    return figure


class _Dual:
    """A program, its optimum, and the Lagrangian dual of its box, in the declared sense.

    Attributes
    ----------
    optimum, bound, unit : float
        The best objective known, the bound, and the unit of gaps.
    proved : bool
        Whether the optimum is proved.
    best, least : (m,) arrays
        The best point, and the minimiser of the Lagrangian, in scaled variables.
    """

    def __init__(self, problem: Problem, formulation: Any, time_limit: float) -> None:
        declared = (problem.declaration or as_formulation(formulation)).settled(problem)
        self.title = problem.name if problem.declaration else f"{declared} on {problem.name}"
        program = declared.program(problem)
        reason = obstacle(program) if isinstance(program, QP) else "it is not a quadratic program"
        if reason is not None:
            raise IncompatibleSolver(f"{declared} has no Lagrangian dual of its box: {reason}.")
        task = Task(problem=problem, formulation=declared, program=program, time_limit=time_limit)
        search = GlobalSearch(task, GAP)
        if search.form.ray is not None:
            raise IncompatibleSolver(
                f"{declared} has no Lagrangian dual of its box: its weights have no upper bound."
            )
        search.run()
        ends = search.bracket
        # Conditions of the optimum may have narrowed the box in which the search began.
        box = search.form.conditions.start()
        self.ends, self.scaled = ends, search.form.quadratic.scaled(box.lower, box.upper)
        self.optimum, self.unit, self.proved = ends.declared(ends.value), ends.unit, ends.closed
        self.best = self.scaled.place(ends.point)
        self.multipliers = lagrangian_multipliers(self.scaled)
        found = lower_bound(self.scaled, self.multipliers, self.best)
        self.bound, self.least = ends.declared(found.value), np.clip(found.point, -1.0, 1.0)
        if np.abs(self.least - self.best).max(initial=0.0) < MIN_DISTANCE:
            # The bound is attained: any direction shows that h is below f.
            self.least = self.scaled.place(search.form.start())

    @property
    def gap(self) -> str:
        """The duality gap in words; empty if it is 0 up to the accuracy of the search."""
        size = abs(self.bound - self.optimum)
        if relative(size, self.unit) <= GAP:
            return ""
        share = relative(size, abs(self.optimum))
        return f"a gap of {100 * share:.3g} %" if np.isfinite(share) else f"a gap of {size:.3g}"

    def dual_function(self) -> tuple[Array, Array]:
        """Shares from 0, with the least equal multipliers, to 1 with the best, and the bounds."""
        scaled = self.scaled
        curved = scaled.across(scaled.curvature)
        equal = 2.0 * max(0.0, -float(np.linalg.eigvalsh(curved)[0]))
        shares = np.linspace(0.0, 1.0, MULTIPLIERS)
        values = [
            lower_bound(
                scaled,
                Multipliers(
                    self.multipliers.pairs, equal + s * (self.multipliers.squares - equal)
                ),
                self.least,
            ).value
            for s in shares
        ]  # fmt: skip
        return shares, np.array([self.ends.declared(value) for value in values])

    def along(self) -> tuple[Array, Array, Array]:
        """Shares of the way from the best point through the least one, f there, and h."""
        scaled, step = self.scaled, self.least - self.best
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(step > 0.0, 1.0 - self.best, 1.0 + self.best) / np.abs(step)
        end = float(np.min(room, where=step != 0.0, initial=2.0))
        shares = np.linspace(0.0, end, POINTS)
        points = self.best + shares[:, None] * step
        curved = np.einsum("ij,ij->i", points @ scaled.curvature, points)
        f = scaled.constant + points @ scaled.slope + 0.5 * curved
        h = f - 0.25 * (1.0 - points**2) @ self.multipliers.squares
        declared = np.vectorize(self.ends.declared, otypes=[float])
        return shares, declared(f), declared(h)


def _draw_dual_function(ax: Axes, dual: _Dual) -> None:
    shares, values = dual.dual_function()
    ax.plot(shares, values, color=style.VERMILLION, linewidth=1.8, label="dual function")
    ax.plot(1.0, dual.bound, "o", color=style.VERMILLION, markersize=5.0, clip_on=False)
    if dual.gap:
        arrow = {"arrowstyle": "<->", "color": style.INK, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", (0.5, dual.optimum), (0.5, dual.bound), arrowprops=arrow)
        ax.text(0.53, 0.5 * (dual.optimum + dual.bound), "duality gap", va="center")
    ax.set(xlabel="multipliers: from equal ones (0) to the best (1)", xlim=(0.0, 1.04))
    ax.set_ylabel("bound")
    _widen(ax, dual.unit)


def _draw_minorant(ax: Axes, dual: _Dual) -> None:
    shares, f, h = dual.along()
    ax.fill_between(shares, f, h, color=style.GREY, alpha=0.16, linewidth=0.0)
    ax.plot(shares, f, color=style.BLUE, linewidth=1.8, label="objective f")
    ax.plot(shares, h, color=style.VERMILLION, linewidth=1.8, label="Lagrangian h")
    ax.plot(0.0, dual.optimum, "*", color=style.BLUE, markersize=12.0, clip_on=False, zorder=3)
    ax.plot(1.0, dual.bound, "o", color=style.VERMILLION, markersize=5.0, clip_on=False, zorder=3)
    ax.set(xlabel="from the best point (0) to the optimum of h (1)", xlim=(0.0, shares[-1]))
    ax.set_ylabel("objective")
    _widen(ax, dual.unit)
    ax.legend()


def _widen(ax: Axes, unit: float) -> None:
    """Show at least a thousandth of the unit, so that rounding does not fill the picture."""
    low, high = ax.get_ylim()
    middle, half = 0.5 * (low + high), 0.5 * max(high - low, 1e-3 * unit)
    ax.set_ylim(middle - half, middle + half)


def _signed(text: str) -> str:
    return text.replace("-", "−")
