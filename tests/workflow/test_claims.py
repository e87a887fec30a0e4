"""The ladder of claims as a table: an answer in, its claim out."""

from __future__ import annotations

import math

import numpy as np
import pytest

import indefinite_opt as iopt
from indefinite_opt.foundation.limits import TimeLimitReached
from indefinite_opt.quadratic import answers
from indefinite_opt.quadratic.programs.paired_qp import PairedQP, kernel_qp
from indefinite_opt.quadratic.programs.program import Curvature, Optimality, Point
from indefinite_opt.quadratic.proof.certificate import Answer, claim_of
from indefinite_opt.workflow.certificates import measurement

Claim = iopt.Claim
TOL = 1e-6
ABOVE = 1.0000001e-6
NO, YES = False, True


@pytest.mark.parametrize(
    ("primal", "consistent", "closed", "first_order", "curvature", "claim"),
    [
        # An infeasible point proves nothing, whatever else holds.
        (ABOVE, YES, YES, YES, "POSITIVE", "NONE"),
        (math.nan, YES, YES, YES, "POSITIVE", "NONE"),
        (math.inf, YES, YES, YES, "POSITIVE", "NONE"),
        # Multipliers that somebody vouches for must be right.
        (0.0, NO, YES, YES, "POSITIVE", "FEASIBLE"),
        # A gap that is closed is enough, and one that is not proves nothing.
        (TOL, YES, YES, NO, "UNKNOWN", "GLOBAL"),
        (0.0, YES, YES, NO, "NEGATIVE", "GLOBAL"),
        (0.0, YES, NO, NO, "POSITIVE", "FEASIBLE"),
        # First-order conditions, and what the curvature adds to them.
        (0.0, YES, NO, YES, "UNKNOWN", "STATIONARY"),
        (0.0, YES, NO, YES, "NEGATIVE", "STATIONARY"),
        (0.0, YES, NO, YES, "UNDECIDED", "STATIONARY"),
        (0.0, YES, NO, YES, "FLAT", "LOCAL"),
        (0.0, YES, NO, YES, "POSITIVE", "LOCAL"),
        (0.0, YES, NO, YES, "NO_DIRECTION", "LOCAL"),
    ],
)
def test_claims(primal, consistent, closed, first_order, curvature, claim) -> None:
    answer = Answer(
        Point(np.zeros(1), 0.0, np.zeros(1)), primal=primal, consistent=consistent, closed=closed,
        first_order=first_order, curvature=Curvature[curvature],
    )  # fmt: skip
    assert claim_of(answer, TOL) is Claim[claim]


def program(K, C: float = 1.0, lines: int = 0) -> PairedQP:
    """min ½αᵀKα - eᵀα over 0 ≤ α ≤ C; all labels but the last are +1, which K makes up for."""
    n = len(K)
    y = np.array([1.0] * (n - 1) + [-1.0])
    problem = iopt.KernelProblem(np.outer(y, y) * np.asarray(K, dtype=float), y)
    return kernel_qp(problem, hessian=1.0, linear=-1.0, upper=C, lines=lines)


def examined(qp: PairedQP, x, reduced) -> tuple[Curvature, float]:
    optimality = Optimality({}, 0.0, 0.0, unit=1.0, reduced=np.array(reduced))
    sign, least, _ = answers.curvature(qp, qp.at(np.array(x)), optimality, tol=1e-6)
    return sign, least


def test_curvature_of_free_variables() -> None:
    """diag(2, -3): free in the first, in the second, in both, in none."""
    qp = program(np.diag([2.0, -3.0]))
    assert examined(qp, [0.5, 1.0], [0.0, -9.0]) == (Curvature.POSITIVE, 2.0)
    assert examined(qp, [1.0, 0.5], [-9.0, 0.0]) == (Curvature.NEGATIVE, -3.0)
    assert examined(qp, [0.5, 0.5], [0.0, 0.0]) == (Curvature.NEGATIVE, -3.0)
    assert examined(qp, [1.0, 0.0], [-9.0, 9.0]) == (Curvature.NO_DIRECTION, np.inf)


def test_a_zero_multiplier_counts_on_one_side_only() -> None:
    """At the bound with a zero multiplier, -3 decides nothing; free beside it, it does."""
    qp = program(np.diag([2.0, -3.0]))
    assert examined(qp, [0.5, 1.0], [0.0, 0.0]) == (Curvature.UNDECIDED, -3.0)
    assert examined(qp, [0.5, 1.0], [0.0, -1.1e-6])[0] is Curvature.POSITIVE
    # Both weak and free directions are negative: the free one alone decides, with its own value.
    both = program(np.diag([-3.0, -5.0]))
    assert examined(both, [0.5, 1.0], [0.0, 0.0]) == (Curvature.NEGATIVE, -3.0)
    # Free, at a bound with a zero multiplier, and held there by a large one.
    three = program(np.diag([2.0, -3.0, -7.0]))
    assert examined(three, [0.5, 1.0, 1.0], [0.0, 0.0, -9.0]) == (Curvature.UNDECIDED, -3.0)


def test_flat_directions_are_flat_to_rounding() -> None:
    assert examined(program(np.zeros((2, 2))), [0.5, 0.5], [0.0, 0.0]) == (Curvature.FLAT, 0.0)
    singular = program([[1.0, 1.0], [1.0, 1.0]])
    assert examined(singular, [0.5, 0.5], [0.0, 0.0])[0] is Curvature.FLAT


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("lines", [0, 1, 2])
def test_least_curvature_against_an_explicit_basis(seed: int, lines: int) -> None:
    """λ_min(NᵀHN) with N from the singular vectors of the constraints, for every inertia."""
    generator = np.random.default_rng(seed)
    A = generator.standard_normal((7, 7))
    K = (A + A.T, A @ A.T, -A @ A.T)[seed]
    qp = program(K, lines=lines)
    kept = np.array([0, 2, 3, 5, 6])
    H = qp.H()[np.ix_(kept, kept)]
    basis = np.linalg.svd(qp.feasible.A[:, kept])[2][lines:].T if lines else np.eye(5)
    expected = np.linalg.eigvalsh(basis.T @ H @ basis)[0]
    least, rounding = answers.least_curvature(qp, kept)
    assert least == pytest.approx(expected, rel=1e-10, abs=1e-12)
    assert 0.0 < rounding <= 1e-13 * np.abs(K).sum()


@pytest.mark.parametrize("lines", [0, 1])
def test_units_of_variables_hide_no_curvature(lines: int) -> None:
    """diag(10¹², -10⁻⁵, 10⁻⁶) is negative along (0, 1, 0), and along (0, 1, 1) on yᵀd = 0."""
    for sign in (-1.0, 1.0):
        qp = program(np.diag([1e12, sign * 1e-5, 1e-6]), lines=lines)
        least, rounding = answers.least_curvature(qp, np.arange(3))
        assert sign * least > rounding


@pytest.mark.parametrize(
    ("lower", "claim"), [([0.0, 2.0], "LOCAL"), ([0.0, -2.0], "FEASIBLE"), ([0.0, 1.0], "FEASIBLE")]
)
def test_given_multipliers_of_a_lower_bound(lower: list[float], claim: str) -> None:
    """At (1, 0) the gradient of ½xᵀHx - eᵀx is (1 - 1, 3 - 1) = (0, 2).

    H = (1, 3; 3, -4): free in the first variable, whose curvature is 1, and 2 holds the second.
    """
    K = np.array([[1.0, -3.0], [-3.0, -4.0]])  # signs of the labels
    problem = iopt.KernelProblem(K, [1, -1])
    formulation = iopt.SVMDual(C=1.5, bias=False)
    given = {"lower": lower, "upper": [0.0, 0.0]}
    certificate = iopt.verify(problem, formulation, {"alpha": [1.0, 0.0]}, given)
    assert certificate.claim is Claim[claim]
    expected = abs(2.0 - lower[1])
    assert certificate.stationarity == pytest.approx(expected / max(1.0, 3e-6), rel=1e-12)


def test_an_unknown_curvature_is_said_to_be_unknown() -> None:
    X, y = np.random.default_rng(0).standard_normal((12, 2)), np.tile([1, -1], 6)
    gaussian, formulation = iopt.kernels.get("gaussian"), iopt.SVMDual(C=1.0)
    # A function of which no theorem is known.
    rows = iopt.KernelProblem.from_data(X, y, lambda A, B: gaussian(A, B), cache_mb=1)
    on_demand = iopt.solve(rows, formulation).certificate
    assert on_demand.claim is Claim.LOCAL
    assert "Convexity was not examined, as the kernel matrix is never formed" in str(on_demand)
    whole = iopt.KernelProblem.from_data(X, y, "sigmoid(a=1, r=-1)")
    known = iopt.solve(whole, formulation).certificate
    assert known.claim is Claim.LOCAL
    assert (known.bound, known.gap) == (np.inf, np.inf)  # a maximum without a bound above it
    assert "Not convex; no bound on the global optimum is known. First-order" in str(known)


def of_two_features(kernel: str) -> iopt.KernelProblem:
    X = np.random.default_rng(2).standard_normal((20, 2))
    return iopt.KernelProblem.from_data(X, np.tile([1, -1], 10), kernel)


def test_a_closed_gap_needs_no_first_order_conditions() -> None:
    """The gap of kernel logistic regression is ½‖∇‖²: it closes long before the gradient does."""
    problem = of_two_features("sigmoid")
    formulation = iopt.KernelLogistic(C=1.0)
    rough = iopt.solve(problem, formulation, tol=1e-2).values
    certificate = iopt.verify(problem, formulation, rough, tol=1e-3)
    assert certificate.stationarity > 1e-3
    assert certificate.claim is Claim.GLOBAL


@pytest.mark.parametrize("formulation", [iopt.LPSVM(C=1.0), iopt.SeparabilitySVM(C=1.0)], ids=str)
def test_absolute_tolerances_of_programs_with_slacks(formulation: iopt.Formulation) -> None:
    """One unit of slack too much costs C = 1: closed for atol = 1.1, and open for 0.9."""
    problem = iopt.KernelProblem(np.eye(4), [1, 1, -1, -1])
    values = dict(iopt.solve(problem, formulation).values)
    values["xi"] = values["xi"] + np.array([1.0, 0.0, 0.0, 0.0])
    assert iopt.verify(problem, formulation, values, atol=0.9).claim < Claim.GLOBAL
    certificate = iopt.verify(problem, formulation, values, atol=1.1)
    assert certificate.claim is Claim.GLOBAL
    assert certificate.gap == pytest.approx(1.0, rel=1e-5)


def test_absolute_tolerances_of_brackets() -> None:
    """K = -I: Σα + ½αᵀα is 3 at e, and 2t + t² at te: 0.003999 less for t = 0.999."""
    problem = iopt.KernelProblem(-np.eye(2), [1, -1])
    formulation, values = iopt.SVMDual(C=1.0), {"alpha": [0.999, 0.999]}
    open_ = iopt.verify(problem, formulation, values, bound=True, atol=0.003)
    assert open_.claim is Claim.FEASIBLE
    assert "A better point exists: its objective is 3." in str(open_)
    closed = iopt.verify(problem, formulation, values, bound=True, atol=0.005)
    assert closed.claim is Claim.GLOBAL
    assert closed.gap == pytest.approx(0.003999, rel=1e-6)
    assert "bounds of one node meet the objective" in str(closed)


@pytest.mark.parametrize(("slope", "x"), [(9.0, 1.0), (-7.0, 2.0)])
def test_a_bound_that_meets_the_objective_is_not_said_to_lie_beyond_it(
    slope: float, x: float
) -> None:
    """-x² + cx on [1, 2] is least at 1 for c > 3, and at 2 for c < 3."""
    qp = iopt.QuadraticProgram([[-2.0]], [slope], lb=1.0, ub=2.0)
    certificate = iopt.verify(qp, {"x": [x]}, bound=True)
    assert certificate.claim is Claim.GLOBAL
    assert "meet the objective" in str(certificate)


def test_the_best_point_is_not_said_to_have_a_better_one() -> None:
    A = np.random.default_rng(8).standard_normal((60, 60))
    problem, formulation = iopt.KernelProblem(A + A.T, np.tile([1, -1], 30)), iopt.SVMDual(C=1.0)
    best = iopt.solve(problem, formulation, tol=1e-9).values
    certificate = iopt.verify(problem, formulation, best, bound=True, time_limit=0.05)
    assert certificate.claim >= Claim.LOCAL
    assert "A better point" not in str(certificate)


def test_a_proof_that_is_not_checked_in_time_proves_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem, formulation = iopt.KernelProblem(-np.eye(2), [1, -1]), iopt.SVMDual(C=1.0)
    result = iopt.solve(problem, formulation, solver="global")

    def late(*arguments: object) -> None:
        raise TimeLimitReached

    monkeypatch.setattr(measurement, "proved_bound", late)
    assert result.certificate.claim is Claim.LOCAL
    assert result.certificate.bound == np.inf
    assert "No bound was proved in time" in str(result.certificate)


@pytest.mark.parametrize("formulation", [iopt.SVMDual(C=1.0), iopt.KernelLogistic()], ids=str)
def test_results_have_no_absolute_tolerance(formulation: iopt.Formulation) -> None:
    """What a few steps leave is no closed gap, small as it may be in units of the objective."""
    problem = of_two_features("gaussian")
    solver = "smo" if isinstance(formulation, iopt.SVMDual) else None
    certificate = iopt.solve(problem, formulation, solver, max_iter=1).certificate
    assert certificate.claim is Claim.FEASIBLE
    assert certificate.gap > 1e-3
    assert certificate.relative_gap == pytest.approx(
        certificate.gap / abs(certificate.objective), rel=1e-12
    )
