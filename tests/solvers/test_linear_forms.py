"""Forms of linear programs: the dual, and other units, are the same program."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

import indefinite_opt as iopt
from helpers.problems import random_problem
from indefinite_opt.modeling.linear_programs import LinearProgram
from indefinite_opt.solvers.linear.form import LinearForm, forms

KERNELS = {
    "plain": lambda K: K, "tiny": lambda K: 1e-11 * K, "huge": lambda K: 1e9 * K,
    "offset": lambda K: 1e4 + K, "large offset": lambda K: 100.0 * (9.0 + K),
}  # fmt: skip
FORMULATIONS = (
    iopt.LPSVM(C=3.0), iopt.GuoSchuurmansLP(), iopt.OneClassLP(nu=0.3),
    iopt.OneClassLP(nu=0.3, distances=True), iopt.UniformWeights(),
)  # fmt: skip


def program(formulation: iopt.Formulation, kernel: str, n: int = 12) -> LinearProgram:
    K = KERNELS[kernel](random_problem("l1-gaussian", n=n, seed=2).K)
    found = formulation.structure(iopt.KernelProblem(K, np.arange(n) % 3 == 0))
    assert isinstance(found, LinearProgram)
    return found


def optimum(form: LinearForm | LinearProgram) -> tuple[float, np.ndarray, np.ndarray]:
    """The optimum, v and the multipliers of all rows by SciPy, from the arrays alone."""
    A = form.matrix if isinstance(form, LinearForm) else form.dense
    rows, right = np.vstack([A, -A]), np.concatenate([form.row_upper, -form.row_lower])
    held = np.isfinite(right)
    found = linprog(
        form.cost, A_ub=rows[held], b_ub=right[held],
        bounds=np.column_stack([form.lower, form.upper]),
    )  # fmt: skip
    assert found.status == 0, found.message
    both = np.zeros(right.size)
    both[held] = found.ineqlin.marginals if held.any() else 0.0
    multipliers = both[: len(A)] - both[len(A) :]
    return float(found.fun), found.x, multipliers


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
@pytest.mark.parametrize("kernel", ["plain", "large offset"])
def test_every_form_has_the_optimum_of_the_program(
    formulation: iopt.Formulation, kernel: str
) -> None:
    """A dual has its negative; values and multipliers of the form are optimal for the program."""
    whole = program(formulation, kernel)
    best, _, _ = optimum(whole)
    for form in forms(whole):
        value, v, rows = optimum(form)
        size = max(1.0, abs(best))
        assert value == pytest.approx(-best if form.is_dual else best, abs=1e-6 * size)
        values, multipliers = form.solution(v, rows)
        x = whole.repaired(whole.write(values))
        assert whole.cost @ x == pytest.approx(best, abs=1e-6 * size)
        assert whole.dual_bound(multipliers) == pytest.approx(best, abs=1e-6 * size)


@pytest.mark.parametrize("formulation", FORMULATIONS[:4], ids=str)
@pytest.mark.parametrize("kernel", KERNELS)
def test_other_units_say_the_same_program(formulation: iopt.Formulation, kernel: str) -> None:
    """The objective, the distances from bounds and of rows from their ends, and the Lagrangian."""
    natural = LinearForm.of(program(formulation, kernel))
    form = natural.in_good_units()
    entries = np.abs(form.matrix)
    assert 0.25 <= entries.max() <= 4.0
    generator = np.random.default_rng(0)
    z = generator.standard_normal(form.cost.size)
    # Levels are subtracted along the equations: at a point where these hold nothing changes.
    E, e = form.matrix[form.equal], form.row_lower[form.equal]
    z += np.linalg.lstsq(E, e - E @ z, rcond=None)[0]
    v = form.column_scale * z
    assert form.cost @ z == pytest.approx(natural.cost @ v, rel=1e-9, abs=1e-12)
    for side in ("row_lower", "row_upper"):
        ours = natural.matrix @ v - getattr(natural, side)
        theirs = (form.matrix @ z - getattr(form, side)) / form.row_scale
        held = np.isfinite(ours)
        size = np.abs(natural.matrix).max() * np.abs(v).max()
        np.testing.assert_allclose(ours[held], theirs[held], atol=1e-9 * size)
    for side in ("lower", "upper"):
        np.testing.assert_array_equal(
            getattr(natural, side), form.column_scale * getattr(form, side)
        )
    # zᵀG'ᵀλ' - e'ᵀλ' of the equations and rows is the same as in natural units.
    rows = generator.standard_normal(form.row_lower.size)
    whole = form.row_scale * rows
    whole[form.equal] -= form.level @ whole
    np.testing.assert_allclose(
        (form.matrix.T @ rows) / form.column_scale, natural.matrix.T @ whole,
        rtol=1e-6, atol=1e-6 * np.abs(natural.matrix).max(),
    )  # fmt: skip


@pytest.mark.parametrize("offset", [0.0, 64.0])
def test_the_dual_of_the_linear_machine(offset: float) -> None:
    """K = c + (2, 1; 1, 3), y = (1, -1), λ = (t, t): |t|, |2t| ≤ 1, so that t = ½ and eᵀλ = 1.

    The second row is tight; u = (0, v) has both margins 1 at (1 + c)v + b = 1 = -(3 + c)v - b.
    """
    problem = iopt.KernelProblem(offset + np.array([[2.0, 1.0], [1.0, 3.0]]), [1, -1])
    whole = iopt.LPSVM(C=10.0).structure(problem)
    for form in forms(whole):
        assert form.is_dual
        assert form.matrix.shape == (3, 2)
        # The rows of the program are e - ξ - y∘(Ku + b) ≤ 0, whose multipliers are -λ.
        value, v, rows = optimum(form)
        assert value == pytest.approx(-1.0, rel=1e-9)
        values, multipliers = form.solution(v, rows)
        np.testing.assert_allclose(multipliers["margin"], [0.5, 0.5], atol=1e-9)
        np.testing.assert_allclose(multipliers["slack"], [9.5, 9.5], atol=1e-9)
        np.testing.assert_allclose(values["u"], [0.0, -1.0], atol=1e-9)
        np.testing.assert_allclose(values["b"], 2.0 + offset, rtol=1e-9)
    result = iopt.solve(problem, iopt.LPSVM(C=10.0), solver="generation")
    np.testing.assert_allclose(result.values["u"], [0.0, -1.0], atol=1e-6)
    assert result.values["b"] == pytest.approx(2.0 + offset, rel=1e-6)
    assert result.objective == pytest.approx(1.0, rel=1e-6)
