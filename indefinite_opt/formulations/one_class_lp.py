"""The linear program that describes one class, for similarities or distances of any kind."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import indefinite_opt.algebra as cp
from indefinite_opt.algebra import Model
from indefinite_opt.errors import ParameterError, shown
from indefinite_opt.foundation import Values, checks
from indefinite_opt.modeling import Formulation, outliers_beyond, parameter, share
from indefinite_opt.problem import KernelProblem


@dataclass(frozen=True)
class OneClassLP(Formulation):
    r"""Linear programming description of one class (LPDD).

    For similarities K:

    .. math:: \max_{w,\rho,\xi}\ \rho - \tfrac{1}{\nu n} e^\top\xi
              \quad\text{s.t.}\quad Kw \ge \rho e - \xi,\ e^\top w = 1,\ w \ge 0,\ \xi \ge 0

    For distances D, with `distances=True`:

    .. math:: \min_{w,\rho,\xi}\ \rho + \tfrac{1}{\nu n} e^\top\xi
              \quad\text{s.t.}\quad Dw \le \rho e + \xi,\ e^\top w = 1,\ w \ge 0,\ \rho \ge 0,
              \ \xi \ge 0

    Convex for every matrix. w is sparse.

    Parameters
    ----------
    nu : float
        ν, from 0 to 1. At every optimum the share of outliers among the training points is at most
        ν. 1/(νn) is rounded upwards, so that there is an optimum for ν = 1.
    distances : bool
        Whether to describe the class by distances: those that were given to
        `KernelProblem.from_distances`, or the entries of K if K holds distances. f then takes
        distances of new points, whatever the kernel of the problem is.

    Notes
    -----
    f(x) = Σ w_i k(x_i, x) - ρ, or ρ - Σ w_i d(x_i, x); points with f(x) < 0 are rejected. The
    second program is the first one for K = -D: as D ≥ 0, some optimal ρ is not negative.

    References
    ----------
    Pękalska, Tax & Duin (2003), One-class LP classifiers for dissimilarity representations,
    Advances in Neural Information Processing Systems 15.

    Examples
    --------
    >>> import indefinite_opt as iopt
    >>> D = [[0.0, 1.0, 5.0], [1.0, 0.0, 4.0], [5.0, 4.0, 0.0]]
    >>> problem = KernelProblem.from_distances(D, form="raw")
    >>> print(OneClassLP(nu=0.5, distances=True).declare(problem))
    OneClassLP(distances=True)
      minimize    ρ + 1/(νn) eᵀξ
      subject to  ρ e + ξ ≥ Dw  (boundary)
                  eᵀw = 1       (total)
                  w ≥ 0         (lower)
                  ρ ≥ 0         (radius)
                  ξ ≥ 0         (slack)
      with        w ∈ R³, ρ ∈ R, ξ ∈ R³, D ∈ R^(3×3), 1/(νn) = ⅔
      solved as   a linear program, by highs
    >>> round(iopt.solve(problem, OneClassLP(nu=0.5, distances=True)).objective, 9)
    2.5
    """

    nu: float = parameter(0.5, share)
    distances: bool = parameter(False, checks.switch)

    task: ClassVar[str] = "one class"
    reference: ClassVar[str] = "Pękalska, Tax & Duin (2003)"

    def model(self, problem: KernelProblem) -> Model:
        w = cp.Variable(problem.n, name="w")
        rho, xi = cp.Variable(name="rho"), cp.Variable(problem.n, name="xi")
        price = {"1/(νn)": self._price(problem.n)}
        rest = {"total": cp.sum(w) == 1, "lower": w >= 0}
        meanings = {"w": "weights of the prototypes", "1/(νn)": "penalty of slack"}
        if self.distances:
            D, price_of = problem.symbols(D=problem.as_distances, **price)
            return Model(
                minimize=rho + price_of * cp.sum(xi),
                subject_to={
                    "boundary": D @ w <= rho + xi, **rest, "radius": rho >= 0, "slack": xi >= 0
                },
                meanings=meanings | {
                    "D": "distances",
                    "rho": "largest weighted distance of the points inside",
                    "xi": "slack: by how much each weighted distance exceeds ρ",
                },
                coef=-w,
                offset=rho,
                distances=True,
            )  # fmt: skip
        K, price_of = problem.symbols("K", **price)
        return Model(
            maximize=rho - price_of * cp.sum(xi),
            subject_to={"boundary": K @ w >= rho - xi, **rest, "slack": xi >= 0},
            meanings=meanings
            | {
                "rho": "least weighted similarity of the points inside",
                "xi": "slack: how far each weighted similarity falls short of ρ",
            },
            coef=w,
            offset=-rho,
        )

    def remarks(self, problem: KernelProblem, values: Values) -> list[str]:
        """The share of outliers, where it is more than a stationary point has."""
        fitted = self.classifier(problem, values)
        return outliers_beyond(problem, fitted, self.nu)

    def _price(self, n: int) -> float:
        """The least number that is not below 1/(νn): with less than 1/n the program has no end."""
        exact = 1 / (Fraction(float(self.nu)) * n)
        if exact > sys.float_info.max:
            raise ParameterError("nu", "a share whose inverse is finite", shown(self.nu))
        price = float(exact)
        return price if price >= exact else math.nextafter(price, math.inf)
