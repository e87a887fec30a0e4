"""What a solver may ask of the set on which a program of vectors is minimised."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from indefinite_opt.foundation import Array
from indefinite_opt.quadratic.matrices.sparse import Matrix


class FeasibleSet(ABC):
    """{x : lower ≤ x ≤ upper and linear constraints}, (n,)."""

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of variables."""

    @property
    @abstractmethod
    def constraints(self) -> tuple[Array, Array, Array, Array, Matrix]:
        """l, u, s, t and R of the constraints l ≤ x ≤ u and s ≤ Rx ≤ t; R may be sparse."""

    @property
    @abstractmethod
    def is_bounded(self) -> bool:
        """Whether a convex quadratic function is known to have a lower bound on it."""

    @property
    def total(self) -> float:
        """The sum of the entries of x, if it is fixed, else 0."""
        return 0.0

    @abstractmethod
    def at_bounds(self, x: Array, tol: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Entries that count as being at the lower and at the upper bound, two (n,) masks.

        `tol` is a share of the range and of the largest entry of x.
        """

    @abstractmethod
    def infeasibility(self, x: Array) -> float:
        """How far x is from a point that satisfies all constraints, relative to its entries."""

    @abstractmethod
    def repair(self, x: Array) -> tuple[float, float]:
        """The largest violation of a constraint at x, and the largest move to a feasible point.

        Both are absolute.
        """

    @abstractmethod
    def project(self, x: Array) -> Array:
        """A feasible point near x."""

    @abstractmethod
    def random_point(self, generator: np.random.Generator) -> Array:
        """A random feasible point."""
