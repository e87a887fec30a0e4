"""Loosli et al. (2013), section 4.3: (17) and (18) restate (15), (19) and (20) do not.

Every program is stated again here, in cvxpy and in coordinates of the eigenvectors.
"""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import indefinite_opt as iopt
from helpers.problems import noisy_problem
from reproduction.stabilisation import DualStabilisation, dual_stabilisation, stabilisation_program

COUNTEREXAMPLE = iopt.KernelProblem([[-3.0, 4.0], [4.0, 3.0]], [1, -1])


class Restated:
    """The programs on G = UDUᵀ, with α₊ = U₊a and α₋ = U₋c or with any α₊ and α₋."""

    def __init__(self, problem: iopt.KernelProblem, C: float) -> None:
        self.y, self.C, self.n = problem.y, C, problem.n
        G = problem.K * np.outer(problem.y, problem.y)
        values, self.U = np.linalg.eigh(G)
        self.up, self.down = values > 0, values < 0
        self.roots = self.U * np.sqrt(np.abs(values))

    def parts(self, spaces: bool) -> tuple[cp.Expression, cp.Expression]:
        if not spaces:
            return cp.Variable(self.n), cp.Variable(self.n)
        plus, minus = (self.U[:, part] for part in (self.up, self.down))
        return plus @ cp.Variable(plus.shape[1]), minus @ cp.Variable(minus.shape[1])

    def solved(self, equation: int, spaces: bool = True) -> float:
        plus, minus = self.parts(spaces)
        curved = cp.sum_squares(self.roots[:, self.up].T @ plus)
        curved += cp.sum_squares(self.roots[:, self.down].T @ minus)
        bounds = {
            18: [plus - minus >= 0, plus - minus <= self.C],
            19: [plus >= 0, plus <= self.C / 2, minus <= 0, minus >= -self.C / 2],
        }[equation]
        balance = self.y @ plus == self.y @ minus
        gain = cp.sum(plus) - cp.sum(minus) - 0.5 * curved
        return float(cp.Problem(cp.Maximize(gain), [balance, *bounds]).solve(solver="CLARABEL"))

    def solved_15(self) -> float:
        alpha = cp.Variable(self.n)
        gain = cp.sum(alpha) - 0.5 * cp.sum_squares(self.roots.T @ alpha)
        constraints = [self.y @ alpha == 0, alpha >= 0, alpha <= self.C]
        return float(cp.Problem(cp.Maximize(gain), constraints).solve(solver="CLARABEL"))


def stabilised(problem: iopt.KernelProblem, C: float) -> DualStabilisation:
    alpha = iopt.solve(problem, iopt.ESVM(C=C), tol=1e-9).values["alpha"]
    return dual_stabilisation(problem, C, alpha)


def test_the_counterexample() -> None:
    """G = (-3, -4; -4, 3): eigenvalue 5 on u = (-1, 2), -5 on v = (2, 1), G̃ = 5I.

    (15): α̃ = (t, t), 2t - 5t², t = 1/5, value 1/5. α₊ = (uᵀα̃/5)u = (-1, 2)/25 < 0 in its first
    entry, α₋ = α₊ - α̃ = (-6, -3)/25, α = (-7, -1)/25. In the space of u the bounds of (19) leave
    α₊ = 0, then 0 = yᵀα₋ leaves α₋ = 0: value 0. With any parts α₊ = -α₋ = (t, t)/2 has
    2t - 5t²/4, which is 7/20 at t = 1/5 and at most 4/5, at t = 4/5.
    """
    found = stabilised(COUNTEREXAMPLE, 1.0)
    np.testing.assert_allclose(found.plus, np.array([-1, 2]) / 25, atol=1e-9)
    np.testing.assert_allclose(found.minus, np.array([-6, -3]) / 25, atol=1e-9)
    np.testing.assert_allclose(found.alpha, np.array([-7, -1]) / 25, atol=1e-9)
    assert found.objective == pytest.approx(1 / 5, rel=1e-9)
    assert found.outside == pytest.approx(1 / 25, rel=1e-7)
    assert found.unrestricted == pytest.approx(7 / 20, rel=1e-9)
    assert not found.holds
    assert "is NOT feasible" in str(found)
    own = Restated(COUNTEREXAMPLE, 1.0)
    assert own.solved_15() == pytest.approx(1 / 5, abs=1e-7)
    assert own.solved(18) == pytest.approx(1 / 5, abs=1e-7)
    assert own.solved(19) == pytest.approx(0.0, abs=1e-7)
    assert own.solved(19, spaces=False) >= 4 / 5 - 1e-7


@pytest.mark.parametrize(
    ("kernel", "C"), [("noise", 0.1), ("sigmoid(a=1, r=0.5)", 2.0), ("epanechnikov", 2.0)]
)
def test_17_and_18_have_the_value_of_15_and_19_has_another(kernel: str, C: float) -> None:
    problem = noisy_problem(kernel, n=10)
    own, found = Restated(problem, C), stabilised(problem, C)
    value = own.solved_15()
    accuracy = {"rel": 1e-6, "abs": 1e-6}
    assert found.objective == pytest.approx(value, **accuracy)
    declared = {
        number: stabilisation_program(problem, C, number).solve(solver="CLARABEL")
        for number in (17, 18, 19)
    }
    assert declared[17] == pytest.approx(value, **accuracy)
    assert declared[18] == pytest.approx(value, **accuracy)
    assert own.solved(18) == pytest.approx(value, **accuracy)
    assert declared[19] == pytest.approx(own.solved(19), **accuracy)
    assert not found.holds
    assert declared[19] < value - 1e-3
    assert own.solved(19, spaces=False) > found.unrestricted - 1e-6
    assert found.unrestricted > value + 1e-3


@pytest.mark.parametrize(("C", "holds"), [(2.0, True), (1.0, False)])
def test_diag_1_minus_1(C: float, holds: bool) -> None:
    """G̃ = I, α̃ = (1, 1): α₊ = (1, 0), α₋ = (0, -1), and C/2 must be at least 1.

    With α₊ = (s, 0), α₋ = (0, -s) the value is 2s - s²: 1 for C ≥ 2, ¾ for C = 1.
    """
    problem = iopt.KernelProblem(np.diag([1.0, -1.0]), [1, -1])
    found = stabilised(problem, C)
    assert found.holds is holds
    assert found.outside == pytest.approx(max(1 - C / 2, 0) / C, abs=1e-7)
    np.testing.assert_allclose(found.alpha, [1.0, -1.0], atol=1e-7)
    value = stabilisation_program(problem, C, 19).solve(solver="CLARABEL")
    assert value == pytest.approx(1.0 if holds else 0.75, abs=1e-6)


@pytest.mark.parametrize("number", [17, 18, 19])
def test_the_programs_at_the_restored_solution(number: int) -> None:
    """Of the counterexample: α₊ᵀG₊α₊ = 5‖α₊‖² = 1/25, α₋ᵀG₋α₋ = 9/25, sums 1/25 and -9/25."""
    plus, minus = np.array([-1, 2]) / 25, np.array([-6, -3]) / 25
    values = {"alpha_plus": plus, "alpha_minus": minus, "alpha": plus + minus}
    program = stabilisation_program(COUNTEREXAMPLE, 1.0, number)
    for variable in program.variables():
        variable.value = values[variable.name()]
    # The objective of (18), in (17) that of their sum; (19) has other bounds.
    assert program.objective.value == pytest.approx(-5 / 25 + 10 / 25, rel=1e-9)
    violation = max(np.max(each.violation()) for each in program.constraints)
    assert violation == pytest.approx(1 / 25 if number == 19 else 0.0, abs=1e-12)


def test_what_is_refused() -> None:
    with pytest.raises(iopt.errors.ProblemError, match="stationary"):
        dual_stabilisation(COUNTEREXAMPLE, 1.0, [0.3, 0.3])
    with pytest.raises(iopt.errors.ParameterError, match=r"^equation: expected 17, 18 or 19"):
        stabilisation_program(COUNTEREXAMPLE, 1.0, 15)
    with pytest.raises(iopt.errors.ParameterError, match=r"^C: "):
        stabilisation_program(COUNTEREXAMPLE, np.inf, 17)
