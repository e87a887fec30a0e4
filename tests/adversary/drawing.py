"""Random problems: kernels of every kind that has caused trouble, and formulations for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import indefinite_opt as iopt
from helpers.exact import mirrored

__all__ = ["BRACKETED", "FORMULATIONS", "KERNELS", "Drawn", "draw"]

Array = NDArray[np.float64]
Generator = np.random.Generator


def _random(g: Generator, n: int) -> Array:
    return mirrored(g.standard_normal((n, n)))


def _psd(g: Generator, n: int) -> Array:
    A = g.standard_normal((n, n))
    return mirrored(A @ A.T)


def _low_rank(g: Generator, n: int) -> Array:
    rank = int(g.integers(1, max(2, n)))
    A = g.standard_normal((n, rank))
    return mirrored((A * g.choice([-1.0, 1.0], rank)) @ A.T)


def _duplicates(g: Generator, n: int) -> Array:
    chosen = g.integers(0, max(1, n - 1), n)
    return _random(g, n)[np.ix_(chosen, chosen)]


def _zero_rows(g: Generator, n: int) -> Array:
    K, kept = _random(g, n), g.random(n) < 0.6
    return np.where(np.outer(kept, kept), K, 0.0)


def _near_psd(g: Generator, n: int) -> Array:
    """A low-rank positive semidefinite matrix less a little of the identity."""
    A = g.standard_normal((n, max(1, n - 1)))
    return mirrored(A @ A.T) - 10.0 ** g.uniform(-16.0, -8.0) * np.eye(n)


def _single(g: Generator, n: int) -> Array:
    """A Gaussian kernel, some of whose points are near each other, in single precision."""
    X = g.standard_normal((n, 1)) * 10.0 ** g.uniform(-3.0, 0.0)
    return np.exp(-((X - X.T) ** 2)).astype(np.float32).astype(float)


def _near_singular(g: Generator, n: int) -> Array:
    vectors = np.linalg.qr(g.standard_normal((n, n)))[0]
    values = g.choice([-1.0, 1.0], n) * 10.0 ** g.uniform(-16.0, 0.0, n)
    return mirrored((vectors * values) @ vectors.T)


def _diagonal(g: Generator, n: int) -> Array:
    return np.diag(g.choice([-1.0, 1.0, 1.0], n) * 10.0 ** g.uniform(-8.0, 8.0, n))


def _mixed(g: Generator, n: int) -> Array:
    sizes = 10.0 ** g.uniform(-4.0, 4.0, n)
    return _random(g, n) * np.outer(sizes, sizes)


def _conditionally_psd(g: Generator, n: int) -> Array:
    """-d²/2 of points on a line or in a plane, some of them the same."""
    X = g.integers(-3, 4, (n, int(g.integers(1, 3)))).astype(float)
    differences = X[:, None, :] - X[None, :, :]
    return -0.5 * np.sum(differences**2, axis=-1)


def _sigmoid(g: Generator, n: int) -> Array:
    X = g.standard_normal((n, 2))
    return mirrored(np.tanh(g.uniform(0.1, 2.0) * X @ X.T - g.uniform(0.0, 2.0)))


def _constant(g: Generator, n: int) -> Array:
    """A constant, which has no effect along yᵀα = 0, beside small numbers or what it rounds."""
    B = g.integers(-3, 4, (n, n)).astype(float)
    others = (_random, _psd, _sigmoid, _conditionally_psd)
    rests = [mirrored(B), B @ B.T, *(kind(g, n) for kind in others)]
    rest = rests[int(g.integers(len(rests)))]
    return rest + float(g.choice([-1.0, 1.0])) * 2.0 ** g.integers(20, 51)


def _asymmetric(g: Generator, n: int) -> Array:
    """Within the tolerance of the package, which is relative to the largest entry of each row."""
    kind = (_random, _psd, _diagonal, _mixed)[int(g.integers(4))]
    K = kind(g, n)
    rows = np.abs(K).max(axis=1)
    moves = np.triu(g.uniform(-1.0, 1.0, (n, n)), 1)
    return K + 0.9e-10 * np.minimum.outer(rows, rows) * moves


class Rows(NamedTuple):
    """K, of which a cache holds some rows, so that a block has less than all points."""

    K: Array
    cached: int


def _rows(g: Generator, n: int) -> Rows:
    kinds = ("random", "PSD", "low rank", "duplicates", "near PSD", "mixed", "conditionally PSD",
             "sigmoid", "offset", "negative offset", "magnitudes")  # fmt: skip
    return Rows(KERNELS[kinds[int(g.integers(len(kinds)))]](g, n), int(g.integers(2, n + 1)))


KERNELS: dict[str, Callable[[Generator, int], Any]] = {
    "random": _random,
    "low rank": _low_rank,
    "integer": lambda g, n: mirrored(g.integers(-2, 3, (n, n)).astype(float)),
    "plus minus one": lambda g, n: mirrored(g.choice([-1.0, 1.0], (n, n))),
    "duplicates": _duplicates,
    "zero rows": _zero_rows,
    "times 1e-12": lambda g, n: 1e-12 * _random(g, n),
    "times 1e12": lambda g, n: 1e12 * _random(g, n),
    "near PSD": _near_psd,
    "near singular": _near_singular,
    "diagonal": _diagonal,
    "mixed": _mixed,
    "zero": lambda g, n: np.zeros((n, n)),
    "minus identity": lambda g, n: -np.eye(n),
    "conditionally PSD": _conditionally_psd,
    "PSD": _psd,
    "sigmoid": _sigmoid,
    "offset": lambda g, n: _random(g, n) + 10.0 ** g.uniform(0.0, 5.0),
    # As a linear kernel has on data that are not centred.
    "far offset": lambda g, n: mirrored(g.uniform(0, 4, (n, n))) + 10.0 ** g.uniform(5.0, 9.0),
    # Convex along yᵀα = 0, and curved downwards steeply across it.
    "negative offset": lambda g, n: _conditionally_psd(g, n) - 2.0 ** g.integers(10, 41),
    "constant": _constant,
    "magnitudes": lambda g, n: mirrored(
        g.choice([-1.0, 1.0], (n, n)) * 10.0 ** g.uniform(-8.0, 12.0, (n, n))
    ),
    "asymmetric": _asymmetric,
    "rows on demand": _rows,
    "single precision": _single,
}
"""Kinds of kernel matrices: a generator and n give one, or `Rows`."""


def _penalty(g: Generator, K: Array) -> float:
    """Near 1/max|K|, where weights are neither all 0 nor all at the bound; or anything.

    A large constant in K does not count.
    """
    natural = 1.0 / (min(float(np.abs(K).max()), float(np.ptp(K))) or 1.0)
    if g.random() < 0.6:
        return natural * float(10.0 ** g.uniform(-2.0, 3.0))
    return float(10.0 ** g.integers(-8, 13))


def _svm(g: Generator, K: Array, y: Array) -> iopt.Formulation:
    C = float("inf") if g.random() < 0.1 else _penalty(g, K)
    bias = bool(g.random() < 0.7)
    # Without bias and bounds, the rounding of a large constant decides whether there is an optimum.
    constant = float(np.abs(K).max()) > 1e5 * float(np.ptp(K))
    return iopt.SVMDual(C=C, bias=bias or (constant and np.isinf(C)))


def _of_points(g: Generator, y: Array) -> Array:
    """Weights of points: of very different sizes, small whole numbers, or those of classes."""
    kind = g.integers(3)
    if kind == 0:
        return 10.0 ** g.uniform(-4.0, 4.0, y.size)
    if kind == 1:
        return g.integers(1, 4, y.size).astype(float)
    return np.where(y > 0.0, 10.0 ** g.uniform(-2.0, 2.0), 1.0)


def _weight(g: Generator, y: Array, total: float) -> float:
    """From the least that is feasible, rounded up, to the whole weight of a class."""
    smaller = int(min(np.sum(y > 0), np.sum(y < 0)))
    least = np.nextafter(total / smaller, 2.0)
    return float(g.choice([least, total, g.uniform(least, total) if smaller > 1 else total]))


def _luss_dual(g: Generator, K: Array, y: Array) -> iopt.Formulation:
    C = _penalty(g, K)
    natural = C * C / (float(np.abs(K).max()) or 1.0)
    return iopt.LussDual(C=C, rho=natural * float(10.0 ** g.uniform(-2.0, 2.0)))


def _luss_ball(g: Generator, K: Array, y: Array) -> iopt.Formulation:
    if g.random() < 0.4:
        return iopt.LussBall(C=_penalty(g, K))
    least = float(np.sum(np.minimum(np.linalg.eigvalsh(0.5 * (K + K.T)), 0.0) ** 2))
    room = float(np.sum(K**2)) * float(10.0 ** g.uniform(-4.0, 0.5))
    return iopt.LussBall(C=_penalty(g, K), radius=least * (1.0 + 1e-12) + room)


def _share(g: Generator, y: Array) -> float:
    """A feasible ν."""
    most = 2.0 * min(np.sum(y > 0.0), np.sum(y < 0.0)) / y.size
    return float(most * g.choice([1.0 - 1e-9, g.uniform(0.1, 1.0)]))


FORMULATIONS: dict[str, Callable[[Generator, Array, Array], iopt.Formulation]] = {
    "SVMDual": _svm,
    "SVMDual, weights": lambda g, K, y: iopt.SVMDual(
        bias=bool(g.random() < 0.7), C=_penalty(g, K), weights=_of_points(g, y)
    ),
    "ConvexHullDual": lambda g, K, y: iopt.ConvexHullDual(mu=_weight(g, y, 1.0)),
    "GuoSchuurmansQP": lambda g, K, y: iopt.GuoSchuurmansQP(beta=_weight(g, y, 0.5)),
    "GuoSchuurmansLP": lambda g, K, y: iopt.GuoSchuurmansLP(beta=_weight(g, y, 0.5)),
    "LPSVM": lambda g, K, y: iopt.LPSVM(C=_penalty(g, K)),
    "SpectrumSVM": lambda g, K, y: iopt.SpectrumSVM(
        transform=str(g.choice(["clip", "flip", "shift", "square"])), C=_penalty(g, K),
        centered=bool(g.integers(2)),
    ),
    "ESVM": lambda g, K, y: iopt.ESVM(C=_penalty(g, K)),
    "ESVM, weights": lambda g, K, y: iopt.ESVM(C=_penalty(g, K), weights=_of_points(g, y)),
    "KSVM": lambda g, K, y: iopt.KSVM(C=_penalty(g, K)),
    "LussDual": _luss_dual,
    "LussBall": _luss_ball,
    "SeparabilitySVM": lambda g, K, y: iopt.SeparabilitySVM(C=_penalty(g, K)),
    "SeparabilitySVM (5)": lambda g, K, y: iopt.SeparabilitySVM(C=_penalty(g, K), identity=False),
    "KernelLogistic": lambda g, K, y: iopt.KernelLogistic(C=_penalty(g, K)),
    "ConvexHullPrimal": lambda g, K, y: iopt.ConvexHullPrimal(mu=_weight(g, y, 1.0)),
    "PseudoEuclideanPrimal": lambda g, K, y: iopt.PseudoEuclideanPrimal(C=_penalty(g, K)),
    "UniformWeights": lambda g, K, y: iopt.UniformWeights(),
    "OneClassSVM": lambda g, K, y: iopt.OneClassSVM(nu=float(g.uniform(0.1, 1.0))),
    "SVDD": lambda g, K, y: iopt.SVDD(C=float(g.uniform(1.0, 5.0) / y.size)),
    "NuSVM": lambda g, K, y: iopt.NuSVM(nu=_share(g, y), equality=True),
}  # fmt: skip
"""A generator, K and y give a formulation with random parameters."""

BRACKETED = (
    "SVMDual", "SVMDual, weights", "ConvexHullDual", "GuoSchuurmansQP", "OneClassSVM", "SVDD",
    "NuSVM",
)  # fmt: skip
"""Those that have brackets."""


@dataclass(frozen=True)
class Drawn:
    """One problem with one formulation, and how it can be drawn again."""

    seed: int
    number: int
    kind: str
    name: str
    K: Array
    y: Array
    formulation: iopt.Formulation
    tol: float
    cached: int | None = None

    def problem(self) -> iopt.KernelProblem:
        """A new problem: nothing is cached from another one."""
        if self.cached is None:
            return iopt.KernelProblem(self.K.copy(), self.y)
        K, points = self.K.copy(), np.arange(self.y.size)[:, None]
        return iopt.KernelProblem.from_data(
            points, self.y, lambda X, Z: K[np.ix_(X[:, 0].astype(int), Z[:, 0].astype(int))],
            cache_mb=self._cache_mb(),
        )  # fmt: skip

    def _cache_mb(self) -> float:
        """Room for the rows, and half of one against rounding."""
        return 8e-6 * self.y.size * ((self.cached or 0) + 0.5)

    def snippet(self) -> str:
        """Python that makes `problem` and `formulation` again."""
        labels, made = self.y.astype(int).tolist(), ["problem = iopt.KernelProblem(K, y)"]
        if self.cached is not None:
            made = [
                "def kernel(X, Z): return K[np.ix_(X[:, 0].astype(int), Z[:, 0].astype(int))]",
                "points = np.arange(len(y))[:, None]",
                f"problem = iopt.KernelProblem.from_data(points, y, kernel, "
                f"cache_mb={self._cache_mb()!r})",
            ]
        # The representation of a formulation leaves out the weights of points.
        weights = getattr(self.formulation, "weights", None)
        weighted = "formulation = dataclasses.replace(formulation, weights=np.array({}))"
        return "\n".join([
            f"# draw {self.number} of seed {self.seed}, kernel {self.kind!r}",
            "import dataclasses, numpy as np, indefinite_opt as iopt",
            f"K, y = np.array({self.K.tolist()!r}), {labels}",
            *made,
            f"formulation = iopt.{self.formulation!r}".replace("=inf", "=float('inf')"),
            *([] if weights is None else [weighted.format(weights.tolist())]),
        ])  # fmt: skip


def draw(seed: int, number: int, kernels: list[str], formulations: list[str]) -> Drawn:
    """Problem `number` of a seed; the kinds take turns, all else is random."""
    g = np.random.default_rng([seed, number])
    kind = kernels[number % len(kernels)]
    name = formulations[number // len(kernels) % len(formulations)]
    n = int(g.choice([2, 3, 4, 5, 6], p=[0.15, 0.3, 0.3, 0.17, 0.08]))
    y = np.append([1.0, -1.0], g.choice([-1.0, 1.0], n - 2))
    made = KERNELS[kind](g, n)
    K, cached = made if isinstance(made, Rows) else (made, None)
    formulation = FORMULATIONS[name](g, K, y)
    tol = float(g.choice([1e-6, 1e-3, 1e-9], p=[0.6, 0.2, 0.2]))
    return Drawn(seed, number, kind, name, K, y, formulation, tol, cached)
