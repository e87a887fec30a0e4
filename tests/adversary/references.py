"""What is true of a drawn problem, in exact arithmetic and from the papers' own formulas.

All values are those of the minimisation form without the constant that gaps leave out; the
declared objective is sense · (value + constant). Only parameters and labels are read from the
formulations, and from the package two matrices that are rounded by nature: a transformed kernel
and an embedding, which are compared with what they should be.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from decimals import logistic_bracket
from drawing import Drawn
from numpy.typing import NDArray

import indefinite_opt as iopt
from helpers.exact import (
    BoxProgram,
    Matrix,
    Vector,
    as_matrix,
    as_vector,
    dot,
    is_psd,
    linear_optimum,
    product,
    symmetric,
)
from indefinite_opt.problem.embedding import embed

__all__ = ["Explicit", "Linear", "Quadratic", "Reference", "reference_of", "signed"]

Array = NDArray[np.float64]
Values = Mapping[str, Any]
ZERO, ONE = Fraction(0), Fraction(1)


def signed(K: Matrix, y: Vector) -> Matrix:
    """Q_ij = y_i y_j K_ij."""
    return [[a * b * v for b, v in zip(y, row, strict=True)] for a, row in zip(y, K, strict=True)]


@dataclass(kw_only=True)
class Reference(ABC):
    """The optimum lies in [low, high]; low is None where the program is unbounded below."""

    sense: int = 1
    constant: Fraction = ZERO
    low: Fraction | None = None
    high: Fraction | None = None
    vague: bool = False
    """Whether convexity hangs on an eigenvalue within rounding: nothing is said of GLOBAL then."""
    faults: list[str] = field(default_factory=list)
    """What is wrong with the matrices that the package derived."""

    def unit(self, *objectives: Fraction) -> Fraction:
        """What a gap is divided by: the largest of some values, each with or without constants."""
        return max(min(abs(value), abs(value + self.constant)) for value in objectives)

    @abstractmethod
    def value(self, values: Values) -> Fraction:
        """The objective of a point."""

    @abstractmethod
    def terms(self, values: Values) -> float:
        """Sum of the sizes of what is added up in it."""

    def reach(self, values: Values) -> float:
        """By how much F may change, in roundings of the largest variable, if each changes by n."""
        return 0.0

    @abstractmethod
    def violation(self, values: Values) -> float:
        """Largest violation of a constraint, relative to the sizes of what stands in it."""

    def learn(self, values: Values) -> None:  # noqa: B027
        """Improve the bracket by what a point proves; nothing to do where it is a number."""


# -------------------------------------------------------------------------- quadratic programs


@dataclass(kw_only=True)
class Quadratic(Reference):
    """A quadratic program on a box with equality constraints."""

    program: BoxProgram
    variable: str = "alpha"

    def __post_init__(self) -> None:
        if self.program.upper[0] is not None:
            self.low = self.high = self.program.minimum()[0]
            return
        # Along a ray of weights d of sum 1 the objective is ½t²dᵀHd - t.
        n, p = self.program.n, self.program
        rays = BoxProgram(
            p.H, [ZERO] * n, p.lower, p.upper, [*p.lines, [ONE] * n], [*p.totals, ONE]
        )
        least = rays.minimum()[0]
        if least > 0:
            self.low = self.high = -1 / (4 * least)

    def x(self, values: Values) -> Vector:
        """The point."""
        return as_vector(values[self.variable])

    def value(self, values: Values) -> Fraction:
        return self.program.value(self.x(values))

    def terms(self, values: Values) -> float:
        p = self.program
        x = [abs(v) for v in self.x(values)]
        sizes = BoxProgram([[abs(v) for v in row] for row in p.H], [abs(v) for v in p.c],
                           p.lower, p.upper, p.lines, p.totals)  # fmt: skip
        return float(sizes.value(x))

    def reach(self, values: Values) -> float:
        p, x = self.program, [abs(v) for v in self.x(values)]
        steep = sum(abs(c) + dot([abs(v) for v in row], x) for c, row in zip(p.c, p.H, strict=True))
        return float(p.n * max(x) * steep)

    def violation(self, values: Values) -> float:
        return box_violation(self.program, self.x(values))


def box_violation(p: BoxProgram, x: Vector) -> float:
    """By how much one constraint makes x move, at least, beside max |x| and the ranges."""
    largest = max(map(abs, x)) or ONE
    reach = [largest if up is None or up <= 0 else min(largest, up) for up in p.upper]
    below = [-v / own for v, own in zip(x, reach, strict=True)]
    above = [(v - up) / own for v, up, own in zip(x, p.upper, reach, strict=True) if up is not None]
    lines = [abs(dot(a, x) - t) / (dot([abs(v) for v in a], reach) or ONE)
             for a, t in zip(p.lines, p.totals, strict=True)]  # fmt: skip
    return float(max([ZERO, *below, *above, *lines]))


def quadratic(
    drawn: Drawn, H: Matrix, c: Vector, upper: float, lines: int, total: float = 0, **more: Any
) -> Quadratic:
    """0 ≤ x ≤ upper·w and none of, the first, or both of yᵀx = 0, eᵀx = total.

    The weights w of points are those of the formulation, by default 1; products are rounded.
    """
    n, y = len(c), as_vector(drawn.y)
    weights = getattr(drawn.formulation, "weights", None)
    bounds = upper * (np.ones(n) if weights is None else weights)
    program = BoxProgram(H, c, [ZERO] * n, [None if np.isinf(b) else Fraction(b) for b in bounds],
                         [y, [ONE] * n][:lines], [ZERO, Fraction(total)][:lines])  # fmt: skip
    return Quadratic(program=program, **more)


def _one_class(drawn: Drawn, K: Matrix, f: iopt.OneClassSVM | iopt.SVDD) -> Quadratic:
    """½xᵀHx + cᵀx on 0 ≤ x ≤ u with eᵀx = 1."""
    n, lines = len(K), ([[ONE] * len(K)], [ONE])
    if isinstance(f, iopt.OneClassSVM):
        upper = [Fraction(1.0 / (f.nu * n))] * n
        program = BoxProgram(K, [ZERO] * n, [ZERO] * n, upper, *lines)
        return Quadratic(program=program)
    c, upper = [-K[i][i] for i in range(n)], [Fraction(f.C)] * n
    program = BoxProgram(_times(2, K), c, [ZERO] * n, upper, *lines)
    return Quadratic(program=program, sense=-1)


def _times(s: int, A: Matrix) -> Matrix:
    return [[s * v for v in row] for row in A]


def _transformed(drawn: Drawn, K: Array) -> tuple[Matrix, list[str]]:
    """The transformed kernel of the package, and how it differs from numpy's eigenvalues."""
    f, problem = drawn.formulation, drawn.problem()
    kind = getattr(f, "transform", "flip")
    found = f.program(problem).problem.K  # type: ignore[attr-defined]
    change = {"clip": lambda v: np.maximum(v, 0.0), "flip": np.abs,
              "shift": lambda v: v - min(v[0], 0.0), "square": np.square}[kind]  # fmt: skip
    centre = np.eye(len(K)) - (1.0 / len(K) if getattr(f, "centered", False) else 0.0)
    values, vectors = np.linalg.eigh(centre @ K @ centre)
    expected = (vectors * change(values)) @ vectors.T
    norm = float(np.linalg.norm(K))
    allowed = 1e3 * np.finfo(float).eps * (norm**2 if kind == "square" else norm)
    apart = float(np.abs(found - expected).max())
    faults = [] if apart <= allowed else [f"transformed kernel off by {apart:.2e}"]
    return symmetric(as_matrix(found)), faults


# ----------------------------------------------------------------------------- linear programs


@dataclass(kw_only=True)
class Linear(Reference):
    """LPSVM, GuoSchuurmansLP and UniformWeights: costs and rows in the declared variables."""

    cost: dict[str, Vector]
    rows: list[tuple[dict[str, Vector], Fraction, bool]]
    """Coefficients, right-hand side, and whether it is an equation; else row ≥ right."""
    lower: dict[str, Fraction]
    upper: dict[str, Fraction]

    def value(self, values: Values) -> Fraction:
        return sum((dot(c, _vector(values[k])) for k, c in self._costs(values)), ZERO)

    def _costs(self, values: Values) -> list[tuple[str, Vector]]:
        """With the 1-norm of u, which is no linear function, written with its signs."""
        signs = {k: [1 if v >= 0 else -1 for v in _vector(values[k])] for k in self.cost}
        return [(k, [s * v for s, v in zip(signs[k], c, strict=True)] if k == "u" else c)
                for k, c in self.cost.items()]  # fmt: skip

    def terms(self, values: Values) -> float:
        return float(sum(dot([abs(v) for v in c], [abs(v) for v in _vector(values[k])])
                         for k, c in self.cost.items()))  # fmt: skip

    @staticmethod
    def _sizes(value: Any, own: bool) -> Vector:
        sizes = [abs(v) for v in _vector(value)]
        return sizes if own else [max(sizes)] * len(sizes)

    def violation(self, values: Values) -> float:
        worst = ZERO
        for row, right, equation in self.rows:
            activity = sum((dot(a, _vector(values[k])) for k, a in row.items()), ZERO)
            # Of an inequality as if all weights were the largest: one may miss its bound by tol.
            size = sum((dot([abs(v) for v in a], self._sizes(values[k], equation))
                        for k, a in row.items()), ZERO)  # fmt: skip
            short = abs(right - activity) if equation else right - activity
            worst = max(worst, short / (max(size, abs(right)) or ONE))
        for k, low in self.lower.items():
            width = self.upper[k] - low if k in self.upper else ONE
            worst = max([worst, *((low - v) / width for v in _vector(values[k]))])
            if k in self.upper:
                worst = max([worst, *((v - self.upper[k]) / width for v in _vector(values[k]))])
        return float(worst)


def _vector(v: Any) -> Vector:
    return as_vector(np.atleast_1d(np.asarray(v, float)))


def _lp_svm(K: Matrix, y: Vector, C: Fraction) -> Linear:
    n = len(y)
    YK = [[s * v for v in row] for s, row in zip(y, K, strict=True)]
    unit = [[Fraction(int(i == j)) for j in range(n)] for i in range(n)]
    A = [[*YK[i], *(-v for v in YK[i]), y[i], -y[i], *unit[i], *(-v for v in unit[i])]
         for i in range(n)]  # fmt: skip
    cost = [*[ONE] * (2 * n), ZERO, ZERO, *[C] * n, *[ZERO] * n]
    best = linear_optimum(cost, A, [ONE] * n)
    rows = [({"u": YK[i], "b": [y[i]], "xi": unit[i]}, ONE, False) for i in range(n)]
    return Linear(cost={"u": [ONE] * n, "xi": [C] * n}, rows=rows, lower={"xi": ZERO}, upper={},
                  low=best, high=best)  # fmt: skip


def _game(K: Matrix, y: Vector, beta: Fraction) -> Linear:
    n, Delta = len(y), _times(2, signed(K, y))
    unit = [[Fraction(int(i == j)) for j in range(n)] for i in range(n)]
    none = [ZERO] * n
    A = [[*Delta[i], -ONE, ONE, *unit[i], *none] for i in range(n)]
    A += [[*unit[i], ZERO, ZERO, *none, *unit[i]] for i in range(n)]
    A += [[*y, ZERO, ZERO, *none, *none], [*[ONE] * n, ZERO, ZERO, *none, *none]]
    b = [*none, *[beta] * n, ZERO, ONE]
    best = linear_optimum([*none, ONE, -ONE, *none, *none], A, b)
    rows = [({"alpha": [-v for v in Delta[i]], "delta": [ONE]}, ZERO, False) for i in range(n)]
    rows += [({"alpha": y}, ZERO, True), ({"alpha": [ONE] * n}, ONE, True)]
    return Linear(cost={"delta": [ONE]}, rows=rows, lower={"alpha": ZERO}, upper={"alpha": beta},
                  low=best, high=best)  # fmt: skip


# ---------------------------------------------------- programs in (α, b, ξ), (w, b, ξ), (α, b)


@dataclass(kw_only=True)
class Explicit(Reference):
    """min ½vᵀRv + C eᵀξ  s.t.  Gv + by ≥ e - ξ, ξ ≥ 0, with v = α or w."""

    variable: str
    R: Matrix
    G: Matrix
    y: Vector
    C: Fraction

    def value(self, values: Values) -> Fraction:
        v = _vector(values[self.variable])
        return dot(v, product(self.R, v)) / 2 + self.C * sum(_vector(values["xi"]), ZERO)

    def terms(self, values: Values) -> float:
        v = [abs(t) for t in _vector(values[self.variable])]
        square = dot(v, product([[abs(t) for t in row] for row in self.R], v)) / 2
        return float(square + self.C * sum(map(abs, _vector(values["xi"])), ZERO))

    def violation(self, values: Values) -> float:
        v, xi, b = (_vector(values[k]) for k in (self.variable, "xi", "b"))
        worst = max(-min(xi), ZERO)
        for row, s, slack in zip(self.G, self.y, xi, strict=True):
            image = dot(row, v)
            size = max(abs(image) + abs(b[0]) + abs(slack), ONE)
            worst = max(worst, (1 - slack - image - s * b[0]) / size)
        return float(worst)


@dataclass(kw_only=True)
class Hulls(Explicit):
    """min ½wᵀMw - ρ₊ + ρ₋ + μ eᵀξ with planes: y_i wᵀMΦ(x_i) ≥ ρ₊ or -ρ₋, less ξ_i."""

    def _planes(self, values: Values) -> list[Fraction]:
        plus, minus = (_vector(values[name])[0] for name in ("rho_plus", "rho_minus"))
        return [plus if s > 0 else -minus for s in self.y]

    def value(self, values: Values) -> Fraction:
        plus, minus = (_vector(values[name])[0] for name in ("rho_plus", "rho_minus"))
        return super().value(values) - plus + minus

    def terms(self, values: Values) -> float:
        return super().terms(values) + 2.0 * float(max(map(abs, self._planes(values))))

    def violation(self, values: Values) -> float:
        v, xi = (_vector(values[k]) for k in (self.variable, "xi"))
        images = [dot(row, v) for row in self.G]
        unit = max(map(abs, images)) or ONE
        worst = max(-min(xi), ZERO) / unit
        for image, plane, slack in zip(images, self._planes(values), xi, strict=True):
            size = max(abs(image) + abs(plane) + abs(slack), unit)
            worst = max(worst, (plane - slack - image) / size)
        return float(worst)


@dataclass(kw_only=True)
class Logistic(Reference):
    """min ½‖α‖² + C Σ log(1 + exp(-y_i((Kα)_i + b))); the bracket comes from points."""

    K: Matrix
    y: Vector
    C: Fraction

    def _bracket(self, values: Values) -> tuple[Fraction, Fraction, Fraction]:
        alpha, b = _vector(values["alpha"]), _vector(values["b"])[0]
        return logistic_bracket(self.K, self.y, self.C, alpha, b)

    def value(self, values: Values) -> Fraction:
        return self._bracket(values)[0]

    def terms(self, values: Values) -> float:
        alpha, b = [abs(v) for v in _vector(values["alpha"])], abs(_vector(values["b"])[0])
        margins = product([[abs(v) for v in row] for row in self.K], alpha)
        # A loss changes by no more than its margin does.
        losses = self.C * sum((m + b + 1 for m in margins), ZERO)
        return float(dot(alpha, alpha) / 2 + losses)

    def violation(self, values: Values) -> float:
        return 0.0

    def learn(self, values: Values) -> None:
        _, low, high = self._bracket(values)
        self.low = low if self.low is None else max(self.low, low)
        self.high = high if self.high is None else min(self.high, high)


# ------------------------------------------------------------------------------------ all of them


def reference_of(drawn: Drawn) -> Reference:
    """The reference of a drawn problem, with the whole matrix in memory."""
    from proxies import proxy_reference

    drawn = replace(drawn, cached=None)
    f, y = drawn.formulation, as_vector(drawn.y)
    K = symmetric(as_matrix(drawn.K))
    n, Q = len(y), signed(K, y)
    none, minus = [ZERO] * n, [-ONE] * n
    match f:
        case iopt.SVMDual():
            return quadratic(drawn, Q, minus, f.C, int(f.bias), sense=-1)
        case iopt.ConvexHullDual():
            return quadratic(drawn, _times(2, Q), none, f.mu or 1.0, 2, 2, sense=-1,
                             variable="alphabar")  # fmt: skip
        case iopt.GuoSchuurmansQP():
            return quadratic(drawn, _times(2, Q), none, f.beta or 0.5, 2, 1)
        case iopt.NuSVM():
            return quadratic(drawn, Q, none, 1.0 / n, 2, f.nu)
        case iopt.OneClassSVM() | iopt.SVDD():
            return _one_class(drawn, K, f)
        case iopt.SpectrumSVM() | iopt.ESVM():
            changed, faults = _transformed(drawn, 0.5 * (drawn.K + drawn.K.T))
            return quadratic(drawn, signed(changed, y), minus, f.C, 1, sense=-1, faults=faults)
        case iopt.KSVM():
            square, c = [product(Q, row) for row in Q], [-2 * v for v in product(Q, [ONE] * n)]
            return quadratic(drawn, _times(2, square), c, f.C, 1, constant=Fraction(n))
        case iopt.LPSVM():
            return _lp_svm(K, y, Fraction(f.C))
        case iopt.GuoSchuurmansLP():
            return _game(K, y, Fraction(f.beta or 0.5))
        case iopt.UniformWeights():
            return Linear(cost={"alpha": minus}, rows=[], lower={"alpha": ZERO}, sense=-1,
                          upper={"alpha": Fraction(1.0 / n)}, low=-ONE, high=-ONE)  # fmt: skip
        case iopt.SeparabilitySVM():
            return _separability(drawn, Q, y, f)
        case iopt.PseudoEuclideanPrimal():
            return _primal(drawn, y, f.C)
        case iopt.ConvexHullPrimal():
            return _primal(drawn, y, f.mu or 1.0, Hulls)
        case iopt.KernelLogistic():
            return Logistic(K=K, y=y, C=Fraction(f.C))
    return proxy_reference(drawn, K, y)


def _separability(drawn: Drawn, Q: Matrix, y: Vector, f: iopt.SeparabilitySVM) -> Explicit:
    """The dual is max eᵀλ - ½λᵀQR⁺Qλ on the box with the line, R = I or Q."""
    n = len(y)
    R = [[Fraction(int(i == j)) for j in range(n)] for i in range(n)] if f.identity else Q
    reference = Explicit(variable="alpha", R=R, G=Q, y=y, C=Fraction(f.C))
    if f.identity or is_psd(Q):
        H = [product(Q, row) for row in Q] if f.identity else Q
        best = quadratic(drawn, H, [-ONE] * n, f.C, 1).low
        reference.low = reference.high = -best if best is not None else None
    else:
        least = float(np.linalg.eigvalsh(0.5 * (drawn.K + drawn.K.T))[0])
        reference.vague = least >= -1e-13 * float(np.linalg.norm(drawn.K))
    return reference


def _primal(drawn: Drawn, y: Vector, C: float, kind: type[Explicit] = Explicit) -> Explicit:
    """With the embedding of the package, which must reproduce the centred kernel."""
    n, embedding = len(y), embed(drawn.problem())
    points, M = as_matrix(embedding.points), as_vector(embedding.M)
    scaled = [[m * v for m, v in zip(M, row, strict=True)] for row in points]
    inner = [[dot(a, b) for b in scaled] for a in points]
    K = 0.5 * (drawn.K + drawn.K.T)
    centred = K - K.mean(0) - K.mean(0)[:, None] + K.mean()
    apart = float(np.abs(np.array(inner, dtype=float) - centred).max())
    R = [[m if i == j else ZERO for j in range(len(M))] for i, m in enumerate(M)]
    G = [[s * v for v in row] for s, row in zip(y, scaled, strict=True)]
    reference = kind(variable="w", R=R, G=G, y=y, C=Fraction(C))
    if apart > 1e-13 * n * float(np.linalg.norm(K)):
        reference.faults.append(f"embedding off by {apart:.2e}")
    if all(m > 0 for m in M):  # of hulls half of min ᾱᵀQᾱ
        c, lines = ([ZERO] * n, (2, 2)) if kind is Hulls else ([-ONE] * n, (1, 0))
        best = quadratic(drawn, signed(inner, y), c, C, *lines).low
        reference.low = reference.high = -best if best is not None else None
    return reference
