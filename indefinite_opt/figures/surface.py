"""The figure of an objective in two variables, or on a plane, with what solvers found there."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from indefinite_opt.errors import ParameterError
from indefinite_opt.figures import style
from indefinite_opt.figures.comparison import CLAIM_COLORS, draw_claims
from indefinite_opt.figures.plane import Plane
from indefinite_opt.formulations import as_formulation
from indefinite_opt.foundation import Array, checks
from indefinite_opt.quadratic import (
    Certificate,
    Declaration,
    Problem,
    VectorProgram,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_LABELLED = 6
"""Ends whose objectives are written beside them."""


@style.styled
def landscape(
    problem: Problem,
    formulation: Any = None,
    results: Any = (),
    plane: Sequence[Any] | None = None,
    ax: Axes | None = None,
    resolution: int = 161,
) -> Figure:
    """The objective over a feasible set of two dimensions, with paths, ends and claims.

    That is the set of a program in two variables, or in three with an equation. In more dimensions
    a plane through three points is drawn; points beside it stand where they are nearest to it.

    Parameters
    ----------
    problem : KernelProblem or QuadraticProgram
    formulation : Formulation or str
        None for a quadratic program.
    results : Result, Bracket, Certificate, or a sequence of these
        Of a result the steps if it was made with `record=True`, the ends of all descents with their
        objectives, and the claim of its certificate, which is computed for it.
    plane : three points, optional
        Arrays or values by name. By default the best point, the ends and the recorded points, as
        far as they are not on a line.
    ax : matplotlib Axes, optional
        Where to draw, without a scale of the colours; by default on a new figure, with one.
    resolution : int
        Grid points along each axis.

    Raises
    ------
    ParameterError
        If the program has several variables by name, or no three points make a plane.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> problem = iopt.KernelProblem([[-1.0, 0.2], [0.2, -0.5]], [1, -1])
    >>> dual = iopt.SVMDual(C=2.0, bias=False)
    >>> result = iopt.solve(problem, dual, record=True)
    >>> figure = landscape(problem, dual, result)
    >>> figure.axes[0].get_xlabel()
    'α₁'
    """
    checks.whole("resolution", resolution, least=2)
    declaration, program = program_of(problem, formulation)
    items = list(results) if isinstance(results, list | tuple) else [results]
    found = [Found.of(program, item) for item in items]
    points = [x for each in found for x in each.points]
    drawn = Plane.of(program, points, plane)
    bar = ax is None
    figure, ax = style.panel(ax, 5.8, 5.0)
    places = drawn.place(np.array(points or [program.start()]))
    drawn.draw(ax, drawn.view(places, resolution), bar)
    for each in found:
        each.draw_path(ax, drawn)
    for each in found:
        each.draw_ends(ax, drawn)
    draw_marks(ax, drawn, found)
    title = "" if problem.declaration is declaration else str(declaration)
    style.legend_above(ax, textwrap.fill(title or problem.name, 60), columns=4)
    return figure


def program_of(problem: Any, formulation: Any) -> tuple[Declaration, VectorProgram]:
    """What is declared, and its program; `ParameterError` if that has no single variable."""
    declared = problem.declaration or as_formulation(formulation)
    program = declared.compiled(problem)
    if not isinstance(program, VectorProgram):
        expected = "one whose program has a single variable, such as a dual"
        raise ParameterError("formulation", expected, str(declared))
    return declared, program


class Found:
    """What a result, a bracket or a certificate says about points of a program.

    Attributes
    ----------
    path : list of (n,) array
        The recorded steps.
    ends : list of (array, objective, count)
        Where the descents of a search ended, the best first.
    best : (n,) array
    claim : str
        The name of the claim; empty for a bracket.
    objective : float
    """

    def __init__(
        self, path: list[Array], ends: list[tuple[Array, float, int]], best: Array, claim: str,
        objective: float,
    ) -> None:  # fmt: skip
        self.path, self.ends, self.best = path, ends, best
        self.claim, self.objective = claim, objective

    @classmethod
    def of(cls, program: VectorProgram, item: Any) -> Found:
        if isinstance(item, Certificate):
            if item.basis is None:
                expected = "a certificate made by verify"
                raise ParameterError("results", expected, "one made by hand")
            best = program.from_values(item.basis[2])
            return cls([], [], best, item.claim.name, item.objective)
        if not hasattr(item, "values") or not hasattr(item, "trace"):
            expected = "results, brackets or certificates"
            raise ParameterError("results", expected, type(item).__name__)
        path = [
            program.from_values(each.values)
            for each in item.trace.iterates
            if each.step != "best end"
        ]
        ends = [
            (program.from_values(each.values), each.objective, each.count)
            for each in getattr(item, "optima", ())
            if each.values
        ]
        certificate = getattr(item, "certificate", None)
        claim = "" if certificate is None else certificate.claim.name
        return cls(path, ends, program.from_values(item.values), claim, item.objective)

    @property
    def points(self) -> list[Array]:
        """All points, the best ones first, and the start before other steps."""
        return [self.best, *(x for x, _, _ in self.ends), *self.path]

    def draw_path(self, ax: Axes, plane: Plane) -> None:
        """The recorded steps as a line that begins with a ring."""
        if not self.path:
            return
        s = plane.place(np.array(self.path))
        ax.plot(*s.T, color="white", linewidth=3.4, solid_capstyle="round", zorder=3)
        ax.plot(
            *s.T, ".-", color=style.VERMILLION, linewidth=1.5, markersize=6.0, label="steps",
            zorder=3,
        )  # fmt: skip
        ax.plot(
            *s[0], "o", color="white", markeredgecolor=style.VERMILLION, markersize=8.0,
            markeredgewidth=1.5, label="start", zorder=4, clip_on=False,
        )  # fmt: skip

    def draw_ends(self, ax: Axes, plane: Plane) -> None:
        """The ends of the descents of a search, with objectives of the first of them."""
        if len(self.ends) < 2:
            return
        s = plane.place(np.array([x for x, _, _ in self.ends]))
        ax.plot(
            *s.T, "o", color="white", markeredgecolor=style.INK, markersize=7.5,
            label="ends of descents", zorder=4, clip_on=False,
        )  # fmt: skip
        for place, (x, objective, _) in list(zip(s, self.ends, strict=True))[:MOST_LABELLED]:
            if not np.array_equal(x, self.best):
                label_point(ax, place, f"{objective:.4g}")


def draw_marks(ax: Axes, plane: Plane, found: Sequence[Found]) -> None:
    """The best points, with shapes and colours that say what is proved about them."""
    if not found:
        return
    s = plane.place(np.array([each.best for each in found]))
    claims = [each.claim for each in found]
    before = len(ax.lines)
    draw_claims(ax, s[:, 0], s[:, 1], claims, size=10.0)
    other = np.array([claim not in CLAIM_COLORS for claim in claims])
    if other.any():
        ax.plot(
            *s[other].T, "*", color=CLAIM_COLORS["GLOBAL"], markeredgecolor=style.INK,
            markersize=14.0, label="best point of the bracket",
        )  # fmt: skip
    for line in ax.lines[before:]:
        line.set(zorder=5, clip_on=False)
    for place, each in zip(s, found, strict=True):
        label_point(ax, place, f"{each.objective:.4g}")


def label_point(ax: Axes, place: Array, text: str) -> None:
    """A number beside a point, on the side where there is more room."""
    left, right = ax.get_xlim()
    low, high = ax.get_ylim()
    over = place[0] > 0.5 * (left + right)
    above = place[1] > 0.5 * (low + high)
    ax.annotate(
        text.replace("-", "−"), (float(place[0]), float(place[1])),
        (-9.0 if over else 9.0, -11.0 if above else 5.0), textcoords="offset points",
        ha="right" if over else "left", fontsize=9.0, zorder=6,
        bbox={"boxstyle": "round,pad=0.15", "facecolor": "white", "linewidth": 0.0, "alpha": 0.8},
    )  # fmt: skip
