"""The problems of Luss & d'Aspremont: the inner minimum over proxy kernels, and their programs.

For weights z = y∘α the worst kernel, at the penalty ρ of its squared distance from K₀, is

    K* = argmin over K ⪰ 0 of -½zᵀKz + ρ‖K - K₀‖² = M₊,  M = K₀ + zzᵀ/(4ρ)

(Luss & d'Aspremont 2007, (4)). M is a rank-one update of K₀, so that one eigendecomposition of K₀
gives the minimum and its gradient at every z in O(n²); see `core.rank_one`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.core import rank_one
from indefinite_opt.errors import InfeasibleProblem, ParameterError, ProblemError
from indefinite_opt.foundation import EPS, Array, cached_property, checks, one_thread
from indefinite_opt.problem import KernelProblem
from indefinite_opt.quadratic import (
    LowerBound,
    PairedBox,
    PairedProgram,
    PairedQP,
    Point,
    Spectrum,
    answers,
    svm_dual,
)

MAX_PENALTY = 1e300
"""Price that replaces an infinite one: K* is then K₀₊ to the last digit."""


MIN_EIGENVALUE = 1e-140
"""Smallest size of a kernel: distances between kernels are sums of squares."""


class ProxyOracle:
    """c(z) = ρ(‖M₊‖² - ‖K₀₊‖²) and its gradient K*z, for M = K₀ + zzᵀ/(4ρ) and K* = M₊.

    -c(z) is min over K ⪰ 0 of -½zᵀKz + ρ‖K - K₀‖², minus its value ρ‖(K₀)₋‖² at z = 0. c is
    convex, and differentiable with a Lipschitz gradient on bounded sets (Ying, Campbell & Girolami
    2009). The spectrum is that of K₀; `ProblemError` if its squares are too small for full
    precision.

    A call takes O(n²) for two products with eigenvectors, and O(n·min(p, q)) for p positive and q
    negative eigenvalues.

    >>> import numpy as np
    >>> from indefinite_opt.quadratic import eigendecomposition
    >>> oracle = ProxyOracle(eigendecomposition(np.diag([1.0, -1.0])))
    >>> oracle(np.array([1.0, 0.0]), rho=0.25)      # M = diag(2, -1), K* = diag(2, 0)
    (0.75, array([2., 0.]))
    """

    def __init__(self, spectrum: Spectrum) -> None:
        size = float(np.abs(spectrum.values).max())
        if 0.0 < size < MIN_EIGENVALUE:
            expected = f"a largest eigenvalue of at least {MIN_EIGENVALUE:g} in magnitude"
            raise ProblemError("K", expected, f"{size:.3g}", "Scale the kernel.")
        self.spectrum = spectrum
        self._poles = rank_one.Poles(*spectrum.distinct)

    @property
    def root_terms(self) -> int:
        """Most terms in the sums of all roots that a call computes."""
        poles, _ = self.spectrum.distinct
        negative = int(np.sum(poles < 0.0))
        return min(negative, poles.size - negative + 1) * poles.size

    def __call__(self, z: Array, rho: float, smoothing: float = 0.0) -> tuple[float, Array]:
        """c(z) and K*z."""
        change, q = self.inside(self.coordinates(z), rho, smoothing)
        return change, self.outside(q)

    def coordinates(self, z: Array) -> Array:
        """Vᵀz."""
        with one_thread():
            return z @ self.spectrum.vectors

    def inside(self, u: Array, rho: float, smoothing: float = 0.0) -> tuple[float, Array]:
        """c and VᵀK*z at z = Vu, in O(n·min(p, q)).

        With the smoothing ε > 0 of Luss & d'Aspremont (2007), section 3, every max(λ, 0) in (5)
        becomes φ = max over 0 ≤ v ≤ 1 of vλ - εv²/2. The terms with eigenvectors cancel, as
        vᵀK₀v = λ - (vᵀz)²/(4ρ), and what remains is ρ Σ (2λφ - φ²) in place of ρ‖M₊‖².
        """
        return rank_one.positive_part(u, self._poles, 0.25 / rho, smoothing)

    def outside(self, q: Array) -> Array:
        """Vq."""
        with one_thread():
            return self.spectrum.vectors @ q

    def eigen(self, z: Array, rho: float) -> ProxyEigen:
        """All eigenvalues and eigenvectors of M, O(n³) by one product of matrices; ρ may be inf."""
        u, sigma = self.coordinates(z), 0.25 / min(rho, MAX_PENALTY)
        poles, _ = self.spectrum.distinct
        weights, active, _ = rank_one.gather_weights(u, self._poles, sigma)
        values, _, slopes, inverse = rank_one.solve_roots(poles[active], weights[active])
        norms = np.sqrt(slopes / sigma)
        inverse /= norms[:, None]
        moving, staying, stayed = self._split(u, active)
        r = active.size
        vectors = np.empty((u.size, u.size))
        with one_thread():
            vectors[:, :r] = moving @ inverse.T
        vectors[:, r:] = staying
        along = np.concatenate([-1.0 / (sigma * norms), np.zeros(stayed.size)])
        return ProxyEigen(np.concatenate([values, stayed]), vectors, along, sigma)

    def _split(self, u: Array, active: NDArray[np.intp]) -> tuple[Array, Array, Array]:
        """One combination Σ u_kv_k per active pole; the other eigenvectors of K₀; their poles."""
        V = self.spectrum.vectors
        poles, pole_of = self.spectrum.distinct
        starts = np.searchsorted(pole_of, np.arange(poles.size + 1))
        single = np.diff(starts) == 1
        place = np.full(poles.size, -1)
        place[active] = np.arange(active.size)
        moving = np.empty((u.size, active.size))
        columns = starts[active[single[active]]]
        moving[:, single[active]] = V[:, columns] * u[columns]
        staying, stayed = [np.empty((u.size, 0))], [np.empty(0)]
        for c in np.flatnonzero(~single | (place < 0)):
            block, part = V[:, starts[c] : starts[c + 1]], u[starts[c] : starts[c + 1]]
            if place[c] >= 0:
                moving[:, place[c]] = block @ part
                block = _rest(block, part)
            staying.append(block)
            stayed.append(np.full(block.shape[1], poles[c]))
        return moving, np.hstack(staying), np.concatenate(stayed)


def _rest(block: Array, direction: Array) -> Array:
    """Orthonormal basis of the complement of block @ direction in the span of the block.

    A reflection maps the direction to the first axis; the images of the other axes are the basis.
    """
    mirror = direction / float(np.linalg.norm(direction))
    mirror[0] += np.copysign(1.0, mirror[0])
    mirror *= np.sqrt(2.0) / float(np.linalg.norm(mirror))
    return (block - np.outer(block @ mirror, mirror))[:, 1:]


@dataclass(frozen=True, eq=False)
class ProxyEigen:
    """M = X diag(λ) Xᵀ at some z."""

    values: Array
    """λ, in no particular order, (n,)."""
    vectors: Array
    """X, orthonormal columns, (n, n)."""
    along: Array
    """a = Xᵀz; zero for eigenvectors of K₀ that are those of M up to its rounding, (n,)."""
    sigma: float
    """σ = 1/(4ρ)."""

    def kernel(self) -> Array:
        """K* = M₊, (n, n)."""
        kept = self.values > 0.0
        scaled = self.vectors[:, kept] * np.sqrt(self.values[kept])
        with one_thread():
            return scaled @ scaled.T

    def second_derivative(self, fixed_distance: bool = False) -> Array:
        r"""Second derivative of c(z), (n, n), positive semidefinite.

        With Γ the divided differences of max(λ, 0),
        X(diag(λ₊ + σΓ(a∘a)) + σ diag(a) Γ diag(a))Xᵀ. With `fixed_distance` it is that of min over
        ρ of c(z) + ρ·constant, at the minimum, which is smaller by 2σwwᵀ/aᵀ(a∘Γ(a∘a)) with
        w = X(a∘Γ(a∘a)).
        """
        n, up, sigma = self.values.size, self.values > 0.0, self.sigma
        if not up.any():
            return np.zeros((n, n))
        positive, negative = self.values[up], self.values[~up]
        a, b = self.along[up], self.along[~up]
        P, N = self.vectors[:, up], self.vectors[:, ~up]
        # Γ is 1 between positive eigenvalues, 0 between the others, and `cross` between the two.
        cross = positive[:, None] / (positive[:, None] - negative[None, :])
        spread = np.empty(n)
        spread[up] = float(a @ a) + cross @ (b * b)
        spread[~up] = cross.T @ (a * a)
        curved = np.where(up, self.values, 0.0) + sigma * spread
        cross *= a[:, None]
        cross *= b
        with one_thread():
            scaled = self.vectors * np.sqrt(curved)
            H = scaled @ scaled.T
            mean = P @ a
            half = (P @ cross) @ N.T if b.size < a.size else P @ (cross @ N.T)
        half += half.T.copy()
        H += sigma * half
        H += sigma * np.outer(mean, mean)
        total = float(self.along**2 @ spread)
        if fixed_distance and total > 0.0:
            w = self.vectors @ (self.along * spread) * np.sqrt(2.0 * sigma / total)
            H -= np.outer(w, w)
        return H


@dataclass(frozen=True, eq=False)
class ProxyPoint(Point[Array]):
    """A point α of a `ProxyDual`, with F and ∇F, and the decomposition of K₀ + zzᵀ/(4ρ) there."""

    dual: ProxyDual
    rho: float
    """The penalty ρ at which K* is the minimiser; inf if K* is K₀₊."""

    @cached_property
    def eigen(self) -> ProxyEigen:
        """Eigenvalues and eigenvectors of K₀ + zzᵀ/(4ρ), computed when first read."""
        return self.eigen_at(1.0)

    def eigen_at(self, factor: float) -> ProxyEigen:
        """The same with ρ multiplied by a factor."""
        z = self.dual.problem.y * self.x
        return self.dual.oracle.eigen(z, factor * self.rho)

    def second_derivative(self) -> Array:
        """Y∇²F(α)Y with Y = diag(y), (n, n), positive semidefinite."""
        return self.eigen.second_derivative(fixed_distance=self.dual.slack > 0.0)

    @property
    def kernel_value(self) -> float:
        """The objective at K* as computed, from which a bound may start."""
        if self.dual.rho is not None:
            return self.value
        # K* lies inside the ball, within rounding of the sphere.
        at_kernel = 0.5 * float(self.x @ (self.gradient + 1.0)) - float(self.x.sum())
        return min(self.value, at_kernel)

    def svm(self) -> PairedQP:
        """min ½zᵀK*z - eᵀα on the same box and line, K* being that of this point."""
        return self.dual.svm(self.eigen.kernel(), "its kernel matrix is a positive part")

    def bound_by(self, qp: PairedQP, weights: Array) -> float:
        """The lower bound on F that any weights prove by the program `svm`.

        For every K ⪰ 0, min over α of ½zᵀKz - eᵀα - ρ‖K - K₀‖² is a lower bound on F (Luss &
        d'Aspremont 2007, section 2.2). For K* it is F less the decrease that the program with K*
        still allows from this point.
        """
        least = answers.dual_bound(qp, weights, qp.gradient(weights))
        return self.kernel_value + (least - qp.value(self.x)) - self.dual.allowance(self.x)


@dataclass(frozen=True, eq=False)
class ProxyDual(PairedProgram):
    """min F(α)  s.t.  0 ≤ α ≤ C, yᵀα = 0, with F convex for every kernel K₀ and labels y.

    At a penalty ρ of the distance, F(α) = c_ρ(y∘α) - eᵀα. In a ball ‖K - K₀‖² ≤ r it is

        F(α) = min over ρ of c_ρ(y∘α) + ρ(r - ‖(K₀)₋‖²) - eᵀα:

    the penalty is the multiplier of the ball, computed for every α such that K* lies on the sphere.
    Every ρ gives an upper bound on F, and every K in the ball a lower bound, so that rounding in ρ
    can weaken but not invalidate them.

    The declared objective is -F - `constant`: its value at α = 0 is separate, because gaps are
    measured without it.
    """

    title = "a dual with a proxy kernel"
    is_convex = True
    has_inner_problem = True
    usual_solver = "newton"
    sense = -1
    variable = "alpha"
    problem: KernelProblem
    rho: float | None
    """ρ > 0, or None for a ball."""
    C: float
    """The largest weight, finite."""
    slack: float = 0.0
    """r - ‖(K₀)₋‖² ≥ 0 of a ball; 0 at a penalty."""

    def __post_init__(self) -> None:
        if self.rho is None:
            return
        # The largest eigenvalue of zzᵀ/(4ρ) is ‖z‖²/(4ρ).
        least = 0.25 * self.n * self.C * self.C / checks.MAX_ENTRY
        if self.rho < least:
            expected = f"at least {least:.3g} for this C, or objectives overflow"
            raise ParameterError("rho", expected, f"{self.rho:g}")

    @cached_property
    def feasible(self) -> PairedBox:  # type: ignore[override]
        """0 ≤ α ≤ C with yᵀα = 0."""
        n = self.problem.n
        none = np.zeros(n, np.int64), np.zeros(1)
        return PairedBox(self.problem.y, *none, 0.0, self.C, ("balance",))

    @classmethod
    def in_ball(cls, problem: KernelProblem, radius: float | None, C: float) -> ProxyDual:
        """The ball of squared radius r; by default ‖K₀‖²/100 more than the smallest one.

        `InfeasibleProblem` if no positive semidefinite kernel is in the ball.
        """
        if radius is None:
            return cls(problem, None, C, 0.01 * float(np.sum(problem.spectrum.values**2)))
        least = problem.spectrum.negative_square
        # An error e of each eigenvalue λ changes the sum of their squares by 2eΣ|λ|.
        rounding = 2.0 * problem.zero_tolerance * float(np.sqrt(problem.n * least))
        if radius < least - rounding:
            raise InfeasibleProblem(
                "radius", f"at least {least!r}, the squared negative eigenvalues of K₀ summed",
                repr(radius), "No positive semidefinite kernel is in a smaller ball.",
            )  # fmt: skip
        return cls(problem, None, C, max(radius - least, 0.0))

    @property
    def solved_as(self) -> str:
        where = "in a ball" if self.rho is None else "at a penalty"
        return f"{self.title} {where}, by {self.usual_solver}"

    @property
    def radius(self) -> float:
        """r, the bound on ‖K - K₀‖² of a ball."""
        return self.problem.spectrum.negative_square + self.slack

    @property
    def constant(self) -> float:  # type: ignore[override]
        """-ρ‖(K₀)₋‖², or 0 in a ball."""
        return 0.0 if self.rho is None else -self.rho * self.problem.spectrum.negative_square

    def declared(self, value: float, away: float | None = None) -> float:
        if self.rho is not None and away is not None:
            value += float(np.copysign(self.rho * self.square_rounding, away))
        return super().declared(value, away)

    def arrays(self) -> dict[str, Array]:
        C = np.array(self.C)
        name, distance = ("radius", self.radius) if self.rho is None else ("rho", self.rho)
        return {"K0": self.problem.K, "y": self.problem.y, "C": C, name: np.array(distance)}

    # ------------------------------------------------------------------------ F and its bounds

    @cached_property
    def oracle(self) -> ProxyOracle:
        """The oracle that evaluates c."""
        return ProxyOracle(self.problem.spectrum)

    def at(self, x: Array, gradient: Array | None = None) -> ProxyPoint:
        """F and ∇F = y∘K*z - e, which are computed together: a given gradient saves nothing."""
        y = self.problem.y
        u = self.oracle.coordinates(y * x)
        rho = self.penalty(u)
        if np.isinf(rho):
            q = np.maximum(self.oracle.spectrum.values, 0.0) * u
            change = 0.5 * float(u @ q)
        else:
            change, q = self.oracle.inside(u, rho)
            change += rho * self.slack
        return ProxyPoint(x, change - float(x.sum()), y * self.oracle.outside(q) - 1.0, self, rho)

    def value(self, x: Array, gradient: Array | None = None) -> float:
        return self.at(x).value

    def gradient(self, x: Array) -> Array:
        return self.at(x).gradient

    def smoothed_gradient(self, x: Array, smoothing: float) -> Array:
        """The gradient of the function with the smoothing ε > 0, at a penalty."""
        y = self.problem.y
        u = self.oracle.coordinates(y * x)
        _, q = self.oracle.inside(u, self.penalty(u), smoothing)
        return y * self.oracle.outside(q) - 1.0

    def inner_minimiser(self, values: Mapping[str, Array]) -> Array:
        """K*, (n, n)."""
        return self.at(np.asarray(values[self.variable], dtype=float)).eigen.kernel()

    def svm(self, K: Array, why: str) -> PairedQP:
        """min ½zᵀKz - eᵀα on the same box and line.

        Parameters
        ----------
        K : (n, n) array
        why : str
            Why K is positive semidefinite, as a clause of error messages.
        """
        return svm_dual(self.problem._constructed(K, "quadratic model", why), self.C)

    def gradient_unit(self, gradient: Array) -> float:
        """Size for judging a KKT residual: the margin 1, unless rounding is larger."""
        return max(1.0, 1e-6 * float(np.max(np.abs(gradient + 1.0))))

    def tangent_bound(self, points: Sequence[ProxyPoint], shares: Array) -> float:
        """A lower bound on F: a convex combination of tangents, minimised exactly, O(n log n).

        For every α' the inner minimum is at most its value at K*(α), which is concave in α'. Its
        tangent at α is minimised over the feasible set, and `allowance` is subtracted.
        """
        level, slope = 0.0, np.zeros(self.n)
        for point, share in zip(points, shares / float(shares.sum()), strict=True):
            start = point.kernel_value - float(point.gradient @ point.x)
            level += share * (start - self.allowance(point.x))
            slope += share * point.gradient
        return level + self.feasible.linear_minimum(slope)

    @property
    def square_rounding(self) -> float:
        """Error of ‖(K₀)₋‖², with errors of the eigenvalues up to `zero_tolerance`."""
        square, error = self.problem.spectrum.negative_square, self.problem.zero_tolerance
        return error * (2.0 * float(np.sqrt(self.n * square)) + self.n * error)

    def allowance(self, x: Array) -> float:
        """Rounding of a bound from K*(x): n·eps·‖K₀‖·‖z‖(‖z‖ + largest ‖z‖), and that of sums.

        With E the error of the eigendecomposition, the value changes by at most ½‖z‖²‖E‖, and K*z
        by ‖E‖‖z‖, which is multiplied by the distance of the farthest feasible point.

        In a ball an error δ of the slack counts as well. A ball with less slack by δ has a penalty
        ρ ≤ ‖z‖²/(4t) for the distance t that stays in it, and F falls by ρδ at most; nor by more
        than ½‖z‖²√slack, as no K* of the ball is farther from its projection K₀₊.
        """
        norm = float(np.linalg.norm(x))
        farthest = self.C * np.sqrt(2.0 * self.problem.smaller_class)
        rounding = self.problem.zero_tolerance * norm * (norm + farthest)
        # Sums of weights, whose total is at most 2C times the smaller class.
        rounding += 4.0 * (self.n + 8.0) * EPS * self.C * self.problem.smaller_class
        if self.rho is not None:
            return rounding
        doubt = self.square_rounding + EPS * self.radius
        reach = self._reach(max(self.slack - doubt, 0.0))
        share = 0.5 * float(np.sqrt(self.slack))
        if reach > 0.0:
            share = min(share, doubt / (4.0 * reach))
        return rounding + float(x @ x) * share

    def start(self) -> Array:
        """Zero, or in a ball a feasible point other than zero, where F has no second derivative."""
        if self.rho is not None:
            return super().start()
        return self.feasible.project(np.full(self.n, min(self.C, 1.0 / self.n)))

    # ---------------------------------------------------------------- the penalty of a ball

    def penalty(self, u: Array) -> float:
        """ρ at z = Vu, inf if K* is K₀₊ there.

        In a ball it is the ρ with ‖K* - K₀‖² = r, rounded so that K* is in the ball.
        """
        if self.rho is not None:
            return self.rho
        from scipy.optimize import brentq

        reach = self._reach(self.slack)
        square = float(u @ u)
        if reach == 0.0 or square == 0.0 or not np.isfinite(square):
            return np.inf
        high = low = float(np.log(max(0.25 * square / reach, 1e-300)))
        while self._excess(u, high) > 0.0:  # by rounding
            high += 1e-3
        while self._excess(u, low) <= 0.0:
            if low < np.log(1e-300):  # a smaller ρ would underflow, and with this one K* is inside
                return float(np.exp(low))
            high, low = low, low - 1.0
        # The distance is almost a power of ρ, especially if K* is far from K₀.
        root = brentq(lambda t: self._excess(u, t), low, high, xtol=1e-13, rtol=1e-14)
        step = 1e-13
        while self._excess(u, root) > 0.0 and root < high:
            root, step = root + step, 2.0 * step
        return float(np.exp(root))

    def _reach(self, slack: float) -> float:
        """A distance from K₀₊ that stays in a ball with this slack.

        ‖K* - K₀₊‖ ≤ ‖z‖²/(4ρ) = t keeps ‖K* - K₀‖² below ‖(K₀)₋‖² + t² + 2t‖(K₀)₋‖₂.
        """
        least = max(-self.problem.spectrum.minimum, 0.0)
        return slack / (least + float(np.hypot(least, np.sqrt(slack)))) if slack else 0.0

    def _excess(self, u: Array, log_rho: float) -> float:
        """log((‖K* - K₀‖² - ‖(K₀)₋‖²)/(r - ‖(K₀)₋‖²))."""
        rho = float(np.exp(log_rho))
        change, q = self.oracle.inside(u, rho)
        moved = (0.5 * float(u @ q) - change) / rho
        return float(np.log(max(moved / self.slack, 1e-300)))


@answers.bounds.register
def _(
    program: ProxyDual, point: Point[Array], multipliers: Mapping[str, Array] | None
) -> Iterator[LowerBound]:
    at = point if isinstance(point, ProxyPoint) else program.at(point.x)
    yield LowerBound(program.tangent_bound([at], np.ones(1)))
