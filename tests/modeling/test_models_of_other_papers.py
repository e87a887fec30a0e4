"""The models of other papers that the documentation shows, against other statements of the same.

A convex program has its optimum from the dual, a closed form, scikit-learn, SciPy or cvxpy, from
arrays that no model has made; a nonconvex one from the enumeration of all faces.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import linprog, minimize

import indefinite_opt as iopt
from helpers import commands, polyhedra
from helpers.other_papers import (
    ANY,
    DEFINITE,
    FEW,
    Array,
    Data,
    Known,
    N,
    data,
    factor,
    machine,
    optimum,
    problem_of,
    rows_of,
    signed,
)
from indefinite_opt.errors import UnboundedProblem
from indefinite_opt.foundation.user_code import of_user_code

FOLDER = Path(__file__).parents[2] / "docs" / "extend" / "models"

FILES = {
    "classification": (
        "TotalMargin", "PinballSVM", "CostSensitive", "LagrangianSVM",
        "ProximalSVM", "DoublyRegularizedSVM", "SquaredHinge", "TwinSVM",
        "UncertainKernel",
    ),
    "regression": (
        "HuberRegression", "LeastAbsoluteDeviations", "LargestDeviation",
        "KernelLasso", "DantzigSelector",
    ),
    "one_class": ("OneClassPinball", "KernelMeanMatching", "TwoMeans"),
    "cones": (
        "RobustRows", "SparseLogistic", "SquareRootLasso",
        "MaxCutRelaxation",
    ),
    "quadratic_row": ("KreinSphere", "HyperbolicSVM"),
    "unbounded": (
        "IndefiniteLogistic", "SparseIndefiniteLogistic", "SquaredHingePrimal", "HingePrimal",
        "TwoKernelPrimal",
    ),
}  # fmt: skip
KERNEL = {"HyperbolicSVM": "hyperboloid"}
"""Where it is not a Gaussian."""

PLACES = {name: FOLDER / f"{file}.py" for file, names in FILES.items() for name in names}

BEST_CLAIM_OF_CONES = iopt.Claim.FEASIBLE
"""What programs that cvxpy solves as cones are proved to be at least."""


def titled(call: str) -> str:
    """A title that `solve` and the command line take."""
    return f"{PLACES[call.partition('(')[0]]}:{call}"


def made(call: str) -> iopt.Formulation:
    found: iopt.Formulation = of_user_code("formulation", titled(call), iopt.Formulation)
    return found


# ------------------------------------------------------------------------- machines by their primal


def total_margin(d: Data) -> Known:
    """A margin m costs 1.5 (1 - m) below 1, and earns 0.2 (m - 1) above it."""

    def loss(f: Any) -> Any:
        short = 1 - cp.multiply(d.y, f)
        return cp.sum(cp.maximum(1.5 * short, 0.2 * short))

    return machine(d.K, loss)


def pinball(d: Data) -> Known:
    def loss(f: Any) -> Any:
        short = 1 - cp.multiply(d.y, f)
        return 1.5 * cp.sum(cp.maximum(short, -0.3 * short))

    return machine(d.K, loss)


def cost_sensitive(d: Data) -> Known:
    """LIBSVM."""
    from sklearn.svm import SVC

    svc = SVC(C=1.0, kernel="precomputed", class_weight={1: 3.0, -1: 0.4}, tol=1e-11)
    svc.fit(d.K, d.y)
    z = np.zeros(len(d.y))
    z[svc.support_] = svc.dual_coef_[0]
    return Known(float(np.abs(z).sum() - z @ d.K @ z / 2), d.K @ z + svc.intercept_[0])


def lagrangian(d: Data) -> Known:
    def loss(f: Any) -> Any:
        return 1.0 * cp.sum_squares(cp.pos(1 - cp.multiply(d.y, f)))  # ν/2 with ν = 2

    return machine(d.K, loss, sign=-1.0, squared=1.0)


def uncertain(d: Data) -> Known:
    """The machine of K + ρI."""
    from sklearn.svm import SVC

    svc = SVC(C=1.5, kernel="precomputed", tol=1e-11).fit(d.K + 0.3 * np.eye(len(d.y)), d.y)
    z = np.zeros(len(d.y))
    z[svc.support_] = svc.dual_coef_[0]
    value = np.abs(z).sum() - z @ d.K @ z / 2 - 0.3 * z @ z / 2
    return Known(float(value))


def one_class_pinball(d: Data) -> Known:
    """The level ρ is a variable."""
    w, rho = cp.Variable(len(d.y)), cp.Variable()
    f = factor(d.K) @ w
    loss = cp.sum(cp.maximum(rho - f, -0.1 * (rho - f))) / (0.4 * len(d.y))
    value = optimum(cp.Minimize(cp.sum_squares(w) / 2 - rho + loss))
    return Known(-value, np.asarray(f.value - rho.value))


# ------------------------------------------------------------------------- convex for every kernel


def proximal(d: Data) -> Known:
    """ξ = e - Mv with v = (u, γ), which leaves a linear system."""
    n = len(d.y)
    M = np.column_stack([d.y[:, None] * d.K * d.y, -d.y])
    v = np.linalg.solve(np.eye(n + 1) + 2.0 * M.T @ M, 2.0 * M.T @ np.ones(n))
    xi = 1.0 - M @ v
    return Known(float(xi @ xi + v @ v / 2), d.K @ (d.y * v[:n]) - v[n])


def doubly(d: Data) -> Known:
    u, b = cp.Variable(len(d.y)), cp.Variable()
    f = d.K @ u + b
    loss = cp.sum(cp.pos(1 - cp.multiply(d.y, f)))
    value = optimum(cp.Minimize(loss + 0.3 * cp.norm1(u) + 0.2 * cp.sum_squares(u)))
    return Known(value, np.asarray(f.value))


def smooth(value: Callable[[Array], tuple[float, Array]], size: int) -> tuple[float, Array]:
    """A smooth convex function, by BFGS from 0 until no step makes it less."""
    found = minimize(value, np.zeros(size), jac=True, method="BFGS", options={"gtol": 1e-10})
    assert np.abs(value(found.x)[1]).max() < 1e-6
    return float(found.fun), found.x


def squared_hinge(d: Data) -> Known:
    rows = np.column_stack([d.K, np.ones(len(d.y))])
    penalty = np.r_[np.ones(len(d.y)), 0.0]

    def value(x: Array) -> tuple[float, Array]:
        short = np.maximum(1.0 - d.y * (rows @ x), 0.0)
        slope = penalty * x - 4.0 * rows.T @ (d.y * short)
        return float(penalty @ x**2 / 2 + 2.0 * short @ short), slope

    least, x = smooth(value, len(penalty))
    return Known(least, rows @ x)


def huber(d: Data) -> Known:
    """r² up to δ = 0.4, and δ(2|r| - δ) beyond it."""
    rows = np.column_stack([d.K, np.ones(len(d.y))])
    penalty = np.r_[np.full(len(d.y), 0.2), 0.0]

    def value(x: Array) -> tuple[float, Array]:
        r = rows @ x - d.t
        size = np.abs(r)
        losses = np.where(size <= 0.4, r**2, 0.4 * (2.0 * size - 0.4))
        slope = 2.0 * rows.T @ np.clip(r, -0.4, 0.4) + 2.0 * penalty * x
        return float(losses.sum() + penalty @ x**2), slope

    least, x = smooth(value, len(penalty))
    return Known(least, rows @ x)


def twin(near: int) -> Callable[[Data], Known]:
    """The primal: ½‖Hz‖² + ½δ‖z‖² + C eᵀξ with ∓Gz + ξ ≥ e."""

    def known(d: Data) -> Known:
        rows, own = np.column_stack([d.K, np.ones(len(d.y))]), d.y == near
        z = cp.Variable(len(d.y) + 1)
        loss = 0.8 * cp.sum(cp.pos(1 + near * (rows[~own] @ z)))
        squares = cp.sum_squares(rows[own] @ z) / 2 + 0.1 * cp.sum_squares(z)
        return Known(optimum(cp.Minimize(squares + loss)), rows @ np.asarray(z.value))

    return known


def linear(cost: Array, G: Array, h: Array, free: int, sense: float = 1.0) -> Known:
    """A linear program in positive variables, but for the last `free` ones, by HiGHS."""
    ends = [(0, None)] * (len(cost) - free) + [(None, None)] * free
    found = linprog(cost, G, h, bounds=ends)
    assert found.status == 0
    return Known(sense * found.fun)


def deviations(d: Data) -> Known:
    """The dual: max tᵀv with |Kv| ≤ λ, eᵀv = 0, |v| ≤ 1."""
    n = len(d.t)
    found = linprog(
        -d.t, np.vstack([d.K, -d.K]), np.full(2 * n, 0.2), np.ones((1, n)), [0.0], (-1.0, 1.0)
    )
    assert found.status == 0
    return Known(-float(found.fun))


def largest(d: Data) -> Known:
    """In p, q ≥ 0 with u = p - q, s ≥ |r|, and b."""
    n = len(d.t)
    e = np.ones((n, 1))
    G = np.block([[d.K, -d.K, -e, e], [-d.K, d.K, -e, -e]])
    return linear(np.r_[np.full(2 * n, 0.2), 1.0, 0.0], G, np.r_[d.t, -d.t], 1)


def lasso(d: Data) -> Known:
    from sklearn.linear_model import Lasso

    n = len(d.t)
    model = Lasso(alpha=0.2 / n, fit_intercept=False, tol=1e-13, max_iter=10**7).fit(d.K, d.t)
    r, u = d.K @ model.coef_ - d.t, model.coef_
    return Known(float(r @ r / 2 + 0.2 * np.abs(u).sum()), d.K @ u)


def dantzig(d: Data) -> Known:
    """In p, q ≥ 0 with u = p - q."""
    S, s = d.K @ d.K, d.K @ d.t
    return linear(np.ones(2 * len(d.t)), np.block([[S, -S], [-S, S]]), np.r_[s + 0.2, 0.2 - s], 0)


# --------------------------------------------------------------------------------------- with cones


def robust(d: Data) -> Known:
    """A second-order cone (s, u), in whose s all is linear."""
    u, b, s = cp.Variable(len(d.y)), cp.Variable(), cp.Variable()
    short = cp.pos(1 + 0.2 * s - cp.multiply(d.y, d.K @ u + b))
    return Known(optimum(cp.Minimize(s + 1.5 * cp.sum(short)), cp.SOC(s, u)))


def logistic(d: Data) -> Known:
    """In p, q ≥ 0 with u = p - q, where all is smooth."""
    n = len(d.y)
    rows = d.y[:, None] * np.column_stack([d.K, -d.K, np.ones(n)])
    price = np.r_[np.full(2 * n, 0.2), 0.0]

    def value(x: Array) -> tuple[float, Array]:
        m = rows @ x
        return float(np.logaddexp(0.0, -m).sum() + price @ x), price - rows.T @ (
            0.5 * (1.0 - np.tanh(m / 2))
        )

    ends = [(0.0, None)] * (2 * n) + [(None, None)]
    options = {"ftol": 1e-16, "gtol": 1e-11, "maxiter": 10**5, "maxfun": 10**6}
    found = minimize(
        value, np.zeros(2 * n + 1), jac=True, method="L-BFGS-B", bounds=ends, options=options
    )
    return Known(float(found.fun))


def square_root(d: Data) -> Known:
    """The dual: max tᵀv with ‖v‖₂ ≤ 1, |Kv| ≤ λ."""
    v = cp.Variable(len(d.t))
    return Known(optimum(cp.Maximize(d.t @ v), cp.norm2(v) <= 1, cp.abs(d.K @ v) <= 0.2))


def cut(d: Data) -> Known:
    """The dual: min eᵀv with Diag(v) - K ⪰ 0."""
    v = cp.Variable(len(d.t))
    return Known(optimum(cp.Minimize(cp.sum(v)), cp.diag(v) - d.K >> 0))


CONVEX: dict[str, tuple[tuple[str, ...], Callable[[Data], Known]]] = {
    "TotalMargin(C1=1.5, C2=0.2)": (DEFINITE, total_margin),
    "PinballSVM(C=1.5, tau=0.3)": (DEFINITE, pinball),
    "CostSensitive(plus=3, minus=0.4)": (DEFINITE, cost_sensitive),
    "LagrangianSVM(nu=2)": (DEFINITE, lagrangian),
    "UncertainKernel(C=1.5, rho=0.3)": (DEFINITE, uncertain),
    "OneClassPinball(nu=0.4, tau=0.1)": (DEFINITE, one_class_pinball),
    "ProximalSVM(nu=2)": (ANY, proximal),
    "DoublyRegularizedSVM(lambda1=0.3, lambda2=0.4)": (ANY, doubly),
    "SquaredHinge(C=2)": (ANY, squared_hinge),
    "TwinSVM(near=1, C=0.8, delta=0.2)": (ANY, twin(1)),
    "TwinSVM(near=-1, C=0.8, delta=0.2)": (ANY, twin(-1)),
    "HuberRegression(lambda2=0.2, delta=0.4)": (ANY, huber),
    "LeastAbsoluteDeviations(lambda1=0.2)": (ANY, deviations),
    "LargestDeviation(lambda1=0.2)": (ANY, largest),
    "KernelLasso(lambda1=0.2)": (ANY, lasso),
    "DantzigSelector(delta=0.2)": (ANY, dantzig),
    "RobustRows(C=1.5, kappa=0.2)": (ANY, robust),
    "SparseLogistic(lambda1=0.2)": (ANY, logistic),
    "SquareRootLasso(lambda1=0.2)": (ANY, square_root),
    "MaxCutRelaxation()": (ANY, cut),
}
"""Each model with parameters that are not its defaults, where it is convex, and its optimum."""


@pytest.mark.parametrize(
    ("call", "kernel"),
    [(call, kernel) for call, (kernels, _) in CONVEX.items() for kernel in kernels],
)
def test_convex_ones_have_the_optimum_of_another_statement(call: str, kernel: str) -> None:
    d = data(kernel)
    known = CONVEX[call][1](d)
    problem = problem_of(made(call).task, d)
    result = iopt.solve(problem, titled(call))
    # Both have the tolerances of their solvers.
    assert result.objective == pytest.approx(known.value, rel=1e-6, abs=1e-8)
    name = call.partition("(")[0]
    cones = PLACES[name].stem == "cones"
    claim = BEST_CLAIM_OF_CONES if cones else iopt.Claim.GLOBAL
    assert result.certificate.claim >= claim
    if known.decisions is not None:
        found = result.classifier.decision_function(d.K, np.diag(d.K))
        # The value is flat at the optimum: the root of its accuracy is that of a point.
        size = np.abs(known.decisions).max()
        assert_allclose(found, known.decisions, rtol=0.0, atol=1e-6 + 1e-3 * size)


# --------------------------------------------------------------------------- of any curvature


NONCONVEX: dict[str, Callable[[Data], tuple[float, polyhedra.Rows]]] = {
    "TotalMargin(C1=1.5, C2=0.2)": lambda d: (
        -1.0, rows_of(d, signed(d), -d.y**2, A=d.y, b=0.0, lower=0.2, upper=1.5)
    ),
    "PinballSVM(C=1.5, tau=0.3)": lambda d: (
        -1.0, rows_of(d, signed(d), -d.y**2, A=d.y, b=0.0, lower=-0.45, upper=1.5)
    ),
    "CostSensitive(plus=3, minus=0.4)": lambda d: (
        -1.0,
        rows_of(
            d, signed(d), -d.y**2, A=d.y, b=0.0, lower=0.0, upper=np.where(d.y > 0, 3.0, 0.4)
        ),
    ),
    "UncertainKernel(C=1.5, rho=0.3)": lambda d: (
        -1.0,
        rows_of(
            d, signed(d) + 0.3 * np.eye(FEW), -d.y**2, A=d.y, b=0.0, lower=0.0, upper=1.5
        ),
    ),
    "OneClassPinball(nu=0.4, tau=0.1)": lambda d: (
        1.0,
        rows_of(
            d, d.K, 0.0 * d.y, A=d.y**2, b=1.0, lower=-0.1 / (0.4 * FEW), upper=1 / (0.4 * FEW)
        ),
    ),
    "KernelMeanMatching(B=2, epsilon=0.2)": lambda d: (
        1.0,
        rows_of(
            d, d.K, -FEW * d.K[:, d.y < 0].mean(1), G=[d.y**2, -(d.y**2)],
            h=[1.2 * FEW, -0.8 * FEW], lower=0.0, upper=2.0,
        ),
    ),
    "TwoMeans(beta=0.3)": lambda d: (
        -1.0,
        rows_of(
            d, -2.0 / FEW * d.K, 0.0 * d.y, G=[d.y**2, -(d.y**2)], h=[0.3 * FEW] * 2,
            lower=-1.0, upper=1.0,
        ),
    ),
}  # fmt: skip
"""The sign of the objective in a minimum, and the arrays of that."""


@pytest.mark.parametrize("kernel", ANY)
@pytest.mark.parametrize("call", NONCONVEX)
def test_of_any_curvature_they_have_the_best_of_all_faces(call: str, kernel: str) -> None:
    d = data(kernel, FEW)
    sign, rows = NONCONVEX[call](d)
    known = sign * polyhedra.lowest(rows)
    problem = problem_of(made(call).task, d)
    result = iopt.solve(problem, titled(call), prove=60)
    assert result.objective == pytest.approx(known, rel=1e-6, abs=1e-8)
    assert result.certificate.claim is iopt.Claim.GLOBAL
    bracket = iopt.bound(problem, titled(call), gap=1e-6)
    slack = 1e-5 * max(1.0, abs(known))
    assert bracket.lower - slack <= known <= bracket.upper + slack
    assert bracket.upper - bracket.lower <= 2.0 * slack


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("kernel", ANY)
def test_a_krein_sphere_has_the_root_of_its_diagonal_form(kernel: str, inside: bool) -> None:
    """PKP = VΛVᵀ, f = VSu with the signs S of Λ: (λs/|Λ| + μ) u = SVᵀy with ‖u‖² = nr²."""
    d = data(kernel)
    n, lam, r = len(d.y), 0.3, 0.8
    centred = d.K - d.K.mean(0) - d.K.mean(1)[:, None] + d.K.mean()
    values, V = np.linalg.eigh(centred)
    kept = np.abs(values) > 1e-10 * np.abs(values).max()
    values, V = values[kept], V[:, kept]
    signs = np.sign(values)
    bent, slopes = lam * signs / np.abs(values), signs * (V.T @ d.y)
    low, high = -bent.min(), -bent.min() + np.linalg.norm(slopes) / (r * np.sqrt(n))
    for _ in range(300):
        middle = 0.5 * (low + high)
        outside = np.sum((slopes / (bent + middle)) ** 2) > n * r**2
        low, high = (middle, high) if outside else (low, middle)
    u = slopes / (bent + high)
    known = float(bent @ u**2 - 2.0 * slopes @ u + n * r**2 + n)
    result = iopt.solve(
        problem_of("classification", d), titled(f"KreinSphere(lambda1=0.3, r=0.8, inside={inside})")
    )
    if not inside or high >= 1.0:  # then the ball is tight, too
        assert result.objective == pytest.approx(known, rel=1e-6)
    assert result.objective <= known + 1e-6 * abs(known)
    assert result.certificate.claim is iopt.Claim.GLOBAL
    decisions = result.classifier.decision_function(d.K, np.diag(d.K))
    assert np.sum((decisions - d.y.mean()) ** 2) <= n * r**2 * (1.0 + 1e-6)


def test_some_of_them_are_not_convex() -> None:
    for call in NONCONVEX:
        d = data("random", FEW)
        assert not made(call).declare(problem_of(made(call).task, d)).is_convex
        d = data("gaussian", FEW)
        is_convex = made(call).declare(problem_of(made(call).task, d)).is_convex
        assert is_convex == (not call.startswith("TwoMeans"))


@pytest.mark.parametrize("kernel", ["gaussian", "tanh"])
def test_two_clusters_of_any_size_are_found_by_signs(kernel: str) -> None:
    """A convex function is largest at a vertex of the box, and with K ⪰ 0 it is one."""
    d = data({"tanh": "shifted"}.get(kernel, kernel), 8)
    best = max(np.array(x) @ d.K @ x / 8 for x in itertools.product((-1.0, 1.0), repeat=8))
    result = iopt.solve(problem_of("one class", d), titled("TwoMeans(beta=1)"), prove=60)
    assert result.objective == pytest.approx(best, rel=1e-6)
    relaxed = iopt.solve(problem_of("one class", d), titled("MaxCutRelaxation()"))
    assert relaxed.objective >= 8 * best * (1.0 - 1e-6)


# ----------------------------------------------------------------------- without a finite optimum


def test_some_have_no_optimum_on_some_indefinite_kernels() -> None:
    """A pair of weights, or the coefficients, have a direction of negative curvature."""
    d = data("random")
    problem = problem_of("classification", d)
    M = signed(d) + np.eye(N) + np.outer(d.y, d.y)
    pairs = [(i, j) for i, j in itertools.combinations(range(N), 2) if M[i, i] > 0 < M[j, j]]
    assert min(M[i, j] + math.sqrt(M[i, i] * M[j, j]) for i, j in pairs) < 0.0
    with pytest.raises(UnboundedProblem):
        iopt.solve(problem, titled("LagrangianSVM()"))


def test_the_worst_kernel_of_the_uncertain_ones_has_the_same_machine() -> None:
    """At the optimum K + ρzzᵀ/‖z‖² is the worst kernel, and its own machine has that value."""
    from sklearn.svm import SVC

    d = data("gaussian")
    result = iopt.solve(problem_of("classification", d), titled("UncertainKernel(C=1.5, rho=0.3)"))
    z = result.classifier.coef
    worst = d.K + 0.3 * np.outer(z, z) / (z @ z)
    svc = SVC(C=1.5, kernel="precomputed", tol=1e-11).fit(worst, d.y)
    own, at = svc.dual_coef_[0], np.ix_(svc.support_, svc.support_)
    value = np.abs(own).sum() - own @ worst[at] @ own / 2
    assert result.objective == pytest.approx(value, rel=1e-6)


def test_two_twins_name_the_class_of_the_nearer_plane() -> None:
    """Each plane is a model; a point has the class of the plane to which it is nearer."""
    d = data("gaussian")
    problem = problem_of("classification", d)
    distances = []
    for near in (1, -1):
        plane = iopt.solve(problem, titled(f"TwinSVM(near={near})")).classifier
        size = math.sqrt(plane.coef @ d.K @ plane.coef)
        distances.append(np.abs(plane.decision_function(d.K)) / size)
    nearer = np.where(distances[0] < distances[1], 1.0, -1.0)
    assert np.mean(nearer == d.y) >= 0.9


# ---------------------------------------------------------------------------- what is made of them


@pytest.mark.parametrize("name", PLACES)
def test_each_is_short_and_printed_as_mathematics(name: str) -> None:
    source = PLACES[name].read_text(encoding="utf-8")
    own = source.split(f"class {name}(", 1)[1].split("\n@dataclass", 1)[0]
    assert len([line for line in own.splitlines() if line]) <= 14  # and the decorator
    formulation = made(name)
    program = formulation.declare(problem_of(formulation.task, data(KERNEL.get(name, "gaussian"))))
    text = str(program)
    assert text.startswith(name)
    assert "solved as" in text
    for word in ("Pnorm", "reshape", "diag_", "lam", "c₂"):
        assert word not in text
    assert set(program.variables) <= {
        "alpha",
        "beta",
        "u",
        "b",
        "xi",
        "gamma",
        "w",
        "x",
        "X",
        "K",
        "z",
        "t",
    }


@pytest.mark.parametrize("name", PLACES)
def test_what_predicts_agrees_with_the_model(name: str) -> None:
    formulation = made(name)
    d = data(KERNEL.get(name, "gaussian"))
    problem = problem_of(formulation.task, d)
    assert iopt.check(titled(name), problem).passed
    result = iopt.solve(problem, formulation)
    without = ("KernelMeanMatching", "MaxCutRelaxation", "TwoKernelPrimal")
    assert result.has_classifier == (name not in without)
    if result.has_classifier:
        predicted = result.classifier.predict(d.K, np.diag(d.K))
        if formulation.task == "classification":
            assert np.mean(predicted == d.y) >= 0.5
        assert predicted.shape == (N,)


@pytest.mark.parametrize("file", FILES)
def test_two_of_a_file_are_compared_and_one_is_solved_at_the_command_line(
    file: str, tmp_path: Path
) -> None:
    first, task = FILES[file][0], made(FILES[file][0]).task
    second = next(name for name in FILES[file][1:] if made(name).task == task)
    d = data(KERNEL.get(second, "gaussian"))
    problem = problem_of(task, d)
    outcome = iopt.compare(problem, [titled(first), titled(second)], folds=2)
    assert {row["method"] for row in outcome.rows} == {first, second}
    assert all(np.isfinite(row["objective"]) for row in outcome.rows)
    labels = {"regression": {"y": d.t}, "classification": {"y": d.y}, "one class": {}}[task]
    np.savez(tmp_path / "twelve.npz", K=d.K, **labels)
    text = commands.printed("solve", tmp_path / "twelve.npz", titled(first), "--json")
    assert json.loads(text)["objective"] == pytest.approx(
        iopt.solve(problem, titled(first)).objective, rel=1e-6
    )


def test_the_page_shows_every_class_of_the_files() -> None:
    page = (FOLDER.parent / "models.md").read_text(encoding="utf-8")
    shown = re.findall(r"^```\{written\} models/(\w+)\.py:(\w+)$", page, re.MULTILINE)
    assert shown == [(file, name) for file, names in FILES.items() for name in names]
    for file, names in FILES.items():
        source = (FOLDER / f"{file}.py").read_text(encoding="utf-8")
        assert tuple(re.findall(r"^class (\w+)\(", source, re.MULTILINE)) == names
    assert set(re.findall(r"`(\w+)`", page.split("## Two classes")[0])) >= {
        name for name in PLACES if made(name).task != "regression"
    }
