"""Convex programs of random atoms and cones, in cvxpy's language, with a feasible point inside."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np

import indefinite_opt as iopt
from indefinite_opt.algebra import Model

Generator = np.random.Generator
PROBLEM = iopt.KernelProblem(np.eye(2), [1, -1])


@dataclass(frozen=True, eq=False)
class Drawn(iopt.Formulation):
    """A model, and its objective to be minimised and rows for cvxpy."""

    declared: Model
    objective: Any
    rows: dict[str, Any]
    atoms: tuple[str, ...]

    def model(self, problem: Any) -> Model:
        return self.declared

    def __hash__(self) -> int:
        return id(self)

    def reference(self, solver: str = "CLARABEL", **options: float) -> float | None:
        """The optimal value by a solver; None where it finds none."""
        problem = cp.Problem(cp.Minimize(self.objective), list(self.rows.values()))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # an inaccurate solution is no reference
                problem.solve(solver=solver, **options)
        except (cp.SolverError, ValueError):
            return None
        return float(problem.value) if problem.status == "optimal" else None


class Atoms:
    """Convex terms with random data of a vector x, near 0, and of a symmetric matrix X."""

    def __init__(self, generator: Generator, x: Any, X: Any) -> None:
        self.generator, self.x, self.X = generator, x, X
        self.n, self.k, self.m = x.size, X.shape[0], int(generator.integers(1, 4))

    def matrix(self, *shape: int) -> np.ndarray:
        return self.generator.normal(size=shape).round(2)

    def affine(self, m: int | None = None, above: float = 0.0) -> Any:
        m = self.m if m is None else m
        return self.matrix(m, self.n) @ self.x + self.matrix(m) + above

    def symmetric(self) -> np.ndarray:
        A = self.matrix(self.k, self.k)
        return A + A.T

    def semidefinite(self, n: int) -> np.ndarray:
        A = self.matrix(n, int(self.generator.integers(1, n + 1)))
        return A @ A.T

    @property
    def large(self) -> Any:
        """A positive definite matrix for all X that rows allow."""
        return self.X + self.semidefinite(self.k) + 5.0 * np.eye(self.k)

    def terms(self) -> dict[str, Callable[[], Any]]:
        affine, X = self.affine, self.X
        return {
            "norm2": lambda: cp.norm2(affine()),
            "norm1": lambda: cp.norm1(affine()),
            "norm_inf": lambda: cp.norm_inf(affine()),
            "norm 3": lambda: cp.norm(affine(), 3),
            "rows of norms": lambda: cp.sum(
                cp.norm(cp.reshape(affine(6), (3, 2), order="C"), 2, axis=1)
            ),
            "squares": lambda: cp.sum_squares(affine()),
            "form": lambda: cp.quad_form(affine(self.n), cp.psd_wrap(self.semidefinite(self.n))),
            "square of a norm": lambda: cp.square(cp.norm2(affine())),
            "squares of positive parts": lambda: cp.sum_squares(cp.pos(affine())),
            "fourth power": lambda: cp.sum(cp.power(affine(), 4)),
            "power 1.5": lambda: cp.sum(cp.power(affine(above=9.0), 1.5)),
            "root": lambda: -cp.sum(cp.sqrt(affine(above=9.0))),
            "inverse": lambda: cp.sum(cp.inv_pos(affine(above=9.0))),
            "geometric mean": lambda: (
                -cp.geo_mean(affine(above=9.0)) if self.m > 1 else affine()[0]
            ),
            "max": lambda: cp.max(affine()),
            "maximum": lambda: cp.sum(cp.maximum(affine(), self.matrix(self.m), 0)),
            "min": lambda: -cp.min(affine()),
            "huber": lambda: cp.sum(cp.huber(affine(), 0.7)),
            "sum_largest": lambda: cp.sum_largest(affine(4), 2),
            "logistic": lambda: cp.sum(cp.logistic(affine())),
            "exp": lambda: cp.sum(cp.exp(affine())),
            "log": lambda: -cp.sum(cp.log(affine(above=9.0))),
            "entr": lambda: -cp.sum(cp.entr(affine(above=9.0))),
            "kl_div": lambda: cp.sum(cp.kl_div(affine(above=9.0), affine(above=9.0))),
            "rel_entr": lambda: cp.sum(cp.rel_entr(affine(above=9.0), affine(above=9.0))),
            "log_sum_exp": lambda: cp.log_sum_exp(affine()),
            "quad_over_lin": lambda: cp.quad_over_lin(affine(), affine(1, 9.0)[0]),
            "maximum of norms": lambda: cp.maximum(cp.norm2(affine()), cp.norm1(affine(2))),
            "lambda_max": lambda: cp.lambda_max(X + self.symmetric()),
            "lambda_min": lambda: -cp.lambda_min(X + self.symmetric()),
            "sigma_max": lambda: cp.sigma_max(X + self.matrix(self.k, self.k)),
            "nuclear norm": lambda: cp.normNuc(X + self.matrix(self.k, self.k)),
            "Frobenius norm": lambda: cp.norm(X + self.matrix(self.k, self.k), "fro"),
            "matrix_frac": lambda: cp.matrix_frac(affine(self.k), self.large),
            "log_det": lambda: -cp.log_det(self.large),
            "trace": lambda: cp.trace(self.matrix(self.k, self.k) @ X),
        }


def draw_cone_program(seed: int, number: int) -> Drawn:
    """One to three terms, a box, and rows and cones that a point near the origin satisfies."""
    generator = np.random.default_rng([seed, number])
    n, k = int(generator.integers(1, 5)), int(generator.integers(2, 4))
    x = cp.Variable(n, name="x", nonneg=bool(generator.random() < 0.2))
    kind = str(generator.choice(["PSD", "symmetric", "diag", "none"]))
    X = cp.Variable((k, k), name="X", **({} if kind == "none" else {kind: True}))
    symmetric = 0.5 * (X + X.T) if kind == "none" else X
    atoms = Atoms(generator, x, symmetric)
    names: list[str] = []

    def term() -> Any:
        terms = atoms.terms()
        names.append(str(generator.choice(list(terms))))
        return terms[names[-1]]()

    objective = generator.normal(size=n) @ x
    for _ in range(generator.integers(1, 4)):
        objective = objective + float(generator.uniform(0.2, 2.0)) * term()
    rows: dict[str, Any] = {"box": cp.abs(x) <= float(generator.choice([1.0, 2.0]))}
    rows["matrix"] = cp.norm(X, "fro") <= 3.0 if generator.random() < 0.6 else cp.abs(X) <= 1.5
    inside = generator.uniform(0.1, 0.6, n)
    for i in range(generator.integers(0, 3)):
        x.value, X.value = inside, np.eye(k)
        left = term()
        rows[f"row {i}"] = left <= float(left.value) + float(generator.uniform(0.1, 1.0))
    if generator.random() < 0.3:
        a = generator.normal(size=n).round(1)
        rows["equation"] = a @ x == float(a @ inside)
    cones = {
        "second-order": lambda: cp.SOC(x[0] + 3.0, atoms.matrix(2, n) @ x * 0.1),
        "rows of cones": lambda: cp.SOC(
            np.ones(2) * 3.0,
            cp.vstack([cp.hstack([x[0], x[-1]])] * 2),
            axis=int(generator.integers(2)),
        ),
        "semidefinite": lambda: symmetric + 2.0 * np.eye(k) >> 0,
        "exponential": lambda: cp.ExpCone(x[0], cp.Constant(1.0), x[0] + 9.0),
        "power": lambda: cp.PowCone3D(x[0] + 3.0, x[-1] + 4.0, x[0] - x[-1], 0.3),
    }
    for name, cone in cones.items():
        if generator.random() < 0.2:
            rows[name] = cone()
    if generator.random() < 0.3:
        declared = Model(maximize=-objective, subject_to=rows)
    else:
        declared = Model(minimize=objective, subject_to=rows)
    return Drawn(declared, objective, rows, tuple(names))
