"""Messages call variables and rows of a user's program by the names that it declares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import indefinite_opt as iopt
import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Model
from indefinite_opt.errors import InfeasibleProblem


@dataclass(frozen=True)
class Weighted(iopt.Formulation):
    """The ν-SVM of Schölkopf et al. (2000), with a price of small weights."""

    nu: float = 0.5

    def model(self, problem: Any) -> Model:
        alpha, t = cp.Variable(problem.n, name="alpha"), cp.Variable(name="t")
        Q, y, nu, n = problem.symbols("Q", "y", nu=self.nu, n=problem.n)
        return Model(
            minimize=0.5 * cp.quad_form(alpha, Q) + cp.sum(cp.pos(t - alpha)) + cp.norm1(alpha),
            subject_to={
                "balance": y @ alpha == 0,
                "total": cp.sum(alpha) >= nu,
                "least": alpha >= t - 1,
                "t_low": t >= 0,
                "upper": alpha <= 1 / n,
            },
        )


def test_names_of_rows_and_variables() -> None:
    problem = iopt.KernelProblem(np.diag([1.0, -1.0, 2.0]), [1, -1, -1])
    names = Weighted().structure(problem).names
    assert names.variables[:4] == ("alpha[0]", "alpha[1]", "alpha[2]", "t")
    assert names.equalities == ("balance",)
    assert names.inequalities[:4] == ("total", "least[0]", "least[1]", "least[2]")
    for declared in names:
        assert len(set(declared)) == len(declared)
    structure = Weighted().structure(problem)
    assert [*map(len, names)] == [structure.n, len(structure.h), len(structure.b)]


def test_a_conflict_names_the_constraints() -> None:
    # One point of the class +1 holds the weight 1/4, and with it both classes: 2/4 < 0.6.
    problem = iopt.KernelProblem(np.eye(4), [1, -1, -1, -1])
    with pytest.raises(InfeasibleProblem, match=r"row total, row balance and ub of alpha\[0\]\."):
        iopt.solve(problem, Weighted(nu=0.6))
