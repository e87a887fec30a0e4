"""What the figure of the Lagrangian dual draws, against closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import indefinite_opt as iopt
from indefinite_opt import figures


def curves(figure: Any) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """x and y of each curve by its label."""
    lines = [line for ax in figure.axes for line in ax.get_lines()]
    return {line.get_label(): (line.get_xdata(), line.get_ydata()) for line in lines}


@pytest.mark.parametrize("sense", [1, -1])
def test_the_curves_of_a_triangle(sense: int) -> None:
    """x₁x₂ + x₂x₃ + x₁x₃ on [-1, 1]³ is at least -1, and its dual has -3/2, at ν = ½ each."""
    H, c = np.ones((3, 3)) - np.eye(3), np.zeros(3)
    qp = iopt.QuadraticProgram(sense * H, c, lb=-1, ub=1, sense=sense)
    drawn = curves(figures.lagrangian(qp))
    shares, f = drawn["objective f"]
    _, h = drawn["Lagrangian h"]
    _, dual = drawn["dual function"]
    assert sense * f[0] == pytest.approx(-1.0, abs=1e-9)
    assert np.all(sense * h <= sense * f + 1e-9)
    assert sense * h[np.argmin(np.abs(shares - 1.0))] == pytest.approx(-1.5, abs=1e-4)
    assert np.min(sense * h) >= -1.5 - 1e-6
    np.testing.assert_allclose(sense * dual, -1.5, atol=1e-6)  # equal multipliers are the best


def test_the_dual_function_is_concave_and_every_value_a_bound() -> None:
    """Two concave terms on [0, 1]²: the optimum -3 is at an end, and bounds grow to the best."""
    qp = iopt.QuadraticProgram([[-2.0, 3.0], [3.0, -4.0]], [-1.0, -1.0], lb=0, ub=1)
    figure = figures.lagrangian(qp)
    _, dual = curves(figure)["dual function"]
    assert np.all(dual <= -3.0 + 1e-9)
    assert np.all(np.diff(dual) >= -1e-9)
    assert np.all(np.diff(dual, 2) <= 1e-9)
    bound = iopt.bound(qp, method="lagrangian").bounds["lagrangian"]
    assert dual[-1] == pytest.approx(bound, abs=1e-7)


def test_a_convex_program_has_no_gap() -> None:
    problem = iopt.KernelProblem(np.eye(4), [1, 1, -1, -1])
    figure = figures.lagrangian(problem, "SVMDual")
    assert figure.axes[1].get_title(loc="left") == "the optimum is 2: no gap"
    assert not figure.axes[0].texts


def test_programs_without_a_finite_box_are_refused() -> None:
    problem = iopt.KernelProblem([[1.0, 2.0], [2.0, 1.0]], [1, -1])
    with pytest.raises(iopt.errors.IncompatibleSolver, match="finite upper bound"):
        figures.lagrangian(problem, iopt.SVMDual(C=np.inf, bias=False))
    with pytest.raises(iopt.errors.IncompatibleSolver, match="no upper bound"):
        figures.lagrangian(iopt.KernelProblem(np.eye(2), [1, -1]), iopt.SVMDual(C=np.inf))
    with pytest.raises(iopt.errors.IncompatibleSolver, match="not a quadratic program"):
        figures.lagrangian(problem, "LussDual")
